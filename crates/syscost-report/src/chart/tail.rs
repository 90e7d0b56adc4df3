//! The tail of individually timed operations.

use super::frame::{ABOVE, BENEATH};
use super::{
    Begin, Frame, Scale,
    canvas::{Anchor, Canvas},
    caption::axis_title,
};

/// Height of a decade, in pixels.
const DECADE: f64 = 28.0;
/// A limit that no real run reaches: a document may claim any number of operations.
const MAX_DECADES: i32 = 12;
/// Steps of fewer pixels are invisible.
const SEEN: f64 = 0.7;

/// The share of the operations that took longer than a time, on a logarithmic axis: each decade
/// downwards is one more nine.
pub(super) fn draw(bins: &[(f64, u64)], frame: &Frame<'_>) -> Canvas {
    let total = bins.iter().map(|(_, count)| *count as f64).sum::<f64>();
    let decades = (total.max(10.0).log10().ceil() as i32).min(MAX_DECADES);
    let height = DECADE * f64::from(decades);
    let (mut canvas, top) = frame.canvas(ABOVE + height + BENEATH, None);
    let top = top + ABOVE;
    frame.title_above(&mut canvas, top, "share that took longer, logarithmic axis");
    let label = |decade: i32| format!("{} %", 100.0 / 10f64.powi(decade));
    let labels: Vec<String> = (0..=decades).map(label).collect();
    let (left, right) = frame.edges(labels.iter().map(String::as_str));
    let plot = (left, right - 26.0);
    let scale = Scale::fit(bins.iter().map(|(value, _)| *value), Begin::Near, plot);
    let axis = (&scale, axis_title(frame.unit));
    frame.horizontal_axis(&mut canvas, axis, plot, (top, top + height));
    for (decade, label) in (0..).zip(&labels) {
        let y = top + DECADE * f64::from(decade);
        canvas.line((left, y), (plot.1, y), "grid");
        canvas.text((left - 8.0, y + 4.0), "tick", Anchor::End, label);
    }
    let down = |share: f64| top + (-DECADE * share.log10()).clamp(0.0, height);
    let mut beyond = total;
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let mut last = (plot.0, top);
    for (index, (value, count)) in bins.iter().enumerate() {
        beyond -= *count as f64;
        let point = (scale.place(*value), down((beyond / total).max(0.0)));
        let moved = (point.0 - last.0).abs().max((point.1 - last.1).abs());
        if moved >= SEEN || index + 1 == bins.len() {
            steps.push(point);
            last = point;
        }
    }
    canvas.stairs((plot.0, top), &steps, "curve s0");
    canvas
}

#[cfg(test)]
mod tests {
    use super::super::{Labels, Theme};
    use super::*;
    use crate::expect::lacks;
    use insta::assert_snapshot;
    use syscost_results::Unit;

    fn svg(bins: &[(f64, u64)]) -> String {
        let labels = Labels::titled("Tail".to_owned());
        let frame = Frame::new(Unit::Nanoseconds, &labels, Theme::Page);
        let picture = frame.picture(|frame| draw(bins, frame));
        picture.into_string().replace("><", ">\n<")
    }

    #[test]
    fn each_decade_is_a_nine_more() {
        // Nine tenths at 1 µs, one hundredth beyond 10 µs, one in a thousand at 5 ms.
        let bins = [(1e3, 900), (1e4, 90), (1e5, 9), (5e6, 1)];
        assert_snapshot!(svg(&bins));
    }

    #[test]
    fn degenerate_bins_still_make_a_picture() {
        let many = vec![(1.0, 1_u64 << 50); 40];
        for bins in [&[][..], &[(f64::NAN, 3)], &[(5.0, 0)], &[(0.0, 300)], &many] {
            let picture = svg(bins);
            lacks(&picture, &["NaN", "inf"]);
        }
    }
}
