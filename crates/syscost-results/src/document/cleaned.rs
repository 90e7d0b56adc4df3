//! Texts of a document, made harmless: what moves a terminal's cursor or turns the direction of writing is escaped, once
//! and for every renderer.

use serde_json::Value;

use super::visible;

/// Whether a document may hold such a letter: written as an escape, or as it is.
pub(super) fn is_needed(text: &str) -> bool {
    // A backslash is rare in a document, and a letter beyond Latin too.
    text.contains("\\u")
        || text.contains("\\n")
        || text.contains("\\r")
        || text.contains("\\t")
        || text.contains("\\b")
        || text.contains("\\f")
        || text.chars().any(|letter| {
            visible(letter).nth(1).is_some() && letter != '\n' && letter != '\r' && letter != '\t'
        })
}

/// The document with every text in it cleaned; the names of its fields are known ones, or keys of a map such as a case.
pub(super) fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(values) => values.into_iter().map(cleaned).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (clean(&name), cleaned(value)))
            .collect(),
        other => other,
    }
}

fn clean(text: &str) -> String {
    text.chars().flat_map(visible).collect()
}
