//! The messages.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::VERSION;
use crate::content::Content;
use crate::service::{Account, Reading, Wait};
use crate::socket::Tcp;
use crate::token::{self, Nonce, Proof};

/// Length of a whole [`Hello`] line, in bytes: more than all that the server may have to say before the client has proven itself.
pub const HELLO_BYTES: usize = 512;

/// The version alone, which the first line of each end begins with, whatever else it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Spoken {
    /// [`VERSION`] of who said it.
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
    /// The padded line of this version.
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

/// The client proves that it knows the token.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The proof.
    pub proof: Proof,
}

/// So does the server, and says who it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Welcome {
    /// The server's proof.
    pub proof: Proof,
    /// Facts of the far end: a JSON object of its caller's choice.
    pub facts: Value,
}

/// What the server says instead of an answer, before it closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// [`VERSION`] of the server.
    pub syscost: u32,
    /// Why, in a sentence for people.
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

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Begin this service.
    Open(Service),
    /// How far is the service?
    Read(Nothing),
    /// Look at the core of the task that serves.
    Look(Nothing),
    /// End the service and account for it.
    Finish(Finish),
}

/// How a service is to be ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finish {
    /// Datagrams that were sent: the server waits a moment for those that are still on their way.
    pub sent: Option<u64>,
}

/// No particulars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// What the server replies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The service waits for connections.
    Opened(Opening),
    /// How far it is.
    Reading(Reading),
    /// What the look at its core showed.
    Core(Core),
    /// It has ended.
    Account(Box<Account>),
    /// It has failed.
    Failed(String),
}

/// The core of the task that serves, at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// The CPU that the task was on, by the number that the far end's kernel has for it.
    pub cpu: u32,
    /// Whether its core worked for nobody else.
    pub is_ours: bool,
}

/// Where a service is to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// Port, at the address of the session.
    pub port: u16,
    /// What each stream, or the first datagram, begins with.
    pub ticket: Ticket,
}

/// What lets a connection into a service: 16 random bytes, on the wire as hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(pub [u8; Ticket::BYTES]);

impl Ticket {
    /// Its length, in bytes.
    pub const BYTES: usize = 16;
}

impl Serialize for Ticket {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&token::hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Ticket {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        token::hexadecimal(deserializer).map(Ticket)
    }
}

/// What the far end is to do: one of the functions in [`crate::service`], on sockets of these properties.
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
    StreamSink {
        /// Size of its buffer, in bytes.
        size: u32,
        /// Connections that will come.
        streams: u32,
        /// How much of the content is checked.
        content: Content,
        /// Options of its sockets.
        tcp: Tcp,
    },
    /// [`service::stream::source`](crate::service::stream::source) on each of some TCP connections.
    StreamSource {
        /// Size of its buffer, in bytes.
        size: u32,
        /// Connections that will come.
        streams: u32,
        /// How much of the content is stamped.
        content: Content,
        /// Options of its sockets.
        tcp: Tcp,
    },
    /// [`service::datagram::echo`](crate::service::datagram::echo) on a UDP socket.
    DatagramEcho {
        /// Size of a datagram, in bytes.
        size: u32,
        /// How it waits for the next.
        wait: Wait,
    },
    /// [`service::datagram::sink`](crate::service::datagram::sink) on a UDP socket.
    DatagramSink {
        /// Size of a datagram, in bytes: 8 at least, for its number.
        size: u32,
        /// How much of the content is checked.
        content: Content,
    },
    /// [`service::datagram::source`](crate::service::datagram::source) on a UDP socket.
    DatagramSource {
        /// Size of a datagram, in bytes: 8 at least, for its number.
        size: u32,
        /// How much of the content is stamped.
        content: Content,
        /// Datagrams per second; as fast as they go if null.
        rate: Option<u32>,
    },
    /// [`service::connections::accept`](crate::service::connections::accept): no ticket, as bare connections are measured.
    Accept {
        /// How a connection is closed.
        close: Close,
        /// Whether one byte is sent before.
        first_byte: bool,
        /// Connections that may wait to be accepted.
        backlog: u32,
    },
    /// [`service::http::respond`](crate::service::http::respond): no ticket, as this is plain HTTP.
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
            Service::StreamSink { .. }
            | Service::StreamSource { .. }
            | Service::DatagramSink { .. }
            | Service::DatagramSource { .. }
            | Service::Accept { .. }
            | Service::Http { .. } => false,
        }
    }
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
