//! Short words of documents, as sentences have them.

use crate::paint::cut_end;

/// `1 row`, `2 rows`.
pub fn count(number: usize, one: &str) -> String {
    let ending = if one.ends_with('s') { "es" } else { "s" };
    agreeing(number, &format!("# {one}[{ending}]"))
}

/// A sentence that agrees with a number of things: `# row[s] [is|are] lost` is `1 row is lost` or `2 rows are
/// lost`.
pub fn agreeing(number: usize, sentence: &str) -> String {
    let mut parts = sentence.split(['[', ']']);
    let mut out = parts.next().unwrap_or_default().to_owned();
    while let Some(forms) = parts.next() {
        let (one, many) = forms.split_once('|').unwrap_or(("", forms));
        out += if number == 1 { one } else { many };
        out += parts.next().unwrap_or_default();
    }
    out.replace('#', &number.to_string())
}

/// The first of these names, and how many others there are: `a, b and 3 more`.
pub fn listed<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown = names.iter().take(most).map(AsRef::as_ref);
    let shown = shown.collect::<Vec<&str>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
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
    /// In characters.
    const MAX: usize = 60;
    cut_end(text, MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_agrees_with_its_number() {
        let said = [0, 1, 2].map(|rows| agreeing(rows, "# row[s] [is|are] lost"));
        assert_eq!(
            said,
            ["0 rows are lost", "1 row is lost", "2 rows are lost"]
        );
        assert_eq!(count(2, "process"), "2 processes");
        assert_eq!(listed(&["a", "b", "c"], 3), "a, b, c");
        assert_eq!(listed(&["a", "b", "c"], 1), "a and 2 more");
    }
}
