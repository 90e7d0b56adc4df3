//! The table of a group: one run with all its columns, a few runs side by side, or many as lines.

use maud::{Markup, html};
use syscost_results::{Estimate, Measurement, Run, Status, Unit};

use crate::chart::{Begin, Scale, rows::value, told};
use crate::sentence::{self, Mark};
use crate::units;

use super::headline::percent;
use super::rows::{Row, cycles, figures, median};
use super::{MOST_COLUMNS, details, key, words};

/// How runs stand in the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    One,
    SideBySide(usize),
    Many(usize),
}

impl Shape {
    fn of(runs: usize) -> Self {
        match runs {
            0 | 1 => Shape::One,
            few if few <= MOST_COLUMNS => Shape::SideBySide(few),
            many => Shape::Many(many),
        }
    }

    /// Columns beside the name.
    fn columns(self) -> usize {
        match self {
            Shape::One => 7,
            Shape::SideBySide(2) => 5,
            Shape::SideBySide(runs) => runs + 2,
            Shape::Many(_) => 7,
        }
    }
}

/// The table of one group's rows.
pub(super) fn table(group: &str, rows: &[&Row<'_>], runs: &[&Run]) -> Markup {
    let shape = Shape::of(runs.len());
    let scales = Scales::new(rows);
    let measured = rows
        .iter()
        .filter(|row| median(row.latest).is_some())
        .count();
    html! {
        div class="box" tabindex="0" role="region" aria-label={ "Table of " (group) } {
            table class="rows" data-rows=(group) {
                caption { (group) ": " (measured) " of " (rows.len()) " measured"
                    span class="needs-script hint" { " · a name unfolds its evidence" } }
                thead { tr { (heading(shape, &scales)) } }
                @for (index, row) in rows.iter().enumerate() {
                    (body(shape, row, &scales, &format!("{group}-{index}"), runs))
                }
            }
        }
    }
}

/// A column's heading; with script it sorts.
fn column(text: &str, kind: &str, key: Option<Markup>) -> Markup {
    html! {
        th scope="col" class=(kind) aria-sort="none" {
            button type="button" class="sort" { @if let Some(key) = key { (key) " " } (text) }
        }
    }
}

fn heading(shape: Shape, scales: &Scales) -> Markup {
    html! {
        (column("operation", "name", None))
        @match shape {
            Shape::One => {
                (column("median", "num", None)) (column("± 95 %", "num", None)) (column("min", "num", None))
                (column("cycles", "num", None))
                th scope="col" class="plot" { (scales.axis()) }
                (column("evidence", "", None)) (column("flags", "", None))
            }
            Shape::SideBySide(runs) => {
                @for index in 0..runs { (column("median", "num", Some(key(index)))) }
                @if runs == 2 { (column("B / A", "num", None)) }
                th scope="col" class="plot" { (scales.axis()) }
                (column("evidence", "", None))
            }
            Shape::Many(_) => {
                (column("last", "num", None)) (column("first", "num", None)) (column("lowest", "num", None))
                (column("highest", "num", None)) (column("spread", "num", None))
                th scope="col" class="plot" { "over the runs" }
                (column("evidence", "", None))
            }
        }
    }
}

fn body(shape: Shape, row: &Row<'_>, scales: &Scales, id: &str, runs: &[&Run]) -> Markup {
    let latest = row.latest;
    let mark = Mark::of(&latest.evidence);
    let numbered = figures(latest).is_some();
    html! {
        tbody data-name=(row.name) data-text={ (row.name) " " (latest.title) }
            data-mark=(if numbered { words::class(mark) } else { "none" })
            data-flagged=[(numbered && !latest.flags.is_empty()).then_some("")] {
            tr class="row" {
                th scope="row" class="name" {
                    button type="button" class="more needs-script" aria-expanded="false" aria-controls={ "d-" (id) } { (name(row)) }
                    noscript { (name(row)) }
                }
                @match shape {
                    Shape::One => (one(latest, scales)),
                    Shape::SideBySide(count) => (side_by_side(row, scales, count)),
                    Shape::Many(_) => (many(row)),
                }
            }
            tr class="detail" id={ "d-" (id) } hidden {
                td colspan=(1 + shape.columns()) { (details::details(row, runs)) }
            }
        }
    }
}

fn name(row: &Row<'_>) -> Markup {
    let case = row.case();
    html! {
        span class="operation" { (row.operation()) }
        @if !case.is_empty() { " " span class="case" { (case) } }
    }
}

/// A cell that sorts by this value.
fn cell(value: Option<f64>, content: &Markup) -> Markup {
    html! { td class="num" data-v=[value.map(|value| format!("{value:e}"))] { (content) } }
}

fn quantity(unit: Unit, value: Option<f64>) -> Markup {
    cell(
        value,
        &html! { (value.map(|value| units::quantity(unit, value)).unwrap_or_default()) },
    )
}

/// The cells of a single run's row.
fn one(row: &Measurement, scales: &Scales) -> Markup {
    let Some(figures) = figures(row) else {
        return html! { td class="none" colspan=(Shape::One.columns()) { (sentence::no_number(row)) } };
    };
    // Below resolution only the bound may show, also to a reader of the source.
    let estimate = match row.status {
        Status::Ok => row.estimate.clone(),
        _ => Estimate {
            ci95_high: row.estimate.ci95_high,
            ..Estimate::default()
        },
    };
    let half = estimate
        .ci95_low
        .zip(estimate.ci95_high)
        .map(|(low, high)| high - low);
    let share = half
        .zip(estimate.median)
        .map(|(half, median)| half / median);
    html! {
        (cell(estimate.median.or(estimate.ci95_high), &html! {
            strong { (figures.median) } " " span class="unit" { (figures.unit) }
        }))
        (cell(share, &html! { (figures.half_width) }))
        (cell(estimate.min, &html! { (figures.min) }))
        (cell(cycles(row), &html! { (cycles(row).map(units::cycles).unwrap_or_default()) }))
        td class="plot" { (scales.marks(&[Some(row)])) }
        td data-v=(Mark::of(&row.evidence) as u8) { (words::mark(&row.evidence)) }
        td class="flags" data-v=(row.flags.len()) { (words::flags(row)) }
    }
}

/// The cells of a row of a few runs.
fn side_by_side(row: &Row<'_>, scales: &Scales, count: usize) -> Markup {
    let medians: Vec<Option<f64>> = row.of_runs.iter().map(|row| row.and_then(median)).collect();
    html! {
        @for (measurement, median) in row.of_runs.iter().zip(&medians) {
            (cell(*median, &short(*measurement)))
        }
        @if count == 2 { (ratio(row, &medians)) }
        td class="plot" { (scales.marks(&row.of_runs)) }
        td data-v=(Mark::of(&row.latest.evidence) as u8) {
            @for measurement in row.of_runs.iter().flatten().filter(|row| figures(row).is_some()) { (words::mark(&measurement.evidence)) " " }
        }
    }
}

/// A run's number in little room, or its status.
fn short(row: Option<&Measurement>) -> Markup {
    let Some(row) = row else {
        return html! { span class="quiet" { "not in this run" } };
    };
    match figures(row) {
        None => html! {
            span class="quiet" title=(sentence::no_number(row)) { (sentence::status(row.status)) }
        },
        Some(figures) => html! {
            strong { (figures.median) }
            @if !figures.half_width.is_empty() { span class="half" { " ± " (figures.half_width) } }
            " " span class="unit" { (figures.unit) }
        },
    }
}

/// Second by first run, quiet where the intervals overlap.
fn ratio(row: &Row<'_>, medians: &[Option<f64>]) -> Markup {
    let &[Some(a), Some(b)] = medians else {
        return cell(None, &html! {});
    };
    if a <= 0.0 || b <= 0.0 {
        return cell(None, &html! {});
    }
    let ends = |index: usize| {
        let estimate = &row.of_runs[index]?.estimate;
        estimate.ci95_low.zip(estimate.ci95_high)
    };
    let apart = ends(0)
        .zip(ends(1))
        .is_some_and(|((low_a, high_a), (low_b, high_b))| high_a < low_b || high_b < low_a);
    let title = match apart {
        true => "the intervals are apart; `syscost compare` tells whether that is more than chance",
        false => "the intervals overlap",
    };
    let class = if apart { "apart" } else { "quiet" };
    cell(
        Some(b / a),
        &html! { span class=(class) title=(title) { (format!("{:.3}", b / a)) } },
    )
}

/// The cells of a row of many runs.
fn many(row: &Row<'_>) -> Markup {
    let medians: Vec<f64> = row.medians().collect();
    let (Some(first), Some(last)) = (medians.first().copied(), medians.last().copied()) else {
        return html! { td class="none" colspan=(Shape::Many(0).columns()) { (sentence::no_number(row.latest)) } };
    };
    let lowest = medians.iter().copied().fold(first, f64::min);
    let highest = medians.iter().copied().fold(first, f64::max);
    let spread = (last != 0.0).then(|| 100.0 * (highest - lowest) / last.abs());
    let unit = row.unit();
    html! {
        (match value(row.latest) {
            Some(value) => cell(Some(last), &html! { strong { (told(unit, &value)) } }),
            None => cell(None, &html! {
                span class="quiet" title=(sentence::no_number(row.latest)) { (sentence::status(row.latest.status)) }
            }),
        })
        (quantity(unit, Some(first))) (quantity(unit, Some(lowest))) (quantity(unit, Some(highest)))
        (cell(spread, &html! { (spread.map(|spread| format!("{spread:.1} %")).unwrap_or_default()) }))
        td class="plot" { (details::sparkline(row)) }
        td data-v=(Mark::of(&row.latest.evidence) as u8) { (words::mark(&row.latest.evidence)) }
    }
}

/// An axis for each unit of a group, so that rows compare by eye.
struct Scales(Vec<(Unit, Scale)>);

impl Scales {
    fn new(rows: &[&Row<'_>]) -> Self {
        let mut units: Vec<Unit> = Vec::new();
        for row in rows {
            if !units.contains(&row.unit()) {
                units.push(row.unit());
            }
        }
        let scale = |unit: Unit| {
            let rows = rows.iter().filter(|row| row.unit() == unit);
            let values = rows
                .flat_map(|row| row.of_runs.iter().flatten())
                .filter_map(|row| value(row));
            let ends = values.flat_map(|value| [Some(value.median), value.low, value.high]);
            // One level below zero must not take the logarithmic axis from all others: it lies at the left edge.
            let ends: Vec<f64> = ends.flatten().filter(|end| *end > 0.0).collect();
            (unit, Scale::fit(ends, Begin::Zero, (0.0, 1.0)))
        };
        let count = |unit: Unit| rows.iter().filter(|row| row.unit() == unit).count();
        units.sort_by_key(|unit| std::cmp::Reverse(count(*unit)));
        Scales(units.into_iter().map(scale).collect())
    }

    /// From where to where the axis of the commonest unit goes.
    fn axis(&self) -> String {
        let Some((unit, scale)) = self.0.first() else {
            return String::new();
        };
        let end = |share| units::quantity(*unit, scale.value(share));
        let kind = if scale.is_logarithmic() { ", log" } else { "" };
        format!("{} to {}{kind}", end(0.0), end(1.0))
    }

    /// Each run's interval as a bar and its median as a dot.
    fn marks(&self, of_runs: &[Option<&Measurement>]) -> Markup {
        html! {
            @for (index, row) in of_runs.iter().enumerate() {
                @if let Some((row, value)) = row.and_then(|row| Some((row, value(row)?))) {
                    @if let Some((_, scale)) = self.0.iter().find(|(unit, _)| *unit == row.unit) {
                        @let (low, high) = (value.low.unwrap_or(value.median), value.high.unwrap_or(value.median));
                        span class={ "ci s" (index) } {
                            span style={ "left:" (percent(scale.share(low))) ";width:" (percent(scale.share(high) - scale.share(low))) } {}
                            i style={ "left:" (percent(scale.share(value.median))) } {}
                        }
                    }
                }
            }
        }
    }
}
