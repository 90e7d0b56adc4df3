//! A value in each of several runs.

use syscost_stats::order;

use super::{
    Begin, Frame, Scale, Value,
    bars::ends,
    canvas::{Anchor, Canvas, Shape, width_of},
    formatted,
    frame::ABOVE,
};

/// Height of the plot, in pixels.
const HEIGHT: f64 = 150.0;

pub(super) fn draw(
    points: &[(String, Option<Value>)],
    changes: &[usize],
    frame: &Frame<'_>,
) -> Canvas {
    // In a page the last run's time stands below the first's, as there is no room beside it.
    let beneath = if frame.is_narrow() { 14.0 } else { 0.0 };
    let plot_height = frame.plot_height(HEIGHT);
    let (mut canvas, top) = frame.canvas(ABOVE + plot_height + 26.0 + beneath, None);
    let top = top + ABOVE;
    let known = || points.iter().filter_map(|(_, value)| value.as_ref());
    let plot = (top + plot_height, top + 6.0);
    let scale = Scale::fit(known().flat_map(ends), Begin::Near, plot);
    let ticks = scale.ticks(frame.unit, 5);
    let (left, right) = frame.edges(ticks.iter().map(|(_, label)| label.as_str()));
    frame.vertical_axis(&mut canvas, &scale, 5, (left, right, top));
    let step = (right - left - 20.0) / points.len().saturating_sub(1).max(1) as f64;
    let across = |index: usize| left + 10.0 + step * index as f64;

    for &change in changes {
        let x = across(change) - step / 2.0;
        canvas.line((x, top), (x, top + plot_height), "axis change");
    }
    // The level between two changes is the median of its runs, as in the sentences beside the chart.
    let mut begin = 0;
    for &end in changes.iter().chain([&points.len()]) {
        let level: Vec<f64> = points
            .get(begin..end)
            .unwrap_or_default()
            .iter()
            .filter_map(|(_, value)| Some(value.as_ref()?.median))
            .collect();
        if let Some(level) = order::median(&level) {
            let y = scale.place(level);
            let (from, to) = (across(begin) - 6.0, across(end.max(1) - 1) + 6.0);
            canvas.line((from, y), (to, y), "stem s0");
        }
        begin = end;
    }
    let mut intervals = Vec::new();
    for (index, (started, value)) in points.iter().enumerate() {
        let Some(value) = value else { continue };
        let x = across(index);
        if let (Some(low), Some(high)) = (value.low, value.high) {
            intervals.push(((x, scale.place(low)), (x, scale.place(high))));
        }
        let at = (x, scale.place(value.median));
        canvas.marks(&[at], Shape::Circle, 3.0, value.has_no_interval(), "s0");
        let text = format!("{started}: {}", formatted(frame.unit, value));
        canvas.point(at, 0, text);
    }
    canvas.lines(&intervals, "thin s0");
    if let [(first, _), .., (last, _)] = points {
        let y = top + plot_height + 18.0;
        canvas.text((left, y), "tick", Anchor::Start, first);
        if beneath > 0.0 || width_of(first) + width_of(last) < right - left {
            canvas.text((right, y + beneath), "tick", Anchor::End, last);
        }
    }
    canvas
}
