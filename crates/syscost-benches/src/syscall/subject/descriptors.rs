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
use crate::descriptor::claim_kind;
use crate::net::far_end::usable;

/// The cases of every benchmark that waits for descriptors.
pub(in super::super) const fn readiness_cases() -> Cases {
    Cases::Grid(&[
        ("of", &["pipe", "tcp"]),
        ("ready", &["first", "last"]),
        ("fds", &["10", "100", "500"]),
    ])
}

/// Whether the quick profile includes this case of readiness.
pub(in super::super) fn is_quick_readiness(case: &Case) -> bool {
    // The set-up of five hundred takes longer than everything else.
    case.get("of") == "tcp" && case.get("ready") == "last" && case.get("fds") == "100"
}

/// Whether only the full profile includes this case of readiness.
pub(in super::super) fn is_full_readiness(case: &Case) -> bool {
    case.get("of") != "tcp" || case.get("ready") != "last"
}

/// Descriptors that a process has anyway, with room to spare.
const OTHERS: usize = 64;

/// This many descriptors of one kind, numbered without gaps, and what keeps them open.
pub(in super::super) struct Descriptors {
    watched: Vec<OwnedFd>,
    _peers: Vec<OwnedFd>,
    ready: usize,
    _limit: RaisedLimit,
}

impl Descriptors {
    /// Creates the descriptors that a case names.
    pub(in super::super) fn of(case: &Case) -> Result<Self, Failure> {
        let count = case.number("fds") as usize;
        let ready = if case.is("ready", "first", "last")? {
            0
        } else {
            count - 1
        };
        let limit = RaisedLimit::to(2 * count + 2 * OTHERS)?;
        if case.get("of") == "tcp" {
            usable(Ipv4Addr::LOCALHOST.into())?;
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .map_err(|error| Failure::of("listen on the loopback interface", error))?;
        let mut watched = Vec::with_capacity(count);
        let mut peers = Vec::with_capacity(count);
        for _ in 0..count {
            let (near, far) = match case.get("of") {
                "tcp" => tcp(&listener)?,
                "pipe" => pipe()?,
                _ => return Err(case.unknown("of")),
            };
            watched.push(near);
            // Numbered above, so that the watched ones are numbered without gaps: select checks numbers.
            peers.push(
                fcntl_dupfd_cloexec(&far, (count + OTHERS) as i32)
                    .map_err(|error| Failure::of("number a descriptor", error))?,
            );
        }
        write(&peers[ready], b"x").map_err(|error| Failure::of("make one ready", error))?;
        Ok(Self {
            watched,
            _peers: peers,
            ready,
            _limit: limit,
        })
    }

    /// The descriptors to wait for, in the order of their numbers.
    pub(in super::super) fn watched(&self) -> &[OwnedFd] {
        &self.watched
    }

    /// Claims that the descriptor found readable by the last call is the one made readable, and
    /// that those waited for match the row's name.
    ///
    /// # Errors
    /// When the name is not known here.
    pub(in super::super) fn claim(
        &self,
        b: &mut Bencher,
        found: Option<usize>,
    ) -> Result<(), Failure> {
        self.claim_named(b)?;
        let observed = found.map_or("none".to_owned(), |index| index.to_string());
        let holds = found == Some(self.ready);
        b.claim(
            "readable descriptor",
            self.ready.to_string(),
            observed,
            "the call's answer",
            holds,
        );
        Ok(())
    }

    /// Claims the number of distinct descriptors and their kind, from the row's name: it is read
    /// separately from the code that created them.
    fn claim_named(&self, b: &mut Bencher) -> Result<(), Failure> {
        let kind = match b.case().get("of") {
            "pipe" => "pipe",
            "tcp" => "IPv4 stream socket",
            _ => return Err(b.case().unknown("of")),
        };
        let watched = || self.watched.iter().map(AsFd::as_fd);
        claim_kind(b, "what is waited for", kind, watched());
        let (claim, count) = ("different ones of these", b.case().number("fds"));
        match watched().map(identity).collect::<Result<BTreeSet<_>, _>>() {
            Ok(different) => b.claim_equal(claim, count, different.len() as u64, "fstat"),
            Err(error) => b.claim_unverified(claim, count, "unknown", "fstat", &error.to_string()),
        }
        Ok(())
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
    connect().map_err(|error| Failure::of("connect through the loopback interface", error))
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
            setrlimit(Resource::Nofile, raised)
                .map_err(|error| Failure::of("raise the limit of open descriptors", error))?;
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
    use syscost_harness::bencher::Pass;
    use syscost_results::Verdict;

    use super::*;
    use crate::testing::{claims, found_of};

    /// The claims that a row of this name refutes for descriptors created for another.
    fn refuted(named: [&'static str; 2], made: [&'static str; 2]) -> Option<Vec<String>> {
        let case = |[of, fds]: [&'static str; 2]| {
            Case::new([("of", of), ("ready", "first"), ("fds", fds)])
        };
        let found = found_of(&case(named), Pass::Timed, &[], |b| {
            let descriptors = Descriptors::of(&case(made))?;
            b.iter(|| 1)?;
            descriptors.claim(b, Some(0))
        })?;
        let refuted = claims(&found, Verdict::Refuted).into_iter();
        Some(refuted.map(str::to_owned).collect())
    }

    #[test]
    fn descriptors_of_another_kind_or_number_are_refuted() {
        for (named, made, expected) in [
            (["pipe", "10"], ["pipe", "10"], None),
            (["tcp", "10"], ["tcp", "10"], None),
            (["tcp", "10"], ["pipe", "10"], Some("what is waited for")),
            (["pipe", "10"], ["tcp", "10"], Some("what is waited for")),
            (
                ["pipe", "10"],
                ["pipe", "9"],
                Some("different ones of these"),
            ),
        ] {
            if let Some(seen) = refuted(named, made) {
                assert_eq!(seen.first().map(String::as_str), expected, "{named:?}");
            }
        }
    }
}
