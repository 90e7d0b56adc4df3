//! A bar for each value.

use maud::Markup;
use syscost_results::{Estimate, Unit};

use crate::units::{Figures, quantity};

use super::{
    Bar, Begin, Frame, Scale, Value,
    canvas::{Anchor, Canvas, Rect, width_of},
    places,
};

/// Least height of a row.
const ROW: f64 = 24.0;

pub(super) fn draw(bars: &[Bar], frame: &Frame<'_>) -> Markup {
    let labels: Vec<Vec<String>> = bars.iter().map(|bar| frame.fitting(&bar.label)).collect();
    let (middles, height) = places(&labels, ROW);
    let (mut canvas, top) = frame.canvas(height + 26.0);
    let values: Vec<String> = bars
        .iter()
        .map(|bar| told(frame.unit, &bar.value))
        .collect();
    let (left, right) = frame.edges(labels.iter().flatten().map(String::as_str));
    // The figures stand in a column of their own, so that none covers a mark.
    let column = values.iter().map(|text| width_of(text)).fold(0.0, f64::max) + 14.0;
    let plot = (left, right - column);
    let scale = Scale::fit(
        bars.iter().flat_map(|bar| ends(&bar.value)),
        Begin::Zero,
        plot,
    );
    frame.horizontal_axis(&mut canvas, &scale, plot, (top, top + height));
    for (index, bar) in bars.iter().enumerate() {
        let middle = top + middles[index];
        frame.name(&mut canvas, (left - 12.0, middle), &labels[index]);
        canvas.text((right, middle + 4.0), "value", Anchor::End, &values[index]);
        mark(
            &mut canvas,
            &scale,
            &bar.value,
            left,
            middle,
            &tooltip(frame.unit, bar),
        );
    }
    canvas.finish(frame.labels, frame.theme)
}

fn mark(canvas: &mut Canvas, scale: &Scale, value: &Value, left: f64, y: f64, title: &str) {
    let x = scale.place(value.median);
    if scale.is_logarithmic() || value.median < 0.0 {
        canvas.line((left, y), (x, y), "stem s0");
        whisker(canvas, scale, value, y, "whisker s0");
        canvas.dot((x, y), 5.0, "dot s0", title);
        return;
    }
    let rect = Rect {
        radius: 2.0,
        title: title.to_owned(),
        ..Rect::default()
    };
    canvas.rect(
        (left, y - 7.0),
        ((x - left).max(1.0), 14.0),
        "bar s0",
        &rect,
    );
    whisker(canvas, scale, value, y, "whisker ink");
}

/// The interval as a line with ends.
fn whisker(canvas: &mut Canvas, scale: &Scale, value: &Value, y: f64, class: &str) {
    if let (Some(low), Some(high)) = (value.low, value.high) {
        let (low, high) = (scale.place(low), scale.place(high));
        for (from, to) in [
            ((low, y), (high, y)),
            ((low, y - 4.0), (low, y + 4.0)),
            ((high, y - 4.0), (high, y + 4.0)),
        ] {
            canvas.line(from, to, class);
        }
    }
}

/// The numbers an axis must hold.
pub(super) fn ends(value: &Value) -> impl Iterator<Item = f64> {
    [Some(value.median), value.low, value.high]
        .into_iter()
        .flatten()
}

/// `412 ± 33 ns`, as the table says it.
pub(crate) fn told(unit: Unit, value: &Value) -> String {
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
