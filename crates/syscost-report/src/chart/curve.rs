//! Lines over a parameter.

use maud::Markup;

use super::{
    Begin, Beside, Frame, Line, NAME_LINE, Scale,
    bars::{ends, told},
    canvas::{Anchor, width_of},
    labels_beneath,
    scale::{even_marks, parameter},
    series, wrapped,
};

/// Height of the plot.
const HEIGHT: f64 = 260.0;
/// From the plot to the lines' names, with room for a sample of the line.
const BESIDE: f64 = 34.0;
/// Most of the width that the names take; longer ones are in several lines.
const SHARE: f64 = 0.32;

pub(super) fn draw(name: &str, lines: &[Line], beside: &[Beside], frame: &Frame<'_>) -> Markup {
    let names = names(lines, frame);
    // Names at the lines' ends need as much height as there are names.
    let height = HEIGHT.max(NAME_LINE + names.iter().map(|name| height_of(name)).sum::<f64>());
    let (mut canvas, top) = frame.canvas(height + 44.0);
    let points = || lines.iter().flat_map(|line| &line.points);
    let plot = (top + height, top + 6.0);
    let fitted = beside
        .iter()
        .flat_map(|beside| beside.fitted.iter().map(|(_, value)| *value));
    let scale = Scale::fit(
        points().flat_map(|(_, value)| ends(value)).chain(fitted),
        Begin::Zero,
        plot,
    );
    let ticks = scale.ticks(frame.unit, 6);
    let (left, right) = frame.edges(ticks.iter().map(|(_, label)| label.as_str()));
    let widest = names.iter().flatten().map(|line| width_of(line));
    let right = match lines {
        [_, _, ..] => right - widest.fold(0.0, f64::max) - BESIDE,
        _ => right - 14.0,
    };
    frame.vertical_axis(&mut canvas, &scale, 6, (left, right));
    let across = Scale::fit(points().map(|(x, _)| *x), Begin::Near, (left, right));

    let shown: Vec<f64> = points().map(|(x, _)| *x).collect();
    let marks = even_marks(&across, &shown).into_iter();
    let marks: Vec<(f64, String)> = marks
        .map(|value| (across.place(value), parameter(name, value)))
        .collect();
    for (x, _) in &marks {
        canvas.line((*x, top + height), (*x, top + height + 4.0), "axis");
    }
    labels_beneath(&mut canvas, &marks, top + height + 18.0);
    let below = ((left + right) / 2.0, top + height + 37.0);
    canvas.text(below, "tick", Anchor::Middle, name);

    for (index, line) in lines.iter().enumerate() {
        let class = series(index);
        let place = |x: f64, y: f64| (across.place(x), scale.place(y));
        let mut band: Vec<(f64, f64)> = line
            .points
            .iter()
            .filter_map(|(x, value)| Some(place(*x, value.high?)))
            .collect();
        band.extend(
            line.points
                .iter()
                .rev()
                .filter_map(|(x, value)| Some(place(*x, value.low?))),
        );
        if band.len() > 3 {
            canvas.polygon(&band, &format!("band {class}"));
        }
        let centre: Vec<(f64, f64)> = line
            .points
            .iter()
            .map(|(x, value)| place(*x, value.median))
            .collect();
        if let Some(beside) = beside.get(index) {
            if let Some((from, to)) = beside.step {
                let (from, to) = (across.place(from), across.place(to));
                let bottom = top + height;
                let span = [(from, top), (to, top), (to, bottom), (from, bottom)];
                canvas.polygon(&span, &format!("band {class}"));
            }
            let fitted = beside.fitted.iter();
            let fitted: Vec<(f64, f64)> = fitted.map(|(x, value)| place(*x, *value)).collect();
            if fitted.len() > 1 {
                canvas.polyline(&fitted, &format!("curve dash {class}"));
            }
        }
        canvas.polyline(&centre, &format!("curve {class}"));
        for (point, (x, value)) in centre.iter().zip(&line.points) {
            let title = format!(
                "{} {name}={}: {}",
                line.label,
                parameter(name, *x),
                told(frame.unit, value)
            );
            canvas.dot(*point, 3.0, &format!("dot {class}"), title.trim_start());
        }
    }
    for (index, middle) in name_places(lines, &names, &scale, (top + 2.0, top + height)) {
        let class = series(index);
        let sample = ((right + 8.0, middle), (right + BESIDE - 6.0, middle));
        canvas.line(sample.0, sample.1, &format!("curve {class}"));
        let first = middle + 4.0 - NAME_LINE * (names[index].len() as f64 - 1.0) / 2.0;
        for (row, text) in names[index].iter().enumerate() {
            let place = (right + BESIDE, first + NAME_LINE * row as f64);
            let class = format!("label {class}");
            canvas.text(place, &class, Anchor::Start, text.trim_end());
        }
    }
    canvas.finish(frame.labels, frame.theme)
}

/// The lines' names, as what fits beside the plot; none where there is one line only.
fn names(lines: &[Line], frame: &Frame<'_>) -> Vec<Vec<String>> {
    let most = (SHARE * frame.width() / width_of("x")) as usize;
    match lines {
        [_, _, ..] => lines
            .iter()
            .map(|line| wrapped(&line.label, most))
            .collect(),
        _ => Vec::new(),
    }
}

/// What a name takes of the plot's height.
fn height_of(name: &[String]) -> f64 {
    NAME_LINE * name.len() as f64 + 2.0
}

/// Middles of the names beside the lines' ends, kept apart and within the plot.
fn name_places(
    lines: &[Line],
    names: &[Vec<String>],
    scale: &Scale,
    (top, bottom): (f64, f64),
) -> Vec<(usize, f64)> {
    let mut places: Vec<(usize, f64)> = lines
        .iter()
        .take(names.len())
        .enumerate()
        .filter_map(|(index, line)| Some((index, scale.place(line.points.last()?.1.median))))
        .collect();
    places.sort_by(|a, b| a.1.total_cmp(&b.1));
    let half = |index: usize| height_of(&names[index]) / 2.0;
    let mut least = top;
    for (index, y) in &mut places {
        *y = y.max(least + half(*index));
        least = *y + half(*index);
    }
    let mut most = bottom;
    for (index, y) in places.iter_mut().rev() {
        *y = y.min(most - half(*index));
        most = *y - half(*index);
    }
    places
}
