//! Makes the texts of a document harmless: characters that are hidden ([`super::is_hidden`]) are
//! escaped, once for all renderers.

use std::borrow::Cow;

use super::visible;

/// Bytes that are looked at in one go.
const AT_ONCE: usize = 64;

/// Whether a document may contain such a character, as an escape or as it is. This looks at every
/// byte of large documents, so it is only a quick check: most bytes are only found to be none of a few.
fn is_needed(document: &[u8]) -> bool {
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

/// The document with every text in it cleaned, if any needs it: names of fields, too, which are known
/// ones or keys of maps such as a case. Text by text, so that a large document is held once more, not
/// as values. What is no JSON is no other thing afterwards.
pub(super) fn cleaned(document: &[u8]) -> Cow<'_, [u8]> {
    if !is_needed(document) {
        return Cow::Borrowed(document);
    }
    let (mut all, mut rest) = (Vec::with_capacity(document.len()), document);
    while let Some(begin) = rest.iter().position(|byte| *byte == b'"') {
        let (before, text) = rest.split_at(begin);
        let (text, after) = text.split_at(length_of_text(text));
        let read = serde_json::from_slice::<String>(text);
        let written = read.and_then(|text| serde_json::to_vec(&clean(&text)));
        all.extend(before);
        all.extend(written.as_deref().unwrap_or(text));
        rest = after;
    }
    all.extend(rest);
    Cow::Owned(all)
}

/// The length of the text that this begins with, with its quotation marks.
fn length_of_text(from: &[u8]) -> usize {
    let mut position = 1;
    while let Some(byte) = from.get(position) {
        position += match byte {
            b'"' => return position + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    from.len()
}

fn clean(text: &str) -> String {
    text.chars().flat_map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cleaned_and_nothing_else_is_changed() {
        for (document, expected) in [
            (
                r#"{"a\u0007": [1.50, "b\n\"c\\"]}"#,
                r#"{"a\\u{7}": [1.50, "b\\u{a}\"c\\"]}"#,
            ),
            // A pair of surrogates is one letter.
            (r#""\ud83d\ude00\u202e""#, r#""😀\\u{202e}""#),
            // No JSON: a raw control character, and a text without an end.
            ("[\"a\u{1}b\"]", "[\"a\u{1}b\"]"),
            (r#"{"a": "b\n"#, r#"{"a": "b\n"#),
        ] {
            let seen = cleaned(document.as_bytes());
            assert_eq!(String::from_utf8_lossy(&seen), expected);
        }
        let plain = br#"{"a": "b"}"#;
        assert!(matches!(cleaned(plain), Cow::Borrowed(_)));
    }

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
