//! Connecting to a partner that waits for connections.
//!
//! ## Measures
//! One connection of a unix stream socket: a socket is created and connected to the partner's, the
//! partner, asleep until then, accepts and closes immediately, and the measuring task, which waits
//! for that in a read, closes too. The partner's socket has a `path`, or an `abstract` name, which
//! is in no file system.
//! ## Does not measure
//! Communication (`ipc.round_trip`). Creating the listening socket.
//! ## Interpretation
//! It contains two switches on the `same` CPU, and two wake-ups of the other CPU where there are
//! two. The extra cost of a path over an abstract name is the path lookup. The listener's queue
//! never overflows: the next connection is made when the last one is closed.
//! ## Source
//! lmbench `lat_unix_connect`.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::SystemTime;

use rustix::io::{Errno, read, retry_on_intr};
use rustix::net::{
    SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, getsockname, listen,
};
use syscost_harness::prelude::*;
use syscost_sys::scratch;

use super::channel::streams::{bound, unix_socket};
use super::traffic::{is_plain, sleeps};
use crate::syscall::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Unix socket connection setup",
    tags: "unix domain socket, accept, lat_unix_connect",
    revision: 3,
    expect: &[
        together(Sysno::SOCKET, 1.0),
        together(Sysno::CONNECT, 1.0),
        together(Sysno::ACCEPT4, 1.0),
        together(Sysno::READ, 1.0),
        together(Sysno::CLOSE, 2.0),
        // A debug build checks that the descriptor is open before it closes it.
        at_most(Counter::Syscall(Sysno::FCNTL), 2.1),
    ],
    ..Benchmark::of::<UnixConnect>()
};

/// What the partner's socket is bound to.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Path,
    Abstract,
}

static BOUND: Witness = Witness::of("what the partner's socket is bound to", "getsockname");

#[derive(Params, Clone)]
struct UnixConnect {
    name: Name,
    /// What the partners are: only processes, since threads would share the descriptors that are closed.
    between: Between,
    cpus: Placement,
}

impl Measured for UnixConnect {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let placements = Placement::among(&here.allowed);
        let between = [Between::Processes];
        let with_path = rows!(UnixConnect {
            name: [Name::Path],
            between,
            cpus: placements.clone()
        });
        let others = rows!(UnixConnect {
            name: [Name::Abstract],
            between,
            cpus: [placements[0]]
        });
        [with_path, others].concat()
    }

    fn profile(&self, here: &Testbed) -> Profile {
        match self.name {
            Name::Abstract => Profile::Full,
            Name::Path if self.cpus == Placement::Free => Profile::Full,
            Name::Path if is_plain(here, false, self.between, self.cpus) => Profile::Quick,
            Name::Path => Profile::Standard,
        }
    }

    fn proofs(&self) -> UnixConnectProofs<Proof> {
        let switches = within(Counter::Switches, sleeps(self.cpus), 2.1);
        UnixConnectProofs {
            name: BOUND.expects(self.name.name()),
            between: Proof::by_tasks(),
            cpus: Proof::by_tasks().and(Proof::counted([switches])),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let make = |cpus: &[u32]| connections(self.name, self.between, cpus);
        let outcome = plan.measure(Together::of(self.cpus, make))?;
        let (mut outcome, (connector, accepted)) = outcome.split();
        outcome.observe(&BOUND, connector.bound);
        let claim = "connections accepted, of those that were made";
        outcome.claim_equal(claim, connector.connected, accepted, "both sides");
        Ok(outcome)
    }
}

/// A name that no other socket has, not even one in another container with the same network and the
/// same process ids.
fn abstract_name() -> String {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let call = CALLS.fetch_add(1, Relaxed);
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("syscost-{}-{call}-{}", std::process::id(), since.as_nanos())
}

/// What a socket is bound to: a `path`, an `abstract` name, or nothing.
fn name_of(socket: &OwnedFd) -> Result<&'static str, Errno> {
    let address = SocketAddrUnix::try_from(getsockname(socket)?)?;
    let abstract_name = address.abstract_name().unwrap_or_default();
    Ok(match address.path_bytes() {
        Some(_) => "path",
        None if !abstract_name.is_empty() => "abstract",
        None => "nothing",
    })
}

fn connections<'t>(
    name: Name,
    between: Between,
    cpus: &[u32],
) -> Result<Team<'t, (Connector, u64)>, Failure> {
    // An abstract name needs no folder, and disappears with its socket.
    let (listener, file, address) = match name {
        Name::Path => {
            let (listener, file, address) = bound(SocketType::STREAM)?;
            (listener, Some(file), address)
        }
        Name::Abstract => {
            let address = SocketAddrUnix::new_abstract_name(abstract_name().as_bytes());
            let address = address.map_err(failed)?;
            let listener = new_socket().map_err(failed)?;
            bind(&listener, &address).map_err(failed)?;
            (listener, None, address)
        }
    };
    listen(&listener, 1).map_err(failed)?;
    let bound = name_of(&listener).map_err(failed)?;

    let accept = |listener: &mut OwnedFd, stop: &Stop| -> Result<u64, Bad> {
        let mut accepted = 0;
        loop {
            let one = retry_on_intr(|| accept_with(&*listener, SocketFlags::CLOEXEC))?;
            if stop.is_set() {
                return Ok(accepted);
            }
            drop(one);
            accepted += 1;
        }
    };
    // The kernel notifies a connecting task that the listener is gone.
    let prepare = move || Ok(listener);
    let responder = Responder::start(between, cpus, prepare, accept, |_| {})?;
    Ok(responder.driven_by(Connector {
        address,
        bound,
        _named: file,
        connected: 0,
    }))
}

/// The measuring side.
struct Connector {
    address: SocketAddrUnix,
    /// What the partner's socket is bound to, in the words of the row's name.
    bound: &'static str,
    _named: Option<scratch::File>,
    connected: u64,
}

impl Driver for Connector {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            connect_once(&self.address).map_err(failed)?;
            self.connected += 1;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        connect_once(&self.address).map_err(failed)
    }
}

fn failed(error: impl Into<Bad>) -> Failure {
    Failure::of("connect a unix socket", error.into())
}

/// Creates a socket, connects it and closes it after the partner has closed its end.
fn connect_once(address: &SocketAddrUnix) -> Result<(), Bad> {
    let socket = new_socket()?;
    connect(&socket, address)?;
    let mut nothing = [0_u8];
    must(retry_on_intr(|| read(&socket, &mut nothing))? == 0)
}

fn new_socket() -> Result<OwnedFd, Errno> {
    unix_socket(SocketType::STREAM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_an_abstract_name_and_none_are_distinguished() {
        let named = |address: Option<SocketAddrUnix>| {
            let socket = new_socket().expect("a socket");
            if let Some(address) = address {
                bind(&socket, &address).expect("bound");
            }
            name_of(&socket)
        };
        let file = scratch::file("socket").expect("a name");
        assert_eq!(named(SocketAddrUnix::new(file.path()).ok()), Ok("path"));
        let name = abstract_name();
        let name = SocketAddrUnix::new_abstract_name(name.as_bytes()).ok();
        assert_eq!(named(name), Ok("abstract"));
        assert_eq!(named(None), Ok("nothing"));
    }
}
