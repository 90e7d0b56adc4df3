//! Metrics over time, first those whose level changed.

use maud::{Markup, html};
use syscost_results::history::{ChangePoint, Series};

use crate::chart::{Chart, Labels, Theme, Value, draw};
use crate::sentence::time;
use crate::units::quantity;

use super::details::{figure, line};

/// Maximum number of charts; the other metrics have a line in the table.
const MAX_CHARTS: usize = 24;

/// The section; empty without series.
pub(super) fn section(history: &[Series]) -> Markup {
    let (changed, same): (Vec<&Series>, Vec<&Series>) = history
        .iter()
        .partition(|series| !series.changes.is_empty());
    let others: Vec<&Series> = changed
        .iter()
        .skip(MAX_CHARTS)
        .chain(&same)
        .copied()
        .collect();
    html! {
        @if !history.is_empty() {
            section id="history" aria-labelledby="title-history" {
                h2 id="title-history" { "Over time" }
                p { (changed.len()) " of " (history.len()) " metrics changed their level." }
                div class="cards" {
                    @for series in changed.iter().take(MAX_CHARTS) {
                        article class="card" {
                            h3 { code { (series.name) } }
                            ul { @for change in &series.changes { li { (sentence(series, change)) } } }
                            (figure(&picture(series), "Median and 95 % interval of each run; a broken line parts two levels"))
                        }
                    }
                }
                @if !others.is_empty() { details {
                    summary { "The other " (others.len()) " metrics" }
                    div class="box" tabindex="0" role="region" aria-label="Metrics over time" {
                        table {
                            caption class="spoken" { "Metrics whose level did not change" }
                            thead { tr { th scope="col" { "metric" } th scope="col" class="num" { "last" } th scope="col" { "over time" } } }
                            tbody {
                                @for series in &others {
                                    tr {
                                        th scope="row" { (series.name) }
                                        td class="num" { @if let Some(last) = series.points.last() { (quantity(series.unit, last.median)) } }
                                        td { (line(series.points.iter().map(|point| Some(point.median)), series.unit)) }
                                    }
                                }
                            }
                        }
                    }
                } }
            }
        }
    }
}

fn sentence(series: &Series, change: &ChangePoint) -> String {
    let percent = 100.0 * (change.after / change.before - 1.0);
    format!(
        "{}: from {} to {} ({percent:+.1} %, p = {:.2e})",
        time(&change.started),
        quantity(series.unit, change.before),
        quantity(series.unit, change.after),
        change.p_value
    )
}

fn picture(series: &Series) -> Markup {
    let points = series
        .points
        .iter()
        .map(|point| {
            let value = Value {
                median: point.median,
                low: point.ci95_low,
                high: point.ci95_high,
            };
            (time(&point.started), Some(value))
        })
        .collect();
    let chart = Chart::OverRuns {
        points,
        changes: series.changes.iter().map(|change| change.index).collect(),
    };
    let labels = Labels {
        title: format!("{} over time", series.name),
        description: series
            .changes
            .iter()
            .map(|change| sentence(series, change))
            .collect::<Vec<_>>()
            .join("; "),
        ..Labels::default()
    };
    draw(&chart, series.unit, &labels, Theme::Page)
}
