//! Makes the texts of a document harmless: characters that are hidden ([`super::is_hidden`]) are
//! escaped, once for all renderers.

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
    is_control | matches!(byte, b'\\' | 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xef)
}

fn is_harmful(pair: &[u8]) -> bool {
    match pair[0] {
        b'\\' => !matches!(pair[1], b'"' | b'\\' | b'/'),
        // The first bytes of characters from U+0080, U+0600, U+2000 and U+F000 on.
        0xc2 => pair[1] < 0xa0 || pair[1] == 0xad,
        0xd8 => pair[1] == 0x9c,
        0xe2 => matches!(pair[1], 0x80 | 0x81),
        0xef => matches!(pair[1], 0xbb | 0xbf),
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
            for harmful in ["\\u001b", "\\n"] {
                assert!(with(harmful.as_bytes()), "{harmful:?} after {before}");
            }
            for harmless in [
                "\n\r\t", "\\\"", "\\/", "é", "\u{a0}", "€", "\u{2713}", "文",
            ] {
                assert!(!with(harmless.as_bytes()), "{harmless:?} after {before}");
            }
        }
        let hidden = ('\0'..=char::MAX).filter(|letter| super::super::is_hidden(*letter));
        for letter in hidden.filter(|letter| !"\n\r\t".contains(*letter)) {
            let text = format!("\"{letter}\"");
            assert!(is_needed(text.as_bytes()), "{letter:?}");
            assert_eq!(clean(&text), format!("\"{}\"", letter.escape_unicode()));
        }
    }
}
