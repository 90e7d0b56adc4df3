//! Charts of a study: the same for terminals and for the page.

use syscost_results::Unit;
use syscost_results::row_name::{number, parameters};
use syscost_results::study::{ChartKind, JudgedFigure, View};

use super::{QuantityBy, Repeated};
use crate::chart::rows::has_logarithmic_axis;
use crate::chart::{Bar, Chart, Line, Value};

/// One chart of a study.
pub(crate) struct Picture<'s> {
    pub(crate) title: String,
    pub(crate) unit: Unit,
    pub(crate) drawn: Drawn<'s>,
    /// What it cannot show, for a note below.
    pub(crate) note: Option<String>,
}

/// What a chart draws.
pub(crate) enum Drawn<'s> {
    Chart(Chart),
    /// Bars of the machines, in a group for each quantity.
    Groups(Vec<(String, Vec<Bar>)>),
    /// Values and how often each occurred.
    Histogram(&'s [(f64, u64)]),
}

/// The charts of a study for which there are figures.
pub(crate) fn pictures(repeated: &Repeated) -> Vec<Picture<'_>> {
    let charts = repeated.study.charts.iter();
    let drawn = charts.flat_map(|chart| {
        let mut all = repeated.quantities();
        all.retain(|one| chart.quantities.contains(&one.quantity.id));
        of(chart, &all)
    });
    drawn.filter(|picture| !is_empty(&picture.drawn)).collect()
}

/// A chart; a distribution of several machines is one for each.
fn of<'s>(chart: &syscost_results::study::Chart, all: &[QuantityBy<'s>]) -> Vec<Picture<'s>> {
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let (title, unit) = (chart.title.clone(), first.quantity.unit);
    match chart.kind {
        ChartKind::Machines => {
            let is_in_cycles = is_in_cycles(all);
            let (groups, note) = machines(all, is_in_cycles);
            vec![Picture {
                title,
                unit: if is_in_cycles { Unit::Count } else { unit },
                drawn: Drawn::Groups(groups),
                note,
            }]
        }
        ChartKind::Curve => {
            let picture = |chart| Picture {
                title,
                unit,
                note: has_logarithmic_axis(&chart).then(|| "Logarithmic axis.".to_owned()),
                drawn: Drawn::Chart(chart),
            };
            curve(all).map(picture).into_iter().collect()
        }
        ChartKind::Distribution => {
            let histograms = (0..first.by.len()).filter_map(|run| {
                let mut of_run = all.iter().map(|one| one.by[run]);
                let (label, judged) = of_run.find(|(_, one)| !one.histogram.is_empty())?;
                let title = match first.by.len() {
                    1 => title.clone(),
                    _ => format!("{title}: {label}"),
                };
                Some(Picture {
                    title,
                    unit,
                    drawn: Drawn::Histogram(&judged.histogram),
                    note: None,
                })
            });
            histograms.collect()
        }
    }
}

fn is_empty(drawn: &Drawn<'_>) -> bool {
    match drawn {
        Drawn::Histogram(bins) => bins.is_empty(),
        Drawn::Groups(groups) => groups.is_empty(),
        Drawn::Chart(Chart::Bars(bars)) => bars.is_empty(),
        Drawn::Chart(Chart::Curve { lines, .. }) => lines.iter().all(|line| line.points.len() < 2),
        Drawn::Chart(
            Chart::Ecdf(_) | Chart::Violin(_) | Chart::Heatmap { .. } | Chart::OverRuns { .. },
        ) => false,
    }
}

/// A figure with its interval.
fn value(view: &View) -> Value {
    Value {
        median: view.value,
        low: view.low,
        high: view.high,
    }
}

fn exactly(median: f64) -> Value {
    Value {
        median,
        low: None,
        high: None,
    }
}

/// The name of syscost's method in a chart.
const METHOD: &str = "syscost";

/// The results that the verdict compares, with their names in a chart: of one run also by syscost's
/// method; of several, each machine's.
fn here<'s>(one: &QuantityBy<'s>) -> Vec<(&'s str, Option<&'s View>)> {
    match one.by[..] {
        [(_, judged)] => vec![("here", judged.compared()), (METHOD, judged.by_method())],
        _ => {
            let by = one.by.iter();
            by.map(|(label, judged)| (*label, judged.compared()))
                .collect()
        }
    }
}

/// What was published.
fn published<'s>(one: &QuantityBy<'s>) -> &'s [JudgedFigure] {
    let (_, judged) = one.by[0];
    &judged.published
}

/// As a value with its interval; the range that a procedure printed is none.
fn drawn(label: &str, view: &View) -> Value {
    match label {
        METHOD => value(view),
        _ => exactly(view.value),
    }
}

/// Whether these are printed in cycles alone, which nothing converts.
fn is_in_cycles(quantities: &[QuantityBy<'_>]) -> bool {
    let figures = || quantities.iter().flat_map(published);
    figures().any(|figure| figure.cycles.is_some())
        && figures().all(|figure| figure.value.is_none())
}

/// A group of bars for each quantity, a bar for each machine; and which figures have none, since a
/// bar cannot be negative.
fn machines(
    quantities: &[QuantityBy<'_>],
    is_in_cycles: bool,
) -> (Vec<(String, Vec<Bar>)>, Option<String>) {
    let (mut groups, mut without) = (Vec::new(), Vec::new());
    for one in quantities {
        let title = &one.quantity.title;
        let published = published(one).iter().filter_map(|figure| {
            let value = if is_in_cycles {
                figure.cycles
            } else {
                figure.value
            };
            Some((figure.machine.as_str(), exactly(value?)))
        });
        let here = here(one).into_iter().filter_map(|(label, view)| {
            let view = match is_in_cycles {
                true => view?.in_cycles()?,
                false => view?.clone(),
            };
            Some((label, drawn(label, &view)))
        });
        let mut bars = Vec::new();
        for (label, value) in published.chain(here) {
            match value.median > 0.0 {
                true => bars.push(Bar {
                    label: label.to_owned(),
                    value,
                }),
                false => without.push(format!("{title}, {label}")),
            }
        }
        if !bars.is_empty() {
            groups.push((title.clone(), bars));
        }
    }
    let note = format!("Zero or less, so without a bar: {}.", without.join("; "));
    (groups, (!without.is_empty()).then_some(note))
}

/// The parameter that distinguishes the procedures' rows, if its values are numbers.
fn varying<'q>(quantities: &[QuantityBy<'q>]) -> Option<(&'q str, Vec<f64>)> {
    let names = quantities
        .iter()
        .map(|one| one.quantity.as_published.as_deref());
    let names: Vec<&str> = names.collect::<Option<_>>()?;
    parameters(names.first()?).find_map(|(key, _)| {
        let of = |name: &&str| {
            let (_, value) = parameters(name).find(|(other, _)| *other == key)?;
            number(value)
        };
        let values: Vec<f64> = names.iter().map(of).collect::<Option<_>>()?;
        let differ = values.iter().any(|value| *value != values[0]);
        differ.then_some((key, values))
    })
}

/// Lines over the parameter that distinguishes the quantities' rows: one for each published
/// machine, one for the same procedure here, one for syscost's method.
fn curve(quantities: &[QuantityBy<'_>]) -> Option<Chart> {
    let (parameter, values) = varying(quantities)?;
    let mut lines: Vec<Line> = Vec::new();
    let mut add = |label: &str, at: f64, value: Value| {
        let point = (at, value);
        match lines.iter_mut().find(|line| line.label == label) {
            Some(line) => line.points.push(point),
            None => lines.push(Line {
                label: label.to_owned(),
                points: vec![point],
            }),
        }
    };
    for (one, at) in quantities.iter().zip(values) {
        for figure in published(one) {
            if let Some(value) = figure.value {
                add(
                    &format!("published, {}", figure.machine),
                    at,
                    exactly(value),
                );
            }
        }
        for (label, view) in here(one) {
            if let Some(view) = view {
                add(label, at, drawn(label, view));
            }
        }
    }
    lines.retain(|line| line.points.len() > 1);
    Some(Chart::Curve {
        parameter: parameter.to_owned(),
        lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscost_results::study::Study;

    const CURVE: &str = r#"
id = "sizes"
title = "Sizes"
source = "A note"
about = "Two sizes."

[[quantity]]
id = "small"
title = "Access, few bytes"
table = "Memory"
unit = "ns"
procedure = "A chain."
as_published = "study.x{order=random,size=16K}"

[[quantity]]
id = "large"
title = "Access, many bytes"
table = "Memory"
unit = "ns"
procedure = "A chain."
as_published = "study.x{order=random,size=4M}"

[[chart]]
title = "Access by size"
kind = "curve"
quantities = ["small", "large"]
"#;

    #[test]
    fn a_curve_is_over_the_parameter_that_differs() {
        let study = Study::parse(CURVE).expect("it is right");
        let mut run = crate::fixture::run();
        for (name, ns) in [
            ("study.x{order=random,size=16K}", 1.0),
            ("study.x{order=random,size=4M}", 9.0),
        ] {
            let mut row = run.measurements[0].clone();
            row.name = name.to_owned();
            row.status = syscost_results::Status::Ok;
            row.samples = Some(vec![syscost_results::RoundSamples {
                values: vec![ns; 3],
                ..Default::default()
            }]);
            run.measurements.push(row);
        }
        let repeated = Repeated::new(&study, &[&run]);
        let Some(Chart::Curve { parameter, lines }) = curve(&repeated.quantities()) else {
            panic!("a curve");
        };
        assert_eq!(parameter, "size");
        let points: Vec<(f64, f64)> = lines[0]
            .points
            .iter()
            .map(|(at, value)| (*at, value.median))
            .collect();
        assert_eq!(points, [(16_384.0, 1.0), (4_194_304.0, 9.0)]);
        assert_eq!(pictures(&repeated)[0].title, "Access by size");
    }
}
