//! A card for each benchmark: one chart of its rows, and what it measures.

use maud::{Markup, html};
use syscost_results::{Measurement, Run};

use crate::chart::rows::{Chosen, Kind, choose, has_logarithmic_axis, value};
use crate::chart::{Chart, Labels, Theme, draw};

use super::details::figure_of_last;
use super::files;
use super::rows::Row;
use super::{PageOptions, words};

/// Maximum number of rows whose distributions are drawn in a card.
const MAX_VIOLINS: usize = 12;

/// The id of the cards of a group in the page.
pub(super) fn place(group: &str) -> String {
    format!("charts-{group}")
}

/// The cards of a group's benchmarks.
pub(super) fn cards(
    group: &str,
    rows: &[&Row<'_>],
    runs: &[&Run],
    options: &PageOptions,
) -> Markup {
    html! {
        div class="cards" id=(place(group)) {
            @for rows in rows.chunk_by(|a, b| a.id() == b.id()) {
                (card(rows, runs, options))
            }
        }
    }
}

fn card(rows: &[&Row<'_>], runs: &[&Run], options: &PageOptions) -> Markup {
    let id = rows[0].id();
    let explanation = options.explanations.get(id);
    let measurements: Vec<&Measurement> = rows.iter().map(|row| row.latest).collect();
    let chosen = chosen(&measurements, options.samples);
    html! {
        article class="card benchmark" id={ "about-" (id) } data-benchmark=(id)
            data-tags=[explanation.map(|explanation| explanation.tags.join("|"))] {
            h3 { (rows[0].latest.title) " " code { (id) } }
            @if let Some(explanation) = explanation { p { (words::code(&explanation.summary)) } }
            @if let Some((picture, caption)) = files::picture(id, runs) {
                (figure_of_last(&picture, &caption, runs.len(), false))
            } @else if let Some(chosen) = &chosen {
                @let (caption, spoken) = captions(chosen);
                @let labels = Labels {
                    title: chosen.title.clone(),
                    description: spoken,
                    source: String::new(),
                };
                @let picture = draw(&chosen.chart, chosen.unit, &labels, Theme::Page);
                (figure_of_last(&picture, &caption, runs.len(), is_of_one_colour(&chosen.chart)))
            }
            @if let Some(explanation) = explanation.filter(|explanation| !explanation.sections.is_empty()) {
                details {
                    summary { "What it measures and how to read it" }
                    div class="explanation" {
                        @for (heading, text) in &explanation.sections {
                            h4 { (heading) } (words::paragraphs(text))
                        }
                    }
                }
            }
        }
    }
}

/// A curve or heat map if the rows make one, else their medians, or with `samples` their
/// distributions.
fn chosen(rows: &[&Measurement], samples: bool) -> Option<Chosen> {
    let own = choose(rows, None).ok()?;
    if matches!(own.chart, Chart::Curve { .. } | Chart::Heatmap { .. }) {
        return Some(own);
    }
    if !samples {
        return choose(rows, Some(Kind::Bars)).ok();
    }
    let distributions = choose(rows, Some(Kind::Violin)).ok();
    distributions
        .filter(|_| rows.iter().filter(|row| value(row).is_some()).count() <= MAX_VIOLINS)
        .or(Some(own))
}

/// Whether the chart's colour carries no meaning.
fn is_of_one_colour(chart: &Chart) -> bool {
    match chart {
        Chart::Curve { lines, .. } => lines.len() < 2,
        Chart::Ecdf(lines) => lines.len() < 2,
        Chart::Bars(_) | Chart::Violin(_) | Chart::Heatmap { .. } | Chart::OverRuns { .. } => true,
    }
}

/// What the chart shows: the caption, and the text for a screen reader.
fn captions(chosen: &Chosen) -> (String, String) {
    let what = match &chosen.chart {
        Chart::Bars(_) => "Medians with 95 % intervals",
        Chart::Violin(_) => {
            "Density of the samples, with median and 95 % interval; ▸ tells the share beyond the axis"
        }
        Chart::Ecdf(_) => "Cumulative distribution of the samples",
        Chart::Curve { .. } => "Medians with 95 % intervals over the parameter",
        Chart::Heatmap { .. } => "Medians; the stronger the colour, the more",
        Chart::OverRuns { .. } => "Medians over runs",
    };
    let mut caption = what.to_owned();
    if has_logarithmic_axis(&chosen.chart) {
        caption.push_str("; logarithmic axis");
    }
    match chosen.left_out.len() {
        0 => {}
        1 => caption.push_str("; one row without a number is left out"),
        count => caption.push_str(&format!("; {count} rows without a number are left out")),
    }
    let spoken = format!("{caption}. The table above has the same numbers.");
    (caption, spoken)
}
