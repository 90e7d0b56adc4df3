//! Two POSIX message queues, unlinked as soon as they are open.
#![allow(unsafe_code)] // the C library's queues

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::scratch;

use super::mechanism::Mechanism;
use super::{Channel, Ends, crossed, number_in, twice};
use crate::ipc::message::Message;
use crate::syscall::Bad;

/// The maximum size of a message in a queue made without privilege.
pub(super) const MECHANISM: Mechanism = Mechanism {
    calls: |of| of.each([Sysno::MQ_TIMEDSEND, Sysno::MQ_TIMEDRECEIVE]),
    sends_by: Some(Sysno::MQ_TIMEDSEND),
    ..Mechanism::queue(LARGEST)
};

pub(super) const LARGEST: &str = "/proc/sys/fs/mqueue/msgsize_max";

const MAX_MESSAGES: &str = "/proc/sys/fs/mqueue/msg_max";

/// Number of messages that a queue holds: the default limit.
const DEPTH: u64 = 10;

pub(super) struct PosixQueue {
    from: OwnedFd,
    to: OwnedFd,
}

pub(super) fn open(bytes: usize) -> Result<Ends<PosixQueue>, Failure> {
    let depth = number_in(MAX_MESSAGES)?.min(DEPTH);
    crossed(
        || twice(queue(depth, bytes)?),
        |from, to| PosixQueue { from, to },
    )
}

impl Channel for PosixQueue {
    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        send(&self.to, message.bytes())
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        let bytes = message.bytes_mut();
        let into = bytes.as_mut_ptr().cast();
        loop {
            // SAFETY: the buffer has as many bytes as stated; the priority is not requested.
            let came = unsafe {
                libc::mq_receive(
                    self.from.as_raw_fd(),
                    into,
                    bytes.len(),
                    std::ptr::null_mut(),
                )
            };
            match usize::try_from(came) {
                Ok(came) => return Ok(came),
                Err(_) if last_error() == Errno::INTR => {}
                Err(_) => return Err(Bad::Refused(last_error())),
            }
        }
    }

    fn wake_waiters(&mut self) {
        // Shorter than any expected message. If this fails, the time limit ends the wait.
        let _ = send(&self.to, &[]);
    }
}

fn send(to: &OwnedFd, bytes: &[u8]) -> Result<usize, Bad> {
    // SAFETY: the buffer has as many bytes as stated.
    match unsafe { libc::mq_send(to.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) } {
        0 => Ok(bytes.len()),
        _ => Err(Bad::Refused(last_error())),
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

/// A queue for this many messages of this many bytes, without a name.
fn queue(depth: u64, bytes: usize) -> Result<OwnedFd, Failure> {
    let name = scratch::posix_queue()?;
    // SAFETY: all zeros are a valid structure, of which two numbers are read.
    let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
    attributes.mq_maxmsg = depth as _;
    attributes.mq_msgsize = bytes as _;
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_CLOEXEC;
    // SAFETY: a name, flags, a mode and attributes, as O_CREAT asks for.
    let fd = unsafe { libc::mq_open(name.name().as_ptr(), flags, 0o600, &raw const attributes) };
    if fd < 0 {
        let why = std::io::Error::last_os_error();
        let tried = format!("a queue of {depth} messages of {bytes} bytes: {why}");
        // EMFILE: more than RLIMIT_MSGQUEUE, which all queues of this user share.
        return Err(match Errno::from_io_error(&why) {
            Some(Errno::MFILE) => Failure::Unsupported(format!("{tried} (ulimit -q)")),
            Some(Errno::NOSYS | Errno::NOSPC) => Failure::Unsupported(tried),
            _ => Failure::Failed(tried),
        });
    }
    // SAFETY: the queue's descriptor is a file descriptor on Linux, and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
