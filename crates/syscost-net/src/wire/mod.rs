//! The messages between client and server: one line of JSON each, bounded, decoded strictly.
//!
//! A session begins with [`Hello`], [`Challenge`], [`Answer`], [`Welcome`]; then the client asks
//! ([`Request`]) and the server replies ([`Reply`]), in turns. Instead of any of its lines the server
//! may send [`Refused`], and then closes the connection. Everything here is a pure function of bytes.

mod line;
mod message;

pub use line::{Split, WireError, decode, encode, split};
pub(crate) use line::{escaped, printable};
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

#[cfg(test)]
mod tests;
