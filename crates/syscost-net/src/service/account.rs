//! The account of what a service has done.

use std::fmt;
use std::ops::Deref;
use std::os::fd::AsFd;

use rustix::net::sockopt;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use syscost_sys::tcp::{TcpInfo, congestion};

/// What a service has done, counted by itself. Without pointers, so that it means the same in every
/// process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Echo: messages answered. Stream sink and source: calls that moved bytes. Datagram sink and
    /// source: datagrams received or sent. Accept: connections. HTTP: responses.
    pub messages: u64,
    /// Bytes of content received (echo, sink) or sent (source, accept, HTTP).
    pub bytes: u64,
    /// Echo: the wrapping sum of the first words (up to 8 bytes, little-endian) of all messages. Sink
    /// and source: that of the stamped words. Otherwise 0.
    pub checksum: u64,
    /// Checked bytes that differ from the expected content; datagrams of a wrong size count with all
    /// their bytes. Accept: connections from other addresses.
    pub wrong: u64,
    /// Time from the first message to the end, in ns, by the far end's clock.
    pub elapsed_ns: u64,
    /// The part of that time in which messages were due at the requested rate, but the sender was too
    /// late to make up for them, in ns.
    pub forfeited_ns: u64,
    /// Connections served.
    pub connections: u64,
    /// What became of numbered datagrams, if it received any.
    pub order: Option<Order>,
    /// The far end's side of its TCP connections, read when they end. Filled in by the server
    /// ([`TcpSide::of`]).
    pub tcp: Option<TcpSide>,
    /// How often any backlog of the far end's machine was full (`ListenOverflows` of netstat) during
    /// this service, if its kernel reports it. Filled in by the server ([`listen_overflows`]).
    pub listen_overflows: Option<u64>,
}

impl Account {
    /// Adds what another connection of the same service has done.
    pub fn add(&mut self, other: Account) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.checksum = self.checksum.wrapping_add(other.checksum);
        self.wrong += other.wrong;
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        self.forfeited_ns = self.forfeited_ns.max(other.forfeited_ns);
        self.connections += other.connections;
        self.order = self.order.or(other.order);
        self.tcp = match (self.tcp, other.tcp) {
            (Some(one), Some(another)) => Some(one.and(another)),
            (one, another) => one.or(another),
        };
        self.listen_overflows = self.listen_overflows.or(other.listen_overflows);
    }
}

/// What became of datagrams that are numbered from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// One more than the highest number received: at least this many were sent.
    pub expected: u64,
    /// Number of distinct datagrams received.
    pub distinct: u64,
    /// Number of datagrams received again.
    pub duplicated: u64,
    /// Number of datagrams received after one with a higher number.
    pub reordered: u64,
}

impl Order {
    /// Number of missing datagrams below the highest received. Only the sender knows how many were lost
    /// after that: what it sent, minus [`Order::distinct`].
    pub fn lost(&self) -> u64 {
        self.expected.saturating_sub(self.distinct)
    }
}

/// One end of TCP connections, as its kernel reports it; with several connections, their sums or
/// minima.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpSide {
    /// Congestion control; if connections differ, all names.
    pub congestion: Congestion,
    /// Number of connections with TCP_NODELAY.
    pub nodelay: u32,
    /// Maximum size of sent segments (MSS), in bytes; the smallest of all connections.
    pub mss: u32,
    /// Number of segments retransmitted.
    pub retransmits: u64,
    /// Bytes acknowledged by the other end, including the cookie; the beginning and the end of a stream
    /// count as one byte each.
    pub bytes_acked: u64,
    /// Bytes received, including the cookie; the end of a stream counts as one.
    pub bytes_received: u64,
    /// Time in which there was data to send, in us.
    pub busy_us: u64,
    /// The part of that time in which the receiver's window was full, in us.
    pub receive_window_limited_us: u64,
    /// The part of that time in which the send buffer was full, in us.
    pub send_buffer_limited_us: u64,
    /// Size of the send buffer, in bytes, as the kernel counts it; the smallest of all connections.
    pub send_buffer: u64,
}

impl TcpSide {
    /// Reads this end of a connection; `None` if it is not TCP or the kernel does not report it.
    pub fn of(socket: impl AsFd) -> Option<TcpSide> {
        let socket = socket.as_fd();
        let info = TcpInfo::of(socket).ok()?;
        Some(TcpSide {
            congestion: Congestion::of(&congestion(socket).ok()?)?,
            nodelay: sockopt::tcp_nodelay(socket).ok()?.into(),
            mss: info.send_mss,
            retransmits: info.retransmits.into(),
            bytes_acked: info.bytes_acked,
            bytes_received: info.bytes_received,
            busy_us: info.busy_us,
            receive_window_limited_us: info.receive_window_limited_us,
            send_buffer_limited_us: info.send_buffer_limited_us,
            send_buffer: sockopt::socket_send_buffer_size(socket).ok()? as u64,
        })
    }

    /// Combines this end of two connections, or groups of them.
    #[must_use]
    pub fn and(self, other: TcpSide) -> TcpSide {
        let is_known = self
            .congestion
            .split(',')
            .any(|name| *name == *other.congestion);
        let names = match is_known {
            true => Some(self.congestion),
            false => Congestion::of(&format!("{},{}", self.congestion, other.congestion)),
        };
        let congestion = names.or(Congestion::of("several")).unwrap_or_default();
        TcpSide {
            congestion,
            nodelay: self.nodelay + other.nodelay,
            mss: self.mss.min(other.mss),
            retransmits: self.retransmits + other.retransmits,
            bytes_acked: self.bytes_acked + other.bytes_acked,
            bytes_received: self.bytes_received + other.bytes_received,
            busy_us: self.busy_us + other.busy_us,
            receive_window_limited_us: self.receive_window_limited_us
                + other.receive_window_limited_us,
            send_buffer_limited_us: self.send_buffer_limited_us + other.send_buffer_limited_us,
            send_buffer: self.send_buffer.min(other.send_buffer),
        }
    }
}

/// Names of congestion controls, separated by commas.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Congestion([u8; Self::BYTES]);

impl Congestion {
    /// Room for two names of the longest kind, padded with zeros.
    const BYTES: usize = 32;

    /// These names; `None` if they are too many.
    fn of(names: &str) -> Option<Self> {
        let mut bytes = [0; Self::BYTES];
        bytes
            .get_mut(..names.len())?
            .copy_from_slice(names.as_bytes());
        Some(Self(bytes))
    }
}

impl Deref for Congestion {
    type Target = str;

    fn deref(&self) -> &str {
        let end = self.0.iter().position(|byte| *byte == 0);
        str::from_utf8(&self.0[..end.unwrap_or(Self::BYTES)]).unwrap_or_default()
    }
}

impl fmt::Display for Congestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Congestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl TryFrom<String> for Congestion {
    type Error = &'static str;

    fn try_from(names: String) -> Result<Self, Self::Error> {
        Self::of(&names).ok_or("no congestion control has so long a name")
    }
}

impl From<Congestion> for String {
    fn from(names: Congestion) -> Self {
        (*names).to_owned()
    }
}

/// How often a backlog was full since this machine (or network namespace) started:
/// `ListenOverflows` of /proc/net/netstat, if the kernel reports it.
pub fn listen_overflows() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/net/netstat").ok()?;
    overflows_in(&text)
}

/// Finds the counter. The names of a group of counters are in one line, their values in the next.
fn overflows_in(netstat: &str) -> Option<u64> {
    let mut lines = netstat.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut pairs = names.split_whitespace().zip(values.split_whitespace());
    pairs
        .find(|(name, _)| *name == "ListenOverflows")?
        .1
        .parse()
        .ok()
}

pub(crate) fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Measures the time from the first message to the end.
#[derive(Debug, Default)]
pub(super) struct Span(Option<u64>);

impl Span {
    /// Called at each message; only the first has an effect.
    #[inline]
    pub(super) fn begin(&mut self) {
        if self.0.is_none() {
            self.0 = Some(monotonic_ns());
        }
    }

    /// Records the span in the account.
    pub(super) fn end(&self, account: &mut Account) {
        if let Some(begun) = self.0 {
            account.elapsed_ns = monotonic_ns().saturating_sub(begun);
        }
    }
}

/// The progress of a service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// As [`Account::messages`].
    pub messages: u64,
    /// As [`Account::bytes`].
    pub bytes: u64,
    /// CPU time of the tasks that serve, in ns, accurate to about a tick, if the kernel reports it.
    pub cpu_ns: Option<u64>,
    /// When it was read, in ns of the far end's monotonic clock.
    pub at_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_table_of_counters_is_understood() {
        let text = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 42 7\n\
                    IpExt: InNoRoutes\nIpExt: 9\n";
        assert_eq!(overflows_in(text), Some(42));
        assert_eq!(overflows_in("TcpExt: ListenDrops\nTcpExt: 7\n"), None);
        assert_eq!(overflows_in("TcpExt: ListenOverflows\n"), None);
    }

    #[test]
    fn accounts_add_up_and_differences_show() {
        let side = |congestion: &str, mss| TcpSide {
            congestion: Congestion::of(congestion).expect("a short name"),
            nodelay: 1,
            mss,
            retransmits: 2,
            ..TcpSide::default()
        };
        let one = |congestion, mss| Account {
            messages: 3,
            checksum: u64::MAX,
            elapsed_ns: u64::from(mss),
            tcp: Some(side(congestion, mss)),
            ..Account::default()
        };
        let mut sum = one("cubic", 1448);
        for other in [one("reno", 536), one("reno", 9000)] {
            sum.add(other);
        }
        assert_eq!((sum.messages, sum.elapsed_ns), (9, 9000));
        assert_eq!(sum.checksum, u64::MAX - 2, "it wraps");
        let tcp = sum.tcp.expect("all have it");
        assert_eq!(&*tcp.congestion, "cubic,reno");
        let many = side("a-name-of-15-ch", 1).and(side("b-name-of-15-ch", 1));
        assert_eq!(many.congestion.len(), Congestion::BYTES - 1);
        assert_eq!(&*many.and(tcp).congestion, "several");
        assert_eq!((tcp.nodelay, tcp.mss, tcp.retransmits), (3, 536, 6));
    }
}
