//! Lines over a parameter.

use super::{
    Begin, Beside, Border, Frame, Line, NAME_LINE, Scale,
    bars::ends,
    canvas::{Anchor, Canvas, width_of},
    caption::axis_name,
    formatted,
    frame::{ABOVE, Key},
    labels_beneath,
    look::{self, Look},
    scale::{even_marks, parameter},
};
use crate::names::wrapped;

/// Height of the plot, in pixels: wide, and narrow in a page.
const HEIGHT: f64 = 260.0;
const HEIGHT_IN_PAGE: f64 = 200.0;
/// Height of the horizontal axis, in pixels.
const BENEATH: f64 = 44.0;
/// Distance from the plot to the lines' names, with room for a sample of the line.
const BESIDE: f64 = 34.0;
/// Largest share of the width that the names take; longer ones are wrapped.
const SHARE: f64 = 0.32;

/// The name of a series of lines: the same in each run that has one.
struct Name {
    lines: Vec<String>,
    /// The value at the right end of its first line.
    end: f64,
    look: Look,
}

pub(super) fn draw(
    name: &str,
    (lines, borders): (&[Line], &[Border]),
    beside: &[Beside],
    frame: &Frame<'_>,
) -> Canvas {
    let (series, count) = look::places(lines.iter().map(|line| line.label.as_str()));
    let looks: Vec<Look> = lines
        .iter()
        .zip(&series)
        .map(|(line, series)| frame.look((*series, count), line.run))
        .collect();
    let names = names(lines, (&series, count), &looks, frame);
    // In a narrow page the names stand below the plot.
    let is_beneath = frame.is_narrow();
    let beneath = match is_beneath {
        true => places_beneath(&names, frame),
        false => Vec::new(),
    };
    let height = match is_beneath {
        true => frame.plot_height(HEIGHT_IN_PAGE),
        // Names at the lines' ends need as much height as there are names.
        false => frame
            .plot_height(HEIGHT)
            .max(NAME_LINE + names.iter().map(height_of).sum::<f64>()),
    };
    let named = beneath.iter().zip(&names);
    let legend = named
        .map(|((_, y), name)| y + NAME_LINE * name.lines.len() as f64)
        .fold(0.0, f64::max);
    let key = if count > 1 {
        Key::Line
    } else {
        Key::MarkedLine
    };
    let above = if borders.is_empty() {
        ABOVE
    } else {
        ABOVE + NAME_LINE
    };
    let (mut canvas, top) = frame.canvas(above + height + BENEATH + legend, Some(key));
    let top = top + above;
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
    let widest = names.iter().flat_map(|name| &name.lines);
    let widest = widest.map(|line| width_of(line)).fold(0.0, f64::max);
    let right = match names[..] {
        [_, ..] if !is_beneath => right - widest - BESIDE,
        _ => right - 14.0,
    };
    let title = top - above + ABOVE;
    frame.vertical_axis(&mut canvas, &scale, 6, (left, right, title));
    let across = Scale::fit(points().map(|(x, _)| *x), Begin::Near, (left, right));
    across_axis(
        name,
        lines,
        &across,
        (left, right, top + height),
        &mut canvas,
    );
    draw_borders(&mut canvas, borders, &across, (top, top + height));
    for (index, line) in lines.iter().enumerate() {
        let look = looks[index];
        let place = |x: f64, y: f64| (across.place(x), scale.place(y));
        if let Some(beside) = beside.get(index) {
            if let Some((from, to)) = beside.step {
                let (from, to) = (across.place(from), across.place(to));
                let bottom = top + height;
                let span = [(from, top), (to, top), (to, bottom), (from, bottom)];
                canvas.polygon(&span, &format!("band {}", look.color()));
            }
            let fitted = beside.fitted.iter();
            let fitted: Vec<(f64, f64)> = fitted.map(|(x, value)| place(*x, *value)).collect();
            if fitted.len() > 1 {
                canvas.polyline(&fitted, &format!("curve d1 {}", look.color()));
            }
        }
        draw_line(&mut canvas, line, look, place);
        for (x, value) in &line.points {
            let at = format!("{} {name}={}", line.label, parameter(name, *x));
            let text = format!("{}: {}", at.trim_start(), formatted(frame.unit, value));
            canvas.point(place(*x, value.median), line.run, text);
        }
    }
    if is_beneath {
        for ((x, y), name) in beneath.iter().zip(&names) {
            let first = top + height + BENEATH + y + NAME_LINE / 2.0;
            write_name(&mut canvas, (*x, first), name, first);
        }
    } else {
        for (name, middle) in name_places(&names, &scale, (top + 2.0, top + height)) {
            let first = middle - NAME_LINE * (name.lines.len() as f64 - 1.0) / 2.0;
            write_name(&mut canvas, (right + 8.0, middle), name, first);
        }
    }
    canvas
}

/// The marks and the title of the parameter's axis.
fn across_axis(
    name: &str,
    lines: &[Line],
    across: &Scale,
    (left, right, bottom): (f64, f64, f64),
    canvas: &mut Canvas,
) {
    let points = lines.iter().flat_map(|line| &line.points);
    let shown: Vec<f64> = points.map(|(x, _)| *x).collect();
    let marks: Vec<(f64, String)> = even_marks(across, &shown)
        .into_iter()
        .map(|value| (across.place(value), parameter(name, value)))
        .collect();
    let ticks = marks
        .iter()
        .map(|(x, _)| ((*x, bottom), (*x, bottom + 4.0)));
    canvas.lines(&ticks.collect::<Vec<_>>(), "axis");
    labels_beneath(canvas, &marks, bottom + 18.0);
    let middle = ((left + right) / 2.0, bottom + 36.0);
    let what = axis_name(&name.replace('_', " "), across);
    canvas.text(middle, "tick", Anchor::Middle, &what);
}

/// Named vertical lines. A name that would touch the one before it is left out.
fn draw_borders(
    canvas: &mut Canvas,
    borders: &[Border],
    across: &Scale,
    (top, bottom): (f64, f64),
) {
    let mut free = f64::NEG_INFINITY;
    for border in borders.iter().filter(|border| across.has(border.at)) {
        let x = across.place(border.at);
        canvas.line((x, top), (x, bottom), "border");
        // Ticks are in smaller type than names.
        let half = 0.85 * width_of(&border.name) / 2.0;
        if x - half >= free {
            canvas.text((x, top - 4.0), "tick", Anchor::Middle, &border.name);
            free = x + half;
        }
    }
}

/// A line with its band and its marks.
fn draw_line(canvas: &mut Canvas, line: &Line, look: Look, place: impl Fn(f64, f64) -> (f64, f64)) {
    let points = || line.points.iter();
    let mut band: Vec<(f64, f64)> = points()
        .filter_map(|(x, value)| Some(place(*x, value.high?)))
        .collect();
    let low = points().rev();
    band.extend(low.filter_map(|(x, value)| Some(place(*x, value.low?))));
    if band.len() > 3 {
        canvas.polygon(&band, &format!("band {}", look.color()));
    }
    let at = |(x, value): &(f64, super::Value)| place(*x, value.median);
    let centre: Vec<(f64, f64)> = points().map(at).collect();
    if centre.len() > 1 {
        canvas.polyline(&centre, &format!("curve {}", look.line()));
    }
    for is_hollow in [false, true] {
        let alike = points().filter(|(_, value)| value.has_no_interval() == is_hollow);
        let places: Vec<(f64, f64)> = alike.map(at).collect();
        canvas.marks(&places, look.shape, 3.0, is_hollow, &look.color());
    }
}

/// A short sample of a line, starting at `(x, y)`, and its name, whose first text line is centred
/// at `first`.
fn write_name(canvas: &mut Canvas, (x, y): (f64, f64), name: &Name, first: f64) {
    let beside = BESIDE - 8.0;
    let (look, width) = (name.look, beside - 6.0);
    canvas.line((x, y), (x + width, y), &format!("curve {}", look.line()));
    let middle = (x + width / 2.0, y);
    canvas.marks(&[middle], look.shape, 3.0, false, &look.color());
    let class = format!("label {}", look.color());
    for (row, text) in name.lines.iter().enumerate() {
        let place = (x + beside, first + 4.0 + NAME_LINE * row as f64);
        canvas.text(place, &class, Anchor::Start, text.trim_end());
    }
}

/// Where the names below a plot begin, relative to the first one: as many in a row as fit.
fn places_beneath(names: &[Name], frame: &Frame<'_>) -> Vec<(f64, f64)> {
    let (width, margin) = (frame.width() - 2.0 * frame.margin(), frame.margin());
    let (mut x, mut y, mut rows) = (0.0, 0.0, 0.0);
    let mut places = Vec::new();
    for name in names {
        let widest = name
            .lines
            .iter()
            .map(|line| width_of(line))
            .fold(0.0, f64::max);
        let wide = BESIDE + widest;
        if x > 0.0 && x + wide > width {
            (x, y) = (0.0, y + NAME_LINE * rows + 2.0);
            rows = 0.0;
        }
        places.push((x + margin, y));
        x += wide;
        rows = f64::max(rows, name.lines.len() as f64);
    }
    places
}

/// The names of the series, wrapped to the room beside the plot; none if there is only one. In a
/// chart of several runs, where the colour is the run's, they have the ink's.
fn names(
    lines: &[Line],
    (series, count): (&[usize], usize),
    looks: &[Look],
    frame: &Frame<'_>,
) -> Vec<Name> {
    let room = match frame.is_narrow() {
        true => frame.width() - 2.0 * frame.margin() - BESIDE,
        false => SHARE * frame.width(),
    };
    let max_chars = (room / width_of("x")) as usize;
    let first = |one: usize| series.iter().position(|series| *series == one);
    let name = |index: usize| Name {
        lines: wrapped(&lines[index].label, max_chars),
        end: lines[index]
            .points
            .last()
            .map_or(0.0, |(_, value)| value.median),
        look: match !frame.runs().is_empty() {
            true => looks[index].in_ink(),
            false => looks[index],
        },
    };
    match count {
        0 | 1 => Vec::new(),
        _ => (0..count).filter_map(first).map(name).collect(),
    }
}

fn height_of(name: &Name) -> f64 {
    NAME_LINE * name.lines.len() as f64 + 2.0
}

/// Vertical centres of the names beside the lines' ends, kept apart and within the plot.
fn name_places<'n>(
    names: &'n [Name],
    scale: &Scale,
    (top, bottom): (f64, f64),
) -> Vec<(&'n Name, f64)> {
    let of_name = |name: &'n Name| (name, scale.place(name.end));
    let mut places: Vec<(&Name, f64)> = names.iter().map(of_name).collect();
    places.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut min_y = top;
    for (name, y) in &mut places {
        let half = height_of(name) / 2.0;
        *y = y.max(min_y + half);
        min_y = *y + half;
    }
    let mut max_y = bottom;
    for (name, y) in places.iter_mut().rev() {
        let half = height_of(name) / 2.0;
        *y = y.min(max_y - half);
        max_y = *y - half;
    }
    places
}
