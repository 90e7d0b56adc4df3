//! Shared: connections that are made to a far end, and whether it accepted every one.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};

use syscost_harness::prelude::*;
use syscost_net::service::IsOver;
use syscost_net::socket::Tcp;
use syscost_net::{Account, Service, ServiceError};

use super::counters::Watch;
use super::far_end::{FarEnd, Route, listen};
use super::tcp::ports::Budget;
use crate::syscall::Bad;

/// Connections that may wait to be accepted: there is never more than one.
pub(crate) const BACKLOG: u32 = 16;

const NETSTAT: &str = "/proc/net/netstat";

/// Claims that the far end accepted as many connections as were made, and that no backlog overflowed, by
/// the kernel's counters.
pub(crate) fn claim_accepted(b: &mut Bencher, counters: &Watch, made: u64, account: &Account) {
    let (accepted, wrong) = (account.connections, account.wrong as f64);
    let what = "connections accepted, of those that were made";
    b.claim_equal(what, made as f64, accepted as f64, "both ends");
    b.claim_equal("wrong connections at the far end", 0.0, wrong, "far end");
    let has_all = accepted >= made;
    for name in ["TcpExt.ListenOverflows", "TcpExt.ListenDrops"] {
        claim_none(b, name, counters.risen(name), has_all, NETSTAT);
    }
    if let Some(risen) = account.listen_overflows {
        let what = "backlog overflows at the far end";
        claim_none(b, what, Ok(risen), has_all, "far end");
    }
}

/// The connections that this end makes to one address.
pub(crate) struct Connections {
    pub(crate) address: SocketAddr,
    /// How many a partner must accept in total, which is known only at the end. One that stopped
    /// immediately on request might do so before it has accepted the connection that wakes it.
    last: Option<Shared<AtomicU64>>,
    pub(crate) budget: Budget,
    pub(crate) counters: Watch,
}

impl Connections {
    /// To an address where nobody accepts them.
    pub(crate) fn refused(address: SocketAddr) -> Result<Self, Failure> {
        Self::to(address, None)
    }

    fn to(address: SocketAddr, last: Option<Shared<AtomicU64>>) -> Result<Self, Failure> {
        Ok(Self {
            address,
            last,
            budget: Budget::read()?,
            counters: Watch::begin(),
        })
    }

    /// A far end that accepts them: a partner that does so by `serve`, or a server that offers this
    /// `service`.
    pub(crate) fn accepted_by(
        route: &Route,
        cpus: &[u32],
        options: &Tcp,
        serve: impl FnOnce(&TcpListener, IsOver<'_>) -> Result<Account, ServiceError> + Send + 'static,
        service: &Service,
    ) -> Result<(FarEnd, Self), Failure> {
        match route {
            Route::Loopback(..) => {
                let (listener, address) = listen(route.address(), BACKLOG, options)?;
                let last = Shared::new(AtomicU64::new(u64::MAX))?;
                let theirs = last.clone();
                let serve = move |listener: &mut TcpListener, _: &Stop| {
                    let mut is_over =
                        |account: &Account| account.connections >= theirs.load(Ordering::Acquire);
                    Ok(serve(listener, &mut is_over)?)
                };
                // The kernel refuses connections once the listener is gone.
                let far = FarEnd::partner(cpus, listener, serve, |_| {})?;
                Ok((far, Self::to(address, Some(last))?))
            }
            Route::Remote(given) => {
                let (far, opened) = FarEnd::peer(given, service)?;
                Ok((far, Self::to(opened.address(), None)?))
            }
        }
    }

    /// Announces that only this many more are made; returns whether a partner waits for them.
    pub(crate) fn are_over_after(&self, more: u64) -> bool {
        let total = self.budget.made() + more;
        let announce = |last: &Shared<AtomicU64>| last.store(total, Ordering::Release);
        self.last.as_ref().map(announce).is_some()
    }

    /// Claims that the far end accepted them, or refused them if it gives no account.
    pub(crate) fn claim(&self, b: &mut Bencher, account: Option<&Account>) {
        let made = self.budget.made();
        match account {
            Some(account) => {
                claim_accepted(b, &self.counters, made, account);
                self.counters.claim_risen(b, "Tcp.ActiveOpens", made);
            }
            None => self.counters.claim_risen(b, "Tcp.AttemptFails", made),
        }
        self.budget.detail(b);
    }

    #[cold]
    pub(crate) fn failed(&self, bad: Bad) -> Failure {
        let (number, address) = (self.budget.made(), self.address);
        Failure::of(&format!("connection {number} to {address}"), bad)
    }
}

/// Claims that a counter has not increased. It counts for the whole machine: where the far end has
/// accepted all connections, other programs raised it.
fn claim_none(
    b: &mut Bencher,
    what: &str,
    risen: Result<u64, Unsupported>,
    has_all: bool,
    source: &str,
) {
    match risen {
        Ok(risen) if risen > 0 && has_all => {
            let reason = "every connection was accepted; a listener of another program overflowed";
            b.claim_unverified(what, 0.0, risen as f64, source, reason);
        }
        Ok(risen) => b.claim_equal(what, 0.0, risen as f64, source),
        Err(reason) => b.claim_unobserved(what, 0.0, source, reason),
    }
}
