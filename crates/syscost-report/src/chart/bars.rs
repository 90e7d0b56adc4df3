//! A bar for each value.

use maud::Markup;
use syscost_results::{Estimate, Unit};

use crate::units::{Figures, quantity};

use super::{
    Bar, Begin, Frame, Scale, Theme, Value,
    canvas::{Canvas, Rect},
    named::Named,
};

/// Minimum height of a row: with its name beside it, and with its name above it.
const ROW: f64 = 24.0;
const ROW_BENEATH: f64 = 20.0;
/// Distance from the plot to the figures, which have a column of their own so that none covers a
/// mark.
const GAP: f64 = 14.0;
/// Height of a bar.
const BAR: f64 = 14.0;

pub(super) fn draw(bars: &[Bar], frame: &Frame<'_>) -> Markup {
    let labels: Vec<&str> = bars.iter().map(|bar| bar.label.as_str()).collect();
    let figures: Vec<Vec<String>> = bars
        .iter()
        .map(|bar| vec![formatted(frame.unit, &bar.value)])
        .collect();
    let row = match frame.theme {
        Theme::Page => ROW_BENEATH,
        Theme::Wide | Theme::Light | Theme::Dark => ROW,
    };
    let named = Named::new(&labels, &figures, (row, GAP), frame);
    let (plot, height) = (named.plot, named.height);
    let (mut canvas, top) = frame.canvas(height + 26.0);
    let scale = Scale::fit(
        bars.iter().flat_map(|bar| ends(&bar.value)),
        Begin::Zero,
        plot,
    );
    frame.horizontal_axis(&mut canvas, &scale, plot, (top, top + height));
    named.write(&mut canvas, top, frame);
    let middles: Vec<f64> = named.middles.iter().map(|middle| top + middle).collect();
    marks(&mut canvas, &scale, bars, plot.0, &middles, frame);
    canvas.finish(frame.labels, frame.theme)
}

/// Bars with their intervals, or dots where a bar's length would mean nothing. In a page all bars
/// (or dots) are one element, as the table shows their intervals; in a file each has a tooltip.
fn marks(
    canvas: &mut Canvas,
    scale: &Scale,
    bars: &[Bar],
    left: f64,
    middles: &[f64],
    frame: &Frame<'_>,
) {
    let is_dots = |bar: &Bar| scale.is_logarithmic() || bar.value.median < 0.0;
    let ends: Vec<(f64, f64)> = bars
        .iter()
        .zip(middles)
        .map(|(bar, y)| (scale.place(bar.value.median), *y))
        .collect();
    let of = |dots: bool| {
        let all = bars.iter().zip(&ends);
        all.filter(move |(bar, _)| is_dots(bar) == dots)
    };
    let points = |dots: bool| -> Vec<(f64, f64)> { of(dots).map(|(_, end)| *end).collect() };
    let stems: Vec<_> = points(true)
        .iter()
        .map(|(x, y)| ((left, *y), (*x, *y)))
        .collect();
    canvas.lines(&stems, "stem s0");
    if frame.theme == Theme::Page {
        canvas.bars(left, &points(false), BAR, "bar s0");
    } else {
        for (bar, (x, y)) in of(false) {
            let rect = Rect {
                radius: 2.0,
                title: tooltip(frame.unit, bar),
                ..Rect::default()
            };
            let size = ((x - left).max(1.0), BAR);
            canvas.rect((left, y - BAR / 2.0), size, "bar s0", &rect);
        }
    }
    for (dots, class) in [(true, "whisker s0"), (false, "whisker ink")] {
        let whiskers: Vec<_> = of(dots)
            .flat_map(|(bar, (_, y))| whisker(scale, &bar.value, *y))
            .collect();
        canvas.lines(&whiskers, class);
    }
    if frame.theme == Theme::Page {
        canvas.dots(&points(true), "dots s0");
        let hollow = of(true).filter(|(bar, _)| bar.value.has_no_interval());
        let hollow: Vec<(f64, f64)> = hollow.map(|(_, end)| *end).collect();
        canvas.dots(&hollow, "dots inner");
    } else {
        for (bar, end) in of(true) {
            let hollow = bar.value.has_no_interval();
            let class = if hollow { "dot open s0" } else { "dot s0" };
            canvas.dot(*end, 5.0, class, &tooltip(frame.unit, bar));
        }
    }
}

/// The interval as a line with end caps; empty without an interval.
pub(super) fn whisker(scale: &Scale, value: &Value, y: f64) -> Vec<((f64, f64), (f64, f64))> {
    let Some((low, high)) = value.low.zip(value.high) else {
        return Vec::new();
    };
    let (low, high) = (scale.place(low), scale.place(high));
    vec![
        ((low, y), (high, y)),
        ((low, y - 4.0), (low, y + 4.0)),
        ((high, y - 4.0), (high, y + 4.0)),
    ]
}

/// The values that an axis must include: the median and the interval's ends.
pub(super) fn ends(value: &Value) -> impl Iterator<Item = f64> {
    [Some(value.median), value.low, value.high]
        .into_iter()
        .flatten()
}

/// The value with its half width and unit, as the table shows it: `412 ± 33 ns`.
pub(crate) fn formatted(unit: Unit, value: &Value) -> String {
    let estimate = Estimate {
        median: Some(value.median),
        ci95_low: value.low,
        ci95_high: value.high,
        ..Estimate::default()
    };
    match Figures::new(unit, &estimate) {
        Some(figures) => format!("{} {}", figures.with_half_width(), figures.unit),
        None => quantity(unit, value.median),
    }
    .trim_end()
    .to_owned()
}

fn tooltip(unit: Unit, bar: &Bar) -> String {
    let interval = match (bar.value.low, bar.value.high) {
        (Some(low), Some(high)) => {
            format!(
                ", 95 % interval {} to {}",
                quantity(unit, low),
                quantity(unit, high)
            )
        }
        _ => String::new(),
    };
    format!(
        "{}: {}{interval}",
        bar.label,
        quantity(unit, bar.value.median)
    )
}
