//! The parent's side: receive the listener, then count each report and let the call go on.
#![allow(unsafe_code)] // recvmsg and the listener's ioctls

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::child::{self, Control};
use super::filter::{Mark, NATIVE_ARCH};
use super::vdso::Vdso;
use crate::Unsupported;
use crate::audit::{AuditError, SyscallCounts};

/// The first message from the child.
pub(super) enum Greeting {
    Listener(OwnedFd),
    Refused(Unsupported),
    /// The child ended, or the deadline passed, before it said anything.
    Silence,
}

/// How watching ended.
pub(super) enum End {
    Ended,
    OutOfTime,
}

pub(super) fn receive_listener(near: &OwnedFd, deadline: Instant) -> Result<Greeting, AuditError> {
    let mut ready = [PollFd::new(near, PollFlags::IN)];
    if !wait(&mut ready, deadline)? {
        return Ok(Greeting::Silence);
    }
    let (greeting, listener) =
        receive(near).map_err(|cause| AuditError::Supervise("recvmsg", cause))?;
    let Some([step, errno]) = greeting else {
        return Ok(Greeting::Silence);
    };
    let cause = io::Error::from_raw_os_error(errno);
    Ok(match (step, listener) {
        (child::READY, Some(listener)) => Greeting::Listener(listener),
        (child::READY, None) => Greeting::Refused(Unsupported::new(
            "the filter's listener could not be handed over",
        )),
        (child::NO_FILTER, _) => Greeting::Refused(Unsupported::new(no_filter(&cause))),
        (child::NO_NEW_PRIVS, _) => Greeting::Refused(Unsupported::new(format!(
            "prctl(PR_SET_NO_NEW_PRIVS): {cause}"
        ))),
        _ => Greeting::Refused(Unsupported::new(format!(
            "prctl(PR_SET_PDEATHSIG): {cause}"
        ))),
    })
}

fn no_filter(cause: &io::Error) -> String {
    let advice = match cause.raw_os_error() {
        Some(libc::EBUSY) => {
            "another filter with a listener is already installed, as some container runtimes do"
        }
        Some(libc::ENOSYS) => "the kernel was built without seccomp, or a filter hides the call",
        Some(libc::EPERM | libc::EACCES) => "a filter or security module forbids it",
        _ => "it needs Linux 5.5 with CONFIG_SECCOMP_FILTER",
    };
    format!("seccomp(SECCOMP_SET_MODE_FILTER): {cause}; {advice}")
}

/// Receives one greeting with at most one descriptor; `None` instead of a greeting at the end of the stream.
fn receive(near: &OwnedFd) -> io::Result<(Option<child::Greeting>, Option<OwnedFd>)> {
    let mut greeting: child::Greeting = [0; 2];
    let mut control: Control = [0; 8];
    let mut part = libc::iovec {
        iov_base: greeting.as_mut_ptr().cast(),
        iov_len: size_of::<child::Greeting>(),
    };
    // SAFETY: msghdr is plain numbers and pointers, for which zero is a value.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<Control>() as _;
    // SAFETY: the message and all it points to live until the call returns.
    let length =
        unsafe { libc::recvmsg(near.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    if length < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has set the control length; the header, if any, is inside `control`, and a
    // descriptor that came this way has no other owner.
    let listener = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        let is_descriptor = !header.is_null() && (*header).cmsg_type == libc::SCM_RIGHTS;
        is_descriptor
            .then(|| OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned()))
    };
    Ok((
        (length as usize == size_of::<child::Greeting>()).then_some(greeting),
        listener,
    ))
}

/// How often it is looked for the end of a child that no descriptor shows. (That nobody is under the filter any
/// more does not show it: until Linux 6.11 a child is under it until it is waited for.)
const LOOK: Duration = Duration::from_millis(5);

/// `pidfd` shows the child's end, where there is one.
pub(super) fn supervise(
    listener: &OwnedFd,
    child: Pid,
    pidfd: Option<&OwnedFd>,
    deadline: Instant,
    counts: &mut SyscallCounts,
) -> Result<End, AuditError> {
    let (mut listening, mut paused) = (true, Paused::default());
    let vdso = Vdso::own();
    loop {
        let descriptors = [pidfd, listening.then_some(listener)];
        let polled = descriptors.into_iter().flatten();
        let mut ready: Vec<PollFd<'_>> = polled
            .map(|descriptor| PollFd::new(descriptor, PollFlags::IN))
            .collect();
        let now = Instant::now();
        if now >= deadline {
            return Ok(End::OutOfTime);
        }
        let until = pidfd.map_or(deadline.min(now + LOOK), |_| deadline);
        wait(&mut ready, until)?;
        let has_ended = match pidfd {
            Some(_) => !ready[0].revents().is_empty(),
            None => has_ended(child)?,
        };
        if has_ended {
            return Ok(End::Ended);
        }
        let heard = ready.last().map_or(PollFlags::empty(), PollFd::revents);
        if heard.contains(PollFlags::IN) {
            count_one(listener, &vdso, counts, &mut paused)?;
        } else if !heard.is_empty() {
            // No process is under the filter any more; the child is about to end.
            listening = false;
        }
    }
}

/// Whether this child has ended; it is still to be waited for.
fn has_ended(child: Pid) -> Result<bool, AuditError> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let status = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(child), options));
    let status = status.map_err(|cause| AuditError::Supervise("waitid", cause.into()))?;
    Ok(status.is_some())
}

/// A structure with spare room: the kernel fills in its own version, which may be longer.
#[repr(C)]
struct Roomy<T> {
    value: T,
    room: [u64; 32],
}

/// How many parts that do not count each task has begun and not ended.
#[derive(Default)]
struct Paused {
    /// How often each task has said so, and not yet that it counts again.
    depths: BTreeMap<u32, u32>,
    /// Whether a program that the operation has started is between its marks.
    is_in_program: bool,
}

impl Paused {
    /// Takes note of a task's mark.
    fn mark(&mut self, task: u32, own: u32, mark: Mark) {
        match mark {
            Mark::Uncounted => *self.depths.entry(task).or_default() += 1,
            Mark::Counted => {
                // The program that this part of the operation's has started ended without saying so.
                self.is_in_program &= task != own;
                let depth = self.depths.entry(task).or_default();
                *depth = depth.saturating_sub(1);
            }
            Mark::ProgramBegins => self.is_in_program = true,
            Mark::ProgramEnds(_) => self.is_in_program = false,
        }
    }

    /// Whether a task's calls count: not while it has paused, or the operation's own task has; but those
    /// of a program that the operation's own task waits for meanwhile.
    fn counts(&self, task: u32, own: u32) -> bool {
        let is_paused = |task| self.depths.get(&task).is_some_and(|depth| *depth > 0);
        match self.is_in_program {
            true => task != own && !is_paused(task),
            false => !is_paused(own) && !is_paused(task),
        }
    }
}

fn count_one(
    listener: &OwnedFd,
    vdso: &Vdso,
    counts: &mut SyscallCounts,
    paused: &mut Paused,
) -> Result<(), AuditError> {
    // SAFETY: plain integers; the kernel demands zeros here.
    let mut report: Roomy<libc::seccomp_notif> = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: as above.
    let mut answer: Roomy<libc::seccomp_notif_resp> =
        unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: `report` has room for the kernel's structure.
    if unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_RECV,
            &raw mut report,
        )
    } != 0
    {
        return unless_gone("ioctl(SECCOMP_IOCTL_NOTIF_RECV)");
    }
    let (task, data) = (report.value.pid, report.value.data);
    let is_native = data.arch == NATIVE_ARCH;
    let mark = Mark::of(data.nr.into(), data.args).filter(|_| is_native);
    answer.value.id = report.value.id;
    answer.value.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
    // SAFETY: `answer` is at least the kernel's structure.
    if unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SEND,
            &raw mut answer,
        )
    } != 0
    {
        return unless_gone("ioctl(SECCOMP_IOCTL_NOTIF_SEND)");
    }
    // Counted only now: a report withdrawn before the answer is repeated when the call is
    // restarted.
    if let Some(mark) = mark {
        if let Mark::ProgramEnds(operations) = mark {
            counts.record_operations(operations);
        }
        paused.mark(task, counts.own_task(), mark);
        return Ok(());
    }
    if !paused.counts(task, counts.own_task()) {
        return Ok(());
    }
    if is_native {
        let [a, b, c, d, e, f] = data.args;
        let arguments = [a, b, c, d, e, f, data.instruction_pointer];
        counts.record(task, data.nr.cast_unsigned(), arguments);
        if vdso.reads_time(&data) {
            counts.record_reading();
        }
    } else {
        counts.record_foreign();
    }
    Ok(())
}

/// Ignores the error where the caller was killed, or left for a signal handler, before the report
/// was taken or answered.
fn unless_gone(operation: &'static str) -> Result<(), AuditError> {
    let cause = io::Error::last_os_error();
    match cause.raw_os_error() {
        Some(libc::ENOENT | libc::EINTR) => Ok(()),
        // The answer "go on" is unknown before Linux 5.5.
        Some(libc::EINVAL) => Err(AuditError::SeccompUnavailable(Unsupported::new(format!(
            "{operation}: {cause}; it needs Linux 5.5"
        )))),
        _ => Err(AuditError::Supervise(operation, cause)),
    }
}

/// Polls until something is ready; false when the deadline has passed.
fn wait(ready: &mut [PollFd<'_>], deadline: Instant) -> Result<bool, AuditError> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(ready, Some(&left)) {
            Ok(count) => return Ok(count > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(cause) => return Err(AuditError::Supervise("poll", cause.into())),
        }
    }
}
