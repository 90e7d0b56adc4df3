//! Words shared by the parts of a page.

use std::collections::BTreeSet;

use maud::{Markup, html};
use syscost_results::{Evidence, Flag, Measurement, Run};

use crate::{footer, sentence, sentence::Mark};

/// A mark with its meaning for the pointer, and for those who cannot see the sign. The worst evidence is told on hover.
pub(super) fn mark(evidence: &[Evidence]) -> Markup {
    let mark = Mark::of(evidence);
    let worst: Vec<String> = evidence
        .iter()
        .filter(|one| Mark::of(std::slice::from_ref(one)) == mark)
        .map(sentence::evidence)
        .collect();
    let title = match mark {
        Mark::Confirmed => format!("confirmed: {} claims counted", evidence.len()),
        _ if worst.is_empty() => format!("{}: nothing could be counted", word(mark)),
        _ => format!("{}: {}", word(mark), worst.join("\n")),
    };
    html! { span class={ "mark " (class(mark)) } role="img" title=(title) { (mark.sign()) } }
}

pub(super) fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Confirmed => "good",
        Mark::Unverified => "care",
        Mark::Refuted => "bad",
    }
}

pub(super) fn word(mark: Mark) -> &'static str {
    match mark {
        Mark::Confirmed => "confirmed",
        Mark::Unverified => "unverified",
        Mark::Refuted => "refuted",
    }
}

/// The flags of a row that a page shows.
pub(super) fn shown_flags(row: &Measurement) -> impl Iterator<Item = Flag> {
    let flags = row.flags.iter().copied();
    flags.filter(|flag| footer::is_shown(*flag))
}

/// The flags of a row that has a number, by their short names; the legend, and the page's script, say what they mean.
pub(super) fn flags(row: &Measurement) -> Markup {
    html! {
        @for flag in shown_flags(row) { span class="flag" { (sentence::flag(flag).0) } " " }
    }
}

/// The same in little room: the first by its short name, how many more, and all in words for the pointer.
pub(super) fn first_flag(row: &Measurement) -> Markup {
    let told: Vec<(&str, &str)> = shown_flags(row).map(sentence::flag).collect();
    let words: Vec<String> = told
        .iter()
        .map(|(short, meaning)| format!("{short}: {meaning}"))
        .collect();
    let more = told.len().saturating_sub(1);
    html! {
        @if let Some((short, _)) = told.first() {
            span class="flag" title=(words.join("\n")) { (short) @if more > 0 { " +" (more) } }
        }
    }
}

/// Text with paragraphs, and code between backquotes.
pub(super) fn paragraphs(text: &str) -> Markup {
    html! {
        @for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
            p { (code(paragraph)) }
        }
    }
}

/// Text with code between backquotes.
pub(super) fn code(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// `2026-11-21 12:01 UTC`.
pub(super) fn time(started: &str) -> String {
    match (started.get(..10), started.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => started.to_owned(),
    }
}

/// What the signs mean that occur in these runs.
pub(super) fn legend(runs: &[&Run], samples: bool) -> Markup {
    let rows = || runs.iter().flat_map(|run| &run.measurements);
    let flags: BTreeSet<Flag> = rows()
        .filter(|row| row.status.has_figures())
        .flat_map(|row| row.flags.iter().copied())
        .filter(|flag| footer::is_shown(*flag))
        .collect();
    html! {
        section id="legend" class="legend" aria-labelledby="title-legend" {
            h2 id="title-legend" { "How to read this page" }
            @if !samples {
                p class="note" { "The samples of the rows are not in this page: " code { "syscost report RUN --samples" }
                    " draws them, in a page some ten times as large." }
            }
            dl {
                dt { "median" } dd { "the median of the rounds' medians; a round is one fresh process" }
                dt { "± 95 %" } dd { "how far the 95 % confidence interval of that median reaches, on its longer side" }
                dt { "picture" } dd { "the interval in shares of the row's own median, on the same axis in all rows; an arrow: it goes on beyond" }
                dt { "best" } dd { "the best sample: the smallest of a cost, the largest of a rate" }
                dt { "cycles" } dd { "the median in cycles of the core's own clock, not ticks of the TSC" }
                @for mark in [Mark::Confirmed, Mark::Unverified, Mark::Refuted] {
                    dt { span class={ "mark " (class(mark)) } { (mark.sign()) } }
                    dd { (mark.meaning()) }
                }
                @for flag in flags {
                    @let (short, meaning) = sentence::flag(flag);
                    dt { span class="flag" { (short) } } dd { (meaning) }
                }
            }
        }
    }
}
