//! Lines, and the messages in them.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why bytes are not a line of this protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The line is too long.
    #[error("a line of more than {0} bytes")]
    TooLong(usize),
    /// It is another message, or not a message at all.
    #[error("not a message of its protocol: {0}")]
    Unexpected(String),
}

/// A line without its end, and what follows.
pub type Split<'b> = (&'b [u8], &'b [u8]);

/// Splits off the first line of the bytes; `None` while its end has not arrived.
///
/// # Errors
/// [`WireError::TooLong`] when more than `max` bytes are there without an end.
pub fn split(bytes: &[u8], max: usize) -> Result<Option<Split<'_>>, WireError> {
    let within = &bytes[..bytes.len().min(max + 1)];
    match within.iter().position(|byte| *byte == b'\n') {
        Some(end) => Ok(Some((&bytes[..end], &bytes[end + 1..]))),
        None if within.len() > max => Err(WireError::TooLong(max)),
        None => Ok(None),
    }
}

/// Decodes a line, which must hold one message and nothing else.
///
/// # Errors
/// [`WireError::Unexpected`] with what is wrong, in printable characters.
pub fn decode<T: DeserializeOwned>(line: &[u8]) -> Result<T, WireError> {
    serde_json::from_slice(line)
        .map_err(|error| WireError::Unexpected(printable(&error.to_string())))
}

/// Encodes a message as a line with its end.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    let mut line =
        serde_json::to_vec(message).expect("messages have no maps with other keys than text");
    line.push(b'\n');
    line
}

/// Makes text from the other end safe for a terminal and a log: escaped and of bounded length.
pub(crate) fn printable(text: &str) -> String {
    /// Maximum length of the text, in characters.
    const MAX_CHARACTERS: usize = 300;
    escaped(text.chars().take(MAX_CHARACTERS))
}

/// As [`printable`], of any length.
pub(crate) fn escaped(text: impl Iterator<Item = char>) -> String {
    text.flat_map(|letter| match letter {
        '"' | '\'' | '\\' => vec![letter],
        _ => letter.escape_debug().collect(),
    })
    .collect()
}
