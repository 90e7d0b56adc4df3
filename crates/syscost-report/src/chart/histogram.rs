//! Histograms of individually timed operations.

use super::caption::{axis_name, axis_title};
use super::frame::{ABOVE, BENEATH};
use super::{
    Begin, Frame, Scale,
    canvas::{Anchor, Canvas},
};

/// Height of the plot, in pixels: of the bulk of the operations, and of all of them.
const HEIGHT: f64 = 80.0;
const HEIGHT_OF_ALL: f64 = 190.0;
/// Maximum number of columns; more bins than that are merged.
const COLUMNS: usize = 70;
/// Quantiles of all operations that the axis of the bulk covers, as shares.
const SHOWN: (f64, f64) = (0.001, 0.999);

/// The bulk of the operations, as a compact picture.
pub(super) fn draw(bins: &[(f64, u64)], frame: &Frame<'_>) -> Canvas {
    let (mut canvas, top) = frame.canvas(HEIGHT + BENEATH, None);
    let (left, right) = frame.edges(std::iter::empty());
    // Room for half a tick label at both ends.
    let (left, right) = (left + 14.0, right - 26.0);
    let (shown, note) = shown(bins);
    let values = shown.iter().map(|(value, _)| *value);
    let scale = Scale::fit(values, Begin::Near, (left, right));
    let axis = (&scale, axis_title(frame.unit));
    frame.horizontal_axis(&mut canvas, axis, (left, right), (top, top + HEIGHT));
    let columns = columns(&shown, &scale);
    let highest = columns.iter().copied().max().unwrap_or(1).max(1) as f64;
    let height = |count: u64| (count as f64 / highest * (HEIGHT - 6.0)).max(1.0);
    canvas.path(
        &path(&columns, (left, right), top + HEIGHT, height),
        "bar s0",
    );
    if let Some(note) = note {
        canvas.text((right, top + 10.0), "tick", Anchor::End, &note);
    }
    canvas
}

/// All operations: what few of them took stands beside what nearly all of them took, as the axis of
/// the counts is logarithmic where they differ much.
pub(super) fn all(bins: &[(f64, u64)], frame: &Frame<'_>) -> Canvas {
    let (mut canvas, top) = frame.canvas(ABOVE + frame.plot_height(HEIGHT_OF_ALL) + BENEATH, None);
    let top = top + ABOVE;
    let bottom = top + frame.plot_height(HEIGHT_OF_ALL);
    let highest = bins.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let (left, right) = frame.edges([highest.to_string().as_str()].into_iter());
    let values = bins.iter().map(|(value, _)| *value);
    let scale = Scale::fit(values, Begin::Near, (left, right - 14.0));
    let columns = columns(bins, &scale);
    // A single operation has a height, too.
    let counts = columns.iter().filter(|count| **count > 0);
    let counts = counts.flat_map(|count| [*count as f64, 0.5]);
    let up = Scale::fit(counts, Begin::Zero, (bottom, top));
    let ticks = up.ticks(syscost_results::Unit::Count, 6);
    let whole = ticks.iter().filter(|(value, _)| value.fract() == 0.0);
    for (value, label) in whole {
        let y = up.place(*value);
        canvas.line((left, y), (right, y), "grid");
        canvas.text((left - 8.0, y + 4.0), "tick", Anchor::End, label);
    }
    let axis = (&scale, axis_title(frame.unit));
    frame.horizontal_axis(&mut canvas, axis, (left, right), (top, bottom));
    let height = |count: u64| bottom - up.place(count as f64);
    canvas.path(
        &path(&columns, (left, right - 14.0), bottom, height),
        "bar s0",
    );
    frame.title_above(&mut canvas, top, &axis_name("how many", &up));
    canvas
}

/// How many operations there are in each column of an axis.
fn columns(bins: &[(f64, u64)], scale: &Scale) -> [u64; COLUMNS] {
    let mut columns = [0; COLUMNS];
    for (value, count) in bins {
        let column = (scale.share(*value) * COLUMNS as f64) as usize;
        columns[column.min(COLUMNS - 1)] += count;
    }
    columns
}

/// The columns' bars, on this bottom.
fn path(
    columns: &[u64],
    (left, right): (f64, f64),
    bottom: f64,
    height: impl Fn(u64) -> f64,
) -> String {
    let step = (right - left) / COLUMNS as f64;
    let all = columns.iter().enumerate().filter(|(_, count)| **count > 0);
    let bars = all.map(|(column, count)| {
        let (x, height) = (left + step * column as f64, height(*count));
        let wide = step - 1.0;
        format!("M{x:.1} {bottom:.1}v{:.1}h{wide:.1}v{height:.1}z", -height)
    });
    bars.collect()
}

/// The bins within the axis, and a note on how many operations lie beyond it.
pub(super) fn shown(bins: &[(f64, u64)]) -> (Vec<(f64, u64)>, Option<String>) {
    let total: u64 = bins.iter().map(|(_, count)| count).sum();
    let mut below = 0;
    let shown = bins.iter().copied().filter(|(_, count)| {
        let share = below as f64 / total.max(1) as f64;
        below += count;
        below as f64 / total.max(1) as f64 > SHOWN.0 && share < SHOWN.1
    });
    let shown: Vec<(f64, u64)> = shown.collect();
    let drawn: u64 = shown.iter().map(|(_, count)| count).sum();
    let share = 100.0 * (total - drawn) as f64 / total.max(1) as f64;
    let note = (drawn < total).then(|| format!("{share:.2} % of {total} lie beyond the axis"));
    (shown, note)
}

#[cfg(test)]
mod tests {
    use crate::chart::{Labels, Theme, histogram_of_all};
    use crate::expect::has;
    use syscost_results::Unit;

    #[test]
    fn a_few_long_ones_are_seen_beside_many_short_ones_and_both_axes_are_named() {
        let bins = [(1e3, 98_000), (10e3, 18), (244e3, 1)];
        let labels = Labels::default();
        let svg = histogram_of_all(&bins, Unit::Nanoseconds, &labels, Theme::Page).into_string();
        has(&svg, &["time per operation, logarithmic axis"]);
        assert!(svg.contains("how many, logarithmic axis"), "{svg}");
        let path = svg.split("class=\"bar").next().expect("bars");
        let path = path.rsplit("d=\"").next().expect("a path");
        let heights = path.split('M').skip(1).map(|bar| {
            let height = bar.split_once("v-").expect("up").1;
            height.split('h').next().expect("its height").parse::<f64>()
        });
        let heights: Vec<f64> = heights.map(|height| height.expect("a number")).collect();
        assert!(
            heights.len() == 3 && heights.iter().all(|height| *height > 5.0),
            "{heights:?}"
        );
        let few = [(1.0, 3), (2.0, 4)];
        let svg = histogram_of_all(&few, Unit::Nanoseconds, &labels, Theme::Page).into_string();
        assert!(!svg.contains("logarithmic"), "{svg}");
    }
}
