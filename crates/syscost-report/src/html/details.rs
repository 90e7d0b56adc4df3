//! Pictures of a row: of its samples, over runs, and the small one of its cell.

use maud::{Markup, html};
use syscost_results::estimate::Tail;
use syscost_results::estimate::selection::Selection;
use syscost_results::{RoundSamples, Run};

use crate::chart::{self, Chart, Distribution, Labels, Round, Sharing, Theme, formatted};
use crate::document;
use crate::sentence::time;
use crate::view::value;

use super::MAX_COLUMNS;
use super::rows::Row;
use super::runs::{names, whose};

/// Maximum number of rounds drawn.
const ROUNDS: usize = 30;

/// The pictures in a row's details: over many runs; with `samples`, also of its samples.
pub(super) fn pictures(row: &Row<'_>, runs: &[&Run], samples: bool) -> Markup {
    html! {
        @if samples && runs.len() > MAX_COLUMNS { (over_runs(row, runs)) }
        @if samples { (of_samples(row, runs)) }
    }
}

/// The distribution of the samples of a row's newest measurement: all together, and round by round.
fn of_samples(newest: &Row<'_>, runs: &[&Run]) -> Markup {
    let row = newest.latest;
    let (Some(value), samples) = (value(row), chart::rows::samples(row)) else {
        return html! {};
    };
    let selected = Selection::of_row(row);
    let round = |round: &RoundSamples| {
        let counted = selected.counted(round);
        let counts = !counted.is_empty();
        Round {
            name: format!("round {}", round.round),
            values: match counts {
                true => counted.into_iter().map(|(_, value)| value).collect(),
                false => round.values.clone(),
            },
            counts,
        }
    };
    let taken = row.samples.iter().flatten();
    let taken = taken.filter(|round| !round.values.is_empty()).take(ROUNDS);
    let rounds: Vec<Round> = taken.map(round).collect();
    let labels = |title: &str| Labels {
        title: title.to_owned(),
        description: format!("{}, median {}", row.name, formatted(row.unit, &value)),
        ..Labels::default()
    };
    let are_columns = runs.len() <= MAX_COLUMNS;
    let ecdf = || {
        let labels = Labels {
            runs: if are_columns { names(runs) } else { Vec::new() },
            ..labels("Cumulative distribution of the samples")
        };
        let chart = Chart::Ecdf(distributions(newest, are_columns));
        chart::draw(&chart, row.unit, &labels, Theme::Page)
    };
    let of_newest = |picture: &Markup, caption: &str, is_of_one_colour: bool| {
        figure_of(picture, caption, newest.run, runs, is_of_one_colour)
    };
    html! {
        @if !samples.is_empty() {
            @let caption = "Cumulative distribution of the samples that count; the axis ends at the 95th percentile";
            @if are_columns { (figure(&ecdf(), caption)) } @else { (of_newest(&ecdf(), caption, true)) }
            @let rounds = chart::rounds(&rounds, row.unit, &labels("Samples by round"));
            (of_newest(&rounds, "Each fresh process: range, middle half, median of the samples that count (pale: none of it does); what lies beyond the axis is drawn at its edge", true))
        }
        @if let Some(sharing) = Sharing::of(row) {
            @let picture = chart::against_ratio(&sharing, row.unit, &labels("Samples against the ratios of the probes around them"), Theme::Page);
            (of_newest(&picture, "Each sample against what probes of the core showed around it: up to the dashed line it counts as one on an own core; what lies beyond the axes is drawn at their edges", false))
        }
        @if !row.histogram.is_empty() {
            @let histogram = chart::histogram(&row.histogram, row.unit, &labels("Operations timed singly"));
            (of_newest(&histogram, "Operations timed singly, 99.8 % of them", true))
        }
        @if row.histogram.iter().map(|(_, count)| *count).sum::<u64>() >= Tail::P99.min_operations {
            @let tail = chart::tail(&row.histogram, row.unit, &labels("Share of operations that took longer"));
            (of_newest(&tail, "Share of the operations that took longer than a given time, with the tail spread out", true))
        }
    }
}

/// The samples of a row in each run that has some; else those of the newest alone.
fn distributions(row: &Row<'_>, of_all: bool) -> Vec<Distribution> {
    let of_runs = row.alike().enumerate();
    let of_runs = of_runs.filter(|(run, _)| of_all || *run == row.run);
    let distributions = of_runs.filter_map(|(run, measurement)| {
        let measurement = measurement?;
        let samples = chart::rows::samples(measurement);
        (!samples.is_empty()).then(|| Distribution {
            label: row.name.to_owned(),
            run: if of_all { run } else { 0 },
            value: value(measurement),
            samples,
        })
    });
    distributions.collect()
}

pub(super) fn figure(picture: &Markup, caption: &str) -> Markup {
    html! { figure { (picture) figcaption { (caption) } } }
}

/// A picture of one of several runs, which the caption names: in the colour of that run, if it has
/// one and the picture has a single colour.
pub(super) fn figure_of(
    picture: &Markup,
    caption: &str,
    run: usize,
    runs: &[&Run],
    is_of_one_colour: bool,
) -> Markup {
    let is_column = (2..=MAX_COLUMNS).contains(&runs.len());
    html! {
        figure class=[(is_column && is_of_one_colour).then(|| format!("of{run}"))] {
            (picture)
            figcaption { (caption) @if runs.len() > 1 { "; " (whose(run, runs)) } }
        }
    }
}

fn over_runs(row: &Row<'_>, runs: &[&Run]) -> Markup {
    let points = runs
        .iter()
        .zip(row.alike())
        .map(|(run, row)| (time(&run.started), row.and_then(value)))
        .collect();
    let chart = Chart::OverRuns {
        points,
        changes: Vec::new(),
    };
    let labels = Labels::titled(format!("{} over {} runs", row.name, runs.len()));
    let picture = chart::draw(&chart, row.unit(), &labels, Theme::Page);
    figure(
        &picture,
        "Median and 95 % interval of each run; the line is the median of all",
    )
}

/// A line through the medians of many runs, small enough for a table cell.
pub(super) fn sparkline(row: &Row<'_>) -> Markup {
    document::line(row.alike().map(|row| Some(value(row?)?.median)), row.unit())
}
