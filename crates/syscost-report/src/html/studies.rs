//! Published experiments beside the run: a table for each, and its charts.

use maud::{Markup, html};
use syscost_results::row_name::parameters;
use syscost_results::study::{ChartKind, JudgedQuantity, JudgedStudy, Kind, Quantity, Seen, View};
use syscost_results::{Run, Unit};

use crate::chart::{self, Bar, Chart, Labels, Line, Theme, Value, number};
use crate::{study, units};

/// The section of all studies that the run has rows of; nothing without any.
pub(super) fn section(studies: &[JudgedStudy], runs: &[&Run]) -> Markup {
    if studies.is_empty() {
        return html! {};
    }
    html! {
        section id="studies" aria-labelledby="title-studies" {
            h2 id="title-studies" { "Studies: published experiments, repeated" }
            p class="note" {
                "What was published, what the same procedure prints on this machine, the same on undisturbed samples only, and \
                 syscost's method: what of a difference is method, what is machine, what is a neighbour."
            }
            @for judged in studies { (one(judged, runs)) }
        }
    }
}

fn one(judged: &JudgedStudy, runs: &[&Run]) -> Markup {
    let study = &judged.study;
    let tables = study
        .quantities
        .iter()
        .zip(&judged.judged)
        .collect::<Vec<_>>();
    html! {
        section id={ "study-" (study.id) } aria-labelledby={ "title-study-" (study.id) } {
            h3 id={ "title-study-" (study.id) } { (study.id) ": " (study.title) }
            p { (study.about) }
            p class="note" { "Source: " (study.source) ". Machines: "
                @for (index, machine) in study.machines.iter().enumerate() {
                    @if index > 0 { "; " }
                    (machine.id) " is " (machine.name)
                }
            }
            @for chunk in tables.chunk_by(|a, b| a.0.table == b.0.table) { (table(chunk)) }
            @for chart in &study.charts {
                @let quantities: Vec<_> = tables.iter().filter(|(one, _)| chart.quantities.contains(&one.id)).copied().collect();
                @if let Some(picture) = picture(chart.kind, &chart.title, &quantities, runs) {
                    figure { figcaption { (chart.title) } (picture) }
                }
            }
            @if !study.doubts.is_empty() {
                h4 { "Where the published text misleads" }
                ul { @for doubt in &study.doubts { li { (doubt.text) } } }
            }
            @if !study.not_here.is_empty() {
                h4 { "What cannot be repeated here" }
                ul {
                    @for missing in &study.not_here {
                        li { (missing.what) ": " (missing.why)
                            @if let Some(instead) = &missing.instead { "; instead, " (instead) }
                        }
                    }
                }
            }
        }
    }
}

fn table(quantities: &[(&Quantity, &JudgedQuantity)]) -> Markup {
    let heading = quantities
        .first()
        .map_or("", |(first, _)| first.table.as_str());
    html! {
        div class="box" tabindex="0" role="region" aria-label=(heading) {
            table class="study" {
                caption { (heading) }
                thead { tr {
                    th scope="col" { "quantity" }
                    th scope="col" { "published" }
                    th scope="col" class="num" { "as published, here" }
                    th scope="col" class="num" { "undisturbed" }
                    th scope="col" class="num" { "syscost's method" }
                    th scope="col" { "what follows" }
                } }
                tbody {
                    @for (quantity, judged) in quantities { (line(quantity, judged)) }
                }
            }
        }
    }
}

fn line(quantity: &Quantity, judged: &JudgedQuantity) -> Markup {
    let word = match judged.verdict.kind {
        Kind::NotWhatItSays => "not what it says",
        Kind::Differs => "differs",
        Kind::Agrees => "agrees",
        Kind::NotCompared => "not compared",
    };
    html! {
        tr {
            th scope="row" title=(quantity.procedure) { (quantity.title) }
            td {
                @for figure in &judged.published {
                    div title=(figure.place) {
                        (figure.machine) ": " (study::value(quantity.unit, figure)) " " (study::cycles(figure))
                        @if !figure.doubts.is_empty() {
                            span class="note" { " doubtful: " (figure.doubts.join("; ")) }
                        }
                    }
                }
            }
            @for seen in [&judged.as_published, &judged.undisturbed, &judged.ours] {
                td class="num" { (cell(quantity.unit, seen.as_ref())) }
            }
            td { b { (word) } @if !judged.verdict.text.is_empty() { ": " (judged.verdict.text) } }
        }
    }
}

fn cell(unit: Unit, seen: Option<&Seen>) -> Markup {
    match seen {
        None => html! {},
        Some(Seen::Missing { reason }) => html! { span class="note" title=(reason) { "none" } },
        Some(Seen::Figure(view)) => html! {
            (units::quantity(unit, view.value))
            @if let Some(cycles) = view.cycles { br; (units::cycles(cycles)) " cycles" }
        },
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

/// The views of this machine, with what a chart calls them.
fn here(judged: &JudgedQuantity) -> [(&'static str, Option<Value>); 2] {
    fn of(seen: &Option<Seen>) -> Option<&View> {
        seen.as_ref().and_then(Seen::figure)
    }
    [
        // From the least to the most that it printed is no interval.
        (
            "as published, here",
            of(&judged.as_published).map(|view| exactly(view.value)),
        ),
        ("syscost's method", of(&judged.ours).map(value)),
    ]
}

fn picture(
    kind: ChartKind,
    title: &str,
    quantities: &[(&Quantity, &JudgedQuantity)],
    runs: &[&Run],
) -> Option<Markup> {
    let unit = quantities.first()?.0.unit;
    let labels = Labels {
        title: title.to_owned(),
        ..Labels::default()
    };
    let chart = match kind {
        ChartKind::Machines => Chart::Bars(machines(quantities)),
        ChartKind::Curve => curve(quantities)?,
        ChartKind::Distribution => {
            let row = quantities.iter().find_map(|(quantity, _)| {
                let name = quantity.as_published.as_ref()?;
                let mut rows = runs.last()?.measurements.iter();
                rows.find(|row| row.name == *name && !row.histogram.is_empty())
            })?;
            return Some(chart::histogram(&row.histogram, row.unit, &labels));
        }
    };
    let is_empty = match &chart {
        Chart::Bars(bars) => bars.is_empty(),
        Chart::Curve { lines, .. } => lines.iter().all(|line| line.points.len() < 2),
        Chart::Ecdf(_) | Chart::Violin(_) | Chart::Heatmap { .. } | Chart::OverRuns { .. } => false,
    };
    (!is_empty).then(|| chart::draw(&chart, unit, &labels, Theme::Page))
}

/// A bar for each quantity and machine.
fn machines(quantities: &[(&Quantity, &JudgedQuantity)]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (quantity, judged) in quantities {
        let published = judged.published.iter().filter_map(|figure| {
            let value = figure.value.filter(|value| *value > 0.0)?;
            Some((figure.machine.as_str(), exactly(value)))
        });
        let here = here(judged).into_iter();
        let here =
            here.filter_map(|(label, value)| Some((label, value.filter(|v| v.median > 0.0)?)));
        for (label, value) in published.chain(here) {
            let label = format!("{}, {label}", quantity.title);
            bars.push(Bar { label, value });
        }
    }
    bars
}

/// The parameter that tells the procedures' rows apart, if its values are numbers.
fn varying<'q>(quantities: &[(&'q Quantity, &JudgedQuantity)]) -> Option<(&'q str, Vec<f64>)> {
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

/// Lines over the parameter that tells the quantities' rows apart.
fn curve(quantities: &[(&Quantity, &JudgedQuantity)]) -> Option<Chart> {
    let (parameter, values) = varying(quantities)?;
    let mut lines: Vec<Line> = ["as published, here", "syscost's method"]
        .map(|label| Line {
            label: label.to_owned(),
            points: Vec::new(),
        })
        .into();
    for ((_, judged), at) in quantities.iter().zip(values) {
        for (line, (_, value)) in lines.iter_mut().zip(here(judged)) {
            line.points.extend(value.map(|value| (at, value)));
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
        let page = section(&[judged], &[&run]).into_string();
        assert!(page.contains("<figcaption>Access by size</figcaption>"));
    }
}
