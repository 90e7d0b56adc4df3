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
use syscost_net::Service;
use syscost_net::service::connections::{self, Accept};
use syscost_net::service::{IsOver, release};
use syscost_net::socket::Tcp;
use syscost_net::wire::Close;

use crate::ipc::traffic::sleeps;
use crate::net::connections::{BACKLOG, Connections};
use crate::net::far_end::{Destination, Family, FarEnd, Networked, OverNetwork, Path, Route};
use crate::syscall::{Bad, must};
use crate::witness::sockets;

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    title: "TCP connection setup and teardown",
    tags: "connection establishment, handshake, three-way handshake, accept, time_wait, \
        connection rate, lat_connect, netperf TCP_CC",
    revision: 2,
    ..Benchmark::of::<OverNetwork<TcpConnect>>()
};

/// How far a connection gets, and how it ends.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Connect,
    FirstByte,
    Reset,
    Refused,
}

static BRINGS: Witness = Witness::of("what a connection brings", "connect and recvfrom");

#[derive(Params, Clone)]
struct TcpConnect {
    path: Path,
    family: Family,
    step: Step,
}

impl Networked for TcpConnect {
    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(TcpConnect {
            path: Path::each(here),
            family: path.families(here),
            step: Step::ALL
        })
    }

    fn destination(&self) -> Destination {
        Destination::new(self.path, self.family, None)
    }

    fn profile(&self) -> Profile {
        match self.step {
            _ if !self.destination().is_usual() => Profile::Full,
            Step::Connect => Profile::Quick,
            Step::FirstByte | Step::Reset | Step::Refused => Profile::Standard,
        }
    }

    fn proofs(&self) -> TcpConnectProofs<Proof> {
        TcpConnectProofs {
            path: sockets::path(self.path),
            family: sockets::family(self.family),
            step: BRINGS
                .expects(self.step.name())
                .and(Proof::counted(self.step.counts(self.path))),
        }
    }

    fn measure(self, route: Route, mut plan: Plan) -> Result<Outcome, Failure> {
        let step = self.step;
        route.announce(&mut plan, 0)?;
        let shape = Together::of(route.placement(), |cpus| {
            if step == Step::Refused {
                let (address, closed_port) = closed_port(&route)?;
                let connector = Connector::new(step, Connections::refused(address)?, closed_port);
                return Ok(Team::new(Vec::new(), connector).map(|connector| (connector, None)));
            }
            let (far, to) = accepting(step.rule(), &route, cpus)?;
            let team = far.driven_by(Connector::new(step, to, None));
            Ok(team.map(|(connector, account)| (connector, Some(account))))
        });
        let (mut outcome, (connector, account)) = plan.measure(shape)?.split();
        if let Some((brings, socket)) = &connector.last {
            outcome.observe(&BRINGS, brings.name());
            sockets::see_family(&mut outcome, [socket]);
        }
        // Nobody accounts for a refusal but the kernel that refuses.
        match &account {
            Some(account) => sockets::see_far_end(&mut outcome, account.is_partner),
            None => sockets::see_far_kernel(&mut outcome, Some(connector.to.address.ip())),
        }
        connector.to.claim(&mut outcome, account.as_deref());
        Ok(outcome)
    }
}

impl Step {
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

    /// The calls and switches of those ends that are tasks of this machine.
    fn counts(self, path: Path) -> Vec<Expect> {
        let is = |step: Step| f64::from(u8::from(self == step));
        // What a far end on this machine adds.
        let there = (1.0 - is(Step::Refused)) * (path.own_ends() - 1.0);
        let (first_byte, reset) = (is(Step::FirstByte), is(Step::Reset));
        let receives = match self {
            Step::Connect => together(Sysno::RECVFROM, 1.0),
            Step::FirstByte => together(Sysno::RECVFROM, 1.0 + there),
            // The reset may have come before the call that connects returns.
            Step::Reset => at_most(Counter::Syscall(Sysno::RECVFROM), 1.05),
            Step::Refused => together(Sysno::RECVFROM, 0.0),
        };
        let mut all = vec![
            together(Sysno::SOCKET, 1.0),
            together(Sysno::CONNECT, 1.0),
            // SO_LINGER of the end that resets, and how long the far end waits for that.
            together(Sysno::SETSOCKOPT, first_byte + there * (first_byte + reset)),
            together(Sysno::SENDTO, there * first_byte),
            together(Sysno::ACCEPT4, there),
            together(Sysno::CLOSE, 1.0 + there),
            receives,
            // A debug build checks that a descriptor is open before it closes it.
            at_most(Counter::Syscall(Sysno::FCNTL), 1.05 * (1.0 + there)),
        ];
        all.extend(
            match (self, path) {
                (Step::Refused, Path::Loopback) => None,
                (_, Path::Loopback) => Some((sleeps(Placement::SAME), 4.2)),
                // None where the far end is this kernel, or another network namespace of it.
                (Step::Refused, Path::Remote) => Some((0.0, 2.3)),
                // One wait for the handshake, one for what follows.
                (_, Path::Remote) => Some((0.5, 2.3)),
            }
            .map(|(min, max)| within(Counter::Switches, min, max)),
        );
        all
    }
}

/// What a connection to this address brings, and its socket.
fn look(address: &SocketAddr) -> Result<(Step, OwnedFd), Bad> {
    let socket = new_socket(*address)?;
    let brings = connect(&socket, address).and_then(|()| next_byte(&socket));
    let step = match brings {
        Ok(0) => Step::Connect,
        Ok(_) => Step::FirstByte,
        Err(Errno::CONNRESET) => Step::Reset,
        Err(Errno::CONNREFUSED) => Step::Refused,
        Err(errno) => return Err(errno.into()),
    };
    Ok((step, socket))
}

/// A far end that accepts connections and ends them by this rule.
pub(super) fn accepting(
    rule: Accept,
    route: &Route,
    cpus: &[u32],
) -> Result<(FarEnd, Connections), Failure> {
    let serve = move |listener: &TcpListener, is_over: IsOver<'_>| {
        connections::accept(listener, &rule, is_over)
    };
    let service = Service::Accept {
        close: rule.close,
        first_byte: rule.first_byte,
        backlog: BACKLOG,
    };
    Connections::accepted_by(route, cpus, &Tcp::default(), serve, &service)
}

/// A port without a listener, and what keeps other programs of this machine from listening on it.
fn closed_port(route: &Route) -> Result<(SocketAddr, Option<OwnedFd>), Failure> {
    match route {
        Route::Loopback(..) => {
            let take = || {
                let any = SocketAddr::new(route.address(), 0);
                let taken = new_socket(any)?;
                bind(&taken, &any)?;
                Ok((SocketAddr::try_from(getsockname(&taken)?)?, Some(taken)))
            };
            take().map_err(|errno: Errno| Failure::of("take a port that nobody listens on", errno))
        }
        // A port of the far end that has just been closed.
        Route::Remote(given) => {
            let service = Service::Accept {
                close: Close::Fin,
                first_byte: false,
                backlog: 1,
            };
            let (far, opened) = FarEnd::peer(given, &service)?;
            far.account()?;
            Ok((opened.address(), None))
        }
    }
}

/// The measuring side.
struct Connector {
    step: Step,
    to: Connections,
    /// Keeps the port that it is refused at from being taken.
    _closed_port: Option<OwnedFd>,
    /// What the last one brought, and its socket.
    last: Option<(Step, OwnedFd)>,
}

impl Connector {
    fn new(step: Step, to: Connections, closed_port: Option<OwnedFd>) -> Self {
        Self {
            step,
            to,
            _closed_port: closed_port,
            last: None,
        }
    }

    #[inline(always)]
    fn iterate(&mut self) -> Result<(), Failure> {
        self.to.budget.spend()?;
        once(self.step, &self.to.address).map_err(|bad| self.to.failed(bad))
    }
}

impl Driver for Connector {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        (0..iterations).try_for_each(|_| self.iterate())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.to.are_over_after(1);
        self.to.budget.spend()?;
        let last = look(&self.to.address).map_err(|bad| self.to.failed(bad))?;
        // A partner has inherited a copy of the descriptor.
        release(&last.1);
        self.last = Some(last);
        self.to.counters.end();
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
pub(in crate::net) fn next_byte(socket: &OwnedFd) -> Result<usize, Errno> {
    let mut byte = [0_u8];
    let came = retry_on_intr(|| recv(socket, &mut byte, RecvFlags::empty()));
    came.map(|(_, bytes)| bytes)
}

pub(crate) fn new_socket(address: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(family: Family) -> Route {
        Route::Loopback(Placement::SAME, family)
    }

    #[test]
    fn each_step_ends_as_it_should_and_none_is_missed() {
        let cpus = syscost_sys::cpu::allowed().unwrap();
        for step in [Step::Connect, Step::FirstByte, Step::Reset] {
            let (far, to) = accepting(step.rule(), &route(Family::Ipv4), &cpus).unwrap();
            let connector = Connector::new(step, to, None);
            let (connector, account) = far.driven_by(connector).perform([50]).unwrap();
            // And the last one.
            assert_eq!(connector.to.budget.made(), 51, "{step:?}");
            assert_eq!(account.connections, 51, "{step:?}");
        }
    }

    #[test]
    fn a_port_without_a_listener_refuses() {
        for family in Family::ALL {
            let Ok((address, _taken)) = closed_port(&route(family)) else {
                println!("skipped: no {} here", family.name());
                continue;
            };
            assert!(once(Step::Refused, &address).is_ok());
            assert!(once(Step::Connect, &address).is_err());
        }
    }

    #[test]
    fn an_end_of_another_kind_is_none_of_the_step() {
        let cpus = syscost_sys::cpu::allowed().unwrap();
        // The far end closes by FIN where the step waits for a reset, or a byte.
        for step in [Step::Reset, Step::FirstByte, Step::Refused] {
            let (far, to) = accepting(Step::Connect.rule(), &route(Family::Ipv4), &cpus).unwrap();
            let connector = Connector::new(step, to, None);
            let failure = far.driven_by(connector).perform([1]).map(drop);
            assert!(
                matches!(failure, Err(Failure::Failed(_))),
                "{step:?}: {failure:?}"
            );
        }
    }
}
