//! Published experiments next to the run, or as a page to hand in: a table for each, and its charts.

use maud::{Markup, html};
use syscost_results::study::{JudgedFigure, JudgedQuantity, Scale, Seen, VerdictKind};
use syscost_results::{Run, Unit};

use super::skeleton::{self, Kinds};
use super::words::code;
use crate::chart::{Labels, Theme};
use crate::study::{self, Brief, Picture, QuantityBy, Repeated};

/// The headings of the figures of this machine; beside them where there is no room for columns.
const HERE: [&str; 3] = ["as published, here", "the same, core ours", "syscost's row"];

/// The section of all studies that a run has rows of; empty if there are none.
pub(super) fn section(studies: &[Repeated], runs: &[&Run]) -> Markup {
    if studies.is_empty() {
        return html! {};
    }
    html! {
        section id="studies" aria-labelledby="title-studies" {
            h2 id="title-studies" { "Studies: published experiments, repeated" }
            (summary(studies, runs))
            (each(studies, runs))
        }
    }
}

/// The report of studies that these runs repeat: machines, results, charts, questions.
pub fn lab_report(studies: &[Repeated], runs: &[&Run]) -> String {
    let title = study::title(studies);
    let link = |name: &str| (name.to_owned(), name.to_owned());
    let mut links = vec![link("summary"), link("machine")];
    let ids = studies.iter().map(|one| &one.study.id);
    links.extend(ids.map(|id| (format!("study-{id}"), id.clone())));
    if studies.iter().any(|one| !one.study.questions.is_empty()) {
        links.push(link("questions"));
    }
    links.push(link("conclusion"));
    let body = html! {
        (skeleton::header(&title, &html! {
            p class="blanks" { span { "Name:" } span { "Date:" } }
            (super::runs::subtitle(runs, None))
        }))
        (skeleton::toolbar(&links, Kinds::None))
        main id="content" {
            section id="summary" aria-labelledby="title-summary" {
                h2 id="title-summary" { "Summary" }
                (summary(studies, runs))
            }
            section id="machine" aria-labelledby="title-machine" {
                h2 id="title-machine" { @if runs.len() == 1 { "Machine" } @else { "Machines" } }
                @for (run, label) in runs.iter().zip(study::labels(runs)) {
                    h3 { (label) }
                    dl class="card facts" {
                        @for (name, fact) in study::facts(studies, run) { div { dt { (name) } dd { (fact) } } }
                    }
                }
            }
            section id="studies" aria-labelledby="title-studies" {
                h2 id="title-studies" { "Results" }
                (each(studies, runs))
            }
            (questions(studies))
            section id="conclusion" aria-labelledby="title-conclusion" {
                h2 id="title-conclusion" { "Conclusion" }
                p class="answer" { (study::CONCLUSION) }
            }
        }
        (skeleton::footer(runs.last().map_or("", |run| &run.tool.version)))
    };
    skeleton::document(&title, &body).into_string()
}

pub(super) fn each(studies: &[Repeated], runs: &[&Run]) -> Markup {
    html! { @for repeated in studies { (one(repeated, runs)) } }
}

/// A table of all quantities, a line each, which leads to them; and how to read it.
pub(super) fn summary(studies: &[Repeated], runs: &[&Run]) -> Markup {
    let headings = study::headings(runs);
    html! {
        @for repeated in studies {
            @let study = &repeated.study;
            @let (lines, missing) = study::briefs(&repeated.quantities());
            @let lines = html! { @for line in &lines { (brief(&study.id, line, &headings)) } };
            (boxed(("study brief stack", &study.id), headings.iter().cloned(), &lines))
            @for (reason, titles) in missing {
                p class="note" { "Neither published nor measured here (" (reason) "): " (titles.join("; ")) "." }
            }
        }
        dl class="reading note" {
            @for (name, meaning) in study::READING { dt { (name) } dd { (code(meaning)) } }
            @for (name, meaning) in study::flags(studies, runs) {
                dt { span class="flag" { (name) } } dd { (meaning) }
            }
        }
    }
}

fn place(study: &str, quantity: &str) -> String {
    format!("study-{study}-{quantity}")
}

fn brief(study: &str, line: &Brief<'_>, headings: &[String]) -> Markup {
    html! {
        tr {
            th scope="row" { a href={ "#" (place(study, line.id)) } { (line.title) } }
            @if let [one] = &line.by[..] {
                td { (tag(one.kind)) }
                td data-head=(headings[2]) { (line.published) }
                td data-head=(headings[3]) { (one.figure) }
                td data-head=(headings[4]) { (one.ratio) }
            } @else {
                td data-head="published" { (line.published) }
                @for (one, heading) in line.by.iter().zip(&headings[2..]) {
                    td data-head=(heading) { (tag(one.kind)) " " (one.figure) @if !one.ratio.is_empty() { ", " (one.ratio) " times published" } }
                }
            }
        }
    }
}

fn tag(kind: VerdictKind) -> Markup {
    let class = match kind {
        VerdictKind::Agrees => "good",
        VerdictKind::Differs => "care",
        VerdictKind::NotWhatItSays => "bad",
        VerdictKind::CannotTell | VerdictKind::NotCompared => "quiet",
    };
    html! { span class={ "tag " (class) } { (kind.words()) } }
}

fn one(repeated: &Repeated, runs: &[&Run]) -> Markup {
    let study = &repeated.study;
    let quantities = repeated.quantities();
    let tables = quantities.chunk_by(|a, b| a.quantity.table == b.quantity.table);
    html! {
        section id={ "study-" (study.id) } aria-labelledby={ "title-study-" (study.id) } {
            h3 id={ "title-study-" (study.id) } { (study.id) ": " (study.title) }
            p { (code(&study.about)) }
            p class="note" { "Source: " (study.source) }
            @if !study.machines.is_empty() {
                ul class="note" {
                    @for machine in &study.machines { li { (study::machine(machine)) } }
                }
            }
            p class="note" { "Its programs: " code { "syscost study show " (study.id) " --source" } }
            @if let [run] = runs
                && let Some(cycles) = study::what_cycles_are(repeated, run) { p class="note" { (cycles) } }
            @for chunk in tables { (table(repeated, runs, chunk)) }
            (ratios(repeated))
            @for picture in study::pictures(repeated) { (figure(&picture)) }
            @for (heading, lines) in study::remarks(study) {
                h4 { (heading) }
                ul { @for line in lines { li { (line) } } }
            }
        }
    }
}

/// The questions of studies, with room for answers; empty if there are none.
pub(super) fn questions(studies: &[Repeated]) -> Markup {
    let asking = studies.iter().filter(|one| !one.study.questions.is_empty());
    let asking: Vec<&Repeated> = asking.collect();
    if asking.is_empty() {
        return html! {};
    }
    html! {
        section id="questions" aria-labelledby="title-questions" {
            h2 id="title-questions" { "Questions" }
            @for one in asking {
                h3 { (one.study.id) }
                ol class="questions" { @for question in &one.study.questions { li { (question) } } }
            }
        }
    }
}

/// A table of this class with a caption, in a box that it scrolls in if it must.
fn boxed(
    (class, caption): (&str, &str),
    headings: impl Iterator<Item = String>,
    lines: &Markup,
) -> Markup {
    html! {
        div class="box" tabindex="0" role="region" aria-label=(caption) {
            table class=(class) {
                caption { (caption) }
                thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
                tbody { (lines) }
            }
        }
    }
}

/// The quantities of one of the text's tables, the machines side by side.
fn table(repeated: &Repeated, runs: &[&Run], quantities: &[QuantityBy<'_>]) -> Markup {
    let machines = repeated.published_machines(quantities);
    let here: Vec<&str> = match repeated.only() {
        Some(_) => HERE.to_vec(),
        None => repeated
            .by
            .iter()
            .map(|(label, _)| label.as_str())
            .collect(),
    };
    let headings = ["quantity"].into_iter().chain(machines.iter().copied());
    let headings = headings.chain(here.iter().copied()).map(str::to_owned);
    let measured = quantities
        .iter()
        .filter(|one| study::without(one).is_none());
    let measured: Vec<&QuantityBy<'_>> = measured.collect();
    if measured.is_empty() {
        return html! {};
    }
    let lines = html! {
        @for one in &measured { (line(repeated, runs, one, (&machines, &here))) }
    };
    html! {
        (boxed(("study stack", &quantities[0].quantity.table), headings, &lines))
        @if measured.iter().any(|one| !one.quantity.published.is_empty()) {
            details {
                summary { "where it is printed" }
                @for one in measured {
                    @for figure in &one.by[0].1.published {
                        p class="note" { (one.quantity.title) ", " (figure.machine) ": " (study::notes(figure)) }
                    }
                }
            }
        }
    }
}

/// The figures of one quantity, and below them what is to be said of it.
fn line(
    repeated: &Repeated,
    runs: &[&Run],
    one: &QuantityBy<'_>,
    (machines, here): (&[&str], &[&str]),
) -> Markup {
    let quantity = one.quantity;
    let (_, first) = one.by[0];
    let all = || first.published.iter();
    html! {
        tr {
            th scope="row" id=(place(&repeated.study.id, &quantity.id)) { (quantity.title)
                @if one.by.len() == 1 { " " (tag(first.verdict.kind)) } }
            @for machine in machines {
                td data-head=(machine) {
                    @for one in all().filter(|one| one.machine == **machine) {
                        (published(quantity.unit, one, first.scale))
                    }
                }
            }
            @if let [run] = runs {
                @for ((view, seen), heading) in study::views(first).into_iter().zip(HERE) {
                    td data-head=(heading) {
                        (cell(first, view, seen))
                        @if view == study::ViewOf::Ours && let Some(row) = study::method(one, run) {
                            br; span class="note" { (row.factor) code { (row.name) }
                                @for flag in &row.flags { " " span class="flag" { (flag) } } }
                        }
                    }
                }
            } @else {
                @for (label, judged) in &one.by { td data-head=(label) { (of_machine(judged)) } }
            }
        }
        tr class="says" {
            td colspan=(1 + machines.len() + here.len()) {
                @if one.by.len() == 1 { p { (first.verdict.text) } }
                p class="note" { (quantity.procedure) }
                @for one in all().filter(|one| !one.doubts.is_empty()) {
                    p class="note" { "doubtful, " (one.machine) ": " (one.doubts.join("; ")) }
                }
                @if one.by.len() > 1 {
                    details {
                        summary { "the verdicts in full" }
                        @for (label, judged) in &one.by { p { (label) ": " (tag(judged.verdict.kind)) " " (judged.verdict.text) } }
                    }
                }
            }
        }
    }
}

/// The figure of one of several machines that is compared, and its verdict in a few words.
fn of_machine(judged: &JudgedQuantity) -> Markup {
    html! {
        @for line in study::here_lines(judged) { span class="figure" { (line) } br; }
        span class="note" { (study::short(judged)) }
    }
}

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
            span class="figure" { (figure.shown(judged.scale)) }
            @let cycles = study::cycles_beside(judged, figure);
            @if !cycles.is_empty() { br; span class="figure" { (cycles) } }
            br; span class="note" { (study::note(judged, view, figure)) }
        },
    }
}

/// The ratios that the text draws.
fn ratios(repeated: &Repeated) -> Markup {
    let rows = study::ratio_rows(&repeated.study, &repeated.by);
    if rows.is_empty() {
        return html! {};
    }
    let lines = html! {
        @for row in &rows {
            tr {
                th scope="row" { (row.title) }
                td { @for cell in row.cells() { div { (cell) } } }
                td { (row.words) }
            }
        }
    };
    let headings = ["ratio", "by the figures of", "in words"];
    boxed(
        ("study stack", "Ratios"),
        headings.into_iter().map(str::to_owned),
        &lines,
    )
}

/// A chart with its title, and a note on what it cannot show.
fn figure(picture: &Picture<'_>) -> Markup {
    let labels = Labels::titled(picture.title.clone());
    html! {
        figure {
            figcaption { (picture.title) }
            // One of the two is shown, as the screen is.
            div class="for-phones" { (picture.svg(&labels, Theme::Page)) }
            div class="for-screens" { (picture.svg(&labels, Theme::Wide)) }
            @let below = picture.below();
            @if !below.is_empty() { p class="note" { (below) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expect::has;
    use crate::study::tests::{hand_made, on_two_machines, run};

    #[test]
    fn several_machines_are_columns_and_bars() {
        let [slow, fast] = on_two_machines();
        let runs = [&slow, &fast];
        let page = section(&[Repeated::new(&hand_made(), &runs)], &runs).into_string();
        for expected in [
            "<th scope=\"col\">old</th>",
            "<th scope=\"col\">alpha</th>",
            "<th scope=\"col\">beta</th>",
            "<td data-head=\"beta\"><span class=\"figure\">1.6 ns</span>",
            "the verdicts in full",
            "logarithmic axis",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        let chart = page.split("<figcaption>Calls across the machines").nth(1);
        let chart = chart.and_then(|rest| rest.split("</figure>").next());
        let chart = chart.expect("it is drawn");
        has(chart, &[">alpha</text>", ">beta</text>"]);
        assert!(!chart.contains(">syscost</text>"), "{chart}");
    }

    #[test]
    fn the_page_says_what_the_terminal_says() {
        let mut run = run();
        run.measurements
            .retain(|row| !row.name.starts_with("syscall.null"));
        let page = section(&[Repeated::new(&hand_made(), &[&run])], &[&run]).into_string();
        for expected in [
            "<figcaption>Calls across the machines</figcaption>",
            "<figcaption>How long a call took</figcaption>",
            "old: An old machine, 2 GHz",
            "time by the stated clock",
            "none: not part of this run",
            "ticks of a time-stamp counter",
            "8 ticks",
            "<a href=\"#study-hand-made-getpid\">getpid()</a>",
            "<span class=\"tag bad\">not what it says</span>",
            "<code>study.hand_made.getpid</code>",
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
