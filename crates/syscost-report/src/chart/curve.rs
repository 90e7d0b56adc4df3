//! Lines over a parameter.

use maud::Markup;

use super::{
    Begin, Frame, Line, Scale,
    bars::{ends, told},
    canvas::{Anchor, width_of},
    scale::{even_marks, parameter},
    series,
};

/// Height of the plot.
const HEIGHT: f64 = 260.0;
/// Least distance between two names at the lines' ends.
const APART: f64 = 15.0;

pub(super) fn draw(name: &str, lines: &[Line], frame: &Frame<'_>) -> Markup {
    // Names at the lines' ends need as much height as there are names.
    let height = HEIGHT.max(APART * (lines.len() + 1) as f64);
    let (mut canvas, top) = frame.canvas(height + 44.0);
    let points = || lines.iter().flat_map(|line| &line.points);
    let plot = (top + height, top + 6.0);
    let scale = Scale::fit(
        points().flat_map(|(_, value)| ends(value)),
        Begin::Zero,
        plot,
    );
    let ticks = scale.ticks(frame.unit, 6);
    let (left, right) = frame.edges(ticks.iter().map(|(_, label)| label.as_str()));
    let names = if lines.len() > 1 {
        lines
            .iter()
            .map(|line| width_of(&line.label))
            .fold(0.0, f64::max)
            .min(260.0)
            + 20.0
    } else {
        14.0
    };
    let right = right - names;
    frame.vertical_axis(&mut canvas, &scale, 6, (left, right));
    let across = Scale::fit(points().map(|(x, _)| *x), Begin::Near, (left, right));

    let shown: Vec<f64> = points().map(|(x, _)| *x).collect();
    let mut free = f64::NEG_INFINITY;
    for value in even_marks(&across, &shown) {
        let (x, label) = (across.place(value), parameter(name, value));
        let half = width_of(&label) / 2.0;
        canvas.line((x, top + height), (x, top + height + 4.0), "axis");
        if x - half > free {
            canvas.text((x, top + height + 18.0), "tick", Anchor::Middle, &label);
            free = x + half + 6.0;
        }
    }
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
    if lines.len() > 1 {
        for (index, y) in name_places(lines, &scale, (top + 8.0, top + height)) {
            let class = format!("label {}", series(index));
            canvas.text(
                (right + 12.0, y + 4.0),
                &class,
                Anchor::Start,
                &lines[index].label,
            );
        }
    }
    canvas.finish(frame.labels, frame.theme)
}

/// Heights of the names beside the lines' ends, kept apart and within the plot.
fn name_places(lines: &[Line], scale: &Scale, (top, bottom): (f64, f64)) -> Vec<(usize, f64)> {
    let mut places: Vec<(usize, f64)> = lines
        .iter()
        .enumerate()
        .filter_map(|(index, line)| Some((index, scale.place(line.points.last()?.1.median))))
        .collect();
    places.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut least = top;
    for (_, y) in &mut places {
        *y = y.max(least);
        least = *y + APART;
    }
    let mut most = bottom;
    for (_, y) in places.iter_mut().rev() {
        *y = y.min(most);
        most = *y - APART;
    }
    places
}
