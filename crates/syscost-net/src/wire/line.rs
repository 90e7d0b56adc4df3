//! Lines and what is in them.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why bytes are no line of this protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The line does not end.
    #[error("a line of more than {0} bytes")]
    TooLong(usize),
    /// It is another message, or none.
    #[error("not a message of its protocol: {0}")]
    Unexpected(String),
}

/// A line without its end, and what follows it.
pub type Split<'b> = (&'b [u8], &'b [u8]);

/// The first line of the bytes and what follows it, or nothing while its end has not come.
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

/// The message that a line holds, which must hold nothing else.
///
/// # Errors
/// [`WireError::Unexpected`] with what is wrong, in characters that can be printed.
pub fn decode<T: DeserializeOwned>(line: &[u8]) -> Result<T, WireError> {
    serde_json::from_slice(line)
        .map_err(|error| WireError::Unexpected(printable(&error.to_string())))
}

/// The message as a line with its end.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    let mut line =
        serde_json::to_vec(message).expect("messages have no maps with other keys than text");
    line.push(b'\n');
    line
}

/// Text of another end, fit for a terminal and a log: escaped and of bounded length.
pub(crate) fn printable(text: &str) -> String {
    /// Longest text, in characters.
    const MAX_CHARACTERS: usize = 300;
    escaped(text.chars().take(MAX_CHARACTERS))
}

/// The same of any length.
pub(crate) fn escaped(text: impl Iterator<Item = char>) -> String {
    text.flat_map(|letter| match letter {
        '"' | '\'' | '\\' => vec![letter],
        _ => letter.escape_debug().collect(),
    })
    .collect()
}
