//! Sockets that keep messages apart: one send, one receive.

use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::retry_on_intr;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};
use syscost_harness::prelude::*;

use super::Channel;
use super::mechanism::Mechanism;
use crate::ipc::message::Message;
use crate::syscall::Bad;

/// What all of them have in common.
pub(super) const PLAIN: Mechanism = Mechanism {
    calls: |of| of.each([Sysno::SENDTO, Sysno::RECVFROM]),
    sends_by: Some(Sysno::SENDTO),
    ..Mechanism::PLAIN
};

/// How sockets of a kind are created.
pub(crate) trait Packets: Send + 'static {
    /// Two sockets connected to each other.
    fn open() -> Result<(OwnedFd, OwnedFd), Failure>;
}

/// One of two such sockets.
pub(crate) struct ByPacket<P> {
    socket: OwnedFd,
    kind: PhantomData<P>,
}

impl<P: Packets> Channel for ByPacket<P> {
    fn open(bytes: usize) -> Result<(Self, Self), Failure> {
        let (own, partner) = P::open()?;
        let room = sockopt::socket_send_buffer_size(&own)
            .map_err(|error| Failure::of("ask for a socket's buffer size", error))?;
        // The kernel's own data structures count as well.
        if room < bytes + 1024 {
            return Err(Failure::Unsupported(format!(
                "a message of {bytes} bytes does not fit into a socket's buffer of {room} (net.core.wmem_default)"
            )));
        }
        let end = |socket| Self {
            socket,
            kind: PhantomData,
        };
        Ok((end(own), end(partner)))
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.socket.as_fd()]
    }

    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        let sent = retry_on_intr(|| send(&self.socket, message.bytes(), SendFlags::NOSIGNAL))?;
        Ok(sent)
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        // With TRUNC a message too long for the buffer still returns its whole length.
        let (_, came) =
            retry_on_intr(|| recv(&self.socket, message.bytes_mut(), RecvFlags::TRUNC))?;
        Ok(came)
    }
}
