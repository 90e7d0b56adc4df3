//! A histogram of individually timed operations.

use maud::Markup;

use super::{Begin, Frame, Scale, canvas::Anchor};

/// Height of the plot.
const HEIGHT: f64 = 80.0;
/// Maximum number of columns; more bins than that are merged.
const COLUMNS: usize = 70;
/// Quantiles of all operations that the axis covers.
const SHOWN: (f64, f64) = (0.001, 0.999);

pub(super) fn draw(bins: &[(f64, u64)], frame: &Frame<'_>) -> Markup {
    let (mut canvas, top) = frame.canvas(HEIGHT + 26.0);
    let (left, right) = frame.edges(std::iter::empty());
    // Room for half a tick label at both ends.
    let (left, right) = (left + 14.0, right - 26.0);
    let (shown, note) = shown(bins);
    let scale = Scale::fit(
        shown.iter().map(|(value, _)| *value),
        Begin::Near,
        (left, right),
    );
    frame.horizontal_axis(&mut canvas, &scale, (left, right), (top, top + HEIGHT));
    let mut columns = [0; COLUMNS];
    for (value, count) in &shown {
        let column = (scale.share(*value) * COLUMNS as f64) as usize;
        columns[column.min(COLUMNS - 1)] += count;
    }
    let highest = columns.iter().copied().max().unwrap_or(1).max(1) as f64;
    let step = (right - left) / COLUMNS as f64;
    let mut path = String::new();
    for (column, count) in columns.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = (*count as f64 / highest * (HEIGHT - 6.0)).max(1.0);
        let x = left + step * column as f64;
        path.push_str(&format!(
            "M{x:.1} {:.1}v{:.1}h{:.1}v{:.1}z",
            top + HEIGHT,
            -height,
            step - 1.0,
            height
        ));
    }
    if !path.is_empty() {
        canvas.path(&path, "bar s0");
    }
    if let Some(note) = note {
        canvas.text((right, top + 10.0), "tick", Anchor::End, &note);
    }
    canvas.finish(frame.labels, frame.theme)
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
