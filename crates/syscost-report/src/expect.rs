//! What tests expect of texts.

use crate::paint::width;

/// Checks that a text has each of these parts.
#[track_caller]
pub(crate) fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }
}

/// Checks that a text has none of these parts.
#[track_caller]
pub(crate) fn lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "`{part}` is there:\n{text}");
    }
}

/// Checks that no line of a text is wider than this many columns.
#[track_caller]
pub(crate) fn fits(text: &str, columns: usize) {
    for line in text.lines() {
        assert!(
            width(line) <= columns,
            "wider than {columns}: {line}\n{text}"
        );
    }
}
