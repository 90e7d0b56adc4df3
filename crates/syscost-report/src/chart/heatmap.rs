//! A cell for each pair of two parameters.

use maud::Markup;

use crate::units::quantity;

use super::{
    Begin, Frame, Scale,
    canvas::{Anchor, Rect, width_of},
};

/// Least and most height of a cell.
const HEIGHTS: (f64, f64) = (10.0, 34.0);
/// Gap between cells.
const GAP: f64 = 2.0;

pub(super) fn draw(
    parameters: (&str, &str),
    columns: &[String],
    rows: &[String],
    cells: &[Vec<Option<f64>>],
    frame: &Frame<'_>,
) -> Markup {
    let labels: Vec<Vec<String>> = rows.iter().map(|row| frame.fitting(row)).collect();
    let (left, right) = frame.edges(labels.iter().flatten().map(String::as_str));
    let width = (right - left) / columns.len().max(1) as f64;
    let tall = width.clamp(HEIGHTS.0, HEIGHTS.1);
    let height = tall * rows.len() as f64;
    let (mut canvas, top) = frame.canvas(height + 90.0);
    let top = top + 16.0;
    let known = || cells.iter().flatten().flatten().copied();
    let scale = Scale::fit(known(), Begin::Near, (0.0, 1.0));
    let written = known().all(|value| width_of(&quantity(frame.unit, value)) + 4.0 < width);
    canvas.text((left - 12.0, top - 6.0), "tick", Anchor::End, parameters.1);
    for (row, name) in labels.iter().enumerate() {
        let y = top + tall * row as f64;
        frame.name(&mut canvas, (left - 12.0, y + tall / 2.0), name);
        for (column, _) in columns.iter().enumerate() {
            let corner = (left + width * column as f64, y);
            let Some(value) = cells.get(row).and_then(|row| *row.get(column)?) else {
                continue;
            };
            // Even the least cell differs from no cell.
            let rect = Rect {
                radius: 2.0,
                opacity: Some(0.08 + 0.92 * scale.share(value)),
                title: format!(
                    "{} {}, {} {}: {}",
                    parameters.0,
                    columns[column],
                    parameters.1,
                    rows[row],
                    quantity(frame.unit, value)
                ),
            };
            canvas.rect(corner, (width - GAP, tall - GAP), "cell s0", &rect);
            if written {
                let class = if scale.share(value) > 0.5 {
                    "on-dark"
                } else {
                    "name"
                };
                let middle = (corner.0 + (width - GAP) / 2.0, y + tall / 2.0 + 3.0);
                canvas.text(middle, class, Anchor::Middle, &quantity(frame.unit, value));
            }
        }
    }
    let mut free = f64::NEG_INFINITY;
    for (column, name) in columns.iter().enumerate() {
        let x = left + width * (column as f64 + 0.5) - GAP / 2.0;
        let half = width_of(name) / 2.0;
        if x - half > free {
            canvas.text((x, top + height + 14.0), "tick", Anchor::Middle, name);
            free = x + half + 4.0;
        }
    }
    let below = ((left + right) / 2.0, top + height + 32.0);
    canvas.text(below, "tick", Anchor::Middle, parameters.0);
    if known().next().is_some() {
        legend(&mut canvas, &scale, frame, top + height + 48.0);
    }
    canvas.finish(frame.labels, frame.theme)
}

/// What the shades mean.
fn legend(canvas: &mut super::canvas::Canvas, scale: &Scale, frame: &Frame<'_>, y: f64) {
    const STEPS: u32 = 24;
    let (width, left) = (8.0, frame.width() / 2.0 - 96.0);
    for step in 0..STEPS {
        let share = f64::from(step) / f64::from(STEPS - 1);
        let rect = Rect {
            opacity: Some(0.08 + 0.92 * share),
            ..Rect::default()
        };
        let corner = (left + width * f64::from(step), y);
        canvas.rect(corner, (width, 8.0), "cell s0", &rect);
    }
    let end = |share| quantity(frame.unit, scale.value(share));
    canvas.text((left - 6.0, y + 8.0), "tick", Anchor::End, &end(0.0));
    let right = left + width * f64::from(STEPS) + 6.0;
    canvas.text((right, y + 8.0), "tick", Anchor::Start, &end(1.0));
}
