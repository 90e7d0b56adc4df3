//! The kept runs as a list, and rows over time: the documents of a terminal and a page.

mod list;
#[cfg(test)]
mod tests;

use jiff::{Timestamp, tz::TimeZone};
use syscost_results::Better;
use syscost_results::history::{ChangePoint, Series};

use crate::chart::{Chart, GroupTexts, Value};
use crate::document::{Block, Column, Drawn, Look, Picture, Row, Table, Text};
use crate::sentence;
use crate::tone::Tone;
use crate::units::quantity;

pub use list::{ListedRun, list};

/// Rows over time: of one its chart, of several a line for each.
pub fn over_time(series: &[Series], zone: &TimeZone) -> Vec<Block> {
    let [only] = series else {
        return vec![Block::Table(lines(series, zone))];
    };
    let newest = match only.points.last() {
        Some(last) => {
            let runs = sentence::count(only.points.len(), "run");
            format!("{} in the last of {runs}", quantity(only.unit, last.median))
        }
        None => "no run has a number for it".to_owned(),
    };
    let heading = Block::heading(2, format!("{}: {newest}", only.name));
    std::iter::once(heading).chain(one(only, zone)).collect()
}

/// The chart of a row over time, and each change of its level; nothing without numbers.
pub(crate) fn one(series: &Series, zone: &TimeZone) -> Vec<Block> {
    let points = series.points.iter().map(|point| {
        let value = Value {
            median: point.median,
            low: point.ci95_low,
            high: point.ci95_high,
        };
        (
            formatted(&point.started, "%Y-%m-%d %H:%M", zone),
            Some(value),
        )
    });
    let changes = series.changes.iter();
    let chart = Chart::OverRuns {
        points: points.collect(),
        changes: changes.clone().map(|change| change.index).collect(),
    };
    let figure = Block::Figure(Picture {
        name: String::new(),
        title: "Median and 95 % interval of each run; a broken line parts two levels".to_owned(),
        unit: series.unit,
        drawn: Drawn::Chart(chart),
        texts: GroupTexts::default(),
        legend: None,
        note: None,
    });
    let changes = changes.map(|change| {
        let (word, tone) = verdict(series.better, change);
        let [levels, relative] = [levels(series, change), relative(change)];
        let p_value = match change.p_value < 0.0001 {
            true => "< 0.0001".to_owned(),
            false => format!("= {:.4}", change.p_value),
        };
        let words = format!("{levels}, {relative}, {} (p {p_value})", day(change, zone));
        Text::of(Look::Tag, word)
            .with(Look::Plain, words)
            .tone(tone)
    });
    let changes: Vec<Text> = changes.collect();
    let has_changes = !changes.is_empty();
    let list = has_changes.then_some(Block::List(changes));
    let figure = (!series.points.is_empty()).then_some(figure);
    figure.into_iter().chain(list).collect()
}

/// A line for each row: its course, its newest number, its newest change.
pub fn lines(series: &[Series], zone: &TimeZone) -> Table {
    let line = |series: &Series| {
        let values: Vec<f64> = series.points.iter().map(|point| point.median).collect();
        let latest = values.last().map(|value| quantity(series.unit, *value));
        let latest = latest.unwrap_or_else(|| "no number".to_owned());
        let change = series.changes.last().map(|change| {
            let tone = verdict(series.better, change).1;
            [relative(change), day(change, zone)].map(|text| Text::from(text).tone(tone))
        });
        let [change, since] = change.unwrap_or_default();
        let course = Text::sparkline(&values, series.unit);
        Row::new(
            Text::of(Look::Case, &series.name),
            [course, latest.into(), change, since],
        )
    };
    Table {
        class: "stack",
        caption: "Rows over time".to_owned(),
        names: "row".into(),
        columns: vec![
            Column::left("oldest to newest").rank(1),
            Column::right("latest"),
            Column::right("change"),
            Column::left("since").rank(2),
        ],
        rows: series.iter().map(line).collect(),
    }
}

/// Every change of these rows, newest first.
pub fn changes(series: &[Series], zone: &TimeZone) -> Vec<Block> {
    let of_one = |series| move |change| (series, change);
    let all = series
        .iter()
        .flat_map(|one: &Series| one.changes.iter().map(of_one(one)));
    let mut all: Vec<(&Series, &ChangePoint)> = all.collect();
    all.sort_by(|(one, a), (other, b)| (&b.started, &one.name).cmp(&(&a.started, &other.name)));
    let line = |(series, change): (&Series, &ChangePoint)| {
        let (word, tone) = verdict(series.better, change);
        let [date, relative] = [day(change, zone), relative(change)].map(Text::from);
        let cells = [
            date,
            relative,
            Text::from(word).tone(tone),
            levels(series, change).into(),
        ];
        Row::new(Text::of(Look::Case, &series.name), cells)
    };
    let table = Table {
        class: "stack",
        caption: "Changes of level".to_owned(),
        names: "row".into(),
        columns: vec![
            Column::left("since"),
            Column::right("change"),
            Column::left(""),
            Column::left("levels").rank(1),
        ],
        rows: all.into_iter().map(line).collect(),
    };
    let has_rows = !table.rows.is_empty();
    has_rows
        .then_some(Block::Table(table))
        .into_iter()
        .collect()
}

/// `83.1 ns → 92.4 ns`.
fn levels(series: &Series, change: &ChangePoint) -> String {
    let [before, after] = [change.before, change.after].map(|it| quantity(series.unit, it));
    format!("{before} → {after}")
}

/// `+11 %`; a level around zero has no relative change.
fn relative(change: &ChangePoint) -> String {
    if change.before <= 0.0 || change.after <= 0.0 {
        return "around zero".to_owned();
    }
    let percent = 100.0 * (change.after - change.before) / change.before.abs();
    let decimals = usize::from(percent.abs() < 9.95);
    format!("{percent:+.decimals$} %").replace('-', "−")
}

fn verdict(better: Better, change: &ChangePoint) -> (&'static str, Tone) {
    let rose = change.after > change.before;
    match rose == (better == Better::Higher) {
        true => ("better", Tone::Good),
        false => ("worse", Tone::Bad),
    }
}

fn day(change: &ChangePoint, zone: &TimeZone) -> String {
    formatted(&change.started, "%Y-%m-%d", zone)
}

/// An RFC 3339 time in this zone; as it is if it is none.
fn formatted(time: &str, format: &str, zone: &TimeZone) -> String {
    match time.parse::<Timestamp>() {
        Ok(moment) => moment.to_zoned(zone.clone()).strftime(format).to_string(),
        Err(_) => sentence::fact(time),
    }
}
