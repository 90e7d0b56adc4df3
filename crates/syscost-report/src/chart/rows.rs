//! Chooses the chart for the rows of a run, or of several.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use syscost_results::estimate::selection::Selection;
use syscost_results::row_name::{number, parameters};
use syscost_results::{Measurement, Unit};

use crate::sentence;
use crate::view::value;

use super::canvas::Shape;
use super::parameters::{numbers, values, varying};
use super::{Bar, Border, Chart, Distribution, Line, Panel, formatted, look, scale};

/// A kind of chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// [`Chart::Bars`].
    Bars,
    /// [`Chart::Ecdf`].
    Ecdf,
    /// [`Chart::Curve`].
    Curve,
    /// [`Chart::Heatmap`].
    Heatmap,
}

/// A chart chosen for some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The chart.
    pub chart: Chart,
    /// The unit of its values.
    pub unit: Unit,
    /// What the rows have in common, e.g. `syscall.null`.
    pub title: String,
    /// Rows that could not be drawn.
    pub left_out: Vec<LeftOut>,
}

/// A row that could not be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The place of its run among the runs.
    pub run: usize,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// A row of a run.
#[derive(Debug, Clone, Copy)]
struct Of<'a> {
    run: usize,
    row: &'a Measurement,
}

/// Why rows make no chart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoChart {
    /// None of the rows has a number.
    #[error("none of these rows has a number: {0}")]
    NoNumbers(String),
    /// The rows' units differ.
    #[error("{first} is in {}, {other} in {}; one chart shows one unit, so name rows of one", first_unit.symbol(), other_unit.symbol())]
    Units {
        /// A row.
        first: String,
        /// Its unit.
        first_unit: Unit,
        /// A row of another unit.
        other: String,
        /// That unit.
        other_unit: Unit,
    },
    /// There is one number, which is better read than drawn.
    #[error("{name} is {figure}, a single number; name several rows, or draw --kind bars")]
    OneNumber {
        /// The place of its run among the runs.
        run: usize,
        /// The row.
        name: String,
        /// Its median and interval.
        figure: String,
    },
    /// The document holds no samples of a row.
    #[error(
        "{0} has no samples to draw a distribution of; measure without --no-samples, or draw --kind bars"
    )]
    NoSamples(String),
    /// No parameter is a number in all rows, with three values or more.
    #[error(
        "no parameter of these rows is a number with three or more values, which a curve needs; draw --kind bars"
    )]
    NoParameter,
    /// The rows are not distinguished by exactly two parameters of one benchmark.
    #[error(
        "a heat map needs rows of one benchmark that differ in exactly two parameters; these {0}"
    )]
    NoPair(String),
}

/// Number of values of a parameter from which a curve says more than bars.
const CURVE_FROM: usize = 3;
/// Parameters that merely number things: there is nothing between the second and the third.
const NUMBERED: [&str; 4] = ["level", "cpu", "cpu_node", "memory_node"];
/// Maximum number of lines in a chart: there are six colours, solid and dashed. More rows become bars.
pub(super) const MAX_LINES: usize = 12;
/// Number of points side by side from which a curve is wide.
const WIDE_FROM: usize = 16;
/// Number of rows from which bars are a heat map if they can be.
const MAX_BARS: usize = 12;
/// Maximum number of columns of a heat map of these, and its share of cells that have a value.
const MAX_COLUMNS: usize = 12;
const FILLED: f64 = 0.3;
/// Number of values of both parameters from which a heat map says more than curves.
const HEATMAP_FROM: usize = 4;
/// Number of cells from which a heat map is chosen if both parameters are numbers with enough values for a curve.
const SURFACE_FROM: usize = 12;
/// The parameters (down, across) of a matrix of pairs, which is always a heat map, whatever its size and whatever else differs.
const MATRIX: (&str, &str) = ("from", "to");
/// Maximum number of panels of a heat map; more are hard to compare.
const MAX_PANELS: usize = 6;
/// Maximum number of cells of a heat map, empty ones too; more are smaller than a pixel.
const MAX_CELLS: usize = 1_000_000;

/// A chart of the rows of each run, of the kind asked for or of the one that suits them: a heat map
/// for pairs or two parameters (with a panel for each value of what else differs, if both are
/// numbers), a curve for a parameter that is a size or has many numbers, the samples of a single
/// row, otherwise bars. Each run is drawn with its own numbers and no others. Rows without a number
/// are left out and reported.
///
/// # Errors
/// When no row has a number or, without a kind, a single one has; when units differ, or the rows lack what the kind needs.
pub fn choose(runs: &[Vec<&Measurement>], asked: Option<Kind>) -> Result<Chosen, NoChart> {
    let (of, without): (Vec<Of<'_>>, Vec<Of<'_>>) = by_name(runs)
        .into_iter()
        .partition(|one| value(one.row).is_some());
    let left_out: Vec<LeftOut> = without
        .iter()
        .map(|one| LeftOut {
            run: one.run,
            name: one.row.name.clone(),
            reason: sentence::no_number(one.row),
        })
        .collect();
    let Some(Of { row: first, .. }) = of.first() else {
        let reasons = left_out.iter().take(3);
        let reasons: Vec<String> = reasons
            .map(|LeftOut { name, reason, .. }| format!("{name} {reason}"))
            .collect();
        return Err(NoChart::NoNumbers(reasons.join("; ")));
    };
    if let Some(Of { row: other, .. }) = of.iter().find(|one| one.row.unit != first.unit) {
        return Err(NoChart::Units {
            first: first.name.clone(),
            first_unit: first.unit,
            other: other.name.clone(),
            other_unit: other.unit,
        });
    }
    // What rows have in common does not depend on how many runs have them.
    let mut rows: Vec<&Measurement> = of.iter().map(|one| one.row).collect();
    rows.dedup_by(|next, one| next.name == one.name);
    let kind = asked.unwrap_or_else(|| suitable(&rows, &of));
    if let (None, Kind::Bars, [one]) = (asked, kind, &of[..]) {
        return Err(NoChart::OneNumber {
            run: one.run,
            name: one.row.name.clone(),
            figure: value(one.row)
                .map_or_else(String::new, |value| formatted(one.row.unit, &value)),
        });
    }
    let chart = match kind {
        Kind::Bars => bars(&rows, &of),
        Kind::Ecdf => Chart::Ecdf(distributions(&rows, &of)?),
        Kind::Curve => curve(&rows, &of).ok_or(NoChart::NoParameter)?,
        Kind::Heatmap if asked.is_none() => table(&rows, &of).ok_or_else(|| no_pair(&rows))?,
        Kind::Heatmap => heatmap(&rows, &of).ok_or_else(|| no_pair(&rows))?,
    };
    Ok(Chosen {
        chart,
        unit: first.unit,
        title: common_title(&rows),
        left_out,
    })
}

impl Chosen {
    /// Names values of the parameter that a curve is drawn over.
    pub fn mark(&mut self, named: &[Border]) {
        if let Chart::Curve { borders, .. } = &mut self.chart {
            borders.extend_from_slice(named);
        }
    }

    /// Whether it has so many points side by side that it needs the width of a page.
    pub fn is_wide(&self) -> bool {
        let Chart::Curve { lines, .. } = &self.chart else {
            return false;
        };
        let points = lines.iter().flat_map(|line| &line.points);
        let mut places: Vec<f64> = points.map(|(x, _)| *x).collect();
        places.sort_unstable_by(f64::total_cmp);
        places.dedup();
        places.len() >= WIDE_FROM
    }
}

/// The rows of all runs: those of one name one after the other, by run.
fn by_name<'a>(runs: &[Vec<&'a Measurement>]) -> Vec<Of<'a>> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut of: Vec<Of<'a>> = Vec::new();
    for (run, rows) in runs.iter().enumerate() {
        for &row in rows {
            let next = places.len();
            places.entry(&row.name).or_insert(next);
            of.push(Of { run, row });
        }
    }
    of.sort_by_key(|one| places[one.row.name.as_str()]);
    of
}

/// Each row of each run with its label, which is one of `labels` for each of `rows`.
fn labelled<'a>(of: &[Of<'a>], rows: &[&Measurement], labels: &[String]) -> Vec<(Of<'a>, String)> {
    let mut index = 0;
    let of = of.iter().map(|one| {
        index += usize::from(one.row.name != rows[index].name);
        (*one, labels[index].clone())
    });
    of.collect()
}

/// The kind that suits rows with numbers.
fn suitable(rows: &[&Measurement], of: &[Of<'_>]) -> Kind {
    if let Some(axes) = axes(rows).filter(|_| heatmap(rows, of).is_some()) {
        let counts = [axes.0, axes.1].map(|key| values(rows, key).map_or(0, |values| values.len()));
        // Of a curve for each.
        let is_surface = is_axis(rows, axes.0) && is_axis(rows, axes.1);
        if (is_surface && counts[0] * counts[1] >= SURFACE_FROM)
            || is_matrix(rows)
            || (varying(rows).len() == 2 && counts.iter().all(|count| *count >= HEATMAP_FROM))
        {
            return Kind::Heatmap;
        }
    }
    match rows {
        [_] if of.iter().all(|one| has_samples(one.row)) => Kind::Ecdf,
        rows if suits_curve(rows, of) => Kind::Curve,
        rows if rows.len() > MAX_BARS && table(rows, of).is_some() => Kind::Heatmap,
        _ => Kind::Bars,
    }
}

/// Whether lines are meaningful: intermediate values of the parameter exist, and the lines are distinguishable.
fn suits_curve(rows: &[&Measurement], of: &[Of<'_>]) -> bool {
    let Some(Chart::Curve {
        parameter, lines, ..
    }) = curve(rows, of)
    else {
        return false;
    };
    // In a chart of several runs the colours are theirs, and shapes tell the lines of each.
    let (_, count) = look::places(lines.iter().map(|line| line.label.as_str()));
    let has_runs = of.iter().any(|one| one.run != of[0].run);
    let max = if has_runs { Shape::COUNT } else { MAX_LINES };
    !NUMBERED.contains(&parameter.as_str()) && count <= max
}

/// The samples that the numbers of a row are from, converted as these are; none if it has no number.
pub(crate) fn samples(row: &Measurement) -> Vec<f64> {
    if value(row).is_none() {
        return Vec::new();
    }
    let mut samples = Selection::of_row(row).processes.concat();
    samples.retain(|value| value.is_finite());
    samples
}

fn has_samples(row: &Measurement) -> bool {
    !samples(row).is_empty()
}

fn bars(rows: &[&Measurement], of: &[Of<'_>]) -> Chart {
    let bars = labelled(of, rows, &labels(rows, &[])).into_iter();
    let bars = bars.filter_map(|(Of { run, row }, label)| {
        let value = value(row)?;
        Some(Bar { label, run, value })
    });
    Chart::Bars(bars.collect())
}

fn distributions(rows: &[&Measurement], of: &[Of<'_>]) -> Result<Vec<Distribution>, NoChart> {
    if let Some(one) = of.iter().find(|one| !has_samples(one.row)) {
        return Err(NoChart::NoSamples(one.row.name.clone()));
    }
    let all = labelled(of, rows, &labels(rows, &[])).into_iter();
    let all = all.map(|(Of { run, row }, label)| Distribution {
        label,
        run,
        value: value(row),
        samples: samples(row),
    });
    Ok(all.collect())
}

fn curve(rows: &[&Measurement], of: &[Of<'_>]) -> Option<Chart> {
    let mut best: Option<(String, usize)> = None;
    for key in rows.first()?.case.keys() {
        let numbers = numbers(rows, key).unwrap_or_default();
        if numbers.len() >= CURVE_FROM
            && best
                .as_ref()
                .is_none_or(|(_, count)| numbers.len() > *count)
        {
            best = Some((key.clone(), numbers.len()));
        }
    }
    let (parameter, _) = best?;
    let mut lines: Vec<Line> = Vec::new();
    let mut known: HashMap<(String, usize), usize> = HashMap::new();
    for (Of { run, row }, label) in labelled(of, rows, &labels(rows, &[&parameter])) {
        let point = (number(row.case.get(&parameter)?)?, value(row)?);
        let index = *known.entry((label.clone(), run)).or_insert(lines.len());
        if index == lines.len() {
            let points = Vec::new();
            lines.push(Line { label, run, points });
        }
        lines[index].points.push(point);
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let borders = Vec::new();
    Some(Chart::Curve {
        parameter,
        lines,
        borders,
    })
}

/// The parameters of a heat map, across and down: those of a matrix, the only two that differ, or the only two of them that are numbers.
/// The last one in the name goes across, since it is the size.
fn axes<'a>(rows: &[&'a Measurement]) -> Option<(&'a str, &'a str)> {
    if is_matrix(rows) {
        return Some((MATRIX.1, MATRIX.0));
    }
    let keys = varying(rows);
    let mut named: Vec<&str> = parameters(&rows.first()?.name)
        .map(|(key, _)| key)
        .filter(|key| keys.contains(key))
        .collect();
    if named.len() > 2 {
        named.retain(|key| is_axis(rows, key));
    }
    match named[..] {
        [down, across] => Some((across, down)),
        _ => None,
    }
}

/// Whether the rows are of pairs whose two sides can be equal.
fn is_matrix(rows: &[&Measurement]) -> bool {
    let of = |key| numbers(rows, key).filter(|sides| sides.len() > 1);
    of(MATRIX.0).is_some_and(|down| of(MATRIX.1) == Some(down))
}

/// Whether the parameter is a number with enough values for a curve.
fn is_axis(rows: &[&Measurement], key: &str) -> bool {
    numbers(rows, key).is_some_and(|numbers| numbers.len() >= CURVE_FROM)
}

/// A heat map of what differs in two parameters; else of one parameter across, and down of all
/// others together.
fn table(rows: &[&Measurement], of: &[Of<'_>]) -> Option<Chart> {
    if let Some(chart) = heatmap(rows, of) {
        return Some(chart);
    }
    if rows.iter().any(|row| row.id != rows[0].id) {
        return None;
    }
    let keys = varying(rows);
    // A size or another number goes across, else what fills the table best.
    let names = parameters(&rows[0].name).map(|(key, _)| key);
    let candidates = names.filter(|name| keys.contains(name));
    let candidates = candidates.filter_map(|across| {
        let columns = values(rows, across)?;
        if !(2..=MAX_COLUMNS).contains(&columns.len()) {
            return None;
        }
        let labels = labels(rows, &[across]);
        let (_, lines) = look::places(labels.iter().map(String::as_str));
        let share = rows.len() as f64 / (columns.len() * lines) as f64;
        let rank = if is_axis(rows, across) {
            1.0 + share
        } else {
            share
        };
        (lines > 1 && share >= FILLED).then_some((across, columns, labels, rank))
    });
    let (across, columns, labels, _) = candidates.max_by(|a, b| a.3.total_cmp(&b.3))?;
    let mut lines: Vec<String> = Vec::new();
    let (places, _) = look::places(labels.iter().map(String::as_str));
    for (label, place) in labels.iter().zip(places) {
        if place == lines.len() {
            lines.push(label.clone());
        }
    }
    let cells = labelled(of, rows, &labels).into_iter();
    let cells = cells.map(|(one, line)| (one, String::new(), line));
    let panels = panels(cells.collect(), across, &columns, &lines)?;
    let others = keys.into_iter().filter(|key| *key != across);
    let others: Vec<String> = others.map(|key| key.replace('_', " ")).collect();
    Some(Chart::Heatmap {
        columns: shown(across, columns),
        rows: lines,
        parameters: (across.to_owned(), others.join(", ")),
        panels,
    })
}

fn heatmap(rows: &[&Measurement], of: &[Of<'_>]) -> Option<Chart> {
    let (across, down) = axes(rows)?;
    if rows.iter().any(|row| row.id != rows[0].id) {
        return None;
    }
    let (columns, lines) = (values(rows, across)?, values(rows, down)?);
    let several = varying(rows).len() > 2;
    let cells = labelled(of, rows, &labels(rows, &[across, down])).into_iter();
    let cells = cells.map(|(one, label)| {
        let label = if several { label } else { String::new() };
        (
            one,
            label,
            one.row.case.get(down).cloned().unwrap_or_default(),
        )
    });
    let panels = panels(cells.collect(), across, &columns, &lines)?;
    Some(Chart::Heatmap {
        columns: shown(across, columns),
        rows: shown(down, lines),
        parameters: (across.to_owned(), down.to_owned()),
        panels,
    })
}

/// The panels of rows, each given with the label of its panel and its line: by what distinguishes
/// them, then by the runs to be compared. `None` if there are too many, or too many cells.
fn panels(
    of: Vec<(Of<'_>, String, String)>,
    across: &str,
    columns: &[String],
    lines: &[String],
) -> Option<Vec<Panel>> {
    let (labels, count) = look::places(of.iter().map(|(_, label, _)| label.as_str()));
    let keys = || {
        labels
            .iter()
            .zip(&of)
            .map(|(label, (one, ..))| (*label, one.run))
    };
    let panels = keys().collect::<BTreeSet<_>>().len();
    if count > MAX_PANELS || panels * columns.len() * lines.len() > MAX_CELLS {
        return None;
    }
    let places = |names| -> HashMap<&String, usize> { std::iter::zip(names, 0..).collect() };
    let (column, line) = (places(columns), places(lines));
    let mut panels: BTreeMap<(usize, usize), Panel> = BTreeMap::new();
    for (key, (Of { run, row }, label, of_line)) in keys().zip(&of) {
        let panel = panels.entry(key).or_insert_with(|| Panel {
            label: label.clone(),
            run: *run,
            cells: vec![vec![None; columns.len()]; lines.len()],
        });
        let (line, column) = (line.get(of_line)?, column.get(row.case.get(across)?)?);
        panel.cells[*line][*column] = value(row).map(|value| value.median);
    }
    Some(panels.into_values().collect())
}

/// A parameter's values as labels.
fn shown(key: &str, values: Vec<String>) -> Vec<String> {
    let labels = values.into_iter().map(|value| match number(&value) {
        Some(number) => scale::size(key, number).unwrap_or(value),
        None => value,
    });
    labels.collect()
}

/// Why the rows make no heat map, and what to do about it.
fn no_pair(rows: &[&Measurement]) -> NoChart {
    let first = rows[0];
    if let Some(other) = rows.iter().find(|row| row.id != first.id) {
        return NoChart::NoPair(format!("are of {} and {}; name one", first.id, other.id));
    }
    let keys: Vec<&str> = varying(rows).into_iter().collect();
    let names = keys.join(", ");
    NoChart::NoPair(match &keys[..] {
        [] => "differ in none; draw --kind bars".to_owned(),
        [_] => format!("differ in {names} only; draw --kind bars"),
        [_, _] => format!(
            "differ in {names}, which not all of them have, or in too many values; draw --kind bars"
        ),
        [.., last] => {
            let value = first.case.get(*last).map_or("*", String::as_str);
            format!(
                "differ in {names}; hold all but two, one of them by '{}{{*{last}={value}*}}'",
                first.id
            )
        }
    })
}

/// What distinguishes the rows, in selector syntax, without the parameters in `but`: the parameters
/// that differ or that not all rows have, after the benchmark's name if that differs.
fn labels(rows: &[&Measurement], but: &[&str]) -> Vec<String> {
    let one_benchmark = rows.iter().all(|row| row.id == rows[0].id);
    let varying = varying(rows);
    rows.iter()
        .map(|row| {
            let parameters: Vec<String> = parameters(&row.name)
                .filter(|(key, _)| !but.contains(key) && varying.contains(key))
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            match (one_benchmark, parameters.join(",")) {
                (_, parameters) if parameters.is_empty() => row.id.clone(),
                (true, parameters) => parameters,
                (false, parameters) => format!("{}{{{parameters}}}", row.id),
            }
        })
        .collect()
}

fn common_title(rows: &[&Measurement]) -> String {
    let first = rows[0];
    if let [row] = rows {
        return format!("{} · {}", row.title, row.name);
    }
    if rows.iter().all(|row| row.id == first.id) {
        return format!("{} · {}", first.title, first.id);
    }
    let mut ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    ids.dedup();
    match &ids[..] {
        [a, b] => format!("{a} and {b}"),
        [a, b, c] => format!("{a}, {b} and {c}"),
        [a, b, rest @ ..] => format!("{a}, {b} and {} more", rest.len()),
        _ => String::new(),
    }
}
