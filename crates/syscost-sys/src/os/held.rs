//! A program that is held before it is executed, for whoever watches it from its first instruction on.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::SystemError;
use crate::process::{ChildEnd, kill_tree, pause, take_end};

/// How often whoever has a program watched is asked whether it is to go on.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A child forked from this thread that is to execute a program. Unless somebody has taken its end, it is
/// killed with all that it started when this goes out of scope.
pub(crate) struct Held {
    pid: u32,
    /// A byte to the child releases it; from it comes the errno of an execution that failed.
    child: UnixStream,
}

impl Held {
    pub(crate) fn start(command: &mut Command) -> Result<Held, SystemError> {
        let (near, mut far) = UnixStream::pair().map_err(failed("socketpair"))?;
        near.set_nonblocking(true).map_err(failed("ioctl"))?;
        let mut near = Some(near);
        let pid = super::fork(&mut || {
            drop(near.take());
            // Nothing comes if whoever is to watch has failed.
            if far.read_exact(&mut [0]).is_ok() {
                let errno = command.exec().raw_os_error().unwrap_or(libc::EINVAL);
                let _ = far.write_all(&errno.to_ne_bytes());
            }
            1
        });
        let pid = pid.map_err(failed("fork"))?;
        let child = near.ok_or_else(|| failed("fork")(io::ErrorKind::Other.into()))?;
        Ok(Held { pid, child })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Lets it execute the program.
    pub(crate) fn release(&mut self) -> Result<(), SystemError> {
        self.child.write_all(&[1]).map_err(failed("write"))
    }

    /// Why the program was not executed, once the child has ended.
    pub(crate) fn refusal(&mut self) -> Option<io::Error> {
        let mut errno = [0; 4];
        // Nothing comes of a program that was executed.
        self.child.read_exact(&mut errno).ok()?;
        Some(io::Error::from_raw_os_error(i32::from_ne_bytes(errno)))
    }

    /// Takes its end; `None` if it does not come in this time.
    pub(crate) fn end_within(&self, time: Duration) -> Result<Option<ChildEnd>, SystemError> {
        let pid = Pid::from_raw(self.pid.cast_signed());
        match pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) {
            // An interrupted one is repeated by the caller.
            Some(end) => drop(poll(
                &mut [PollFd::new(&end, PollFlags::IN)],
                Timespec::try_from(time).ok().as_ref(),
            )),
            // Of Linux 5.3, and forbidden in some containers.
            None => pause(time),
        }
        take_end(self.pid)
    }
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> SystemError {
    move |cause| SystemError::new(what, "for a program to be watched", cause)
}

impl Drop for Held {
    fn drop(&mut self) {
        // Nothing is sent to whoever has its number after its end was taken.
        if matches!(super::child_end(self.pid), Ok(None)) && kill_tree(self.pid).is_ok() {
            let _ = super::wait_for(self.pid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_executed_once_it_is_released() {
        let mut held = Held::start(Command::new("sh").args(["-c", "exit 7"])).unwrap();
        assert!(held.end_within(Duration::ZERO).unwrap().is_none());
        held.release().unwrap();
        let end = held.end_within(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(end.status.code(), Some(7));
        assert!(held.refusal().is_none());
    }

    #[test]
    fn one_that_is_not_there_is_refused() {
        let mut held = Held::start(&mut Command::new("/absent/program")).unwrap();
        held.release().unwrap();
        held.end_within(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(held.refusal().unwrap().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn one_that_is_not_released_is_killed() {
        let held = Held::start(&mut Command::new("true")).unwrap();
        let pid = held.pid();
        drop(held);
        assert!(take_end(pid).is_err());
    }
}
