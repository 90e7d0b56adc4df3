//! Short words of documents, as sentences have them.

use crate::paint::cut_end;

/// `1 row`, `2 rows`.
pub fn count(number: usize, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

/// The text with a capital letter, for the beginning of a sentence.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// A host's name, or that it is not known: an anonymous run has none.
pub(crate) fn host(name: &str) -> String {
    match name {
        "" => "unknown host".to_owned(),
        name => fact(name),
    }
}

/// When a run began, to the minute: `2026-11-21 12:01 UTC`.
pub fn time(started: &str) -> String {
    match (started.get(..10), started.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => fact(started),
    }
}

/// A short fact of a document, cut where it is not short.
pub fn fact(text: &str) -> String {
    const MAX: usize = 60;
    cut_end(text, MAX)
}
