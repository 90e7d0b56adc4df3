//! Unix sockets that keep messages apart: one send, one receive.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::retry_on_intr;
use rustix::net::{RecvFlags, SendFlags, SocketType, connect, recv, send, sockopt};
use syscost_harness::prelude::*;

use super::mechanism::{LARGE, LINE, Mechanism, Rows};
use super::streams::{bound, connected};
use super::{Channel, Ends};
use crate::ipc::message::Message;
use crate::syscall::Bad;

/// What all of them have in common.
const PLAIN: Mechanism = Mechanism {
    calls: |of| of.each([Sysno::SENDTO, Sysno::RECVFROM]),
    sends_by: Some(Sysno::SENDTO),
    ..Mechanism::PLAIN
};

const SIZES: &[Bytes] = &[LINE, Bytes::kib(4), LARGE];

pub(super) const DATAGRAMS: Mechanism = Mechanism {
    descriptors: "unix datagram socket with a path",
    round_trips: Rows {
        same: SIZES,
        other: &[LINE],
        ..Rows::ROUND_TRIPS
    },
    bandwidths: Rows {
        same: SIZES,
        ..Rows::BANDWIDTHS
    },
    ..PLAIN
};

/// It differs little from a stream socket with a path.
pub(super) const SEQPACKETS: Mechanism = Mechanism {
    descriptors: "unix seqpacket socket with a path",
    ..PLAIN.similar()
};

/// One of two such sockets.
pub(super) struct Packets(OwnedFd);

impl Channel for Packets {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.0.as_fd()]
    }

    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        let sent = retry_on_intr(|| send(&self.0, message.bytes(), SendFlags::NOSIGNAL))?;
        Ok(sent)
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        // With TRUNC a message too long for the buffer still returns its whole length.
        let (_, came) = retry_on_intr(|| recv(&self.0, message.bytes_mut(), RecvFlags::TRUNC))?;
        Ok(came)
    }
}

/// Two datagram sockets, each with a path until they are connected to each other.
pub(super) fn datagrams(bytes: usize) -> Result<Ends<Packets>, Failure> {
    let failed = |error| Failure::of("connect unix datagram sockets", error);
    let (own, _own_file, own_address) = bound(SocketType::DGRAM)?;
    let (partner, _partner_file, partner_address) = bound(SocketType::DGRAM)?;
    connect(&own, &partner_address).map_err(failed)?;
    connect(&partner, &own_address).map_err(failed)?;
    with_room((own, partner), bytes)
}

/// Two sockets connected by a path that preserve message boundaries and order.
pub(super) fn seqpackets(bytes: usize) -> Result<Ends<Packets>, Failure> {
    with_room(connected(SocketType::SEQPACKET)?, bytes)
}

/// Checks that a message of this many bytes fits into their buffers.
fn with_room((own, partner): Ends<OwnedFd>, bytes: usize) -> Result<Ends<Packets>, Failure> {
    let room = sockopt::socket_send_buffer_size(&own).tried("ask for a socket's buffer size")?;
    // The kernel's own data structures count as well.
    if room < bytes + 1024 {
        return Err(Failure::Unsupported(format!(
            "a message of {bytes} bytes does not fit into a socket's buffer of {room} (net.core.wmem_default)"
        )));
    }
    Ok((Packets(own), Packets(partner)))
}
