//! Lines drawn in Braille dots, eight to a character.

use anstyle::{AnsiColor, Style};
use syscost_results::Unit;

use super::braille::{Cell, Field};
use super::{COLORS, MARKS, TextOptions, ascending};
use crate::chart::caption::{axis_name, axis_title};
use crate::chart::scale::{even_marks, every, parameter};
use crate::chart::sharing::AXIS;
use crate::chart::{Begin, Border, Distribution, Line, Scale, Sharing, Value, bars::ends, range};
use crate::paint::{self, Paint};

/// Height of the plot in lines of text.
const HEIGHT: usize = 16;

/// Minimum number of columns between a line's marks, so that the line is visible between them.
const BETWEEN: usize = 8;

/// A line in plot coordinates: both from 0 to 1.
struct Course {
    label: String,
    /// Which of the colours it has, and which of the marks.
    color: usize,
    mark: char,
    points: Vec<(f64, f64)>,
    /// Whether its points are marks of their own, not those of a line.
    is_scattered: bool,
}

impl Course {
    /// A line with this index, of a run.
    fn new(
        (index, label): (usize, &str),
        run: usize,
        runs: &[String],
        points: Vec<(f64, f64)>,
    ) -> Self {
        let (label, color) = match runs.get(run) {
            Some(name) => (format!("{label} · {name}"), run),
            None => (label.to_owned(), index),
        };
        let color = color % COLORS.len();
        Course {
            label,
            color,
            mark: MARKS[index % MARKS.len()],
            points,
            is_scattered: false,
        }
    }
}

/// Lines over a parameter.
pub(super) fn curve(
    name: &str,
    (lines, borders): (&[Line], &[Border]),
    runs: &[String],
    unit: Unit,
    options: TextOptions,
) -> String {
    let points = || lines.iter().flat_map(|line| &line.points);
    let up = Scale::fit(
        points().flat_map(|(_, value)| ends(value)),
        Begin::Zero,
        (0.0, 1.0),
    );
    let across = Scale::fit(points().map(|(x, _)| *x), Begin::Near, (0.0, 1.0));
    let courses: Vec<Course> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| {
            let at = |(x, value): &(f64, Value)| (across.share(*x), up.share(value.median));
            let points = line.points.iter().map(at).collect();
            Course::new((index, &line.label), line.run, runs, points)
        })
        .collect();
    let values: Vec<f64> = points().map(|(x, _)| *x).collect();
    let marks = even_marks(&across, &values)
        .into_iter()
        .map(|value| (across.share(value), parameter(name, value)))
        .collect();
    let what = axis_name(&name.replace('_', " "), &across);
    let borders = borders.iter().filter(|border| across.has(border.at));
    let borders = borders.map(|border| (across.share(border.at), border.name.clone()));
    let borders: Vec<(f64, String)> = borders.collect();
    let up = (&up, unit, axis_title(unit));
    field(&courses, up, (marks, &what), &borders, options)
}

/// Empirical cumulative distributions: the share of the samples that are at most a value.
pub(super) fn ecdf(
    distributions: &[Distribution],
    runs: &[String],
    unit: Unit,
    options: TextOptions,
) -> String {
    let samples: Vec<Vec<f64>> = distributions.iter().map(ascending).collect();
    let across = Scale::fit(samples.iter().flatten().copied(), Begin::Near, (0.0, 1.0));
    let up = Scale::fit([0.0, 100.0], Begin::Zero, (0.0, 1.0));
    let courses: Vec<Course> = distributions
        .iter()
        .zip(&samples)
        .enumerate()
        .map(|(index, (distribution, samples))| {
            let share = |(index, sample): (usize, &f64)| {
                let percent = 100.0 * (index + 1) as f64 / samples.len() as f64;
                (across.share(*sample), up.share(percent))
            };
            let points = samples.iter().enumerate().map(share).collect();
            let label = (index, distribution.label.as_str());
            Course::new(label, distribution.run, runs, points)
        })
        .collect();
    let marks = across
        .ticks(unit, 6)
        .into_iter()
        .map(|(value, label)| (across.share(value), label))
        .collect();
    let up = (&up, Unit::Percent, "share of the samples");
    let what = axis_name(axis_title(unit), &across);
    field(&courses, up, (marks, &what), &[], options)
}

/// Values against the ratios of probes.
pub(super) fn sharing(sharing: &Sharing, unit: Unit, options: TextOptions) -> String {
    let [across, up] = sharing.axes((0.0, 1.0), (0.0, 1.0));
    let names = sharing.names(unit).into_iter().zip(&sharing.samples);
    // Either kind has its mark, whether the other is there or not.
    let named = names
        .enumerate()
        .filter_map(|(index, (name, samples))| Some((index, name?, samples)));
    let courses = named.map(|(index, name, samples)| {
        let place = |(ratio, value): &(f64, f64)| (across.share(*ratio), up.share(*value));
        let points = samples.iter().map(place).collect();
        Course {
            is_scattered: true,
            ..Course::new((index, &name), 0, &[], points)
        }
    });
    let courses: Vec<Course> = courses.collect();
    let ticks = across.ticks(Unit::Ratio, 6).into_iter();
    let marks = ticks.map(|(value, label)| (across.share(value), label));
    let limits = sharing.limits.iter();
    let limits = limits.map(|limit| (across.share(*limit), "limit".to_owned()));
    let limits: Vec<(f64, String)> = limits.collect();
    let what = axis_name(AXIS, &across);
    let up = (&up, unit, axis_title(unit));
    field(&courses, up, (marks.collect(), &what), &limits, options)
}

/// Medians in the order of their runs, with their intervals; broken lines part levels.
pub(super) fn over_runs(
    points: &[(String, Option<Value>)],
    changes: &[usize],
    unit: Unit,
    options: TextOptions,
) -> String {
    let known = || points.iter().filter_map(|(_, value)| value.as_ref());
    let medians: Vec<f64> = known().map(|value| value.median).collect();
    let (low, high) = range(&medians).unwrap_or_default();
    let values = known().flat_map(ends).chain([low, high]);
    let up = Scale::fit(values, Begin::Near, (0.0, 1.0));
    let last = points.len().saturating_sub(1).max(1) as f64;
    let place = |index: usize, value: f64| (index as f64 / last, up.share(value));
    let all = points.iter().enumerate();
    let all = all.filter_map(|(index, (_, value))| Some((index, value.as_ref()?)));
    let course = |points| Course::new((0, ""), 0, &[], points);
    let intervals = all.clone().filter_map(|(index, value)| {
        let (low, high) = value.low.zip(value.high)?;
        Some(course(vec![place(index, low), place(index, high)]))
    });
    let medians = Course {
        is_scattered: true,
        ..course(
            all.clone()
                .map(|(index, value)| place(index, value.median))
                .collect(),
        )
    };
    let courses: Vec<Course> = intervals.chain([medians]).collect();
    let borders = changes
        .iter()
        .map(|index| ((*index as f64 - 0.5) / last, String::new()));
    let borders: Vec<(f64, String)> = borders.collect();
    let marks = match points {
        [(first, _), .., (newest, _)] => vec![(0.0, first.clone()), (1.0, newest.clone())],
        all => all.iter().map(|(only, _)| (0.0, only.clone())).collect(),
    };
    field(
        &courses,
        (&up, unit, axis_title(unit)),
        (marks, ""),
        &borders,
        options,
    )
}

fn field(
    courses: &[Course],
    (up, unit, what): (&Scale, Unit, &str),
    (marks, name): (Vec<(f64, String)>, &str),
    borders: &[(f64, String)],
    options: TextOptions,
) -> String {
    let paint = options.paint();
    let mut labels = vec![String::new(); HEIGHT];
    for (value, label) in up.ticks(unit, 6) {
        labels[row_of(up.share(value)).min(HEIGHT - 1)] = label;
    }
    let margin = labels.iter().map(|label| paint::width(label)).max();
    let margin = margin.unwrap_or(0);
    let room = options.width().saturating_sub(margin + 2);
    let mut field = drawn(courses, room);
    for (share, _) in borders {
        for row in 0..HEIGHT {
            field.mark_if_empty(column_of(*share, room), row, '┊');
        }
    }

    let mut out = format!("{}\n", axis_name(what, up));
    if borders.iter().any(|(_, name)| !name.is_empty()) {
        let (_, names) = axis(borders, room);
        out.push_str(&format!("{:margin$}  {}\n", "", names.trim_end()));
    }
    for (row, label) in labels.iter().enumerate() {
        let tick = if label.is_empty() { '│' } else { '┤' };
        out.push_str(&format!("{label:>margin$} {tick}"));
        out.push_str(&line_of(field.row(row), paint));
        out.push('\n');
    }
    let (axis, beneath) = axis(&marks, room);
    out.push_str(&format!("{:margin$} └{axis}\n", ""));
    out.push_str(&format!("{:margin$}  {}\n", "", beneath.trim_end()));
    let wide = paint::width(name);
    let left = margin + 2 + room.saturating_sub(wide) / 2;
    let left = left.min(options.width().saturating_sub(wide));
    if wide > 0 {
        out.push_str(&format!("{:left$}{name}\n", ""));
    }
    if has_marks(courses) {
        // In the order of the lines' right ends.
        let named = courses.iter().filter(|course| !course.label.is_empty());
        let mut named: Vec<&Course> = named.collect();
        let end = |course: &Course| course.points.last().map_or(0.0, |(_, y)| *y);
        named.sort_by(|a, b| end(b).total_cmp(&end(a)));
        for course in named {
            let style = Style::new().fg_color(Some(COLORS[course.color].into()));
            out.push_str(&format!(
                "{:margin$}  {} {}\n",
                "",
                paint.text(style, &sample(course)),
                course.label
            ));
        }
    }
    out.push('\n');
    out
}

/// How the legend shows a line.
fn sample(course: &Course) -> String {
    let mark = course.mark;
    match course.is_scattered {
        true => mark.to_string(),
        false => format!("━{mark}━"),
    }
}

/// The lines in Braille dots.
fn drawn(courses: &[Course], room: usize) -> Field {
    let mut field = Field::new(room, HEIGHT);
    for course in courses.iter().filter(|course| !course.is_scattered) {
        let color = COLORS[course.color];
        for pair in course.points.windows(2) {
            field.line(pair[0], pair[1], color);
        }
        if let [only] = course.points[..] {
            field.line(only, only, color);
        }
    }
    if has_marks(courses) {
        mark(&mut field, courses, room);
    }
    field
}

/// Whether points have marks: those of one line need none.
fn has_marks(courses: &[Course]) -> bool {
    courses.len() > 1 || courses.iter().any(|course| course.is_scattered)
}

/// Puts each line's marks on its points; intervals, which have no name, have none.
fn mark(field: &mut Field, courses: &[Course], room: usize) {
    let marked = |course: &&Course| course.is_scattered || !course.label.is_empty();
    for course in courses.iter().filter(marked) {
        let mut free = 0;
        for (x, y) in &course.points {
            let (column, row) = (column_of(*x, room), row_of(*y));
            let is_free = (course.is_scattered || column >= free) && column < room && row < HEIGHT;
            // Where lines coincide, each has its marks at different points.
            if is_free && !field.row(row)[column].is_marked() {
                free = column + BETWEEN;
                let color = COLORS[course.color];
                field.mark(column, row, course.mark, color);
            }
        }
    }
}

/// The row at a share of the plot's height.
fn row_of(share: f64) -> usize {
    ((1.0 - share) * (HEIGHT - 1) as f64).round() as usize
}

/// One line of the plot, with as few colour changes as possible.
fn line_of(cells: &[Cell], paint: Paint) -> String {
    let mut out = String::new();
    let mut run: (Option<AnsiColor>, String) = (None, String::new());
    let mut flush = |(color, text): (Option<AnsiColor>, String)| match color {
        Some(color) => {
            let style = Style::new().fg_color(Some(color.into()));
            out.push_str(&paint.text(style, &text));
        }
        None => out.push_str(&text),
    };
    for cell in cells {
        let (letter, color) = cell.shown();
        if color != run.0 {
            flush(std::mem::replace(&mut run, (color, String::new())));
        }
        run.1.push(letter);
    }
    run.1.truncate(run.1.trim_end().len());
    flush(run);
    out
}

/// The axis with its marks, and the line of labels below it; every n-th label is shown if they
/// would touch.
pub(super) fn axis(marks: &[(f64, String)], room: usize) -> (String, String) {
    let mut axis = vec!['─'; room];
    let mut beneath = vec![' '; room];
    let spans: Vec<(f64, f64)> = marks
        .iter()
        .map(|(share, label)| {
            let wide = paint::width(label);
            let from = (column_of(*share, room)).saturating_sub(wide / 2);
            let from = from.min(room.saturating_sub(wide));
            (from as f64, (from + wide + 1) as f64)
        })
        .collect();
    let labelled = marks.iter().zip(&spans).step_by(every(&spans));
    for ((share, label), (from, _)) in labelled {
        if let Some(mark) = axis.get_mut(column_of(*share, room)) {
            *mark = '┬';
        }
        for (place, letter) in beneath[*from as usize..].iter_mut().zip(label.chars()) {
            *place = letter;
        }
    }
    (axis.into_iter().collect(), beneath.into_iter().collect())
}

/// The column at a share of the plot's width.
pub(super) fn column_of(share: f64, room: usize) -> usize {
    (share * room.saturating_sub(1) as f64).round() as usize
}
