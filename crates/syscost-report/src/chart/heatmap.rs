//! A cell for each pair of two parameters.

use crate::units::quantity;

use super::{
    Frame, Panel, Scale,
    canvas::{Anchor, Canvas, width_of},
    caption::{axis_name, axis_title},
    labels_beneath,
    theme::STEPS,
};

/// Minimum and maximum height of a cell.
const HEIGHTS: (f64, f64) = (10.0, 34.0);
/// Gap between cells, and its largest share of a cell's width.
const GAP: f64 = 2.0;
const GAP_SHARE: f64 = 0.25;
/// Height of a panel's own heading.
const HEADING: f64 = 26.0;

fn step(scale: &Scale, value: f64) -> usize {
    ((scale.share(value) * STEPS as f64) as usize).min(STEPS - 1)
}

/// What is written in the cells: the same in all of them, so that they can be compared.
#[derive(Clone, Copy)]
enum Writing {
    /// The value with its unit.
    Quantity,
    /// The value alone, if all values have the unit that the legend shows.
    Number,
    Nothing,
}

impl Writing {
    /// The most detailed form that fits cells of this width, given the values with their units.
    fn that_fits(values: &[String], width: f64) -> Self {
        let unit = |text: &String| text.split_once(' ').map(|(_, unit)| unit.to_owned());
        let one_unit = values
            .windows(2)
            .all(|pair| unit(&pair[0]) == unit(&pair[1]));
        let fits = |writing: &Writing| {
            let mut texts = values.iter().filter_map(|value| writing.of(value));
            texts.all(|text| width_of(text) <= width)
        };
        [Writing::Quantity, Writing::Number]
            .into_iter()
            .filter(|writing| one_unit || matches!(writing, Writing::Quantity))
            .find(fits)
            .unwrap_or(Writing::Nothing)
    }

    /// The text for a value, given with its unit.
    fn of(self, value: &str) -> Option<&str> {
        match self {
            Writing::Quantity => Some(value),
            Writing::Number => Some(value.split_once(' ').map_or(value, |(number, _)| number)),
            Writing::Nothing => None,
        }
    }
}

pub(super) fn draw(
    parameters: (&str, &str),
    columns: &[String],
    rows: &[String],
    panels: &[Panel],
    frame: &Frame<'_>,
) -> Canvas {
    let labels: Vec<Vec<String>> = rows.iter().map(|row| frame.fitting(row)).collect();
    let names = labels.iter().flatten().map(String::as_str);
    let (left, right) = frame.edges(names.chain([parameters.1]));
    let width = (right - left) / columns.len().max(1) as f64;
    let gap = GAP.min(GAP_SHARE * width);
    let tall = width.clamp(HEIGHTS.0, HEIGHTS.1);
    let drawn: Vec<Vec<usize>> = panels
        .iter()
        .map(|panel| rows_of(panel, rows.len()))
        .collect();
    let lines: usize = drawn.iter().map(Vec::len).sum();
    let named: Vec<String> = panels
        .iter()
        .map(|panel| panel.heading(frame.runs()))
        .collect();
    let headings = named.iter().filter(|name| !name.is_empty());
    let height = tall * lines as f64 + HEADING * headings.count() as f64;
    let (mut canvas, top) = frame.canvas(height + 110.0, None);
    let top = top + 16.0;

    let cells = panels.iter().flat_map(|panel| &panel.cells);
    let known = || cells.clone().flatten().flatten().copied();
    let values: Vec<String> = known().map(|value| quantity(frame.unit, value)).collect();
    let writing = Writing::that_fits(&values, width - gap - 2.0);
    let scale = Scale::exactly(known());
    canvas.text((left - 12.0, top - 6.0), "tick", Anchor::End, parameters.1);
    let mut y = top;
    for ((panel, drawn), heading) in panels.iter().zip(&drawn).zip(&named) {
        if !heading.is_empty() {
            // In a narrow picture there is no room to indent the label to the cells.
            let x = if frame.is_narrow() {
                frame.margin()
            } else {
                left
            };
            canvas.text((x, y + 17.0), "label ink", Anchor::Start, heading);
            y += HEADING;
        }
        for &row in drawn {
            frame.name(&mut canvas, (left - 12.0, y + tall / 2.0), &labels[row]);
            for (column, name) in columns.iter().enumerate() {
                let Some(value) = panel.cells[row].get(column).copied().flatten() else {
                    continue;
                };
                let text = quantity(frame.unit, value);
                let corner = (left + width * column as f64, y);
                let (across, down) = parameters;
                let step = step(&scale, value);
                let size = (width - gap, tall - gap);
                canvas.rect(corner, size, &format!("c{step}"));
                let mut what = format!("{across} {name}, {down} {}: {text}", rows[row]);
                if !panel.label.is_empty() {
                    what = format!("{}, {what}", panel.label);
                }
                let middle = (corner.0 + size.0 / 2.0, corner.1 + size.1 / 2.0);
                canvas.point(middle, panel.run, what);
                if let Some(text) = writing.of(&text) {
                    let middle = (corner.0 + (width - gap) / 2.0, y + tall / 2.0 + 3.0);
                    let class = format!("value t{step}");
                    canvas.text(middle, &class, Anchor::Middle, text);
                }
            }
            y += tall;
        }
    }
    let middle = |column: usize| left + width * (column as f64 + 0.5) - gap / 2.0;
    let heads: Vec<(f64, String)> = columns
        .iter()
        .enumerate()
        .map(|(column, name)| (middle(column), name.clone()))
        .collect();
    labels_beneath(&mut canvas, &heads, y + 14.0);
    let below = ((left + right) / 2.0, y + 32.0);
    canvas.text(below, "tick", Anchor::Middle, parameters.0);
    if known().next().is_some() {
        legend(&mut canvas, &scale, frame, y + 46.0);
    }
    canvas
}

/// The rows of a panel that have any value.
fn rows_of(panel: &Panel, rows: usize) -> Vec<usize> {
    let holds = |row: &usize| {
        panel
            .cells
            .get(*row)
            .is_some_and(|cells| cells.iter().any(Option::is_some))
    };
    (0..rows).filter(holds).collect()
}

/// What the colours mean: the whole scale with ticks.
fn legend(canvas: &mut Canvas, scale: &Scale, frame: &Frame<'_>, y: f64) {
    /// Width and height of a step, in pixels.
    const STEP: (f64, f64) = (14.0, 9.0);
    let width = STEP.0 * STEPS as f64;
    let left = (frame.width() - width) / 2.0;
    for step in 0..STEPS {
        let corner = (left + STEP.0 * step as f64, y);
        canvas.rect(corner, STEP, &format!("c{step}"));
    }
    let place = |(value, label)| (left + width * scale.share(value), label);
    let ticks: Vec<(f64, String)> = scale.ticks(frame.unit, 4).into_iter().map(place).collect();
    let bottom = y + STEP.1;
    let lines = ticks
        .iter()
        .map(|(x, _)| ((*x, bottom), (*x, bottom + 4.0)));
    canvas.lines(&lines.collect::<Vec<_>>(), "axis");
    labels_beneath(canvas, &ticks, bottom + 16.0);
    let title = axis_name(axis_title(frame.unit), scale);
    let middle = (frame.width() / 2.0, bottom + 32.0);
    canvas.text(middle, "tick", Anchor::Middle, &title);
}
