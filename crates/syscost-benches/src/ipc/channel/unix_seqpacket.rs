//! Two sockets connected by a path that preserve message boundaries and order.

use std::os::fd::OwnedFd;

use rustix::net::SocketType;
use syscost_harness::prelude::*;

use super::by_packet::Packets;
use super::unix_stream::connected;

pub(super) struct UnixSeqpacket;

impl Packets for UnixSeqpacket {
    fn open() -> Result<(OwnedFd, OwnedFd), Failure> {
        connected(SocketType::SEQPACKET)
    }
}
