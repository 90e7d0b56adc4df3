//! The audit on Linux: a child under a seccomp filter, this process as the filter's listener.
#![allow(unsafe_code)] // one raw system call for the trial

mod child;
mod filter;
mod supervise;
mod vdso;

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use super::fork::PANICKED;
use crate::audit::{AuditError, Death, SyscallCounts};
use crate::raw::{Sysno, syscall0};

pub(super) use filter::NATIVE_ARCH;
pub(crate) use filter::{COUNTED, UNCOUNTED, count_calls, mark_program};

/// The status with which the child reports that the operation came to its end: one that no operation
/// exits with on its own.
const FINISHED: i32 = 173;

pub(crate) fn count_syscalls(
    timeout: Duration,
    noted: &[Sysno],
    op: &mut dyn FnMut(),
) -> Result<SyscallCounts, AuditError> {
    let watch = |child: Pid| rustix::process::pidfd_open(child, PidfdFlags::empty()).ok();
    count_watched(timeout, noted, op, watch)
}

/// `watch` gives what shows the child's end; where a container refuses pidfd_open, it is looked for.
fn count_watched(
    timeout: Duration,
    noted: &[Sysno],
    op: &mut dyn FnMut(),
    watch: impl FnOnce(Pid) -> Option<OwnedFd>,
) -> Result<SyscallCounts, AuditError> {
    let deadline = Instant::now() + timeout;
    let (near, far) =
        child::channel().map_err(|cause| AuditError::Supervise("socketpair", cause))?;
    let child = Child(child::fork(&near, &far, op).map_err(AuditError::Fork)?);
    drop(far);
    let pidfd = watch(child.0);

    let listener = match supervise::receive_listener(&near, deadline)? {
        supervise::Greeting::Listener(listener) => listener,
        supervise::Greeting::Refused(reason) => return Err(AuditError::SeccompUnavailable(reason)),
        supervise::Greeting::Silence if Instant::now() >= deadline => {
            return Err(AuditError::TimedOut(timeout));
        }
        supervise::Greeting::Silence => {
            return Err(child
                .end()?
                .err()
                .unwrap_or(AuditError::Died(Death::Code(0))));
        }
    };
    let mut counts = SyscallCounts::new(child.0.as_raw_nonzero().get().cast_unsigned(), noted);
    match supervise::supervise(&listener, child.0, pidfd.as_ref(), deadline, &mut counts)? {
        supervise::End::Ended => child.end()?.map(|()| counts),
        supervise::End::OutOfTime => Err(AuditError::TimedOut(timeout)),
    }
}

/// The child, killed with its group and waited for when it goes out of scope.
struct Child(Pid);

impl Child {
    /// Waits for a child that has ended (or is about to) and returns how it ended.
    fn end(self) -> Result<Result<(), AuditError>, AuditError> {
        // First the group, while the dead leader's number cannot be reused yet.
        self.kill_group();
        let status = self
            .wait()
            .map_err(|cause| AuditError::Supervise("waitpid", cause.into()))?;
        std::mem::forget(self);
        Ok(match status {
            Some(status) if status.exit_status() == Some(FINISHED) => Ok(()),
            status => Err(AuditError::Died(death(status))),
        })
    }

    fn wait(&self) -> rustix::io::Result<Option<WaitStatus>> {
        let waited = rustix::io::retry_on_intr(|| {
            rustix::process::waitpid(Some(self.0), WaitOptions::empty())
        });
        Ok(waited?.map(|(_, status)| status))
    }

    fn kill_group(&self) {
        let _ = rustix::process::kill_process_group(self.0, Signal::KILL);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The group exists only once the child has made it.
        self.kill_group();
        let _ = rustix::process::kill_process(self.0, Signal::KILL);
        let _ = self.wait();
    }
}

fn death(status: Option<WaitStatus>) -> Death {
    let signal = status.and_then(WaitStatus::terminating_signal);
    match (signal, status.and_then(WaitStatus::exit_status)) {
        (Some(signal), _) => Death::Signal(signal),
        (None, Some(PANICKED)) => Death::Panic,
        (None, code) => Death::Code(code.unwrap_or(0)),
    }
}

/// The smallest operation that enters the kernel.
pub(crate) fn one_system_call() {
    // SAFETY: getppid takes nothing and touches no memory.
    unsafe {
        syscall0(Sysno::GETPPID);
    }
}

/// Formats ` (SIGSEGV)` for the signals that commonly kill an operation.
pub(crate) fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGILL => "SIGILL",
        libc::SIGFPE => "SIGFPE",
        libc::SIGABRT => "SIGABRT",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSYS => "SIGSYS",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGTRAP => "SIGTRAP",
        _ => return String::new(),
    };
    format!(" ({name})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_pidfd_the_childs_end_is_looked_for() {
        let limit = Duration::from_secs(10);
        let mut op = || (0..5).for_each(|_| one_system_call());
        match count_watched(limit, &[], &mut op, |_| None) {
            Ok(counts) => assert_eq!(counts.get(Sysno::GETPPID), 5),
            Err(AuditError::SeccompUnavailable(why)) => println!("skipped: {why}"),
            Err(error) => panic!("{error}"),
        }
        // Whoever it leaves behind is under the filter still.
        let mut leaves = || {
            let sleep = &mut || {
                std::thread::sleep(Duration::from_secs(1000));
                0
            };
            super::super::fork(sleep).map(drop).expect("a child");
        };
        match count_watched(limit, &[], &mut leaves, |_| None) {
            Ok(_) | Err(AuditError::SeccompUnavailable(_)) => {}
            Err(error) => panic!("{error}"),
        }
        let mut hangs = || std::thread::sleep(Duration::from_secs(1000));
        match count_watched(Duration::from_millis(50), &[], &mut hangs, |_| None) {
            Err(AuditError::TimedOut(_)) | Err(AuditError::SeccompUnavailable(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}
