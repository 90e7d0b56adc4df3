//! The messages between client and server: one line of JSON each, bounded, decoded strictly.
//!
//! A session begins with [`Hello`], [`Challenge`], [`Answer`], [`Welcome`]; then the client asks
//! ([`Request`]) and the server replies ([`Reply`]), in turns. Instead of any of its lines the server
//! may send [`Refused`], and then closes the connection. Everything here is a pure function of bytes.

mod message;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use message::{
    Answer, Challenge, Close, Cookie, Core, Finish, HELLO_BYTES, Hello, Nothing, Opening, Refused,
    Reply, Request, Service, Spoken, Streams, Welcome,
};

/// Version of the protocol; raised when two versions would misunderstand each other.
pub const VERSION: u32 = 3;

/// Maximum length of a line, without its end, in bytes.
pub const MAX_LINE: usize = 8 << 10;

/// Maximum length of a [`Welcome`] line, in bytes: it carries the facts of the far end's machine.
/// Only sent and read between ends that know the token.
pub const MAX_WELCOME: usize = 64 << 10;

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::token::Nonce;

    #[test]
    fn lines_end_or_are_too_long() {
        assert_eq!(split(b"", 4), Ok(None));
        assert_eq!(split(b"abcd", 4), Ok(None));
        assert_eq!(split(b"abcd\nef", 4), Ok(Some((&b"abcd"[..], &b"ef"[..]))));
        assert_eq!(split(b"\n", 4), Ok(Some((&b""[..], &b""[..]))));
        assert_eq!(split(b"abcde", 4), Err(WireError::TooLong(4)));
        assert_eq!(split(b"abcde\n", 4), Err(WireError::TooLong(4)));
    }

    #[test]
    fn a_hello_is_always_of_the_same_length() {
        let line = encode(&Hello::new(Nonce::generate().unwrap()));
        assert_eq!(line.len(), HELLO_BYTES);
        let spoken: Spoken = decode(line.trim_ascii_end()).unwrap();
        assert_eq!(spoken.syscost, VERSION);
    }

    #[test]
    fn nothing_else_is_read_and_errors_can_be_printed() {
        let read = |text: &str| decode::<Request>(text.as_bytes());
        for strange in [
            "",
            "{}",
            "null",
            "{\"read\":{}} x",
            "{\"read\":{\"more\":1}}",
            "{\"look\":{\"cpu\":1}}",
            "{\"finish\":{\"sent\":-1}}",
            "{\"finish\":{\"sent\":1e3}}",
            "{\"open\":{\"datagram_echo\":{\"size\":1}}}",
            "{\"open\":{\"datagram_echo\":{\"size\":1,\"wait\":\"block\",\"x\":0}}}",
            "{\"open\":{\"\\u001b[31m\":{}}}",
            "[[[[[[[[",
        ] {
            let error = read(strange).expect_err(strange).to_string();
            assert!(!error.chars().any(char::is_control), "{error:?}");
            assert!(error.len() < 1000, "{error}");
        }
        assert!(decode::<Request>(&[0xff, 0xfe]).is_err());
        let short = json!({ "port": 1, "cookie": "00" }).to_string();
        let error = decode::<Opening>(short.as_bytes()).unwrap_err();
        assert!(
            error.to_string().contains("32 hexadecimal digits"),
            "{error}"
        );
    }
}
