//! Makes the texts of a document harmless: characters that move a terminal's cursor or change the
//! writing direction are escaped, once for all renderers.

use serde_json::Value;

use super::visible;

/// Whether a document may contain such a character, as an escape or as it is. This looks at every
/// byte of large documents, so it is only a quick check.
pub(super) fn is_needed(document: &[u8]) -> bool {
    document.windows(2).any(|pair| match pair[0] {
        b'\\' => !matches!(pair[1], b'"' | b'\\' | b'/'),
        // The first bytes of characters from U+0080 and from U+2000 on.
        0xc2 => pair[1] < 0xa0,
        0xe2 => matches!(pair[1], 0x80 | 0x81),
        byte => (byte < b' ' && !matches!(byte, b'\n' | b'\r' | b'\t')) || byte == 0x7f,
    })
}

/// The document with every text in it cleaned, except names of fields, which are known ones or keys
/// of maps such as a case.
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
