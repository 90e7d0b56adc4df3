//! Two SysV message queues.
#![allow(unsafe_code)] // the C library's queues

use std::sync::Arc;

use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::scratch::{self, MessageQueue};

use super::mechanism::Mechanism;
use super::{Channel, Ends, crossed};
use crate::ipc::message::Message;
use crate::syscall::Bad;

/// The maximum size of a message.
pub(super) const MECHANISM: Mechanism = Mechanism {
    calls: |of| of.each([Sysno::MSGSND, Sysno::MSGRCV]),
    sends_by: Some(Sysno::MSGSND),
    ..Mechanism::queue(LARGEST)
};

pub(super) const LARGEST: &str = "/proc/sys/kernel/msgmax";

/// Each queue lives as long as one of its two ends.
pub(super) struct SysvQueue {
    from: Arc<MessageQueue>,
    to: Arc<MessageQueue>,
}

pub(super) fn open(_: usize) -> Result<Ends<SysvQueue>, Failure> {
    let queue = || {
        let queue = scratch::message_queue();
        // The system allows a number of them altogether (kernel.msgmni).
        let queue = Arc::new(queue.map_err(Unsupported::from)?);
        Ok((Arc::clone(&queue), queue))
    };
    crossed(queue, |from, to| SysvQueue { from, to })
}

impl Channel for SysvQueue {
    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        let bytes = message.bytes().len();
        // SAFETY: the type is followed by as many bytes as stated.
        let sent = unsafe { libc::msgsnd(self.to.id(), message.typed().as_ptr().cast(), bytes, 0) };
        if sent == 0 {
            Ok(bytes)
        } else {
            Err(last_error())
        }
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        let bytes = message.bytes().len();
        let into = message.typed_mut().as_mut_ptr().cast();
        loop {
            // SAFETY: the type is followed by as many bytes as stated.
            let came = unsafe { libc::msgrcv(self.from.id(), into, bytes, 0, 0) };
            match usize::try_from(came) {
                Ok(came) => return Ok(came),
                Err(_) => match last_error() {
                    Bad::Refused(Errno::INTR) => {}
                    bad => return Err(bad),
                },
            }
        }
    }

    fn wake_waiters(&mut self) {
        // A task that waits in a queue learns of its removal.
        // SAFETY: removal needs no buffer.
        unsafe { libc::msgctl(self.to.id(), libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

fn last_error() -> Bad {
    let error = std::io::Error::last_os_error();
    Bad::Refused(Errno::from_io_error(&error).unwrap_or(Errno::INVAL))
}
