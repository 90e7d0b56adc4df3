//! Chooses the chart for a run's rows.

use syscost_results::estimate::selection::Selection;
use syscost_results::row_name::{number, parameters};
use syscost_results::{Measurement, Status, Unit};

use crate::sentence;
use crate::view::value;

use super::parameters::{numbers, values, varying};
use super::{
    Bar, Begin, Chart, Distribution, Line, Panel, Scale, Value, bars, distribution, scale,
};

/// A kind of chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// [`Chart::Bars`].
    Bars,
    /// [`Chart::Ecdf`].
    Ecdf,
    /// [`Chart::Violin`].
    Violin,
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
    /// Rows that could not be drawn, with the reason.
    pub left_out: Vec<(String, String)>,
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
/// Number of values of both parameters from which a heat map says more than curves.
const HEATMAP_FROM: usize = 4;
/// Number of cells from which a heat map is chosen if both parameters are numbers with enough values for a curve.
const SURFACE_FROM: usize = 12;
/// The parameters (down, across) of a matrix of pairs, which is always a heat map, whatever its size and whatever else differs.
const MATRIX: (&str, &str) = ("from", "to");
/// Maximum number of panels of a heat map; more are hard to compare.
const MAX_PANELS: usize = 6;

/// A chart of these rows, of the kind asked for or of the one that suits them: a heat map for pairs or two parameters (with a panel for
/// each value of what else differs, if both are numbers), a curve for a parameter that is a size or has many numbers, the samples of a
/// single row, otherwise bars. Rows without a number are left out and reported.
///
/// # Errors
/// When no row has a number, units differ, or the rows lack what the kind needs.
pub fn choose(rows: &[&Measurement], kind: Option<Kind>) -> Result<Chosen, NoChart> {
    let (shown, without): (Vec<&Measurement>, Vec<&Measurement>) =
        rows.iter().copied().partition(|row| value(row).is_some());
    let left_out: Vec<(String, String)> = without
        .iter()
        .map(|row| (row.name.clone(), sentence::no_number(row)))
        .collect();
    let Some(first) = shown.first() else {
        let reasons: Vec<String> = left_out
            .iter()
            .take(3)
            .map(|(name, reason)| format!("{name} {reason}"))
            .collect();
        return Err(NoChart::NoNumbers(reasons.join("; ")));
    };
    if let Some(other) = shown.iter().find(|row| row.unit != first.unit) {
        return Err(NoChart::Units {
            first: first.name.clone(),
            first_unit: first.unit,
            other: other.name.clone(),
            other_unit: other.unit,
        });
    }
    let kind = kind.unwrap_or_else(|| suitable(&shown));
    let chart = match kind {
        Kind::Bars => bars(&shown),
        Kind::Ecdf => Chart::Ecdf(distributions(&shown)?),
        Kind::Violin => Chart::Violin(distributions(&shown)?),
        Kind::Curve => curve(&shown).ok_or(NoChart::NoParameter)?,
        Kind::Heatmap => heatmap(&shown).ok_or_else(|| no_pair(&shown))?,
    };
    Ok(Chosen {
        chart,
        unit: first.unit,
        title: common_title(&shown),
        left_out,
    })
}

/// The kind that suits rows with numbers.
fn suitable(rows: &[&Measurement]) -> Kind {
    if let Some(axes) = axes(rows).filter(|_| heatmap(rows).is_some()) {
        let counts = [axes.0, axes.1].map(|key| values(rows, key).map_or(0, |values| values.len()));
        let surface = is_surface(rows, axes) && counts[0] * counts[1] >= SURFACE_FROM;
        if surface
            || is_matrix(rows)
            || (varying(rows).len() == 2 && counts.iter().all(|count| *count >= HEATMAP_FROM))
        {
            return Kind::Heatmap;
        }
    }
    match rows {
        [row] if has_samples(row) => Kind::Ecdf,
        rows if suits_curve(rows) => Kind::Curve,
        _ => Kind::Bars,
    }
}

/// Whether lines are meaningful: intermediate values of the parameter exist, and the lines are distinguishable.
fn suits_curve(rows: &[&Measurement]) -> bool {
    let Some(Chart::Curve { parameter, lines }) = curve(rows) else {
        return false;
    };
    !NUMBERED.contains(&parameter.as_str()) && lines.len() <= MAX_LINES
}

/// Whether the axis of a chart's values is logarithmic and the picture does not say so itself.
pub(crate) fn has_logarithmic_axis(chart: &Chart) -> bool {
    let values: Vec<&Value> = match chart {
        Chart::Bars(bars) => bars.iter().map(|bar| &bar.value).collect(),
        Chart::Curve { lines, .. } => {
            let points = lines.iter().flat_map(|line| &line.points);
            points.map(|(_, value)| value).collect()
        }
        Chart::Ecdf(samples) | Chart::Violin(samples) => {
            return distribution::is_logarithmic(samples);
        }
        Chart::Heatmap { .. } | Chart::OverRuns { .. } => return false,
    };
    let ends = values.into_iter().flat_map(bars::ends);
    Scale::fit(ends, Begin::Zero, (0.0, 1.0)).is_logarithmic()
}

/// The samples that the numbers of a row are from, converted as these are; none if it has no number.
pub(crate) fn samples(row: &Measurement) -> Vec<f64> {
    if row.status != Status::Ok {
        return Vec::new();
    }
    let mut samples = Selection::of_row(row).processes.concat();
    samples.retain(|value| value.is_finite());
    samples
}

fn has_samples(row: &Measurement) -> bool {
    !samples(row).is_empty()
}

fn bars(rows: &[&Measurement]) -> Chart {
    let labels = labels(rows, &[]);
    let bars = rows.iter().zip(labels).filter_map(|(row, label)| {
        Some(Bar {
            label,
            value: value(row)?,
        })
    });
    Chart::Bars(bars.collect())
}

fn distributions(rows: &[&Measurement]) -> Result<Vec<Distribution>, NoChart> {
    if let Some(row) = rows.iter().find(|row| !has_samples(row)) {
        return Err(NoChart::NoSamples(row.name.clone()));
    }
    Ok(rows
        .iter()
        .zip(labels(rows, &[]))
        .map(|(row, label)| Distribution {
            label,
            value: value(row),
            samples: samples(row),
        })
        .collect())
}

fn curve(rows: &[&Measurement]) -> Option<Chart> {
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
    for (row, label) in rows.iter().zip(labels(rows, &[&parameter])) {
        let point = (number(row.case.get(&parameter)?)?, value(row)?);
        match lines.iter_mut().find(|line| line.label == label) {
            Some(line) => line.points.push(point),
            None => lines.push(Line {
                label,
                points: vec![point],
            }),
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Some(Chart::Curve { parameter, lines })
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
        .filter(|key| keys.iter().any(|one| one == key))
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

/// Whether both parameters are numbers with enough values for a curve.
fn is_surface(rows: &[&Measurement], (across, down): (&str, &str)) -> bool {
    is_axis(rows, across) && is_axis(rows, down)
}

fn is_axis(rows: &[&Measurement], key: &str) -> bool {
    numbers(rows, key).is_some_and(|numbers| numbers.len() >= CURVE_FROM)
}

fn heatmap(rows: &[&Measurement]) -> Option<Chart> {
    let (across, down) = axes(rows)?;
    if rows.iter().any(|row| row.id != rows[0].id) {
        return None;
    }
    let (columns, lines) = (values(rows, across)?, values(rows, down)?);
    let several = varying(rows).len() > 2;
    let mut panels: Vec<Panel> = Vec::new();
    for (row, label) in rows.iter().zip(labels(rows, &[across, down])) {
        let label = if several { label } else { String::new() };
        let known = panels.iter().position(|panel| panel.label == label);
        let index = known.unwrap_or_else(|| {
            panels.push(Panel {
                label,
                cells: vec![vec![None; columns.len()]; lines.len()],
            });
            panels.len() - 1
        });
        let place =
            |values: &[String], key| values.iter().position(|value| *value == row.case[key]);
        let (column, line) = (place(&columns, across)?, place(&lines, down)?);
        panels[index].cells[line][column] = value(row).map(|value| value.median);
    }
    let labelled = |key: &str, values: Vec<String>| {
        let labels = values.into_iter().map(|value| match number(&value) {
            Some(number) => scale::size(key, number).unwrap_or(value),
            None => value,
        });
        labels.collect()
    };
    (panels.len() <= MAX_PANELS).then(|| Chart::Heatmap {
        columns: labelled(across, columns),
        rows: labelled(down, lines),
        parameters: (across.to_owned(), down.to_owned()),
        panels,
    })
}

/// Why the rows make no heat map, and what to do about it.
fn no_pair(rows: &[&Measurement]) -> NoChart {
    let first = rows[0];
    if let Some(other) = rows.iter().find(|row| row.id != first.id) {
        return NoChart::NoPair(format!("are of {} and {}; name one", first.id, other.id));
    }
    let keys = varying(rows);
    let names: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
    let names = names.join(", ");
    NoChart::NoPair(match &keys[..] {
        [] => "differ in none; draw --kind bars".to_owned(),
        [_] => format!("differ in {names} only; draw --kind bars"),
        [_, _] => format!("differ in {names}, which not all of them have; draw --kind bars"),
        [.., last] => {
            let value = first.case.get(*last).map_or("*", String::as_str);
            format!(
                "differ in {names}; hold all but two, one of them by '{}{{*{last}={value}*}}'",
                first.id
            )
        }
    })
}

/// What distinguishes the rows, in selector syntax, without the parameters in `but`: the parameters that differ, after the benchmark's name
/// if that differs.
fn labels(rows: &[&Measurement], but: &[&str]) -> Vec<String> {
    let one_benchmark = rows.iter().all(|row| row.id == rows[0].id);
    let varying = varying(rows);
    rows.iter()
        .map(|row| {
            // Rows of different benchmarks keep their whole case, as the parameters mean different things.
            let parameters: Vec<String> = parameters(&row.name)
                .filter(|(key, _)| {
                    !but.contains(key) && (!one_benchmark || varying.iter().any(|one| one == key))
                })
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
