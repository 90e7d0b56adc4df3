//! Two stream sockets created as a pair, without a name.

use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use syscost_harness::prelude::*;

use super::Ends;
use super::by_stream::Stream;
use super::mechanism::Mechanism;
use super::unix_stream::{MECHANISM as MECHANISM_WITH_PATH, both_ways};

/// It differs little from a stream socket with a path.
pub(super) const MECHANISM: Mechanism = Mechanism {
    descriptors: "unix stream socket without a path",
    ..MECHANISM_WITH_PATH.similar()
};

pub(super) struct SocketPair;

impl Stream for SocketPair {
    fn open() -> Result<Ends<OwnedFd>, Failure> {
        let (own, partner) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|error| Failure::of("make a pair of sockets", error))?;
        both_ways(own, partner)
    }
}
