//! The kept runs as a list, and metrics over time as terminal charts, sparklines and a table of changes.

mod chart;
mod list;
#[cfg(test)]
mod tests;

use jiff::{Timestamp, tz::TimeZone};
use syscost_results::history::{ChangePoint, Series};
use syscost_results::{Better, Unit};
use syscost_stats::order;

use crate::grid::{Behind, Cell, Grid, Name, left, right};
use crate::paint::{self, Paint, width};
use crate::units::quantity;

pub use chart::chart;
pub use list::{ListedRun, list};

/// How to draw a history.
#[derive(Debug, Clone)]
pub struct HistoryOptions {
    /// Maximum width in columns; values below 60 count as 60.
    pub width: usize,
    /// Whether to write ANSI colours.
    pub color: bool,
    /// The time zone for dates.
    pub zone: TimeZone,
}

impl HistoryOptions {
    fn paint(&self) -> Paint {
        Paint { color: self.color }
    }

    fn width(&self) -> usize {
        self.width.max(60)
    }

    /// The date, in this zone, of an RFC 3339 time.
    fn day(&self, time: &str) -> String {
        self.formatted(time, "%Y-%m-%d")
            .unwrap_or_else(|| "????-??-??".to_owned())
    }

    /// The dates of the first and the last of some runs; of one day, with their times.
    fn ends(&self, first: &str, last: &str) -> (String, String) {
        let with_time = |time| self.formatted(time, "%Y-%m-%d %H:%M");
        match (
            self.day(first) == self.day(last),
            with_time(first),
            with_time(last),
        ) {
            (true, Some(from), Some(to)) => (from, to),
            _ => (self.day(first), self.day(last)),
        }
    }

    /// An RFC 3339 time in this zone.
    fn formatted(&self, time: &str, format: &str) -> Option<String> {
        let time = time.parse::<Timestamp>().ok()?;
        let here = time.to_zoned(self.zone.clone());
        Some(here.strftime(format).to_string())
    }
}

/// Minimum range of a sparkline or chart, as a share of the middle: noise must not look like a
/// landslide.
const MIN_RANGE: f64 = 0.1;

/// Minimum and maximum width of a sparkline.
const MIN_SPARKLINE: usize = 8;
const MAX_SPARKLINE: usize = 40;
/// The heading of the sparklines, and a shorter one.
const OVER_TIME: [&str; 2] = ["oldest to newest", "time →"];

/// One line per series, below a heading: name, sparkline, newest value, newest change.
pub fn sparklines(series: &[Series], options: &HistoryOptions) -> String {
    let longest = series.iter().map(|series| series.points.len()).max();
    let longest = longest.unwrap_or(0).min(MAX_SPARKLINE);
    // Sparklines are made short before names are.
    let drawn = |room: usize| {
        let over_time = OVER_TIME.into_iter().find(|text| width(text) <= room);
        let mut grid = Grid::new(vec![
            left(over_time.unwrap_or_default()),
            right("latest"),
            right("change"),
            left(""),
        ]);
        grid.heading("", paint::DIM);
        for series in series {
            let values: Vec<f64> = series.points.iter().map(|point| point.median).collect();
            let last = values.last().map_or_else(
                || "no number".to_owned(),
                |&value| quantity(series.unit, value),
            );
            let mut cells = vec![sparkline(&values, room).into(), last.into()];
            if let Some(change) = series.changes.last() {
                let style = verdict(series.better, change).1;
                let texts = [relative(change), options.day(&change.started)];
                cells.extend(texts.map(|text| Cell::new(text, style)));
            }
            grid.line(Name::new(plain(&series.name), 0), cells, Behind::Nothing);
        }
        grid
    };
    let spare = drawn(MIN_SPARKLINE).spare(options.width());
    let most = longest.max(width(OVER_TIME[0]));
    let room = (MIN_SPARKLINE + spare.unwrap_or(0)).min(most);
    text(&drawn(room), options)
}

/// Every change of these series, newest first.
pub fn changes(series: &[Series], options: &HistoryOptions) -> String {
    let mut all: Vec<(&Series, &ChangePoint)> = series
        .iter()
        .flat_map(|series| series.changes.iter().map(move |change| (series, change)))
        .collect();
    all.sort_by(|a, b| {
        b.1.started
            .cmp(&a.1.started)
            .then_with(|| a.0.name.cmp(&b.0.name))
    });
    let mut grid = Grid::new(vec![left(""), right(""), left(""), left("")]);
    for (series, change) in all {
        let (word, style) = verdict(series.better, change);
        let cells = vec![
            options.day(&change.started).into(),
            relative(change).into(),
            Cell::new(word, style),
            levels(series.unit, change).into(),
        ];
        grid.line(Name::new(plain(&series.name), 0), cells, Behind::Nothing);
    }
    text(&grid, options)
}

fn text(grid: &Grid<'_>, options: &HistoryOptions) -> String {
    let drawn = grid.draw(options.width(), options.paint());
    drawn.lines.iter().map(|line| format!("{line}\n")).collect()
}

/// `83.1 ns → 92.4 ns`.
fn levels(unit: Unit, change: &ChangePoint) -> String {
    format!(
        "{} → {}",
        quantity(unit, change.before),
        quantity(unit, change.after)
    )
}

/// `+11 %`; empty for a level around zero, which has no relative change.
fn relative(change: &ChangePoint) -> String {
    if change.before <= 0.0 || change.after <= 0.0 {
        return "around zero".to_owned();
    }
    let percent = 100.0 * (change.after - change.before) / change.before.abs();
    let decimals = usize::from(percent.abs() < 9.95);
    format!("{percent:+.decimals$} %").replace('-', "−")
}

fn verdict(better: Better, change: &ChangePoint) -> (&'static str, anstyle::Style) {
    let rose = change.after > change.before;
    if rose == (better == Better::Higher) {
        ("better", paint::GOOD)
    } else {
        ("worse", paint::BAD)
    }
}

/// One block per value, in eight heights; neighbouring values share a block if there are more
/// values than columns.
fn sparkline(values: &[f64], room: usize) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let Some((low, high)) = range(values) else {
        return String::new();
    };
    buckets(values.len(), room)
        .filter_map(|bucket| order::median(&values[bucket]))
        .map(|value| {
            let share = (value - low) / (high - low);
            BLOCKS[((share * 8.0) as usize).min(7)]
        })
        .collect()
}

/// From the lowest to the highest value, widened if they are almost equal.
fn range(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    let middle = low / 2.0 + high / 2.0;
    let min_range = match MIN_RANGE * middle.abs() {
        0.0 => 1.0,
        min_range => min_range,
    };
    if high - low < min_range {
        return Some((middle - min_range / 2.0, middle + min_range / 2.0));
    }
    Some((low, high))
}

/// Divides `count` neighbours among at most `room` columns, as evenly as possible; no column is
/// empty.
fn buckets(count: usize, room: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let columns = count.min(room).max(1);
    (0..columns).map(move |column| column * count / columns..(column + 1) * count / columns)
}

/// A text from a document, without control characters.
fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { '?' } else { letter })
        .collect()
}

/// Adds a line, without trailing spaces.
fn push(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}
