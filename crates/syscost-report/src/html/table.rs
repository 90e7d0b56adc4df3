//! The table of a group: one run with all its columns, a few runs side by side, or many as lines.

use maud::{Markup, html};
use syscost_results::{Measurement, Run, Status, Unit};

use crate::chart::{Value, formatted};
use crate::markup::place;
use crate::sentence::{self, Mark};
use crate::units::{self, Figures};
use crate::view::{Cell, Column, RowView, value};

use super::cells::{cell, column, sortable};
use super::comparison::Changes;
use super::interval::{self, Interval};
use super::rows::{Row, median};
use super::{MAX_COLUMNS, details, key, words};

/// How the table shows runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    One,
    SideBySide(usize),
    /// The two sides of a comparison of more runs than have columns.
    Sides,
    Many,
}

impl Shape {
    pub(super) fn of(runs: usize, is_compared: bool) -> Self {
        match runs {
            0 | 1 => Shape::One,
            few if few <= MAX_COLUMNS => Shape::SideBySide(few),
            _ if is_compared => Shape::Sides,
            _ => Shape::Many,
        }
    }

    /// The CSS class, which labels the figures when the screen is too narrow for columns.
    fn class(self) -> &'static str {
        match self {
            Shape::One => "rows one",
            Shape::SideBySide(2) => "rows few two",
            Shape::SideBySide(_) => "rows few",
            Shape::Sides => "rows sides",
            Shape::Many => "rows many",
        }
    }
}

/// The table of one group's rows. `changes`: how they changed, if there are two runs.
pub(super) fn table(
    group: &str,
    rows: &[&Row<'_>],
    runs: &[&Run],
    changes: Option<&Changes<'_>>,
) -> Markup {
    let shape = Shape::of(runs.len(), changes.is_some());
    let measured = rows
        .iter()
        .filter(|row| row.medians().next().is_some())
        .count();
    html! {
        div class="box" tabindex="0" role="region" aria-label={ "Table of " (group) } {
            table class=(shape.class()) data-rows=(group) {
                caption { (group) ": " (measured) " of " (rows.len()) " measured"
                    span class="needs-script hint" { " · a row unfolds its evidence" } }
                thead { tr { (heading(shape, changes)) } }
                @for row in rows { (body(shape, row, changes)) }
            }
        }
    }
}

fn heading(shape: Shape, changes: Option<&Changes<'_>>) -> Markup {
    html! {
        (column("operation", "name", None))
        @match shape {
            Shape::One => {
                (column("median", "num", None)) (column("± 95 %", "num", None)) (column("best", "num", None))
                (column("cycles", "num", None)) (column(Column::Company.heading(), "num", None)) (axis(1))
                (column("evidence", "", None)) (column("flags", "flags", None))
            }
            Shape::SideBySide(runs) => {
                @for index in 0..runs { (column("median", "num", Some(key(index)))) }
                @if let Some(changes) = changes { (changes.heading()) }
                @if has_intervals(runs, changes.is_some()) { (axis(runs)) }
                (column("evidence", "", None)) (column("flags", "flags", None))
            }
            Shape::Sides => {
                @if let Some(changes) = changes {
                    (changes.medians_heading()) (changes.heading())
                }
            }
            Shape::Many => {
                (column("last", "num", None)) (column("first", "num", None)) (column("lowest", "num", None))
                (column("highest", "num", None)) (column("spread", "num", None))
                th scope="col" class="plot" { "over the runs" }
                (column("evidence", "", None)) (column("flags", "flags", None))
            }
        }
    }
}

/// A row; its details are in the page's data, in the same order.
fn body(shape: Shape, row: &Row<'_>, changes: Option<&Changes<'_>>) -> Markup {
    let latest = row.latest;
    let mark = Mark::of(&latest.evidence);
    let kind = match Figures::of(latest) {
        Some(_) => words::class(mark),
        None if latest.status == Status::Withheld => "withheld",
        None => "none",
    };
    let change = changes.map(|changes| changes.class(row.name));
    html! {
        tbody id=(place(row.name)) data-mark=(kind) data-change=[change] {
            tr class="row" {
                th scope="row" { (name(row)) }
                @match shape {
                    Shape::One => (one(latest)),
                    Shape::SideBySide(_) => (side_by_side(row, changes)),
                    Shape::Sides => @if let Some(changes) = changes { (changes.medians(row.name)) (changes.cells(row.name)) },
                    Shape::Many => (many(row)),
                }
            }
        }
    }
}

fn name(row: &Row<'_>) -> Markup {
    let case = row.case();
    html! {
        b { (row.operation()) }
        @if !case.is_empty() { " " span class="case" { (case) } }
    }
}

fn quantity(unit: Unit, value: Option<f64>) -> Markup {
    cell(
        value,
        &html! { (value.map(|value| units::quantity(unit, value)).unwrap_or_default()) },
    )
}

/// The cells of a single run's row.
fn one(row: &Measurement) -> Markup {
    let view = RowView::of(row);
    if let Some(reason) = view.no_number() {
        return html! { td class="none" colspan="8" { (reason) } };
    }
    let cell = |column| view.cell(column);
    let plain = |cell: &Cell| html! { td data-v=[cell.order.map(sortable)] { (cell.text) } };
    let (median, half_width) = (cell(Column::Median), cell(Column::HalfWidth));
    html! {
        td data-v=[median.order.map(sortable)] { strong { (median.text) } " " small { (cell(Column::Unit).text) } }
        // A plus sign marks the upper side alone.
        td class=[half_width.text.starts_with('+').then_some("up")] data-v=[half_width.order.map(sortable)] { (half_width.text) }
        (plain(&cell(Column::Best)))
        (plain(&cell(Column::Cycles)))
        (plain(&cell(Column::Company)))
        td { (intervals(&[Some(row)])) }
        td data-v=(view.mark as u8) { (words::mark(&row.evidence)) }
        td data-v=(view.flags().len()) { (words::flags(row)) }
    }
}

/// Whether there is room for the intervals of so many runs side by side: not beside a ratio of more
/// than two.
pub(super) fn has_intervals(runs: usize, is_compared: bool) -> bool {
    runs <= 2 || !is_compared
}

/// The cells of a row of a few runs.
fn side_by_side(row: &Row<'_>, changes: Option<&Changes<'_>>) -> Markup {
    let alike: Vec<Option<&Measurement>> = row.alike().collect();
    html! {
        @for (measurement, alike) in row.of_runs.iter().zip(&alike) {
            (cell(alike.and_then(median), &html! {
                (short(*measurement))
                @if measurement.is_some() && alike.is_none() { " " small class="quiet" { "other definition" } }
            }))
        }
        @if let Some(changes) = changes { (changes.cells(row.name)) }
        @if has_intervals(row.of_runs.len(), changes.is_some()) { td class="plot" { (intervals(&alike)) } }
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

/// Number of flags shown for a row; none without a number.
fn shown_flags(row: &Measurement) -> usize {
    RowView::of(row).flags().len()
}

/// A run's number in compact form, or its status.
fn short(row: Option<&Measurement>) -> Markup {
    match row {
        Some(row) => words::number(row),
        None => html! { span class="quiet" { "not in this run" } },
    }
}

/// The cells of a row of many runs.
fn many(row: &Row<'_>) -> Markup {
    let medians: Vec<f64> = row.medians().collect();
    let (Some(first), Some(last)) = (medians.first().copied(), medians.last().copied()) else {
        return html! { td class="none" colspan="8" { (sentence::no_number(row.latest)) } };
    };
    let lowest = medians.iter().copied().fold(first, f64::min);
    let highest = medians.iter().copied().fold(first, f64::max);
    let spread = (last != 0.0).then(|| 100.0 * (highest - lowest) / last.abs());
    let unit = row.unit();
    let newest = row.of_runs.last().copied().flatten();
    html! {
        (match newest.and_then(value) {
            Some(value) => cell(Some(last), &html! { strong { (formatted(unit, &value)) } }),
            None => cell(None, &short(newest)),
        })
        (quantity(unit, Some(first))) (quantity(unit, Some(lowest))) (quantity(unit, Some(highest)))
        (cell(spread, &html! { (spread.map(|spread| format!("{spread:.1} %")).unwrap_or_default()) }))
        td class="plot" { (details::sparkline(row)) }
        td data-v=(Mark::of(&row.latest.evidence) as u8) { (words::mark(&row.latest.evidence)) }
        td class="flags" data-v=(shown_flags(row.latest)) { @if shown_flags(row.latest) > 0 { (words::first_flag(row.latest)) } }
    }
}

/// Half the width of the intervals' axis, as a share of a row's median, so that an interval of a
/// few percent is visible.
const REACH: f64 = 0.2;

/// The heading of the intervals. Their axis is the same in every row, so equal widths are equal
/// uncertainties.
fn axis(runs: usize) -> Markup {
    let percent = format!("{:.0} %", 100.0 * REACH);
    let whose = if runs > 1 { "first median" } else { "median" };
    html! {
        th scope="col" class="plot" title={ "95 % intervals in shares of each row's own " (whose) "; an arrow: beyond the axis" } {
            span class="ends" { span { "−" (percent) } span { (whose) } span { "+" (percent) } }
        }
    }
}

/// Title of a picture without an interval.
const NO_INTERVAL: &str = "no interval";

/// Each run's median and interval, relative to the first available median.
fn intervals(of_runs: &[Option<&Measurement>]) -> Markup {
    let of = |row: &Option<&Measurement>| Some((row.as_ref()?.unit, value((*row)?)?));
    let zero = of_runs.iter().find_map(of).map(|(_, value)| value.median);
    // Shares need a positive median.
    let Some(zero) = zero.filter(|zero| *zero > 0.0) else {
        return html! {};
    };
    let along = |value: f64| 0.5 + (value / zero - 1.0) / (2.0 * REACH);
    let draw = |(run, (unit, value)): (usize, (Unit, Value))| {
        let ends = value.low.zip(value.high);
        let title = ends.map(|(low, high)| units::interval(unit, low, high));
        let interval = Interval {
            at: along(value.median),
            ends: ends.map(|(low, high)| (along(low), along(high))),
            class: &format!("s{run}"),
            title: title.as_deref().unwrap_or(NO_INTERVAL),
        };
        interval::draw(&interval, None)
    };
    let runs = of_runs.iter().enumerate();
    html! { @for picture in runs.filter_map(|(run, row)| Some(draw((run, of(row)?)))) { (picture) } }
}
