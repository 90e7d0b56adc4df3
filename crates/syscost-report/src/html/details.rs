//! What unfolds beneath a row: evidence, flags, samples, explanation.

use maud::{Markup, html};
use syscost_results::estimate::Tail;
use syscost_results::{Measurement, Run, Status, Unit};

use crate::chart::{self, Begin, Chart, Distribution, Labels, Scale, Theme, rows::value, told};
use crate::sentence::{self, Mark};
use crate::units::{self, Figures};

use super::rows::{Row, cycles};
use super::{MOST_COLUMNS, key, words};

/// Rounds drawn at most.
const ROUNDS: usize = 30;

/// The details of a row; of several runs, each run's figures and the newest one's evidence.
pub(super) fn details(row: &Row<'_>, runs: &[&Run]) -> Markup {
    let latest = row.latest;
    html! {
        div class="details" {
            div {
                p { strong { (latest.title) } " " code { (row.name) }
                    " · " a href={ "#about-" (latest.id) } { "what it measures and how to read it" } }
                @if Figures::of(latest).is_none() { p class="reason" { (sentence::no_number(latest)) } }
                @if runs.len() > 1 { (by_run(row, runs)) }
                (evidence(latest, runs.len() > 1))
                (notes(latest))
            }
            div class="pictures" {
                @if runs.len() > MOST_COLUMNS { (over_runs(row, runs)) }
                (pictures(latest))
                div class="explain" data-about=(latest.id) {}
            }
        }
    }
}

fn evidence(row: &Measurement, several: bool) -> Markup {
    html! {
        @if row.evidence.is_empty() {
            p class="quiet" { "No evidence was taken." }
        } @else {
            table class="evidence" {
                caption { "Evidence" @if several { " of the last run" } }
                thead { tr {
                    th scope="col" { "verdict" } th scope="col" { "claim" } th scope="col" { "expected" }
                    th scope="col" { "observed" } th scope="col" { "counted by" }
                } }
                tbody {
                    @for one in &row.evidence {
                        @let mark = Mark::of(std::slice::from_ref(one));
                        tr {
                            td { span class={ "mark " (words::class(mark)) } { (mark.sign()) span class="word" { " " (words::word(mark)) } } }
                            th scope="row" { (one.claim) @if let Some(reason) = &one.reason { span class="quiet" { ": " (reason) } } }
                            td { (one.expected) }
                            td { @match &one.observed { Some(observed) => (observed), None => "–" } }
                            td { (one.source) }
                        }
                    }
                }
            }
        }
    }
}

/// Flags in words and the numbers that have no column.
fn notes(row: &Measurement) -> Markup {
    let mut facts: Vec<(String, String)> = Vec::new();
    // A bound is all that may be told below resolution, and nothing of a row without a number.
    if row.status == Status::Ok {
        let estimate = &row.estimate;
        for (name, value) in [
            ("interval from", estimate.ci95_low),
            ("interval to", estimate.ci95_high),
            ("99th percentile", estimate.p99),
            (
                "before overhead was taken off",
                estimate
                    .raw_median
                    .filter(|_| estimate.raw_median != estimate.median),
            ),
            ("spread of processes (MAD)", estimate.mad),
        ] {
            facts.extend(value.map(|value| (name.to_owned(), units::quantity(row.unit, value))));
        }
        facts.extend(estimate.coverage.map(|coverage| {
            (
                "interval covers".to_owned(),
                format!("{:.1} %", 100.0 * coverage),
            )
        }));
        facts.extend(sentence::undisturbed(row).and_then(|text| {
            let (name, value) = text.split_once(' ')?;
            Some((name.to_owned(), value.to_owned()))
        }));
        facts.extend(
            row.details
                .iter()
                .map(|(name, value)| (name.clone(), format!("{}", (value * 1e4).round() / 1e4))),
        );
    }
    html! {
        @if Figures::of(row).is_some() {
            @if !row.flags.is_empty() {
                ul class="flag-list" {
                    @for flag in &row.flags {
                        @let (short, meaning) = sentence::flag(*flag);
                        li { span class="flag" { (short) } " " (meaning) }
                    }
                }
            }
            p class="quiet" { (sentence::samples(row))
                @for (name, value) in &facts { " · " (name) " " (value) } }
        }
    }
}

/// The distribution of a row's samples: all together, and round by round.
fn pictures(row: &Measurement) -> Markup {
    let (Some(value), samples) = (value(row), chart::rows::samples(row)) else {
        return html! {};
    };
    let rounds: Vec<(String, Vec<f64>)> = row
        .samples
        .iter()
        .flatten()
        .filter(|round| !round.values.is_empty())
        .take(ROUNDS)
        .map(|round| (format!("round {}", round.round), round.values.clone()))
        .collect();
    let labels = |title: &str| Labels {
        title: title.to_owned(),
        description: format!("{}, median {}", row.name, told(row.unit, &value)),
        source: String::new(),
    };
    let ecdf = || {
        let distribution = Distribution {
            label: row.name.clone(),
            value: Some(value),
            samples: samples.clone(),
        };
        let labels = labels("Share of samples that cost at most so much");
        chart::draw(
            &Chart::Ecdf(vec![distribution]),
            row.unit,
            &labels,
            Theme::Page,
        )
    };
    html! {
        @if !samples.is_empty() {
            (figure(&ecdf(), "Share of all samples that are at most so much; the axis ends at the 95th percentile"))
            @let rounds = chart::rounds(&rounds, row.unit, &labels("Samples by round"));
            (figure(&rounds, "Each fresh process: range, middle half, median; what lies beyond the axis is drawn at its edge"))
        }
        @if !row.histogram.is_empty() {
            @let histogram = chart::histogram(&row.histogram, row.unit, &labels("Operations timed singly"));
            (figure(&histogram, "Operations timed singly, 99.8 % of them"))
        }
        @if row.histogram.iter().map(|(_, count)| *count).sum::<u64>() >= Tail::P99.least {
            @let tail = chart::tail(&row.histogram, row.unit, &labels("Share of operations that took longer"));
            (figure(&tail, "Which share of them took longer than so much: all, with the tail spread out"))
        }
    }
}

/// A picture with its caption in a box of its own.
pub(super) fn figure(picture: &Markup, caption: &str) -> Markup {
    html! { figure { (picture) figcaption { (caption) } } }
}

/// A row's figures in each run.
fn by_run(row: &Row<'_>, runs: &[&Run]) -> Markup {
    let columns = runs.len() <= MOST_COLUMNS;
    html! {
        div class="by-run" tabindex="0" role="region" aria-label={ (row.name) " in each run" } {
            table class="evidence" {
                caption { "In each run" }
                thead { tr {
                    th scope="col" { "run" } th scope="col" { "median" }
                    @if columns {
                        th scope="col" { "best" } th scope="col" { "cycles" } th scope="col" { "flags" }
                    }
                    th scope="col" { "evidence" }
                } }
                tbody {
                    @for (index, (run, measurement)) in runs.iter().zip(&row.of_runs).enumerate() {
                        tr {
                            th scope="row" { @if columns { (key(index)) " " } (words::time(&run.started)) }
                            @match measurement {
                                None => td colspan="5" class="quiet" { "not in this run" },
                                Some(measurement) => (run_cells(measurement, columns)),
                            }
                        }
                    }
                }
            }
        }
    }
}

fn run_cells(row: &Measurement, all: bool) -> Markup {
    let Some(figures) = Figures::of(row) else {
        return html! { td colspan="5" class="none" { (sentence::no_number(row)) } };
    };
    html! {
        td { (figures.with_half_width()) " " (figures.unit) }
        @if all {
            td { (figures.best) }
            td { (cycles(row).map(units::cycles).unwrap_or_default()) }
            td { (words::flags(row)) }
        }
        td { (Mark::of(&row.evidence).sign()) }
    }
}

fn over_runs(row: &Row<'_>, runs: &[&Run]) -> Markup {
    let points = runs
        .iter()
        .zip(&row.of_runs)
        .map(|(run, row)| (words::time(&run.started), row.and_then(value)))
        .collect();
    let chart = Chart::OverRuns {
        points,
        changes: Vec::new(),
    };
    let labels = Labels {
        title: format!("{} over {} runs", row.name, runs.len()),
        ..Labels::default()
    };
    let picture = chart::draw(&chart, row.unit(), &labels, Theme::Page);
    figure(
        &picture,
        "Median and 95 % interval of each run; the line is the median of all",
    )
}

/// A line through the medians of many runs, small enough for a cell.
pub(super) fn sparkline(row: &Row<'_>) -> Markup {
    line(
        row.of_runs
            .iter()
            .map(|row| row.and_then(value).map(|value| value.median)),
        row.unit(),
    )
}

/// A line through values, gaps left out, with the range in words.
pub(super) fn line(values: impl Iterator<Item = Option<f64>> + Clone, unit: Unit) -> Markup {
    let known = || values.clone().flatten();
    let scale = Scale::fit(known(), Begin::Near, (21.0, 3.0));
    let step = 156.0 / values.clone().count().saturating_sub(1).max(1) as f64;
    let points: Vec<String> = values
        .clone()
        .enumerate()
        .filter_map(|(index, value)| {
            Some(format!(
                "{:.0},{:.0}",
                2.0 + step * index as f64,
                scale.place(value?)
            ))
        })
        .collect();
    let low = known().fold(f64::INFINITY, f64::min);
    let high = known().fold(f64::NEG_INFINITY, f64::max);
    html! {
        @if low <= high {
            svg class="sparkline" viewBox="0 0 160 24" role="img"
                aria-label={ "from " (units::quantity(unit, low)) " to " (units::quantity(unit, high)) } {
                polyline points=(points.join(" ")) class="curve s0" {}
            }
        }
    }
}
