//! Streams of bytes: write and read until the whole message has been transferred.

use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{read, retry_on_intr, write};
use syscost_harness::prelude::*;

use super::mechanism::Mechanism;
use super::{Channel, Ends};
use crate::ipc::message::Message;
use crate::syscall::Bad;

/// What all of them have in common: a message may be read in parts.
pub(super) const PLAIN: Mechanism = Mechanism {
    calls: |of| {
        let (reads, least) = (Counter::Syscall(Sysno::READ), 0.95 * of.messages);
        vec![
            together(Sysno::WRITE, of.messages),
            within(reads, least, 1.05 * of.messages * of.parts),
        ]
    },
    sends_by: Some(Sysno::WRITE),
    ..Mechanism::PLAIN
};

/// How streams of a kind are created.
pub(crate) trait Stream: Send + 'static {
    /// A stream in each direction.
    fn open() -> Result<Ends<OwnedFd>, Failure>;
}

/// One end of a pair of streams.
pub(crate) struct ByStream<S> {
    from: OwnedFd,
    to: OwnedFd,
    kind: PhantomData<S>,
}

impl<S: Stream> Channel for ByStream<S> {
    fn open(_: usize) -> Result<(Self, Self), Failure> {
        let (own, partner) = S::open()?;
        let end = |(from, to)| Self {
            from,
            to,
            kind: PhantomData,
        };
        Ok((end(own), end(partner)))
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.from.as_fd(), self.to.as_fd()]
    }

    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        let bytes = message.bytes();
        let mut done = 0;
        while done < bytes.len() {
            done += retry_on_intr(|| write(&self.to, &bytes[done..]))?;
        }
        Ok(done)
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        let bytes = message.bytes_mut();
        let mut done = 0;
        while done < bytes.len() {
            match retry_on_intr(|| read(&self.from, &mut bytes[done..]))? {
                0 => break,
                count => done += count,
            }
        }
        Ok(done)
    }
}
