//! A TCP connection is opened and closed, or is refused.
//!
//! ## Measures
//! `step=connect`: the whole life of a connection: a socket is created and connected, the far end
//! accepts the connection and closes it (FIN), and this end, which waits for that, closes it too.
//! `step=first_byte`: the far end accepts and sends one byte; this end waits for it and closes by
//! RST (SO_LINGER of 0), which the far end waits for before it accepts the next connection.
//! `step=reset`: as `connect`, but the far end closes by RST. `step=refused`: a connection to a
//! port without a listener is refused (ECONNREFUSED). With `path=loopback` the far end is a
//! process on the same CPU, with `path=remote` the `syscost serve` that `--peer` names.
//! ## Does not measure
//! Exchanging messages (`net.tcp.round_trip`, `net.http`). Name lookup. Concurrent connections.
//! ## Interpretation
//! On loopback every step contains two context switches except `refused`, which the kernel answers
//! immediately; what `connect` takes more than `ipc.unix_connect` is TCP's handshake and close. Over a
//! path with delay, `connect` and `first_byte` take two round trips, `refused` one. The next
//! connection is made when the last one has been accepted, so the backlog never overflows. Since
//! the far end closes first, or a reset ends the connection, TIME_WAIT stays at the far end's port,
//! or nowhere, and holds none of the ephemeral ports: what earlier runs left there takes nothing
//! from later ones. A process makes no more connections than half of the ports that were free when
//! it began (`connections_budget_count`, of `ports_free_count`).
//! ## Source
//! lmbench `lat_connect`; netperf `TCP_CC`.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SocketFlags, SocketType, bind, connect, getsockname, recv,
    socket_with, sockopt,
};
use syscost_harness::prelude::*;
use syscost_net::service::IsOver;
use syscost_net::service::connections::{self, Accept};
use syscost_net::socket::Tcp;
use syscost_net::wire::Close;
use syscost_net::{Account, Service};

use super::ports::Budget;
use crate::ipc::setting::sleeps;
use crate::net::backlog::{self, Accepting, BACKLOG, Backlog, Last};
use crate::net::far_end::{self, Family, FarEnd, Path, Route, remote_family};
use crate::net::setting;
use crate::syscall::{Bad, must};

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    id: "net.tcp.connect",
    title: "TCP connection setup and teardown",
    tags: &[
        "connection establishment",
        "handshake",
        "three-way handshake",
        "accept",
        "time_wait",
        "connection rate",
        "lat_connect",
        "netperf TCP_CC",
    ],
    cases: Cases::Here(cases),
    quick: |case| setting::is_usual_path(case) && case.get(Step::KEY) == Step::Connect.name(),
    full: |case| !setting::is_usual_path(case),
    support: far_end::support,
    revision: 2,
    run,
    source: include_str!("connect.rs"),
    ..Benchmark::DEFAULT
};

fn cases(here: &Here) -> Vec<Case> {
    let near = Family::ALL.map(|family| (Path::LOOPBACK, family));
    let far = remote_family(here).map(|family| (Path::REMOTE, family));
    let paths = near.into_iter().chain(far);
    let cases = paths.flat_map(|(path, family)| {
        Step::ALL.map(|step| {
            let further = [(Step::KEY, step.name().to_owned())];
            setting::case(path, family, None, further)
        })
    });
    cases.collect()
}

/// How far a connection gets, and how it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Connect,
    FirstByte,
    Reset,
    Refused,
}

impl Step {
    const ALL: [Step; 4] = [Step::Connect, Step::FirstByte, Step::Reset, Step::Refused];

    const KEY: &str = "step";

    const fn name(self) -> &'static str {
        match self {
            Step::Connect => "connect",
            Step::FirstByte => "first_byte",
            Step::Reset => "reset",
            Step::Refused => "refused",
        }
    }

    fn of(case: &Case) -> Result<Self, Failure> {
        let name = case.get(Self::KEY);
        let found = Self::ALL.into_iter().find(|step| step.name() == name);
        found.ok_or_else(|| case.unknown(Self::KEY))
    }

    /// What the far end does with each connection; a refused one has no far end.
    fn rule(self) -> Accept {
        let (close, first_byte) = match self {
            Step::Connect | Step::Refused => (Close::Fin, false),
            Step::FirstByte => (Close::AfterPeer, true),
            Step::Reset => (Close::Rst, false),
        };
        Accept {
            close,
            first_byte,
            only_from: None,
        }
    }

    /// Expects the calls and switches of those ends that are tasks of this machine.
    fn expect(self, b: &mut Bencher, path: &Route) {
        // What a far end on this machine adds.
        let there = match self {
            Step::Refused => 0.0,
            Step::Connect | Step::FirstByte | Step::Reset => path.own_ends() - 1.0,
        };
        let is_first_byte = f64::from(u8::from(self == Step::FirstByte));
        let is_reset = f64::from(u8::from(self == Step::Reset));
        for (call, count) in [
            (Sysno::SOCKET, 1.0),
            (Sysno::CONNECT, 1.0),
            // SO_LINGER of the end that resets, and how long the far end waits for that.
            (
                Sysno::SETSOCKOPT,
                is_first_byte + there * (is_first_byte + is_reset),
            ),
            (Sysno::SENDTO, there * is_first_byte),
            (Sysno::ACCEPT4, there),
            (Sysno::CLOSE, 1.0 + there),
        ] {
            b.expect(together(call, count));
        }
        b.expect(match self {
            Step::Connect => together(Sysno::RECVFROM, 1.0),
            Step::FirstByte => together(Sysno::RECVFROM, 1.0 + there),
            // The reset may have come before the call that connects returns.
            Step::Reset => at_most(Counter::Syscall(Sysno::RECVFROM), 1.05),
            Step::Refused => together(Sysno::RECVFROM, 0.0),
        });
        // A debug build checks that a descriptor is open before it closes it.
        b.expect(at_most(
            Counter::Syscall(Sysno::FCNTL),
            1.05 * (1.0 + there),
        ));
        match (self, path.is_loopback()) {
            (Step::Refused, true) => {}
            (_, true) => b.expect(within(Counter::Switches, sleeps(path.placement()), 4.2)),
            // None where the far end is this kernel, or another network namespace of it.
            (Step::Refused, false) => b.expect(at_most(Counter::Switches, 2.3)),
            // One wait for the handshake, one for what follows.
            (_, false) => b.expect(within(Counter::Switches, 0.5, 2.3)),
        }
    }
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (step, path) = (Step::of(b.case())?, Route::of(b.case(), b.targets())?);
    path.announce(b, 0)?;
    step.expect(b, &path);
    let (connector, account) = match step {
        Step::Refused => {
            let make = |_: &[u32]| {
                let closed_port = ClosedPort::at(&path)?;
                let address = closed_port.address;
                let connector = Connector::new(step, address, None)?;
                Ok(Team::new(Vec::new(), connector.beside(closed_port)))
            };
            (b.together(path.placement(), make)?, None)
        }
        Step::Connect | Step::FirstByte | Step::Reset => {
            let (connector, account) = b.together(path.placement(), |cpus| {
                let (far, address, last) = accepting(step.rule(), &path, cpus)?;
                Ok(far.led_by(Connector::new(step, address, last)?))
            })?;
            (connector, Some(account))
        }
    };
    connector.claim(b, account.as_ref());
    Ok(())
}

/// A far end that accepts connections and ends them by this rule.
pub(super) fn accepting(rule: Accept, path: &Route, cpus: &[u32]) -> Result<Accepting, Failure> {
    let serve = move |listener: &TcpListener, is_over: IsOver<'_>| {
        connections::accept(listener, &rule, is_over)
    };
    let service = Service::Accept {
        close: rule.close,
        first_byte: rule.first_byte,
        backlog: BACKLOG,
    };
    backlog::accepting(path, cpus, &Tcp::default(), serve, &service)
}

/// A port without a listener.
struct ClosedPort {
    address: SocketAddr,
    /// Keeps other programs from listening on the port.
    _taken: Option<OwnedFd>,
}

impl ClosedPort {
    fn at(path: &Route) -> Result<Self, Failure> {
        match path {
            Route::Loopback(..) => {
                let failed =
                    |errno: Errno| Failure::of("take a port that nobody listens on", errno);
                let any = SocketAddr::new(path.address(), 0);
                let taken = new_socket(any).map_err(failed)?;
                bind(&taken, &any).map_err(failed)?;
                let address = getsockname(&taken).and_then(SocketAddr::try_from);
                Ok(Self {
                    address: address.map_err(failed)?,
                    _taken: Some(taken),
                })
            }
            // A port of the far end that has just been closed.
            Route::Remote(given) => {
                let service = Service::Accept {
                    close: Close::Fin,
                    first_byte: false,
                    backlog: 1,
                };
                let (far, opened) = FarEnd::peer(given, &service)?;
                far.led_by(|_| Ok(())).perform([]).map(drop)?;
                Ok(Self {
                    address: opened.address(),
                    _taken: None,
                })
            }
        }
    }
}

/// The measuring side.
struct Connector {
    step: Step,
    address: SocketAddr,
    /// Set where the far end is a partner, which ends with its last connection.
    last: Option<Last>,
    budget: Budget,
    backlog: Backlog,
    _closed_port: Option<ClosedPort>,
}

impl Connector {
    fn new(step: Step, address: SocketAddr, last: Option<Last>) -> Result<Self, Failure> {
        Ok(Self {
            step,
            address,
            last,
            budget: Budget::read()?,
            backlog: Backlog::watch(),
            _closed_port: None,
        })
    }

    fn beside(self, closed_port: ClosedPort) -> Self {
        Self {
            _closed_port: Some(closed_port),
            ..self
        }
    }

    #[inline(always)]
    fn turn(&mut self) -> Result<(), Failure> {
        self.budget.spend()?;
        once(self.step, &self.address).map_err(|bad| self.failed(bad))
    }

    #[cold]
    fn failed(&self, bad: Bad) -> Failure {
        let number = self.budget.made();
        Failure::of(&format!("connection {number} to {}", self.address), bad)
    }

    fn claim(&self, b: &mut Bencher, account: Option<&Account>) {
        let made = self.budget.made();
        let claimed = b.case().get(Family::KEY).to_owned();
        let is = Family::of_address(self.address.ip()).name();
        b.claim_equal("family of its addresses", claimed, is.to_owned(), "address");
        match account {
            Some(account) => {
                self.backlog.claim(b, made, account);
                self.backlog.claim_counted(b, "Tcp.ActiveOpens", made);
            }
            None => self.backlog.claim_counted(b, "Tcp.AttemptFails", made),
        }
        self.budget.detail(b);
    }
}

impl Lead for Connector {
    fn turns(&mut self, turns: u64) -> Result<(), Failure> {
        (0..turns).try_for_each(|_| self.turn())
    }

    fn end(&mut self) -> Result<(), Failure> {
        if let Some(last) = &self.last {
            last.announce(self.budget.made() + 1);
            self.turn()?;
        }
        self.backlog.end();
        Ok(())
    }
}

/// One connection, from creating the socket to closing it.
#[inline(always)]
fn once(step: Step, address: &SocketAddr) -> Result<(), Bad> {
    let socket = new_socket(*address)?;
    match step {
        Step::Connect => {
            connect(&socket, address)?;
            must(next_byte(&socket)? == 0)
        }
        Step::FirstByte => {
            sockopt::set_socket_linger(&socket, Some(Duration::ZERO))?;
            connect(&socket, address)?;
            must(next_byte(&socket)? == 1)
        }
        Step::Reset => {
            let outcome = connect(&socket, address).and_then(|()| next_byte(&socket));
            must(outcome == Err(Errno::CONNRESET))
        }
        Step::Refused => must(connect(&socket, address) == Err(Errno::CONNREFUSED)),
    }
}

/// Waits for a byte: returns 1 if one arrived, 0 if the far end has closed.
pub(super) fn next_byte(socket: &OwnedFd) -> Result<usize, Errno> {
    let mut byte = [0_u8];
    let came = retry_on_intr(|| recv(socket, &mut byte, RecvFlags::empty()));
    came.map(|(_, bytes)| bytes)
}

/// A socket that can be connected to this address.
pub(crate) fn new_socket(address: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

#[cfg(test)]
mod tests;
