//! An exact count, without privilege, of what a program and all that it starts ask of the kernel: each system
//! call with its outcome, the bytes that it moved and what it acts on, and each page fault by what lies
//! there.
//!
//! The program runs under ptrace(2), or one that is running is [attached](attach) to. Each call stops it
//! twice, which costs it some 10 us, 20 with a descriptor: nothing here is timed. Unlike the
//! [audit](crate::audit), this sees results, and needs no no_new_privs.
//!
//! - **What counts.** Of a program that is [run](run()), all from its first instruction on: not the execve
//!   that starts it. Of calls that were begun before an attachment, none.
//! - **Restarts.** A call that a signal without a handler (stop and continue, an ignored one) breaks off, and
//!   that the kernel makes again by itself, is one call. With a handler it is two: the
//!   [interrupted](Outcome::Interrupted) one, and what follows.
//! - **What is changed.** A traced process is woken by signals that it ignores. Calls that are not restarted
//!   but return EINTR then, such as epoll_wait, semop or io_uring_enter, are restarted here, their time-outs
//!   from the beginning; one that has moved a part of its bytes returns that part, and one whose signal
//!   another thread takes sees EINTR. An attachment does the same to each thread once; its end wakes nobody.
//! - **What is not seen.** Calls served by the vDSO; io_uring's operations; a tracee cannot trace others
//!   (EPERM).
//!
//! ```no_run
//! use std::process::Command;
//! use syscost_sys::trace::{self, Options};
//!
//! let tally = trace::run(&mut Command::new("/bin/true"), &Options::default(), |_| true)?;
//! for (call, count) in &tally.calls {
//!     println!("{call}: {} calls, {} bytes", count.calls, count.bytes);
//! }
//! # Ok::<(), trace::TraceError>(())
//! ```

mod errno;
mod shape;
mod tally;

use std::io;
use std::process::Command;
use std::time::Duration;

use crate::{SystemError, Unsupported, os};

pub use errno::errno_name;
pub(crate) use shape::{Arguments, Bytes, Shape, by_number};
pub use tally::{Call, Count, FaultKind, Faults, Object, Outcome, Tally, Variant, size_class};

/// How to trace.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether processes that a process starts while it is attached to are traced, too. Those that a program
    /// that is run here starts are always.
    pub follows_children: bool,
    /// Whether to find out what kinds of page faults there are.
    pub counts_faults: bool,
    /// How long processes may run on that outlive the first one, before they are killed.
    pub grace: Duration,
}

impl Default for Options {
    /// All of it, and a second of grace.
    fn default() -> Self {
        Options {
            follows_children: true,
            counts_faults: true,
            grace: Duration::from_secs(1),
        }
    }
}

/// How far a trace is; the caller gets it every 50 ms or so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Calls that were entered so far.
    pub calls: u64,
    /// Tasks that are traced now: threads of all processes.
    pub tasks: u64,
    /// Whether the first process has ended.
    pub has_ended: bool,
}

/// Runs a program to its end, and to the end of all that it started, and counts what they ask of the kernel.
///
/// The command is executed in a child forked from this thread, which then is that program: its descriptors,
/// environment, directory, group and `pre_exec` are those of the command. No pipe can be made by it
/// (`Stdio::piped`): hand it files or ends of pipes. The tracer is a thread of its own, on the same CPUs and
/// in the same scheduling class as this one.
///
/// Whenever `goes_on` returns false, all is killed, and what was counted is returned; so are, after a
/// [grace](Options::grace), processes that outlive the first one. They are named in the tally. If this
/// process dies, they do.
///
/// # Errors
/// [`TraceError`]: where ptrace is not permitted the program was not executed; it was killed if the tracing
/// failed later.
pub fn run(
    command: &mut Command,
    options: &Options,
    goes_on: impl FnMut(Progress) -> bool,
) -> Result<Tally, TraceError> {
    let mut goes_on = goes_on;
    os::trace_run(command, options, &mut goes_on)
}

/// Counts what a running process asks of the kernel with all its threads, until `goes_on` returns false or
/// all has ended. It goes on unharmed afterwards, also if this process dies.
///
/// # Errors
/// [`TraceError`]: where ptrace is not permitted, or the process does not exist or is traced already.
pub fn attach(
    pid: u32,
    options: &Options,
    goes_on: impl FnMut(Progress) -> bool,
) -> Result<Tally, TraceError> {
    let mut goes_on = goes_on;
    os::trace_attached(pid, options, &mut goes_on)
}

/// Why there is no tally.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Programs cannot be traced here, or not this one.
    #[error("programs cannot be traced here: {0}")]
    Unavailable(Unsupported),
    /// The program could not be executed.
    #[error("cannot execute {program}: {cause}")]
    Start {
        /// The program, as the command names it.
        program: String,
        /// The system's answer.
        cause: io::Error,
    },
    /// The process cannot be attached to.
    #[error("cannot attach to process {0}: {1}")]
    Attach(u32, Unsupported),
    /// This side failed; a program that was run was killed.
    #[error("the trace failed in {0}: {1}")]
    Failed(&'static str, #[source] io::Error),
}

impl From<SystemError> for TraceError {
    fn from(error: SystemError) -> Self {
        TraceError::Failed(error.operation, error.cause)
    }
}

#[cfg(test)]
mod tests;
