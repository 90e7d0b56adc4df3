//! Limits of what clients may use.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::service::datagram::NUMBER_BYTES;
use crate::socket::Tcp;
use crate::wire::Service;

/// Maximum size of a datagram, in bytes: the maximum UDP payload over IPv4.
const MAX_DATAGRAM: u32 = 65_507;

/// Maximum number of connections that wait to be accepted.
const MAX_BACKLOG: u32 = 65_535;

/// Maximum length of the name of a congestion control, in bytes (TCP_CA_NAME_MAX, 16, less the
/// terminating zero).
const MAX_CONGESTION: usize = 15;

/// Limits of what clients may use.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Maximum number of concurrent sessions.
    pub sessions: usize,
    /// Maximum number of concurrent sessions of one address.
    pub sessions_per_peer: usize,
    /// Maximum number of unauthenticated connections. For a new one, the oldest of the address with the
    /// most is closed.
    pub unproven: usize,
    /// Time limit for authentication.
    pub proof: Duration,
    /// Time limit of a session.
    pub session: Duration,
    /// Time limit of a service.
    pub service: Duration,
    /// Maximum number of bytes that a service may move.
    pub service_bytes: u64,
    /// Maximum size of a message, in bytes.
    pub message_bytes: u32,
    /// Maximum number of concurrent connections of a service.
    pub streams: u32,
    /// Maximum memory for the buffers of a service, in bytes: the size of its messages times the number
    /// of its streams.
    pub buffer_bytes: u64,
    /// Ports of services; any free port if `None`.
    pub data_ports: Option<RangeInclusive<u16>>,
    /// Whether the server ends with its first session.
    pub once: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 16,
            sessions_per_peer: 8,
            unproven: 64,
            proof: Duration::from_secs(5),
            session: Duration::from_secs(4 * 3600),
            service: Duration::from_secs(120),
            service_bytes: 1 << 40,
            message_bytes: 1 << 20,
            streams: 64,
            buffer_bytes: 8 << 20,
            data_ports: None,
            once: false,
        }
    }
}

impl Limits {
    /// Checks that a service stays within the limits and makes sense; the error is a sentence.
    pub(super) fn check(&self, service: &Service) -> Result<(), String> {
        match service {
            Service::StreamEcho { size, wait: _, tcp } => {
                self.message(*size, 1)?;
                options(tcp)
            }
            Service::StreamSink(all) | Service::StreamSource(all) => {
                within("streams", all.streams, 1, self.streams)?;
                self.message(all.size, all.streams)?;
                options(&all.tcp)
            }
            Service::DatagramEcho { size, wait: _ } => within("size", *size, 1, MAX_DATAGRAM),
            Service::DatagramSink { size, content: _ } => numbered(*size),
            Service::Accept {
                close: _,
                first_byte: _,
                backlog,
            } => within("backlog", *backlog, 1, MAX_BACKLOG),
            Service::Http {
                body,
                keep_alive: _,
            } => within("body", *body, 0, self.message_bytes),
        }
    }

    fn message(&self, size: u32, streams: u32) -> Result<(), String> {
        within("size", size, 1, self.message_bytes)?;
        let bytes = u64::from(size) * u64::from(streams);
        match bytes <= self.buffer_bytes {
            true => Ok(()),
            false => Err(format!(
                "{streams} streams of messages of {size} bytes need {bytes} bytes of memory; the limit is {}",
                self.buffer_bytes
            )),
        }
    }
}

fn numbered(size: u32) -> Result<(), String> {
    within("size", size, NUMBER_BYTES as u32, MAX_DATAGRAM)
}

fn options(tcp: &Tcp) -> Result<(), String> {
    if let Some(name) = &tcp.congestion {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        if !(1..=MAX_CONGESTION).contains(&name.len()) || !name.chars().all(is_name) {
            return Err("no congestion control has such a name".to_owned());
        }
    }
    Ok(())
}

fn within(what: &str, number: u32, min: u32, max: u32) -> Result<(), String> {
    match (min..=max).contains(&number) {
        true => Ok(()),
        false => Err(format!("{what} {number} is not from {min} to {max}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Content;
    use crate::service::Wait;
    use crate::wire::Streams;

    #[test]
    fn what_is_too_much_is_refused_in_a_sentence() {
        let limits = Limits::default();
        let echo = |size, tcp| Service::StreamEcho {
            size,
            wait: Wait::Block,
            tcp,
        };
        let sink = |size, streams| {
            Service::StreamSink(Streams {
                size,
                streams,
                content: Content::Whole,
                tcp: Tcp::default(),
            })
        };
        let datagrams = |size| Service::DatagramSink {
            size,
            content: Content::Whole,
        };
        for fine in [
            echo(1, Tcp::nodelay()),
            echo(1 << 20, Tcp::nodelay()),
            sink(65536, 64),
            datagrams(8),
            datagrams(65_507),
        ] {
            assert_eq!(limits.check(&fine), Ok(()), "{fine:?}");
        }
        let odd = Tcp {
            congestion: Some("../cubic".to_owned()),
            ..Tcp::default()
        };
        for (bad, words) in [
            (echo(0, Tcp::default()), "size 0 is not from 1 to 1048576"),
            (echo(1 << 21, Tcp::default()), "size 2097152"),
            (echo(1, odd), "no congestion control"),
            (sink(1, 65), "streams 65"),
            (sink(1 << 20, 9), "need 9437184 bytes of memory"),
            (sink(u32::MAX, u32::MAX), "streams"),
            (datagrams(7), "size 7"),
            (datagrams(65_508), "size 65508"),
        ] {
            let why = limits.check(&bad).expect_err(words);
            assert!(why.contains(words), "{why}");
        }
    }
}
