//! The far end as a server: authenticates, opens a service for a session, keeps within its limits.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use syscost_sys::SystemError;

use crate::token::Token;

/// What a server lets others have.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Sessions at once.
    pub sessions: usize,
    /// Sessions at once of one address.
    pub sessions_per_peer: usize,
    /// Connections at once that have not proven themselves yet; the oldest of whoever has most goes for a new one.
    pub unproven: usize,
    /// How long they may take to do so.
    pub proof: Duration,
    /// How long a session may last.
    pub session: Duration,
    /// How long a service may last.
    pub service: Duration,
    /// Bytes that a service may move.
    pub service_bytes: u64,
    /// Bytes of memory for a service's buffers: the size of its messages times its streams.
    pub buffer_bytes: u64,
    /// Connections at once of a service.
    pub streams: u32,
    /// Ports of services; any free one if `None`.
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
            service: Duration::from_secs(60),
            service_bytes: 1 << 40,
            buffer_bytes: 16 << 20,
            streams: 64,
            data_ports: None,
            once: false,
        }
    }
}

/// Takes a line of the log: who did what.
pub type Log<'a> = &'a (dyn Fn(&str) + Sync);

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    limits: Limits,
}

impl Server {
    /// Listens on these addresses.
    ///
    /// # Errors
    /// When one of them cannot be listened on.
    pub fn bind(
        addresses: &[SocketAddr],
        token: Token,
        limits: Limits,
        facts: Value,
    ) -> Result<Server, SystemError> {
        let _ = (addresses, token, facts);
        Ok(Self { limits })
    }

    /// Where it listens, with the ports that were chosen.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        todo!()
    }

    /// Serves until `stop` is set, or, if it is to serve once, until its first session has ended. Ends its sessions.
    pub fn run(&self, stop: &AtomicBool, log: Log<'_>) {
        let _ = (stop, log, &self.limits);
        todo!()
    }
}
