//! A card for each benchmark: one chart of its rows, and what it measures.

use maud::{Markup, html};
use syscost_results::overview::{Overview, of_shared_caches};
use syscost_results::{Measurement, Run};

use crate::chart::rows::{Chosen, Kind, NoChart, choose};
use crate::chart::{self, Border, Chart, Labels, Theme, caption, draw, draw_wide, formatted};

use super::details::{figure, figure_of};
use super::overview::found_by;
use super::rows::Row;
use super::{MAX_COLUMNS, PageOptions, words};
use super::{files, runs};

/// Width and height, in pixels, of a chart that is as wide as the page, on a wide screen.
const WIDE: (f64, f64) = (1000.0, 360.0);

/// The id of the cards of a group in the page.
pub(super) fn place(group: &str) -> String {
    format!("charts-{group}")
}

/// The cards of a group's benchmarks.
pub(super) fn cards(
    group: &str,
    rows: &[&Row<'_>],
    all: &[Overview<'_>],
    options: &PageOptions<'_>,
) -> Markup {
    html! {
        div class="cards" id=(place(group)) {
            @for rows in rows.chunk_by(|a, b| a.id() == b.id()) {
                (card(rows, all, options))
            }
        }
    }
}

fn card(rows: &[&Row<'_>], all: &[Overview<'_>], options: &PageOptions<'_>) -> Markup {
    let id = rows[0].id();
    let explanation = options.explanations.get(id);
    html! {
        article class="card benchmark" id={ "about-" (id) } data-benchmark=(id)
            data-tags=[explanation.map(|explanation| explanation.tags.join("|"))] {
            h3 { (rows[0].latest.title) " " code { (id) } }
            @if let Some(explanation) = explanation { p { (words::code(&explanation.summary)) } }
            @for figure in figures(rows, all, options.samples) { (figure) }
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

/// What is drawn of a benchmark: all runs in one figure; of more runs than stand side by side, the
/// last that has numbers alone. Some benchmarks have a figure of their own for each run; a run whose
/// rows make none is then drawn by itself, too.
fn figures(rows: &[&Row<'_>], all: &[Overview<'_>], samples: bool) -> Vec<Markup> {
    let runs: Vec<&Run> = all.iter().map(|one| one.run).collect();
    let runs = &runs[..];
    let own = |run: usize| -> Vec<&Measurement> {
        let own = rows
            .iter()
            .filter_map(|row| row.of_runs[run].filter(|own| row.is_alike(own)));
        own.collect()
    };
    let borders = |all: &[Overview<'_>]| borders(rows[0].id(), all);
    let special = |run: usize| {
        let (picture, caption) = files::picture(own(run).first()?, runs[run])?;
        Some(figure_of(&picture, &caption, run, runs, false))
    };
    let plain = |run: usize| {
        let (picture, caption) = drawn(&[own(run)], Vec::new(), borders(&all[run..=run]), samples)?;
        Some(figure_of(&picture, &caption, run, runs, false))
    };
    let alone = |run: usize| special(run).or_else(|| plain(run));
    if runs.len() > MAX_COLUMNS {
        return (0..runs.len()).rev().find_map(alone).into_iter().collect();
    }
    let special: Vec<Option<Markup>> = (0..runs.len()).map(special).collect();
    if special.iter().any(Option::is_some) {
        let each = special.into_iter().enumerate();
        return each
            .filter_map(|(run, own)| own.or_else(|| plain(run)))
            .collect();
    }
    let of_all: Vec<Vec<&Measurement>> = (0..runs.len()).map(own).collect();
    let all = drawn(&of_all, runs::names(runs), borders(all), samples);
    all.map(|(picture, caption)| figure(&picture, &caption))
        .into_iter()
        .collect()
}

/// The caches that were found and the words of the caption that say so, if the benchmark is the one
/// that is drawn over the amount of memory.
fn borders(id: &str, all: &[Overview<'_>]) -> Option<(Vec<Border>, String)> {
    let mut loads = all.iter().flat_map(|one| &one.curve);
    let found = of_shared_caches(all).filter(|_| loads.any(|load| load.row.id == id))?;
    Some((chart::borders(&found.caches), found_by(found, all)))
}

/// The picture of these rows of each run, and its caption; `None` if they have no numbers. A single
/// number is written, not drawn.
fn drawn(
    rows: &[Vec<&Measurement>],
    names: Vec<String>,
    borders: Option<(Vec<Border>, String)>,
    samples: bool,
) -> Option<(Markup, String)> {
    let mut chosen = match chosen(rows, samples) {
        Ok(chosen) => chosen,
        Err(NoChart::OneNumber { run, figure, .. }) => {
            let number = html! { p class="number" { (figure) } };
            let of = names.get(run).filter(|_| names.len() > 1);
            let of = of.map_or_else(String::new, |name| format!("; {name}"));
            return Some((number, format!("Median and 95 % interval{of}")));
        }
        Err(_) => return None,
    };
    let (mut caption, spoken) = captions(&chosen, names.len());
    if let (Chart::Curve { .. }, Some((borders, words))) = (&chosen.chart, borders) {
        chosen.mark(&borders);
        caption.push_str(&words);
    }
    let labels = Labels {
        title: chosen.title.clone(),
        description: spoken,
        runs: names,
        ..Labels::default()
    };
    let (chart, unit) = (&chosen.chart, chosen.unit);
    let picture = match chosen.is_wide() {
        true => draw_wide(chart, unit, &labels, WIDE),
        false => draw(chart, unit, &labels, Theme::Page),
    };
    Some((picture, caption))
}

/// The chart that suits the rows; their distributions only with `samples`.
fn chosen(runs: &[Vec<&Measurement>], samples: bool) -> Result<Chosen, NoChart> {
    let own = choose(runs, None)?;
    match &own.chart {
        Chart::Ecdf(rows) if !samples => match &rows[..] {
            [one] => Err(NoChart::OneNumber {
                run: one.run,
                name: one.label.clone(),
                figure: one
                    .value
                    .map_or_else(String::new, |value| formatted(own.unit, &value)),
            }),
            _ => choose(runs, Some(Kind::Bars)),
        },
        _ => Ok(own),
    }
}

/// What the chart shows: the caption, and the text for a screen reader.
fn captions(chosen: &Chosen, runs: usize) -> (String, String) {
    let mut caption = caption(&chosen.chart);
    match (chosen.left_out.len(), runs) {
        (0, _) => {}
        (1, 0 | 1) => caption.push_str("; one row without a number is left out"),
        (1, _) => caption.push_str("; one row without a number in one of the runs"),
        (count, 0 | 1) => {
            caption.push_str(&format!("; {count} rows without a number are left out"))
        }
        (count, _) => caption.push_str(&format!("; {count} numbers of the runs are missing")),
    }
    let spoken = format!("{caption}. The table has the same numbers.");
    (caption, spoken)
}

#[cfg(test)]
mod tests {
    use syscost_results::overview::overview;

    use syscost_results::{Role, Status};

    use super::*;
    use crate::fixture;
    use crate::html::rows::Rows;

    #[test]
    fn a_run_without_a_figure_of_its_own_is_drawn_beside_one_that_has_one() {
        let mut with = fixture::run();
        with.measurements.truncate(1);
        let row = &mut with.measurements[0];
        (row.status, row.roles) = (Status::Ok, vec![Role::PageCache]);
        (row.estimate.median, row.samples) = (Some(2.4e8), None);
        row.details = [
            ("read_64M_bytes_per_s", 9e9),
            ("read_256M_bytes_per_s", 1e9),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let mut without = with.clone();
        without.measurements[0].details.clear();
        let runs = [&with, &without];
        let all = Rows::new(&runs);
        let rows: Vec<&Row<'_>> = all.groups().flat_map(|(_, rows)| rows).collect();
        let figures = figures(&rows, &runs.map(|run| overview(run, None)), false);
        let figures: Vec<String> = figures.into_iter().map(Markup::into_string).collect();
        assert_eq!(figures.len(), 2, "{figures:?}");
        assert!(figures[0].contains("<svg") && figures[1].contains("class=\"number\""));
    }
}
