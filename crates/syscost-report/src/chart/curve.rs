//! Lines over a parameter.

use maud::Markup;

use super::{
    Begin, Beside, Frame, Line, NAME_LINE, Scale, Theme,
    bars::{ends, formatted},
    canvas::{Anchor, Canvas, width_of},
    caption::{axis_name, axis_title},
    labels_beneath,
    scale::{even_marks, parameter},
    series, wrapped,
};

/// Height of the plot: in a file, and in a page.
const HEIGHT: f64 = 260.0;
const HEIGHT_IN_PAGE: f64 = 200.0;
/// Height of the vertical axis' name in a page; a file has it below the title.
const TITLE: f64 = 16.0;
/// Distance from the plot to the lines' names, with room for a sample of the line.
const BESIDE: f64 = 34.0;
/// Largest share of the width that the names take; longer ones are wrapped.
const SHARE: f64 = 0.32;

pub(super) fn draw(name: &str, lines: &[Line], beside: &[Beside], frame: &Frame<'_>) -> Markup {
    let names = names(lines, frame);
    // In a page the names stand below the plot.
    let is_beneath = frame.theme == Theme::Page;
    let beneath = match is_beneath {
        true => places_beneath(&names, frame.width()),
        false => Vec::new(),
    };
    let height = match is_beneath {
        true => HEIGHT_IN_PAGE,
        // Names at the lines' ends need as much height as there are names.
        false => HEIGHT.max(NAME_LINE + names.iter().map(|name| height_of(name)).sum::<f64>()),
    };
    let named = beneath.iter().zip(&names);
    let legend = named
        .map(|((_, y), name)| y + NAME_LINE * name.len() as f64)
        .fold(0.0, f64::max);
    let title = if frame.theme.is_file() { 0.0 } else { TITLE };
    let (mut canvas, top) = frame.canvas(title + height + 44.0 + legend);
    let top = top + title;
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
        [_, _, ..] if !is_beneath => right - widest.fold(0.0, f64::max) - BESIDE,
        _ => right - 14.0,
    };
    frame.vertical_axis(&mut canvas, &scale, 6, (left, right));
    if !frame.theme.is_file() {
        let what = axis_name(axis_title(frame.unit), &scale);
        canvas.text((frame.margin(), top - 4.0), "tick", Anchor::Start, &what);
    }
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
    let what = axis_name(&name.replace('_', " "), &across);
    canvas.text(below, "tick", Anchor::Middle, &what);

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
                formatted(frame.unit, value)
            );
            let dot = if value.has_no_interval() {
                "dot open"
            } else {
                "dot"
            };
            canvas.dot(*point, 3.0, &format!("{dot} {class}"), title.trim_start());
        }
    }
    if is_beneath {
        for (index, (x, y)) in beneath.iter().enumerate() {
            let first = top + height + 44.0 + y + NAME_LINE / 2.0;
            write_name(&mut canvas, (*x, first), &names[index], first, index);
        }
    } else {
        for (index, middle) in name_places(lines, &names, &scale, (top + 2.0, top + height)) {
            let first = middle - NAME_LINE * (names[index].len() as f64 - 1.0) / 2.0;
            write_name(
                &mut canvas,
                (right + 8.0, middle),
                &names[index],
                first,
                index,
            );
        }
    }
    canvas.finish(frame.labels, frame.theme)
}

/// A short sample of a line, starting at `(x, y)`, and its name, whose first text line is centred
/// at `first`.
fn write_name(canvas: &mut Canvas, (x, y): (f64, f64), name: &[String], first: f64, index: usize) {
    let class = series(index);
    let beside = BESIDE - 8.0;
    canvas.line((x, y), (x + beside - 6.0, y), &format!("curve {class}"));
    let class = format!("label {class}");
    for (row, text) in name.iter().enumerate() {
        let place = (x + beside, first + 4.0 + NAME_LINE * row as f64);
        canvas.text(place, &class, Anchor::Start, text.trim_end());
    }
}

/// Where the names below a plot begin, relative to the first one: as many in a row as fit.
fn places_beneath(names: &[Vec<String>], width: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y, mut rows) = (0.0, 0.0, 0.0);
    let mut places = Vec::new();
    for name in names {
        let widest = name.iter().map(|line| width_of(line)).fold(0.0, f64::max);
        let wide = BESIDE + widest;
        if x > 0.0 && x + wide > width {
            (x, y) = (0.0, y + NAME_LINE * rows + 2.0);
            rows = 0.0;
        }
        places.push((x + 2.0, y));
        x += wide;
        rows = f64::max(rows, name.len() as f64);
    }
    places
}

/// The lines' names, wrapped to the room beside the plot; none if there is only one line.
fn names(lines: &[Line], frame: &Frame<'_>) -> Vec<Vec<String>> {
    let room = match frame.theme {
        Theme::Page => frame.width() - BESIDE,
        Theme::Wide | Theme::Light | Theme::Dark => SHARE * frame.width(),
    };
    let max_chars = (room / width_of("x")) as usize;
    match lines {
        [_, _, ..] => lines
            .iter()
            .map(|line| wrapped(&line.label, max_chars))
            .collect(),
        _ => Vec::new(),
    }
}

/// Height that a name needs.
fn height_of(name: &[String]) -> f64 {
    NAME_LINE * name.len() as f64 + 2.0
}

/// Vertical centres of the names beside the lines' ends, kept apart and within the plot.
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
    let mut min_y = top;
    for (index, y) in &mut places {
        *y = y.max(min_y + half(*index));
        min_y = *y + half(*index);
    }
    let mut max_y = bottom;
    for (index, y) in places.iter_mut().rev() {
        *y = y.min(max_y - half(*index));
        max_y = *y - half(*index);
    }
    places
}
