//! Charts of a study: the same for terminals and for the page.

use syscost_results::Unit;
use syscost_results::row_name::parameters;
use syscost_results::study::{ChartKind, JudgedQuantity, JudgedStudy, Quantity, View};

use crate::chart::rows::has_logarithmic_axis;
use crate::chart::{Bar, Chart, Line, Value, number};

/// A quantity and the run's results for it.
type Judged<'s> = (&'s Quantity, &'s JudgedQuantity);

/// One chart of a study.
pub(crate) struct Picture<'s> {
    pub(crate) title: &'s str,
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
pub(crate) fn pictures(judged: &JudgedStudy) -> Vec<Picture<'_>> {
    let charts = judged.study.charts.iter();
    let picture = |chart: &'_ syscost_results::study::Chart| {
        let all = judged.study.quantities.iter().zip(&judged.judged);
        let all: Vec<Judged<'_>> = all
            .filter(|(one, _)| chart.quantities.contains(&one.id))
            .collect();
        let first = all.first()?;
        let mut unit = first.0.unit;
        let (drawn, note) = match chart.kind {
            ChartKind::Machines => {
                let is_in_cycles = is_in_cycles(&all);
                if is_in_cycles {
                    unit = Unit::Count;
                }
                let (groups, note) = machines(&all, is_in_cycles);
                (Drawn::Groups(groups), note)
            }
            ChartKind::Curve => {
                let chart = curve(&all)?;
                let note = has_logarithmic_axis(&chart).then(|| "Logarithmic axis.".to_owned());
                (Drawn::Chart(chart), note)
            }
            ChartKind::Distribution => {
                let mut histograms = all.iter().map(|(_, judged)| &judged.histogram);
                let histogram = histograms.find(|histogram| !histogram.is_empty())?;
                (Drawn::Histogram(histogram), None)
            }
        };
        (!is_empty(&drawn)).then_some((unit, drawn, note))
    };
    charts
        .filter_map(|chart| {
            let (unit, drawn, note) = picture(chart)?;
            let title = chart.title.as_str();
            Some(Picture {
                title,
                unit,
                drawn,
                note,
            })
        })
        .collect()
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

/// The results of this machine that the verdict compares, with their names in a chart.
fn here(judged: &JudgedQuantity) -> [(&'static str, Option<&View>); 2] {
    [("here", judged.compared()), ("syscost", judged.by_method())]
}

/// As a value with its interval; the range that a procedure printed is none.
fn drawn(label: &str, view: &View) -> Value {
    match label {
        "syscost" => value(view),
        _ => exactly(view.value),
    }
}

/// Whether these are printed in cycles alone, which nothing converts.
fn is_in_cycles(quantities: &[Judged<'_>]) -> bool {
    let figures = || quantities.iter().flat_map(|(_, judged)| &judged.published);
    figures().any(|figure| figure.cycles.is_some())
        && figures().all(|figure| figure.value.is_none())
}

/// A group of bars for each quantity, a bar for each machine; and which figures have none, since a
/// bar cannot be negative.
fn machines(
    quantities: &[Judged<'_>],
    is_in_cycles: bool,
) -> (Vec<(String, Vec<Bar>)>, Option<String>) {
    let (mut groups, mut without) = (Vec::new(), Vec::new());
    for (quantity, judged) in quantities {
        let published = judged.published.iter().filter_map(|figure| {
            let value = if is_in_cycles {
                figure.cycles
            } else {
                figure.value
            };
            Some((figure.machine.as_str(), exactly(value?)))
        });
        let here = here(judged).into_iter().filter_map(|(label, view)| {
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
                false => without.push(format!("{}, {label}", quantity.title)),
            }
        }
        if !bars.is_empty() {
            groups.push((quantity.title.clone(), bars));
        }
    }
    let note = format!("Zero or less, so without a bar: {}.", without.join("; "));
    (groups, (!without.is_empty()).then_some(note))
}

/// The parameter that distinguishes the procedures' rows, if its values are numbers.
fn varying<'q>(quantities: &[Judged<'q>]) -> Option<(&'q str, Vec<f64>)> {
    let names = quantities
        .iter()
        .map(|(quantity, _)| quantity.as_published.as_deref());
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
fn curve(quantities: &[Judged<'_>]) -> Option<Chart> {
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
    for ((_, judged), at) in quantities.iter().zip(values) {
        for figure in &judged.published {
            if let Some(value) = figure.value {
                add(
                    &format!("published, {}", figure.machine),
                    at,
                    exactly(value),
                );
            }
        }
        for (label, view) in here(judged) {
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
    use syscost_results::study::{Study, judge};

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
        let judged = judge(&study, &run);
        let pairs: Vec<_> = study.quantities.iter().zip(&judged.judged).collect();
        let Some(Chart::Curve { parameter, lines }) = curve(&pairs) else {
            panic!("a curve");
        };
        assert_eq!(parameter, "size");
        let points: Vec<(f64, f64)> = lines[0]
            .points
            .iter()
            .map(|(at, value)| (*at, value.median))
            .collect();
        assert_eq!(points, [(16_384.0, 1.0), (4_194_304.0, 9.0)]);
        assert_eq!(pictures(&judged)[0].title, "Access by size");
    }
}
