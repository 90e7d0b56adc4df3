//! Makes the texts of a document harmless: characters that move a terminal's cursor or change the
//! writing direction are escaped, once for all renderers.

use serde_json::Value;

use super::visible;

/// Bytes that are looked at in one go.
const AT_ONCE: usize = 64;

/// Whether a document may contain such a character, as an escape or as it is. This looks at every
/// byte of large documents, so it is only a quick check: most bytes are only found to be none of a few.
pub(super) fn is_needed(document: &[u8]) -> bool {
    let mut starts = (0..document.len()).step_by(AT_ONCE);
    starts.any(|start| {
        let end = document.len().min(start + AT_ONCE);
        // Without a branch, so that the compiler compares many bytes at a time.
        let suspicious = |any, byte: &u8| any | is_suspicious(*byte);
        document[start..end].iter().fold(false, suspicious)
            && document[start..document.len().min(end + 1)]
                .windows(2)
                .any(is_harmful)
    })
}

/// Whether a byte may begin a character that is not harmless.
fn is_suspicious(byte: u8) -> bool {
    let is_control = (byte < b' ') & (byte != b'\n') & (byte != b'\r') & (byte != b'\t');
    is_control | matches!(byte, b'\\' | 0x7f | 0xc2 | 0xe2)
}

fn is_harmful(pair: &[u8]) -> bool {
    match pair[0] {
        b'\\' => !matches!(pair[1], b'"' | b'\\' | b'/'),
        // The first bytes of characters from U+0080 and from U+2000 on.
        0xc2 => pair[1] < 0xa0,
        0xe2 => matches!(pair[1], 0x80 | 0x81),
        byte => is_suspicious(byte),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_to_be_cleaned_is_seen_wherever_it_stands() {
        for before in 0..2 * AT_ONCE {
            let with = |middle: &[u8]| {
                let mut document = vec![b' '; before];
                document.extend(middle);
                document.extend(b"\"}");
                is_needed(&document)
            };
            for harmful in ["\\u001b", "\u{1b}", "\u{7f}", "\u{85}", "\u{202e}", "\\n"] {
                assert!(with(harmful.as_bytes()), "{harmful:?} after {before}");
            }
            for harmless in ["\n\r\t", "\\\"", "\\/", "é", "\u{a0}", "€", "\u{2713}"] {
                assert!(!with(harmless.as_bytes()), "{harmless:?} after {before}");
            }
        }
    }
}
