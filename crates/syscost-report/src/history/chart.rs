//! One metric over time, drawn in characters.

use syscost_results::history::Series;
use syscost_stats::order;

use super::{HistoryOptions, buckets, levels, plain, push, range, relative, verdict};
use crate::names::wrapped;
use crate::paint;
use crate::sentence;
use crate::units::quantity;

/// Height of the plot, in lines.
const HEIGHT: usize = 12;
/// Maximum width of a run, in columns.
const WIDEST: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Nothing,
    Change,
    Interval,
    Median,
}

/// The metric's medians with their intervals, oldest on the left, and its changes below. Runs are
/// equally spaced.
pub fn chart(series: &Series, options: &HistoryOptions) -> String {
    let paint = options.paint();
    let mut out = String::new();
    let values: Vec<f64> = series.points.iter().map(|point| point.median).collect();
    let heading = |behind: &str| {
        let name = plain(&series.name);
        // A long name has lines of its own.
        let lines = match paint::width(&name) + paint::width(behind) <= options.width() {
            true => vec![name],
            false => wrapped(&name, options.width().saturating_sub(1)),
        };
        let lines = lines.iter().map(|line| paint.text(paint::HEADING, line));
        let lines: Vec<String> = lines.collect();
        match &lines[..] {
            [line] => format!("{line}{behind}"),
            lines => format!(
                "{}:\n {}",
                lines.join("\n"),
                behind.trim_start_matches(": ")
            ),
        }
    };
    let (Some((low, high)), [first, .., last] | [first @ last]) =
        (range(&values), &series.points[..])
    else {
        push(&mut out, &heading(": no run has a number for it"));
        return out;
    };
    let newest = quantity(series.unit, last.median);
    let behind = format!(
        ": {newest} in the last of {}",
        sentence::count(values.len(), "run")
    );
    push(&mut out, &heading(&behind));
    let labels = [high, (low + high) / 2.0, low].map(|value| quantity(series.unit, value));
    let margin = labels
        .iter()
        .map(|label| paint::width(label))
        .max()
        .unwrap_or(0);
    let room = options.width().saturating_sub(margin + 2);
    let field = field(series, &values, (low, high), room);
    for (line, marks) in field.iter().enumerate() {
        let label = match line {
            0 => &*labels[0],
            _ if line == HEIGHT / 2 => &*labels[1],
            _ if line == HEIGHT - 1 => &*labels[2],
            _ => "",
        };
        let cells: String = marks
            .iter()
            .map(|mark| match mark {
                Mark::Nothing => " ".to_owned(),
                Mark::Change => paint.text(paint::CARE, "┊"),
                Mark::Interval => paint.text(paint::DIM, "│"),
                Mark::Median => "●".to_owned(),
            })
            .collect();
        push(&mut out, &format!("{label:>margin$} ┤{cells}"));
    }
    let columns = field[0].len();
    let mut ticks = vec!['─'; columns];
    for change in &series.changes {
        ticks[column_of(change.index, values.len(), room)] = '▲';
    }
    let ticks: String = ticks.into_iter().collect();
    push(&mut out, &format!("{:margin$} └{ticks}", ""));
    let (from, to) = options.ends(&first.started, &last.started);
    // Two dates need their space even under a short chart.
    let gap = columns.saturating_sub(from.len() + to.len()).max(2);
    push(
        &mut out,
        &format!("{:margin$}  {from}{}{to}", "", " ".repeat(gap)),
    );
    for change in &series.changes {
        let (word, style) = verdict(series.better, change);
        let line = format!(
            "▲ {}, {}, {}: {word} (p {})",
            levels(series.unit, change),
            relative(change),
            options.day(&change.started),
            chance(change.p_value)
        );
        push(&mut out, &paint.text(style, &line));
    }
    out
}

fn chance(p_value: f64) -> String {
    if p_value < 0.0001 {
        "< 0.0001".to_owned()
    } else {
        format!("= {p_value:.4}")
    }
}

/// Columns per run; runs share a column if there are more runs than columns.
fn step(count: usize, room: usize) -> usize {
    (room / count.max(1)).clamp(1, WIDEST)
}

fn column_of(index: usize, count: usize, room: usize) -> usize {
    let bucket = buckets(count, room).position(|bucket| bucket.contains(&index));
    bucket.unwrap_or(0) * step(count, room)
}

/// The lines of the plot, top first.
fn field(series: &Series, values: &[f64], (low, high): (f64, f64), room: usize) -> Vec<Vec<Mark>> {
    let count = values.len();
    let step = step(count, room);
    let columns = buckets(count, room).count() * step;
    let mut field = vec![vec![Mark::Nothing; columns]; HEIGHT];
    for change in &series.changes {
        let column = column_of(change.index, count, room);
        field
            .iter_mut()
            .for_each(|line| line[column] = Mark::Change);
    }
    let line_of = |value: f64| {
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        ((1.0 - share) * (HEIGHT - 1) as f64).round() as usize
    };
    for (number, bucket) in buckets(count, room).enumerate() {
        let points = &series.points[bucket.clone()];
        // If several runs share a column, draw their median interval: the widest would fill the
        // plot.
        let lows: Vec<f64> = points.iter().filter_map(|point| point.ci95_low).collect();
        let highs: Vec<f64> = points.iter().filter_map(|point| point.ci95_high).collect();
        let column = number * step;
        if let (Some(lowest), Some(highest)) = (order::median(&lows), order::median(&highs)) {
            for line in &mut field[line_of(highest)..=line_of(lowest)] {
                line[column] = Mark::Interval;
            }
        }
        if let Some(median) = order::median(&values[bucket]) {
            field[line_of(median)][column] = Mark::Median;
        }
    }
    field
}
