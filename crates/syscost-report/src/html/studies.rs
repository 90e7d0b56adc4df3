//! Published experiments beside the run: a table for each, and its charts.

use maud::{Markup, html};
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
        ChartKind::Curve => curve(quantities),
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

/// Lines over the number that each quantity's title begins with, e.g. `64K`.
fn curve(quantities: &[(&Quantity, &JudgedQuantity)]) -> Chart {
    let mut lines: Vec<Line> = ["as published, here", "syscost's method"]
        .map(|label| Line {
            label: label.to_owned(),
            points: Vec::new(),
        })
        .into();
    for (quantity, judged) in quantities {
        let at = quantity.title.split_whitespace().next().and_then(number);
        let Some(at) = at else { continue };
        for (line, (_, value)) in lines.iter_mut().zip(here(judged)) {
            line.points.extend(value.map(|value| (at, value)));
        }
    }
    lines.retain(|line| !line.points.is_empty());
    Chart::Curve {
        parameter: "bytes".to_owned(),
        lines,
    }
}
