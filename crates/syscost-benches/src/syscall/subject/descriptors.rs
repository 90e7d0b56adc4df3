//! Many descriptors, one of which is readable.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::fs::fstat;
use rustix::io::{fcntl_dupfd_cloexec, write};
use rustix::net::sockopt::set_socket_linger;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use syscost_harness::prelude::*;

use super::pipe;
use crate::net::far_end::usable;
use crate::witness::descriptors::kind_of;

/// What the descriptors are.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    Pipe,
    Tcp,
}

/// Which of them is readable.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Ready {
    First,
    Last,
}

/// A way to wait for descriptors that is a benchmark.
pub(in super::super) trait Waiting {
    fn profile(row: &Polling) -> Profile {
        match (row.of, row.ready) {
            // The set-up of five hundred takes longer than everything else.
            (Kind::Tcp, Ready::Last) if row.fds == 100 => Profile::Quick,
            (Kind::Tcp, Ready::Last) => Profile::Standard,
            (Kind::Pipe, _) | (_, Ready::First) => Profile::Full,
        }
    }

    /// Proof that this many descriptors are waited for.
    fn waits_for(fds: u64) -> Proof;

    fn measure(row: Polling, plan: Plan) -> Result<Outcome, Failure>;
}

/// The row of a way to wait.
#[derive(Params, Clone)]
pub(in super::super) struct Polling {
    pub(in super::super) of: Kind,
    pub(in super::super) ready: Ready,
    /// Descriptors that are waited for.
    pub(in super::super) fds: u64,
}

impl<W: Waiting> Measured<W> for Polling {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Polling {
            of: Kind::ALL,
            ready: Ready::ALL,
            fds: [10, 100, 500]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        W::profile(self)
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        W::measure(self, plan)
    }

    fn proofs(&self) -> PollingProofs<Proof> {
        PollingProofs {
            of: KIND.expects(match self.of {
                Kind::Pipe => "pipe",
                Kind::Tcp => "IPv4 stream socket",
            }),
            ready: READABLE.expects(match self.ready {
                Ready::First => 0,
                Ready::Last => self.fds - 1,
            }),
            fds: DIFFERENT.expects(self.fds).and(W::waits_for(self.fds)),
        }
    }
}

static KIND: Witness = Witness::of("what is waited for", "fstat, getsockopt and /proc/self/fd");
static DIFFERENT: Witness = Witness::of("different ones of these", "fstat");
static READABLE: Witness = Witness::of("readable descriptor, from 0", "the call's answer");

/// Descriptors that a process has anyway, with room to spare.
const OTHERS: usize = 64;

/// This many descriptors of one kind, numbered without gaps, and what keeps them open.
pub(in super::super) struct Descriptors {
    watched: Vec<OwnedFd>,
    _peers: Vec<OwnedFd>,
    _limit: RaisedLimit,
}

impl Descriptors {
    /// Creates this many.
    pub(in super::super) fn make(of: Kind, ready: Ready, fds: u64) -> Result<Self, Failure> {
        let count = fds as usize;
        let ready = match ready {
            Ready::First => 0,
            Ready::Last => count - 1,
        };
        let limit = RaisedLimit::to(2 * count + 2 * OTHERS)?;
        if of == Kind::Tcp {
            usable(Ipv4Addr::LOCALHOST.into())?;
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .tried("listen on the loopback interface")?;
        let mut watched = Vec::with_capacity(count);
        let mut peers = Vec::with_capacity(count);
        for _ in 0..count {
            let (near, far) = match of {
                Kind::Tcp => tcp(&listener)?,
                Kind::Pipe => pipe()?,
            };
            watched.push(near);
            // Numbered above, so that the watched ones are numbered without gaps: select checks numbers.
            peers.push(
                fcntl_dupfd_cloexec(&far, (count + OTHERS) as i32).tried("number a descriptor")?,
            );
        }
        write(&peers[ready], b"x").tried("make one ready")?;
        Ok(Self {
            watched,
            _peers: peers,
            _limit: limit,
        })
    }

    pub(in super::super) fn watched(&self) -> &[OwnedFd] {
        &self.watched
    }

    /// Shows what was waited for, and which of them the last call found readable.
    pub(in super::super) fn show(&self, b: &mut Bencher, found: Option<usize>) {
        let watched = || self.watched.iter().map(AsFd::as_fd);
        match watched().map(kind_of).collect::<Result<BTreeSet<_>, _>>() {
            Ok(kinds) => b.observe(&KIND, Vec::from_iter(kinds).join(", ")),
            Err(reason) => b.unobserved(&KIND, reason),
        }
        match watched().map(identity).collect::<Result<BTreeSet<_>, _>>() {
            Ok(different) => b.observe(&DIFFERENT, different.len()),
            Err(error) => b.unobserved(&DIFFERENT, error),
        }
        match found {
            Some(index) => b.observe(&READABLE, index),
            None => b.observe(&READABLE, "none"),
        }
    }
}

/// What distinguishes an open pipe or socket from all others: its file system's device and its inode number.
fn identity(descriptor: BorrowedFd<'_>) -> rustix::io::Result<(u64, u64)> {
    let stat = fstat(descriptor)?;
    Ok((stat.st_dev, stat.st_ino))
}

/// Both ends of a connection through the loopback interface.
fn tcp(listener: &TcpListener) -> Result<(OwnedFd, OwnedFd), Failure> {
    let connect = || -> std::io::Result<_> {
        let far = TcpStream::connect(listener.local_addr()?)?;
        let (near, _) = listener.accept()?;
        // Closing them leaves no connection in TIME_WAIT, of which thousands would use up the port numbers.
        for end in [near.as_fd(), far.as_fd()] {
            set_socket_linger(end, Some(Duration::ZERO))?;
        }
        Ok((near.into(), far.into()))
    };
    connect().tried("connect through the loopback interface")
}

/// The soft limit of open descriptors, raised until dropped.
struct RaisedLimit {
    before: Rlimit,
}

impl RaisedLimit {
    fn to(needed: usize) -> Result<Self, Failure> {
        let before = getrlimit(Resource::Nofile);
        let needed = needed as u64;
        if before.maximum.is_some_and(|maximum| maximum < needed) {
            return Err(Failure::Unsupported(format!(
                "needs {needed} open descriptors, more than the hard limit (`ulimit -Hn`) allows"
            )));
        }
        if before.current.is_some_and(|current| current < needed) {
            let raised = Rlimit {
                current: Some(needed),
                maximum: before.maximum,
            };
            setrlimit(Resource::Nofile, raised).tried("raise the limit of open descriptors")?;
        }
        Ok(Self { before })
    }
}

impl Drop for RaisedLimit {
    fn drop(&mut self) {
        // Lowering a soft limit is always allowed.
        let _ = setrlimit(Resource::Nofile, self.before);
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing::{claims, found_by};

    struct Test;

    impl Waiting for Test {
        fn waits_for(_: u64) -> Proof {
            Proof::default()
        }

        fn measure(row: Polling, plan: Plan) -> Result<Outcome, Failure> {
            let descriptors = Descriptors::make(row.of, row.ready, row.fds)?;
            let mut outcome = plan.measure(Loop::infallible(|| 1))?;
            descriptors.show(&mut outcome, Some(0));
            Ok(outcome)
        }
    }

    /// The claims that are refuted where a row is measured under the name of another.
    fn refuted(named: &Polling, row: Polling) -> Result<Vec<String>, String> {
        let cases = (Benchmark::by::<Polling, Test>().cases)(&Testbed::plain());
        let is_named =
            |row: &Polling| (row.of, row.ready, row.fds) == (named.of, named.ready, named.fds);
        let mut cases = cases.iter();
        let case = cases.find(|case| case.row::<Polling>().is_some_and(is_named));
        let case = case.expect("there is such a row");
        let found = found_by(case, Pass::Timed, &[], |plan| Test::measure(row, plan))?;
        Ok(claims(&found, Verdict::Refuted))
    }

    #[test]
    fn descriptors_of_another_kind_or_number_are_refuted() {
        use Kind::{Pipe, Tcp};
        let row = |of, fds| Polling {
            of,
            ready: Ready::First,
            fds,
        };
        for (named, made, expected) in [
            ((Pipe, 10), (Pipe, 10), None),
            ((Tcp, 10), (Tcp, 10), None),
            ((Tcp, 10), (Pipe, 10), Some("what is waited for")),
            ((Pipe, 10), (Tcp, 10), Some("what is waited for")),
            ((Pipe, 10), (Pipe, 9), Some("different ones of these")),
        ] {
            let named = row(named.0, named.1);
            match refuted(&named, row(made.0, made.1)) {
                Ok(seen) => assert_eq!(seen.first().map(String::as_str), expected),
                Err(reason) => println!("skipped: {made:?}: {reason}"),
            }
        }
    }
}
