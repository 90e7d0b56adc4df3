//! An open TCP connection is closed in order, by FIN and acknowledgment both ways.
//!
//! ## Measures
//! From the call that sends this end's FIN (shutdown) to the far end's FIN, which this end waits
//! for, and the close of the descriptor. The far end, which waits to receive, wakes, finds the
//! connection's end and closes. With `path=loopback` the far end is a process on the same CPU,
//! with `path=remote` the `syscost serve` that `--peer` names.
//! ## Does not measure
//! Opening the connection, which is done before (`net.tcp.connect`, whose `step=connect` has both).
//! TIME_WAIT, in which the kernel keeps what is left of the connection for a minute. Data that is
//! still to be sent or read: there is none.
//! ## Interpretation
//! On loopback it contains two context switches; over a path with delay it takes one round trip. A
//! program that closes without waiting for the far end pays for a shutdown alone, and one that
//! resets (`net.tcp.connect`, `step=reset`) for no answer. TIME_WAIT stays at this end, which
//! closes first: the port can serve connections to any other far end, and each process has its
//! own.
//! ## Source
//! RFC 9293, 3.6; the teardown that courses on operating systems have their students measure.

use std::os::fd::OwnedFd;

use rustix::net::{Shutdown, connect, shutdown};
use syscost_harness::prelude::*;
use syscost_net::service::connections::Accept;
use syscost_net::service::release;
use syscost_net::wire::Close;
use syscost_sys::process::Batch;

use super::connect::{accepting, new_socket, next_byte};
use crate::net::connections::Connections;
use crate::net::far_end::{Destination, Family, Networked, OverNetwork, Path, Route};
use crate::syscall::{Bad, must};
use crate::witness::sockets;

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    title: "TCP connection teardown",
    tags: "connection close, orderly close, orderly release, shutdown, fin, time_wait",
    // What both ends do without closing is subtracted.
    expect: &[
        together(Sysno::SHUTDOWN, 1.0),
        together(Sysno::RECVFROM, 1.0),
        at_most(Counter::Syscall(Sysno::CONNECT), 0.05),
        costs(Counter::TimedCalls, 3.0),
    ],
    ..Benchmark::of::<OverNetwork<TcpClose>>()
};

/// The far end sends a byte, by which this end knows that it has the connection, and waits for its
/// end.
const RULE: Accept = Accept {
    close: Close::AfterPeer,
    first_byte: true,
    only_from: None,
};

#[derive(Params, Clone)]
struct TcpClose {
    path: Path,
    family: Family,
}

impl Networked for TcpClose {
    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(TcpClose {
            path: Path::each(here),
            family: path.families(here)
        })
    }

    fn destination(&self) -> Destination {
        Destination::new(self.path, self.family, None)
    }

    fn profile(&self) -> Profile {
        match self.destination().is_usual() {
            true => Profile::Standard,
            false => Profile::Full,
        }
    }

    fn proofs(&self) -> TcpCloseProofs<Proof> {
        // On one CPU this end waits for the far end's FIN, and the far end for this one's.
        let switches = match self.path {
            Path::Loopback => within(Counter::Switches, 1.9, 4.2),
            Path::Remote => within(Counter::Switches, 0.5, 2.3),
        };
        TcpCloseProofs {
            path: sockets::path(self.path).and(Proof::counted([switches])),
            family: sockets::family(self.family),
        }
    }

    fn measure(self, route: Route, mut plan: Plan) -> Result<Outcome, Failure> {
        route.announce(&mut plan, 0)?;
        // Else the byte that the far end sends preempts it, and it waits for the end later.
        let _no_preemption = Batch::enter().map_err(Unsupported::from)?;
        let shape = Together::of(route.placement(), |cpus| {
            let (far, to) = accepting(RULE, &route, cpus)?;
            Ok(far.driven_by(Closer::new(to)))
        });
        let (mut outcome, (closer, account)) = plan.measure(shape.own_share())?.split();
        sockets::see_family(&mut outcome, &closer.last);
        sockets::see_far_end(&mut outcome, account.is_partner);
        closer.to.claim(&mut outcome, Some(&account));
        Ok(outcome)
    }
}

/// The measuring side.
struct Closer {
    to: Connections,
    /// The connection to be closed next.
    open: Option<OwnedFd>,
    /// Another one, to look at.
    last: Option<OwnedFd>,
}

impl Closer {
    fn new(to: Connections) -> Self {
        Self {
            to,
            open: None,
            last: None,
        }
    }

    fn opened(&self) -> Result<OwnedFd, Bad> {
        let socket = new_socket(self.to.address)?;
        connect(&socket, &self.to.address)?;
        must(next_byte(&socket)? == 1)?;
        Ok(socket)
    }
}

impl Driver for Closer {
    const IS_PREPARED: bool = true;

    fn prepare(&mut self) -> Result<(), Failure> {
        // The far end attends to one connection at a time.
        self.open = None;
        self.to.budget.spend()?;
        let opened = self.opened().map_err(|bad| self.to.failed(bad))?;
        self.open = Some(opened);
        Ok(())
    }

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            let missing = || Failure::Broken("closes a connection before it is open".into());
            let socket = self.open.take().ok_or_else(missing)?;
            close(socket).map_err(|bad| self.to.failed(bad))?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.to.are_over_after(1);
        self.prepare()?;
        self.last = self.open.take();
        // A partner has inherited a copy of the descriptor.
        self.last.iter().for_each(release);
        self.to.counters.end();
        Ok(())
    }
}

/// Sends a FIN, and waits for the far end's.
#[inline(always)]
fn close(socket: OwnedFd) -> Result<(), Bad> {
    shutdown(&socket, Shutdown::Write)?;
    must(next_byte(&socket)? == 0)?;
    drop(socket);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What closing twenty connections leads to, with a far end that follows this rule.
    fn closed(rule: Accept) -> Result<(u64, u64), Failure> {
        let cpus = syscost_sys::cpu::allowed().unwrap();
        let route = Route::Loopback(Placement::SAME, Family::Ipv4);
        let (far, to) = accepting(rule, &route, &cpus).unwrap();
        let done = far.driven_by(Closer::new(to)).perform([1; 20]);
        done.map(|(closer, account)| (closer.to.budget.made(), account.connections))
    }

    #[test]
    fn each_connection_is_closed_by_both_ends() {
        // And the last one.
        assert_eq!(closed(RULE), Ok((21, 21)));
    }

    #[test]
    fn a_reset_is_no_orderly_close() {
        let rule = Accept {
            close: Close::Rst,
            ..RULE
        };
        let done = closed(rule);
        assert!(matches!(done, Err(Failure::Failed(_))), "{done:?}");
    }
}
