//! The pipes between the tasks of a ring.

use std::os::fd::OwnedFd;

use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::Failure;

/// The token that ends the ring.
pub(super) const OVER: u64 = u64::MAX;

/// The end into which a task puts the token.
pub(super) struct Outbox(OwnedFd);

/// The end from which a task takes the token.
pub(super) struct Inbox(OwnedFd);

/// A pipe from one task to the next.
pub(super) fn link() -> Result<(Outbox, Inbox), Failure> {
    let (reader, writer) =
        pipe_with(PipeFlags::CLOEXEC).map_err(|error| Failure::of("make a pipe", error))?;
    Ok((Outbox(writer), Inbox(reader)))
}

impl Outbox {
    pub(super) fn send(&self, token: u64) -> Result<(), Errno> {
        match write(&self.0, &token.to_ne_bytes())? {
            8 => Ok(()),
            _ => Err(Errno::IO),
        }
    }
}

impl Inbox {
    /// Sleeps until the token arrives. Fails if the task before has ended.
    pub(super) fn receive(&self) -> Result<u64, Errno> {
        let mut token = [0; 8];
        match retry_on_intr(|| read(&self.0, &mut token))? {
            8 => Ok(u64::from_ne_bytes(token)),
            _ => Err(Errno::PIPE),
        }
    }
}
