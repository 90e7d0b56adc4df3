//! Published experiments next to the run: a table for each, and its charts.

use maud::{Markup, html};
use syscost_results::study::{JudgedFigure, JudgedQuantity, JudgedStudy, Quantity, Scale, Seen};
use syscost_results::{Run, Unit};

use crate::chart::{self, Labels, Theme};
use crate::study::{self, Drawn, Picture};
use crate::units;

use super::whose::whose;

/// The headings of the figures of this machine; beside them where there is no room for columns.
const HERE: [&str; 3] = ["as published, here", "undisturbed", "syscost's method"];

/// The section of all studies that the last run has rows of; empty if there are none.
pub(super) fn section(studies: &[JudgedStudy], runs: &[&Run]) -> Markup {
    if studies.is_empty() {
        return html! {};
    }
    html! {
        section id="studies" aria-labelledby="title-studies" {
            h2 id="title-studies" { "Studies: published experiments, repeated" }
            p class="note" {
                "What was published, machine by machine; what the same procedure prints on this machine, and on undisturbed \
                 samples only; and syscost's method. Below each: the procedure, and what follows."
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
            @for chunk in tables.chunk_by(|a, b| a.0.table == b.0.table) { (table(judged, chunk)) }
            (ratios(judged))
            @for picture in study::pictures(judged) { (figure(&picture)) }
            @if !study.doubts.is_empty() {
                h4 { "Where the published text misleads" }
                ul { @for doubt in &study.doubts { li { (study::doubt(doubt)) } } }
            }
            @if !study.not_here.is_empty() {
                h4 { "What cannot be repeated here" }
                ul {
                    @for missing in &study.not_here { li { (study::not_here(missing)) } }
                }
            }
        }
    }
}

/// A table in a box that it scrolls in if it must.
fn boxed(caption: &str, headings: impl Iterator<Item = String>, lines: &Markup) -> Markup {
    html! {
        div class="box" tabindex="0" role="region" aria-label=(caption) {
            table class="study" {
                caption { (caption) }
                thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
                tbody { (lines) }
            }
        }
    }
}

/// The quantities of one of the text's tables, the machines side by side.
fn table(judged: &JudgedStudy, quantities: &[(&Quantity, &JudgedQuantity)]) -> Markup {
    let (first, _) = quantities[0];
    let figures = || quantities.iter().flat_map(|(_, judged)| &judged.published);
    let ids = judged.study.machines.iter().map(|one| one.id.as_str());
    let machines = ids.filter(|id| figures().any(|figure| figure.machine == *id));
    let machines: Vec<&str> = machines.collect();
    let headings = ["quantity"].into_iter().chain(machines.iter().copied());
    let headings = headings.chain(HERE).map(str::to_owned);
    let lines = html! {
        @for (quantity, judged) in quantities { (line(quantity, judged, &machines)) }
    };
    boxed(&first.table, headings, &lines)
}

/// The figures of one quantity, and below them what is to be said of it.
fn line(quantity: &Quantity, judged: &JudgedQuantity, machines: &[&str]) -> Markup {
    let all = || judged.published.iter();
    html! {
        tr {
            th scope="row" { (quantity.title) }
            @for machine in machines {
                td data-head=(machine) {
                    @for one in all().filter(|one| one.machine == **machine) {
                        (published(quantity.unit, one, judged.scale))
                    }
                }
            }
            @for ((view, seen), heading) in study::views(judged).into_iter().zip(HERE) {
                td data-head=(heading) { (cell(judged, view, seen)) }
            }
        }
        tr class="says" {
            td colspan=(1 + machines.len() + HERE.len()) {
                p { b { (judged.verdict.kind.words()) } ": " (judged.verdict.text) }
                p class="note" { (quantity.procedure) }
                @for one in all().filter(|one| !one.doubts.is_empty()) {
                    p class="note" { "doubtful, " (one.machine) ": " (one.doubts.join("; ")) }
                }
                @if !judged.published.is_empty() {
                    details {
                        summary { "where it is printed" }
                        @for one in all() {
                            p class="note" { (one.machine) ": " (study::notes(one)) }
                        }
                    }
                }
            }
        }
    }
}

/// A published figure, in its unit and in cycles.
fn published(unit: Unit, figure: &JudgedFigure, scale: Scale) -> Markup {
    html! {
        div {
            span class="figure" { (study::value(unit, figure, Some(scale))) }
            @let cycles = study::cycles(figure);
            @if !cycles.is_empty() { " " span class="figure note" { (cycles) } }
        }
    }
}

fn cell(judged: &JudgedQuantity, view: study::ViewOf, seen: Option<&Seen>) -> Markup {
    match seen {
        None => html! {},
        Some(Seen::Missing { reason }) => html! { span class="note" { "none: " (reason) } },
        Some(Seen::Figure(figure)) => html! {
            span class="figure" { (judged.scale.show(figure.value)) }
            @if let Some(cycles) = figure.cycles { br; span class="figure" { (units::cycles(cycles)) " cycles" } }
            br; span class="note" { (study::note(judged, view, figure)) }
        },
    }
}

/// The ratios that the text draws.
fn ratios(judged: &JudgedStudy) -> Markup {
    let lines = study::ratios(&judged.study, Some(judged));
    if lines.is_empty() {
        return html! {};
    }
    let headings = [
        "ratio",
        "published",
        "as published, here",
        "syscost's method",
        "in words",
    ];
    let rows = html! {
        @for line in &lines {
            tr {
                th scope="row" { (line.ratio.title) }
                td data-head="published" {
                    @for (machine, ratio) in &line.published { div { (machine) ": " (ratio) } }
                }
                td data-head="as published, here" { (line.here.as_deref().unwrap_or("-")) }
                td data-head="syscost's method" { (line.by_method.as_deref().unwrap_or("-")) }
                td { (line.words()) }
            }
        }
    };
    boxed("Ratios", headings.into_iter().map(str::to_owned), &rows)
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
                Drawn::Groups(groups) => chart::groups(groups, picture.unit, &labels),
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
            "<th scope=\"col\">older</th>",
            "<p class=\"note\">One at a time, less the clock.</p>",
            "class=\"name end\">here</text>",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
}
