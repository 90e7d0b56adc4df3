//! Two eventfds: a message is the number that is added, taken whole by the reader.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, retry_on_intr, write};
use syscost_harness::prelude::*;

use super::mechanism::Mechanism;
use super::{Channel, Ends, crossed, twice};
use crate::ipc::message::Message;
use crate::syscall::Bad;

pub(super) const MECHANISM: Mechanism = Mechanism {
    descriptors: "eventfd",
    calls: |of| of.each([Sysno::WRITE, Sysno::READ]),
    sends_by: Some(Sysno::WRITE),
    ..Mechanism::word()
};

pub(super) struct EventFd {
    from: OwnedFd,
    to: OwnedFd,
}

pub(super) fn open(_: usize) -> Result<Ends<EventFd>, Failure> {
    let make = || {
        let made = eventfd(0, EventfdFlags::CLOEXEC);
        twice(made.tried("make an eventfd")?)
    };
    crossed(make, |from, to| EventFd { from, to })
}

impl Channel for EventFd {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.from.as_fd(), self.to.as_fd()]
    }

    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        Ok(write(&self.to, message.bytes())?)
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        Ok(retry_on_intr(|| read(&self.from, message.bytes_mut()))?)
    }

    fn wake_waiters(&mut self) {
        // A number that no message has. If this fails, the time limit ends the wait.
        let _ = write(&self.to, &u64::from(u32::MAX).to_ne_bytes());
    }
}
