//! Shared: whether the far end accepted every connection that was made.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};

use syscost_harness::prelude::*;
use syscost_net::service::IsOver;
use syscost_net::socket::Tcp;
use syscost_net::{Account, Service, ServiceError};
use syscost_sys::partner::Shared;

use super::counters::Counters;
use super::far_end::{FarEnd, Route, listen};

/// Connections that may wait to be accepted: there is never more than one.
pub(crate) const BACKLOG: u32 = 16;

const NETSTAT: &str = "/proc/net/netstat";

/// The kernel's counters of backlogs while connections are made.
#[derive(Debug)]
pub(crate) struct Backlog {
    before: Result<Counters, Unsupported>,
    after: Result<Counters, Unsupported>,
}

impl Backlog {
    /// Reads the counters before the first connection.
    pub(crate) fn watch() -> Self {
        Self {
            before: Counters::read(),
            after: Err(Unsupported::new("it was not read at the end")),
        }
    }

    /// Reads the counters after the last connection.
    pub(crate) fn end(&mut self) {
        self.after = Counters::read();
    }

    /// Claims that the far end accepted as many connections as were made, and that no backlog
    /// overflowed.
    pub(crate) fn claim(&self, b: &mut Bencher, connected: u64, account: &Account) {
        let what = "connections accepted, of those that were made";
        b.claim_equal(
            what,
            connected as f64,
            account.connections as f64,
            "both ends",
        );
        let what = "wrong connections at the far end";
        b.claim_equal(what, 0.0, account.wrong as f64, "far end");
        let has_all = account.connections >= connected;
        for name in ["TcpExt.ListenOverflows", "TcpExt.ListenDrops"] {
            claim_none(b, name, self.risen(name), has_all, NETSTAT);
        }
        if let Some(risen) = account.listen_overflows {
            claim_none(
                b,
                "backlog overflows at the far end",
                Ok(risen),
                has_all,
                "far end",
            );
        }
    }

    /// Claims that a counter of the kernel has increased by at least this much.
    pub(crate) fn claim_counted(&self, b: &mut Bencher, name: &str, least: u64) {
        let bound = Bound::AtLeast(least as f64);
        match self.risen(name) {
            Ok(risen) => b.claim_within(name, bound, risen as f64, "/proc/net/snmp"),
            Err(reason) => {
                b.claim_unverified(name, bound.fact(), "unknown", "/proc/net/snmp", &reason);
            }
        }
    }

    /// By how much a counter has increased.
    fn risen(&self, name: &str) -> Result<u64, String> {
        let before = self.before.as_ref().map_err(Unsupported::to_string)?;
        let after = self.after.as_ref().map_err(Unsupported::to_string)?;
        after
            .risen_since(before, name)
            .ok_or_else(|| "this kernel does not count them".to_owned())
    }
}

/// How many connections a partner must accept in total, which is known only at the end. A partner
/// that stopped immediately on request might do so before it has accepted the connection that wakes it.
#[derive(Debug, Clone)]
pub(crate) struct Last(Shared<AtomicU64>);

impl Last {
    /// A number that is not known yet.
    pub(crate) fn unknown() -> Result<Self, Failure> {
        Ok(Self(Shared::new(AtomicU64::new(u64::MAX))?))
    }

    /// Announces this number, including connections that are yet to be made.
    pub(crate) fn announce(&self, connections: u64) {
        self.0.store(connections, Ordering::Release);
    }

    /// Whether a partner with this account has accepted the last one.
    pub(crate) fn is_served(&self, account: &Account) -> bool {
        account.connections >= self.0.load(Ordering::Acquire)
    }
}

/// A far end that accepts connections, its address, and how a partner learns of its last
/// connection.
pub(crate) type Accepting = (FarEnd, SocketAddr, Option<Last>);

/// A far end that accepts: a partner that does so by `serve`, or a server that offers this `service`.
pub(crate) fn accepting(
    path: &Route,
    cpus: &[u32],
    options: &Tcp,
    serve: impl FnOnce(&TcpListener, IsOver<'_>) -> Result<Account, ServiceError> + Send + 'static,
    service: &Service,
) -> Result<Accepting, Failure> {
    match path {
        Route::Loopback(..) => {
            let (listener, address) = listen(path.address(), BACKLOG, options)?;
            let last = Last::unknown()?;
            let theirs = last.clone();
            let serve = move |listener: &mut TcpListener, _: &Stop| {
                Ok(serve(listener, &mut |account| theirs.is_served(account))?)
            };
            // The kernel refuses connections once the listener is gone.
            let far = FarEnd::partner(cpus, listener, serve, |_| {})?;
            Ok((far, address, Some(last)))
        }
        Route::Remote(given) => {
            let (far, opened) = FarEnd::peer(given, service)?;
            Ok((far, opened.address(), None))
        }
    }
}

/// Claims that a counter has not increased. It counts for the whole machine: where the far end has
/// accepted all connections, other programs raised it.
fn claim_none(
    b: &mut Bencher,
    what: &str,
    risen: Result<u64, String>,
    has_all: bool,
    source: &str,
) {
    match risen {
        Ok(risen) if risen > 0 && has_all => {
            let reason = "every connection was accepted; a listener of another program overflowed";
            b.claim_unverified(what, 0.0, risen as f64, source, reason);
        }
        Ok(risen) => b.claim_equal(what, 0.0, risen as f64, source),
        Err(reason) => b.claim_unverified(what, 0.0, "unknown", source, &reason),
    }
}
