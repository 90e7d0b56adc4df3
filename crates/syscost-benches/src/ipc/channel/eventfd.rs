//! Two eventfds: a message is the number that is added, taken whole by the reader.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, retry_on_intr, write};
use syscost_harness::prelude::*;

use super::Channel;
use super::mechanism::Mechanism;
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

impl Channel for EventFd {
    fn open(_: usize) -> Result<(Self, Self), Failure> {
        let make = || {
            eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| Failure::of("make an eventfd", error))
        };
        let again = |fd: &OwnedFd| {
            let copy = fd.try_clone();
            copy.map_err(|error| Failure::of("duplicate an eventfd", error))
        };
        let (to_partner, to_own) = (make()?, make()?);
        let partner = Self {
            from: again(&to_partner)?,
            to: again(&to_own)?,
        };
        let own = Self {
            from: to_own,
            to: to_partner,
        };
        Ok((own, partner))
    }

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
