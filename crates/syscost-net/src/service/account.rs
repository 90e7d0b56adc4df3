//! What a service has done.

use serde::{Deserialize, Serialize};

/// What a service has done, counted by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Echo: messages answered. Stream sink and source: calls that moved bytes. Datagrams: received or sent ones. Accept: connections.
    /// HTTP: responses.
    pub messages: u64,
    /// Bytes of content received (echo, sink) or sent (source, accept, HTTP).
    pub bytes: u64,
    /// Echo: the sum of the first words (up to 8 bytes, little-endian) of all messages, wrapping. Sink and source: the sum of the
    /// stamped words. Otherwise 0.
    pub checksum: u64,
    /// Bytes, of what was checked, that are not what belongs at their place; datagrams of a wrong size count as a whole; for
    /// accept, connections from elsewhere.
    pub wrong: u64,
    /// CPU time of the tasks that served, in ns, from the first message on.
    pub cpu_ns: u64,
    /// Time from the first message to the last, in ns, by the far end's clock.
    pub elapsed_ns: u64,
    /// Connections served.
    pub connections: u64,
    /// What became of numbered datagrams, if it received such.
    pub order: Option<Order>,
    /// The far end's side of its TCP connections, read when they end.
    pub tcp: Option<TcpSide>,
    /// How often a backlog was full anywhere on the far end's machine (`ListenOverflows` of netstat) while this service lasted, if its
    /// kernel tells.
    pub listen_overflows: Option<u64>,
}

/// What became of datagrams that are numbered from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// One more than the highest number that came: at least so many were sent.
    pub expected: u64,
    /// Different ones that came.
    pub distinct: u64,
    /// Those that came again.
    pub duplicated: u64,
    /// Those that came behind one with a higher number.
    pub reordered: u64,
}

impl Order {
    /// Those that did not come, up to the highest that did. Those lost behind it only the sender knows: what it sent, less
    /// [`Order::distinct`].
    pub fn lost(&self) -> u64 {
        self.expected.saturating_sub(self.distinct)
    }
}

/// One end of TCP connections, as its kernel tells; of several connections the sums, and what all have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpSide {
    /// Congestion control; several names with a comma between where they differ.
    pub congestion: String,
    /// Connections with TCP_NODELAY.
    pub nodelay: u32,
    /// Largest segment sent, in bytes; the smallest of all connections.
    pub mss: u32,
    /// Segments sent again.
    pub retransmits: u64,
    /// Bytes acknowledged by the other end, with those of the handshake.
    pub bytes_acked: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Time in which there was something to send, in us.
    pub busy_us: u64,
    /// The part of it in which the receiver's window was full, in us.
    pub receive_window_limited_us: u64,
    /// The part of it in which the send buffer was full, in us.
    pub send_buffer_limited_us: u64,
    /// Size of the send buffer, in bytes, as the kernel counts it; of several connections the smallest.
    pub send_buffer: u64,
    /// Size of the receive buffer, in bytes, as the kernel counts it; of several connections the smallest.
    pub receive_buffer: u64,
}

/// How far a service is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// As [`Account::messages`].
    pub messages: u64,
    /// As [`Account::bytes`].
    pub bytes: u64,
    /// CPU time of the tasks that serve, in ns, if the kernel tells (to a tick or so).
    pub cpu_ns: Option<u64>,
    /// When it was read, in ns of the far end's monotonic clock.
    pub at_ns: u64,
}
