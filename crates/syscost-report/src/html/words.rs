//! Words shared by the parts of a page.

use std::collections::BTreeMap;

use maud::{Markup, html};
use syscost_results::{Evidence, Flag, Measurement};

use crate::flags::{self, explained};
use crate::markup::{tone, with_code};
use crate::sentence::{self, Mark};
use crate::view::RowView;

/// A row's number with its interval and unit, or why it has none in a word.
pub(super) fn number(row: &Measurement) -> Markup {
    match RowView::of(row).figures {
        None => html! {
            span class="quiet" title=(sentence::no_number(row)) { (row.status.words()) }
        },
        Some(figures) => html! {
            strong { (figures.median) }
            @if !figures.half_width.is_empty() { span class="half" { (figures.side()) } }
            " " span class="unit" { (figures.unit) }
        },
    }
}

/// A mark with its meaning as a tooltip, and for readers who cannot see the sign. The tooltip shows
/// the worst evidence.
pub(super) fn mark(evidence: &[Evidence]) -> Markup {
    let mark = Mark::of(evidence);
    let worst: Vec<String> = evidence
        .iter()
        .filter(|one| Mark::of(std::slice::from_ref(one)) == mark)
        .map(Evidence::to_string)
        .collect();
    let title = match mark {
        Mark::Confirmed => format!("confirmed: {} claims counted", evidence.len()),
        _ if worst.is_empty() => format!("{}: nothing could be counted", word(mark)),
        _ => format!("{}: {}", word(mark), worst.join("\n")),
    };
    html! { span class={ "mark " (class(mark)) } role="img" title=(title) { (mark.sign()) } }
}

pub(super) fn class(mark: Mark) -> &'static str {
    tone(mark.tone())
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
    flags.filter(|flag| flags::is_shown(*flag))
}

/// The flags of a row that has a number, by their short names, which the legend and the page's
/// script explain.
pub(super) fn flags(row: &Measurement) -> Markup {
    html! {
        @for flag in shown_flags(row) { span class="flag" { (flags::words(flag).name) } " " }
    }
}

/// The flags in compact form: the first by its short name, how many more, and all of them in words
/// as a tooltip.
pub(super) fn first_flag(row: &Measurement) -> Markup {
    let flags: Vec<Flag> = shown_flags(row).collect();
    let words: Vec<String> = flags.iter().map(|flag| explained(*flag)).collect();
    let more = flags.len().saturating_sub(1);
    html! {
        @if let Some(first) = flags.first() {
            span class="flag" title=(words.join("\n")) { (flags::words(*first).name) @if more > 0 { " +" (more) } }
        }
    }
}

/// A size in GiB.
pub(super) fn bytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Each text with how often it occurs, the most common first.
pub(super) fn counted<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<(&'t str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// Text with paragraphs and lists, and code between backquotes.
pub(super) fn paragraphs(text: &str) -> Markup {
    html! {
        @for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
            @let (before, items) = listed(paragraph);
            @if !before.is_empty() { p { (code(&before)) } }
            @if !items.is_empty() { ul class="plain" { @for item in &items { li { (code(item)) } } } }
        }
    }
}

/// A paragraph's text before its list, and the list's items: lines that begin with a hyphen, each
/// with its continuation lines.
fn listed(paragraph: &str) -> (String, Vec<String>) {
    let (mut before, mut items) = (String::new(), Vec::new());
    for line in paragraph.lines() {
        match line.trim_start().strip_prefix("- ") {
            Some(item) => items.push(item.to_owned()),
            None => {
                let text = items.last_mut().unwrap_or(&mut before);
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(line);
            }
        }
    }
    (before, items)
}

/// Text with code between backquotes.
pub(super) fn code(text: &str) -> Markup {
    with_code(text, |words| html! { (words) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_list() {
        let text = "By kind:\n- `a`: one\n  that goes on.\n- `b`: another.\n\nAnd\nan end - so.";
        assert_eq!(
            paragraphs(text).into_string(),
            "<p>By kind:</p><ul class=\"plain\"><li><code>a</code>: one\n  that goes on.</li>\
             <li><code>b</code>: another.</li></ul><p>And\nan end - so.</p>"
        );
    }
}
