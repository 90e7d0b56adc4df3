//! The messages of the protocol.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::VERSION;
use crate::content::Content;
use crate::service::{Account, Reading, Wait};
use crate::socket::Tcp;
use crate::token::{self, Nonce, Proof};

/// Length of a whole [`Hello`] line, in bytes: more than all that the server may send before the
/// client is authenticated.
pub const HELLO_BYTES: usize = 512;

/// Only the version, with which the first line of each end begins, whatever else it contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Spoken {
    /// [`VERSION`] of the sender.
    pub syscost: u32,
}

/// The client's first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// [`VERSION`] of the client.
    pub syscost: u32,
    /// Its contribution to the proofs.
    pub nonce: Nonce,
    /// Makes the line [`HELLO_BYTES`] long.
    pub padding: String,
}

impl Hello {
    /// A padded message of this version.
    pub fn new(nonce: Nonce) -> Self {
        let mut hello = Self {
            syscost: VERSION,
            nonce,
            padding: String::new(),
        };
        let missing = HELLO_BYTES.saturating_sub(super::encode(&hello).len());
        hello.padding = " ".repeat(missing);
        hello
    }
}

/// The server's first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    /// [`VERSION`] of the server.
    pub syscost: u32,
    /// Its contribution to the proofs.
    pub nonce: Nonce,
}

/// The client's proof that it knows the token.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The proof.
    pub proof: Proof,
}

/// The server's proof that it knows the token, and facts about its machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Welcome {
    /// The server's proof.
    pub proof: Proof,
    /// Facts about the far end: any JSON object.
    pub facts: Value,
}

/// Sent by the server instead of an answer, before it closes the connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// [`VERSION`] of the server.
    pub syscost: u32,
    /// The reason, as a sentence for people.
    pub refused: String,
}

impl Refused {
    /// A refusal of this version.
    pub fn new(why: impl Into<String>) -> Self {
        Self {
            syscost: VERSION,
            refused: why.into(),
        }
    }
}

/// A request of the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Begin this service.
    Open(Service),
    /// Report the progress of the service.
    Read(Nothing),
    /// Look at the core of the task that serves.
    Look(Nothing),
    /// End the service and return its account.
    Finish(Finish),
}

/// How to end a service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finish {
    /// Number of datagrams sent: the server waits a moment for those that are still under way.
    pub sent: Option<u64>,
}

/// No parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// A reply of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The service waits for connections.
    Opened(Opening),
    /// The progress of the service.
    Reading(Reading),
    /// The result of the look at its core.
    Core(Core),
    /// The service has ended.
    Account(Box<Account>),
    /// The request or the service has failed.
    Failed(String),
}

/// The core of the task that serves, at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Number of the CPU that the task was on, at the far end.
    pub cpu: u32,
    /// Whether its core was not shared.
    pub is_exclusive: bool,
}

/// Where to connect to a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// Port, at the address of the session.
    pub port: u16,
    /// Sent at the beginning of each stream, or as the first datagram.
    pub cookie: Cookie,
}

/// Admits a connection to a service: 16 random bytes, sent as hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cookie(pub [u8; Cookie::BYTES]);

impl Cookie {
    /// Its length, in bytes.
    pub const BYTES: usize = 16;
}

impl Serialize for Cookie {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&token::hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Cookie {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        token::hexadecimal(deserializer).map(Cookie)
    }
}

/// What the far end is to do: one of the functions in [`crate::service`], on sockets with these
/// properties.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    rename_all_fields = "snake_case",
    deny_unknown_fields
)]
pub enum Service {
    /// [`service::stream::echo`](crate::service::stream::echo) on one TCP connection.
    StreamEcho {
        /// Size of a message, in bytes.
        size: u32,
        /// How it waits for the next.
        wait: Wait,
        /// Options of its socket.
        tcp: Tcp,
    },
    /// [`service::stream::sink`](crate::service::stream::sink) on each of some TCP connections.
    StreamSink(Streams),
    /// [`service::stream::source`](crate::service::stream::source) on each of some TCP connections.
    StreamSource(Streams),
    /// [`service::datagram::echo`](crate::service::datagram::echo) on a UDP socket.
    DatagramEcho {
        /// Size of a datagram, in bytes.
        size: u32,
        /// How it waits for the next.
        wait: Wait,
    },
    /// [`service::datagram::sink`](crate::service::datagram::sink) on a UDP socket.
    DatagramSink {
        /// Size of a datagram, in bytes: at least 8, for its number.
        size: u32,
        /// How much of the content is checked.
        content: Content,
    },
    /// [`service::connections::accept`](crate::service::connections::accept): no cookie, since only the
    /// connections themselves are measured.
    Accept {
        /// How a connection is closed.
        close: Close,
        /// Whether one byte is sent before that.
        first_byte: bool,
        /// Connections that may wait to be accepted.
        backlog: u32,
    },
    /// [`service::http::respond`](crate::service::http::respond): no cookie, as this is plain HTTP.
    Http {
        /// Size of a response's body, in bytes.
        body: u32,
        /// Whether a connection serves more than one request.
        keep_alive: bool,
    },
}

impl Service {
    /// Whether its task never sleeps while it waits.
    pub fn spins(&self) -> bool {
        match self {
            Service::StreamEcho { wait, .. } | Service::DatagramEcho { wait, .. } => {
                *wait == Wait::Spin
            }
            Service::StreamSink(_)
            | Service::StreamSource(_)
            | Service::DatagramSink { .. }
            | Service::Accept { .. }
            | Service::Http { .. } => false,
        }
    }
}

/// TCP connections that carry bytes in one direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// Size of the buffer of each, in bytes.
    pub size: u32,
    /// Connections that will come.
    pub streams: u32,
    /// How much of the content is stamped and checked.
    pub content: Content,
    /// Options of their sockets.
    pub tcp: Tcp,
}

/// How an accepted connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Close {
    /// At once, by FIN: TIME_WAIT stays at the far end.
    Fin,
    /// At once, by RST (SO_LINGER of 0): nothing stays at either end.
    Rst,
    /// By FIN after the client has closed: TIME_WAIT stays at the client.
    AfterPeer,
}
