//! The table of a group: one run with all its columns, a few runs side by side, or many as lines.

use maud::{Markup, html};
use syscost_results::{Estimate, Measurement, Run, Status, Unit};

use crate::chart::{rows::value, told};
use crate::sentence::{self, Mark};
use crate::units::{self, Figures};

use super::headline::percent;
use super::rows::{Row, cycles, median};
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

    /// Only the table of one run can stand as a list where the screen is narrow.
    fn class(self) -> &'static str {
        match self {
            Shape::One => "rows one",
            _ => "rows",
        }
    }

    /// Columns beside the name.
    fn columns(self) -> usize {
        match self {
            Shape::One => 7,
            Shape::SideBySide(2) => 6,
            Shape::SideBySide(runs) => runs + 3,
            Shape::Many(_) => 8,
        }
    }
}

/// The table of one group's rows.
pub(super) fn table(group: &str, rows: &[&Row<'_>], runs: &[&Run]) -> Markup {
    let shape = Shape::of(runs.len());
    let measured = rows
        .iter()
        .filter(|row| median(row.latest).is_some())
        .count();
    html! {
        div class="box" tabindex="0" role="region" aria-label={ "Table of " (group) } {
            table class=(shape.class()) data-rows=(group) {
                caption { (group) ": " (measured) " of " (rows.len()) " measured"
                    span class="needs-script hint" { " · a name unfolds its evidence" } }
                thead { tr { (heading(shape)) } }
                @for (index, row) in rows.iter().enumerate() {
                    (body(shape, row, &format!("{group}-{index}"), runs))
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

fn heading(shape: Shape) -> Markup {
    html! {
        (column("operation", "name", None))
        @match shape {
            Shape::One => {
                (column("median", "num", None)) (column("± 95 %", "num", None)) (column("best", "num", None))
                (column("cycles", "num", None)) (axis(1))
                (column("evidence", "", None)) (column("flags", "", None))
            }
            Shape::SideBySide(runs) => {
                @for index in 0..runs { (column("median", "num", Some(key(index)))) }
                @if runs == 2 { (column("B / A", "num", None)) }
                (axis(runs))
                (column("evidence", "", None)) (column("flags", "", None))
            }
            Shape::Many(_) => {
                (column("last", "num", None)) (column("first", "num", None)) (column("lowest", "num", None))
                (column("highest", "num", None)) (column("spread", "num", None))
                th scope="col" class="plot" { "over the runs" }
                (column("evidence", "", None)) (column("flags", "", None))
            }
        }
    }
}

fn body(shape: Shape, row: &Row<'_>, id: &str, runs: &[&Run]) -> Markup {
    let latest = row.latest;
    let mark = Mark::of(&latest.evidence);
    let numbered = Figures::of(latest).is_some();
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
                    Shape::One => (one(latest)),
                    Shape::SideBySide(count) => (side_by_side(row, count)),
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
fn one(row: &Measurement) -> Markup {
    let Some(figures) = Figures::of(row) else {
        return html! { td class="none" colspan=(Shape::One.columns()) { (sentence::no_number(row)) } };
    };
    // Where there is only a bound nothing else may show, also to a reader of the source.
    let estimate = match row.status {
        Status::Ok => row.estimate.clone(),
        Status::AboveRange => Estimate {
            ci95_low: row.estimate.ci95_low,
            ..Estimate::default()
        },
        _ => Estimate {
            ci95_high: row.estimate.ci95_high,
            ..Estimate::default()
        },
    };
    let best = row.best().filter(|_| !figures.best.is_empty());
    let half = estimate
        .ci95_low
        .zip(estimate.ci95_high)
        .map(|(low, high)| high - low);
    let share = half
        .zip(estimate.median)
        .map(|(half, median)| half / median);
    html! {
        (cell(estimate.median.or(estimate.ci95_high).or(estimate.ci95_low), &html! {
            strong { (figures.median) } " " span class="unit" { (figures.unit) }
        }))
        (cell(share, &html! { (figures.half_width) }))
        (cell(best, &html! { (figures.best) }))
        (cell(cycles(row), &html! { (cycles(row).map(units::cycles).unwrap_or_default()) }))
        td class="plot" { (marks(&[Some(row)])) }
        td data-v=(Mark::of(&row.evidence) as u8) { (words::mark(&row.evidence)) }
        td class="flags" data-v=(row.flags.len()) { (words::flags(row)) }
    }
}

/// The cells of a row of a few runs.
fn side_by_side(row: &Row<'_>, count: usize) -> Markup {
    let medians: Vec<Option<f64>> = row.of_runs.iter().map(|row| row.and_then(median)).collect();
    html! {
        @for (measurement, median) in row.of_runs.iter().zip(&medians) {
            (cell(*median, &short(*measurement)))
        }
        @if count == 2 { (ratio(row, &medians)) }
        td class="plot" { (marks(&row.of_runs)) }
        td data-v=(Mark::of(&row.latest.evidence) as u8) {
            @for measurement in row.of_runs.iter().flatten().filter(|row| Figures::of(row).is_some()) { (words::mark(&measurement.evidence)) " " }
        }
        td class="flags" data-v=(row.of_runs.iter().flatten().map(|row| shown_flags(row)).sum::<usize>()) {
            @for (index, measurement) in row.of_runs.iter().enumerate() {
                @if let Some(measurement) = measurement.filter(|row| shown_flags(row) > 0) {
                    span class="of-run" { (key(index)) " " (words::first_flag(measurement)) " " }
                }
            }
        }
    }
}

/// How many flags of a row are told: those of a number.
fn shown_flags(row: &Measurement) -> usize {
    match Figures::of(row) {
        Some(_) => words::shown_flags(row).count(),
        None => 0,
    }
}

/// A run's number in little room, or its status.
fn short(row: Option<&Measurement>) -> Markup {
    let Some(row) = row else {
        return html! { span class="quiet" { "not in this run" } };
    };
    match Figures::of(row) {
        None => html! {
            span class="quiet" title=(sentence::no_number(row)) { (sentence::status(row.status)) }
        },
        Some(figures) => html! {
            strong { (figures.median) }
            @if !figures.half_width.is_empty() { span class="half" { (figures.side()) } }
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
        td class="flags" data-v=(shown_flags(row.latest)) { @if shown_flags(row.latest) > 0 { (words::first_flag(row.latest)) } }
    }
}

/// Half the width of the axis of the intervals, as a share of a row's median: an interval of a few percent is seen.
const REACH: f64 = 0.2;

/// The heading of the intervals: their axis is the same in every row, so the same width is the same uncertainty.
fn axis(runs: usize) -> Markup {
    let percent = format!("{:.0} %", 100.0 * REACH);
    let whose = if runs > 1 { "first median" } else { "median" };
    html! {
        th scope="col" class="plot" title={ "95 % intervals in shares of each row's own " (whose) "; an arrow: beyond the axis" } {
            span class="ends" { span { "−" (percent) } span { (whose) } span { "+" (percent) } }
        }
    }
}

/// Each run's interval as a bar and its median as a mark, in shares of the first median there is.
fn marks(of_runs: &[Option<&Measurement>]) -> Markup {
    let values = || {
        let values = of_runs.iter().enumerate();
        values.filter_map(|(index, row)| Some((index, row.as_ref()?.unit, value((*row)?)?)))
    };
    let Some(zero) = of_runs.iter().find_map(|row| value((*row)?)) else {
        return html! {};
    };
    // Nothing is a share of what is not above zero.
    if zero.median <= 0.0 {
        return html! {};
    }
    let share = |value: f64| (0.5 + (value / zero.median - 1.0) / (2.0 * REACH)).clamp(0.0, 1.0);
    html! {
        @for (index, unit, value) in values() {
            @let (low, high) = (value.low.unwrap_or(value.median), value.high.unwrap_or(value.median));
            @let title = format!("{} to {}", units::quantity(unit, low), units::quantity(unit, high));
            span class={ "ci s" (index) } title=(title) {
                b style="left:50%" {}
                span style={ "left:" (percent(share(low))) ";width:" (percent(share(high) - share(low))) } {}
                i style={ "left:" (percent(share(value.median))) } {}
                @if share(low) <= 0.0 { em class="below" {} }
                @if share(high) >= 1.0 { em class="above" {} }
            }
        }
    }
}
