//! The channels of messages.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;

/// Bytes of a message, which begins with a number.
const BYTES: usize = 100;

/// The number that ends a receiver.
pub(super) const OVER: u64 = u64::MAX;

/// The kind of channel.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Via {
    Pipe,
    Socket,
}

/// The end shared by all senders of a group.
#[derive(Clone)]
pub(super) struct Outbox(Arc<OwnedFd>);

/// The end of one receiver.
pub(super) struct Inbox(OwnedFd);

impl Via {
    pub(super) fn open(self) -> Result<(Outbox, Inbox), Failure> {
        let ends = match self {
            Via::Pipe => pipe_with(PipeFlags::CLOEXEC),
            Via::Socket => socketpair(
                AddressFamily::UNIX,
                SocketType::STREAM,
                SocketFlags::CLOEXEC,
                None,
            ),
        };
        let (inbox, outbox) = ends.map_err(|error| Failure::of("make a pipe or socket", error))?;
        Ok((Outbox(Arc::new(outbox)), Inbox(inbox)))
    }
}

impl Outbox {
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    pub(super) fn send(&self, number: u64) -> Result<(), Errno> {
        let mut message = [0; BYTES];
        message[..8].copy_from_slice(&number.to_ne_bytes());
        match retry_on_intr(|| write(&self.0, &message))? {
            BYTES => Ok(()),
            _ => Err(Errno::MSGSIZE),
        }
    }
}

impl Inbox {
    pub(super) fn receive(&self) -> Result<u64, Errno> {
        let mut message = [0; BYTES];
        if retry_on_intr(|| read(&self.0, &mut message))? != BYTES {
            return Err(Errno::MSGSIZE);
        }
        let (number, _) = message.split_at(8);
        number
            .try_into()
            .map(u64::from_ne_bytes)
            .map_err(|_| Errno::MSGSIZE)
    }
}
