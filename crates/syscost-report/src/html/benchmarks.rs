//! A card for each benchmark: one chart of its rows, and what it measures.

use maud::{Markup, html};
use syscost_results::{Measurement, Run};

use crate::chart::rows::{Chosen, Kind, choose};
use crate::chart::{Chart, Labels, Theme, caption, draw};
use crate::view::value;

use super::details::figure_of;
use super::files;
use super::rows::Row;
use super::{MAX_COLUMNS, PageOptions, words};

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
    options: &PageOptions<'_>,
) -> Markup {
    html! {
        div class="cards" id=(place(group)) {
            @for rows in rows.chunk_by(|a, b| a.id() == b.id()) {
                (card(rows, runs, options))
            }
        }
    }
}

fn card(rows: &[&Row<'_>], runs: &[&Run], options: &PageOptions<'_>) -> Markup {
    let id = rows[0].id();
    let explanation = options.explanations.get(id);
    html! {
        article class="card benchmark" id={ "about-" (id) } data-benchmark=(id)
            data-tags=[explanation.map(|explanation| explanation.tags.join("|"))] {
            h3 { (rows[0].latest.title) " " code { (id) } }
            @if let Some(explanation) = explanation { p { (words::code(&explanation.summary)) } }
            @for figure in figures(rows, runs, options.samples) { (figure) }
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

/// A figure of each run that has numbers here; of more runs than stand side by side, of the last
/// such run alone.
fn figures(rows: &[&Row<'_>], runs: &[&Run], samples: bool) -> Vec<Markup> {
    let of = |run| figure(rows, run, runs, samples);
    match runs.len() <= MAX_COLUMNS {
        true => (0..runs.len()).filter_map(of).collect(),
        false => (0..runs.len()).rev().find_map(of).into_iter().collect(),
    }
}

/// The figure of one run's own numbers; `None` if it has none of them.
fn figure(rows: &[&Row<'_>], run: usize, runs: &[&Run], samples: bool) -> Option<Markup> {
    if let Some((picture, caption)) = files::picture(rows[0].id(), runs[run]) {
        return Some(figure_of(&picture, &caption, run, runs, false));
    }
    let own: Vec<&Measurement> = rows.iter().filter_map(|row| row.of_runs[run]).collect();
    let chosen = chosen(&own, samples)?;
    let (caption, spoken) = captions(&chosen);
    let labels = Labels {
        title: chosen.title.clone(),
        description: spoken,
        source: String::new(),
    };
    let picture = draw(&chosen.chart, chosen.unit, &labels, Theme::Page);
    let is_of_one_colour = is_of_one_colour(&chosen.chart);
    Some(figure_of(&picture, &caption, run, runs, is_of_one_colour))
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
    let mut caption = caption(&chosen.chart);
    match chosen.left_out.len() {
        0 => {}
        1 => caption.push_str("; one row without a number is left out"),
        count => caption.push_str(&format!("; {count} rows without a number are left out")),
    }
    let spoken = format!("{caption}. The table has the same numbers.");
    (caption, spoken)
}
