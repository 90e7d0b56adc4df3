//! An exact count, without privilege, of the system calls that an operation makes.
//!
//! The operation runs once in a forked child under a seccomp filter that reports every system call
//! to this process (SECCOMP_RET_USER_NOTIF, seccomp_unotify(2)). This process counts it and lets it
//! go on: the kernel then executes it as if there were no filter, with its own arguments, result
//! and errno. So forks, threads, vfork, exec, signal handlers and their returns all work and are
//! all counted. What never enters the kernel is not: a clock read through the vDSO counts 0, which
//! is how a vDSO call sold as a system call is found out. Where the kernel serves such a reading
//! after all, as on a machine whose counter it distrusts, the call comes from the vDSO's own code
//! and is known as [one](SyscallCounts::readings).
//!
//! Nothing here is timed: a counted call costs two context switches more. The filter needs Linux
//! 5.5 and no_new_privs, which the child sets for itself: set-user-id programs it executes gain
//! nothing.
//!
//! ```
//! use std::time::Duration;
//! use syscost_sys::audit::{self, count_syscalls};
//! use syscost_sys::raw::{Sysno, syscall0};
//!
//! if audit::available().is_ok() {
//!     // SAFETY: getppid takes nothing and touches no memory.
//!     let counts = count_syscalls(Duration::from_secs(5), || unsafe {
//!         syscall0(Sysno::GETPPID);
//!     })?;
//!     assert_eq!((counts.get(Sysno::GETPPID), counts.total()), (1, 1));
//! }
//! # Ok::<(), audit::AuditError>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::time::Duration;

use crate::Unsupported;
use crate::os;
use crate::process;
use crate::raw::Sysno;

/// Runs `op` once in a forked child and counts every system call from its first to its last
/// instruction, those of processes and threads it starts included (as long as they run before `op`
/// ends).
///
/// - The child is a copy: what `op` changes in memory is lost, and what it owns is dropped (and
///   counted) inside. Anything to be checked is checked in `op`, by a panic.
/// - The child leads a process group of its own; whatever remains of the group when `op` has ended
///   is killed.
/// - The calling process should have one thread, as after any fork: a lock another thread holds is
///   held forever in the child.
/// - A signal that arrives from outside while a call is being reported makes the call fail with
///   EINTR, if the handler does not restart calls; the kernel keeps that window to the moment
///   before the report is taken.
///
/// # Errors
/// [`AuditError`]: without such a filter, nothing is known of `op`; the other errors say
/// what became of it.
pub fn count_syscalls(timeout: Duration, op: impl FnOnce()) -> Result<SyscallCounts, AuditError> {
    note_syscalls(timeout, &[], op)
}

/// Like [`count_syscalls`]; notes also the arguments of these calls, for [`SyscallCounts::arguments`].
pub fn note_syscalls(
    timeout: Duration,
    noted: &[Sysno],
    op: impl FnOnce(),
) -> Result<SyscallCounts, AuditError> {
    let mut op = Some(op);
    os::count_syscalls(timeout, noted, &mut || {
        if let Some(op) = op.take() {
            op();
        }
    })
}

/// Runs a part of an audited operation that is none of what is to be counted: its set-up, its
/// preparation, its end. Called by the operation's own task, no task's calls count until `part` has
/// returned; called by another, its own do not. Outside an audit it costs two calls.
///
/// A program of ours that such a part starts says itself which of its calls count, between two marks:
/// `prctl(0x2d7055f1, 2)` and `prctl(0x2d7055f1, 3, operations)`, with the number of operations
/// that it has made between the two.
pub fn uncounted<T>(part: impl FnOnce() -> T) -> T {
    os::count_calls(false);
    let result = part();
    os::count_calls(true);
    result
}

/// Does what starts programs and waits for their end, which are one operation: what they and all that they start call
/// counts, and no call of this task.
pub fn of_programs<T>(part: impl FnOnce() -> T) -> T {
    os::mark_program(true);
    let done = part();
    os::mark_program(false);
    done
}

/// Whether [`count_syscalls`] works here: tries it on one call.
///
/// # Errors
/// `Unsupported` with what stands in the way: the kernel, a container's own filter, or the target.
pub fn available() -> Result<(), Unsupported> {
    let trial = count_syscalls(process::patience(), os::one_system_call);
    match trial {
        Ok(counts) if counts.total() == 1 => Ok(()),
        Ok(counts) => Err(Unsupported::new(format!(
            "the audit saw {counts} where one call was made"
        ))),
        Err(error) => Err(Unsupported::new(error.to_string())),
    }
}

/// The arguments of a system call, as many as it takes, then what happened to be in the registers;
/// last, at [`CALLED_FROM`], the address of the instruction after the call.
pub type Arguments = [u64; 7];

/// The position of the address after the call among its [`Arguments`].
pub const CALLED_FROM: usize = 6;

/// The system calls an operation made, by the task that made them and by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyscallCounts {
    /// The operation's own task: the child's first thread.
    own: u32,
    counts: BTreeMap<(u32, u32), u64>,
    foreign: u64,
    readings: u64,
    operations: u64,
    /// The arguments of the operation's own calls, by number, of the calls to be noted.
    noted: BTreeMap<u32, Vec<Arguments>>,
}

impl SyscallCounts {
    pub(crate) fn new(own: u32, noted: &[Sysno]) -> Self {
        let numbers = noted.iter().filter_map(|call| call.number());
        SyscallCounts {
            own,
            noted: numbers.map(|number| (number, Vec::new())).collect(),
            ..SyscallCounts::default()
        }
    }

    pub(crate) fn own_task(&self) -> u32 {
        self.own
    }

    pub(crate) fn record(&mut self, task: u32, number: u32, arguments: Arguments) {
        *self.counts.entry((task, number)).or_default() += 1;
        if task == self.own
            && let Some(noted) = self.noted.get_mut(&number)
        {
            noted.push(arguments);
        }
    }

    pub(crate) fn record_reading(&mut self) {
        self.readings += 1;
    }

    pub(crate) fn record_foreign(&mut self) {
        self.foreign += 1;
    }

    pub(crate) fn record_operations(&mut self, operations: u64) {
        self.operations = self.operations.saturating_add(operations);
    }
}

impl SyscallCounts {
    /// How often this call was made, by all tasks. 0 for a call the target lacks.
    pub fn get(&self, call: Sysno) -> u64 {
        self.sum(|_, number| Some(number) == call.number())
    }

    /// How often the operation's own task made it, without the processes and threads it started.
    pub fn own(&self, call: Sysno) -> u64 {
        self.sum(|task, number| task == self.own && Some(number) == call.number())
    }

    /// How often the processes and threads that the operation started made it.
    pub fn of_started(&self, call: Sysno) -> u64 {
        self.get(call) - self.own(call)
    }

    /// How many calls they made together.
    pub fn total_of_started(&self) -> u64 {
        self.sum(|task, _| task != self.own) + self.foreign
    }

    /// How many of these made a call.
    pub fn started(&self) -> usize {
        let tasks = self.counts.keys().map(|(task, _)| *task);
        tasks
            .filter(|task| *task != self.own)
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// The arguments of each such call by the operation's own task, in the order of the calls.
    /// Empty for a call that was not to be noted.
    pub fn arguments(&self, call: Sysno) -> &[Arguments] {
        call.number()
            .and_then(|number| self.noted.get(&number))
            .map_or(&[], Vec::as_slice)
    }

    /// How many calls all tasks made together.
    pub fn total(&self) -> u64 {
        self.sum(|_, _| true) + self.foreign
    }

    /// How many calls went through another architecture's table (`int 0x80` on x86-64), whose numbers mean
    /// something else.
    pub fn foreign(&self) -> u64 {
        self.foreign
    }

    /// How many of the calls of clock_gettime were readings of the time through the vDSO, which are
    /// calls only because this machine's kernel does not let user space read its clock.
    pub fn readings(&self) -> u64 {
        self.readings
    }

    /// How many operations programs said they made between their marks.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// How many tasks (threads or processes) made a call.
    pub fn tasks(&self) -> usize {
        self.counts
            .keys()
            .map(|(task, _)| task)
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// Each number that was called with its count over all tasks, by number. [`Sysno::from_number`]
    /// names it.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        let mut by_number = BTreeMap::<u32, u64>::new();
        for (&(_, number), count) in &self.counts {
            *by_number.entry(number).or_default() += count;
        }
        by_number.into_iter()
    }

    fn sum(&self, wanted: impl Fn(u32, u32) -> bool) -> u64 {
        self.counts
            .iter()
            .filter(|((task, number), _)| wanted(*task, *number))
            .map(|(_, count)| count)
            .sum()
    }
}

/// Writes `getppid 100, read 2`, or `no system call` when there was none.
impl fmt::Display for SyscallCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.total() == 0 {
            return f.write_str("no system call");
        }
        let mut parts: Vec<String> = self
            .iter()
            .map(|(number, count)| match Sysno::from_number(number) {
                Some(call) => format!("{call} {count}"),
                None => format!("number {number} {count}"),
            })
            .collect();
        if self.foreign > 0 {
            parts.push(format!("of another architecture {}", self.foreign));
        }
        f.write_str(&parts.join(", "))
    }
}

/// Why there is no count.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The filter cannot be installed here, so the operation was not run.
    #[error("system calls cannot be audited here: {0}")]
    SeccompUnavailable(Unsupported),
    /// The operation did not end in time and was killed.
    #[error("the audited operation did not end within {0:?} and was killed")]
    TimedOut(Duration),
    /// The operation ended its process.
    #[error("the audited operation {0}")]
    Died(Death),
    /// No child could be made.
    #[error("cannot fork a child for the audit: {0}")]
    Fork(#[source] io::Error),
    /// This side of the audit failed; the child was killed.
    #[error("the audit failed in {0}: {1}")]
    Supervise(&'static str, #[source] io::Error),
}

/// How an operation ended its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// By the signal of this number.
    Signal(i32),
    /// By exiting with this status.
    Code(i32),
    /// By a panic; its message is on standard error.
    Panic,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Death::Signal(signal) => write!(
                f,
                "was killed by signal {signal}{}",
                os::signal_name(*signal)
            ),
            Death::Code(code) => write!(f, "ended its process with code {code}"),
            Death::Panic => f.write_str("panicked (its message is on standard error)"),
        }
    }
}

#[cfg(test)]
mod tests;
