//! Two sockets connected by a path that preserve message boundaries and order.

use std::os::fd::OwnedFd;

use rustix::net::SocketType;
use syscost_harness::prelude::*;

use super::by_packet::{PLAIN, Packets};
use super::mechanism::Mechanism;
use super::unix_stream::connected;

/// It differs little from a stream socket with a path.
pub(super) const MECHANISM: Mechanism = Mechanism {
    descriptors: "unix seqpacket socket with a path",
    ..PLAIN.similar()
};

pub(super) struct UnixSeqpacket;

impl Packets for UnixSeqpacket {
    fn open() -> Result<(OwnedFd, OwnedFd), Failure> {
        connected(SocketType::SEQPACKET)
    }
}
