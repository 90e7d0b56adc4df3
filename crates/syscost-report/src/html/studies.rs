//! Published experiments next to the run: a table for each, and its charts.

use maud::{Markup, html};
use syscost_results::study::{JudgedQuantity, JudgedStudy, Kind, Quantity, Seen};
use syscost_results::{Run, Unit};

use crate::chart::{self, Labels, Theme};
use crate::study::{self, Drawn, Picture};
use crate::units;

use super::whose::whose;

/// The headings of a study's columns after that of the quantity; beside the figures where there is
/// no room for columns.
const HEADINGS: [&str; 5] = [
    "published",
    "as published, here",
    "undisturbed",
    "syscost's method",
    "what follows",
];

/// The section of all studies that the last run has rows of; empty if there are none.
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
            @if runs.len() > 1 { p class="note" { "Of " (whose(runs.len() - 1, runs)) "." } }
            @for judged in studies { (one(judged)) }
        }
    }
}

fn one(judged: &JudgedStudy) -> Markup {
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
            p class="note" { "Source: " (study.source) }
            @if !study.machines.is_empty() {
                ul class="note" {
                    @for machine in &study.machines { li { (study::machine(machine)) } }
                }
            }
            @if let Some(rate) = &judged.counter { p class="note" { (study::counter(*rate)) } }
            @for chunk in tables.chunk_by(|a, b| a.0.table == b.0.table) { (table(chunk)) }
            @for picture in study::pictures(judged) { (figure(&picture)) }
            @if !study.doubts.is_empty() {
                h4 { "Where the published text misleads" }
                ul { @for doubt in &study.doubts { li { (study::doubt(doubt)) } } }
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
                    @for heading in HEADINGS { th scope="col" { (heading) } }
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
            td data-head=(HEADINGS[0]) {
                @for figure in &judged.published {
                    div {
                        (figure.machine) ": " (study::value(quantity.unit, figure)) " " (study::cycles(figure))
                        span class="note" { " " (study::notes(figure)) }
                        @if !figure.doubts.is_empty() {
                            span class="note" { " doubtful: " (figure.doubts.join("; ")) }
                        }
                    }
                }
            }
            @for ((view, seen), heading) in study::views(judged).into_iter().zip(&HEADINGS[1..]) {
                td data-head=(heading) { (cell(quantity.unit, judged, view, seen)) }
            }
            td data-head=(HEADINGS[4]) { b { (word) } @if !judged.verdict.text.is_empty() { ": " (judged.verdict.text) } }
        }
    }
}

fn cell(unit: Unit, judged: &JudgedQuantity, view: study::ViewOf, seen: Option<&Seen>) -> Markup {
    match seen {
        None => html! {},
        Some(Seen::Missing { reason }) => html! { span class="note" { "none: " (reason) } },
        Some(Seen::Figure(figure)) => html! {
            span class="figure" { (units::quantity(unit, figure.value)) }
            @if let Some(cycles) = figure.cycles { br; span class="figure" { (units::cycles(cycles)) " cycles" } }
            br; span class="note" { (study::note(unit, judged, view, figure)) }
        },
    }
}

/// A chart with its title, and a note on what it cannot show.
fn figure(picture: &Picture<'_>) -> Markup {
    let labels = Labels {
        title: picture.title.to_owned(),
        ..Labels::default()
    };
    html! {
        figure {
            figcaption { (picture.title) }
            (match &picture.drawn {
                Drawn::Chart(chart) => chart::draw(chart, picture.unit, &labels, Theme::Page),
                Drawn::Histogram(bins) => chart::histogram(bins, picture.unit, &labels),
            })
            @if let Some(note) = &picture.note { p class="note" { (note) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::study::judge;

    use super::*;
    use crate::study::tests::{hand_made, run};

    #[test]
    fn the_page_says_what_the_terminal_says() {
        let mut run = run();
        run.measurements
            .retain(|row| !row.name.starts_with("syscall.null"));
        let page = section(&[judge(&hand_made(), &run)], &[&run]).into_string();
        for expected in [
            "<figcaption>Calls across the machines</figcaption>",
            "<figcaption>How long a call took</figcaption>",
            "old: An old machine, 2 GHz",
            "time by the stated clock",
            "none: not part of this run",
            "ticks of the time-stamp counter",
            "(see: getpid)",
            "runs 39, 40, 44",
            "✓ 1 of 1 claims",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
}
