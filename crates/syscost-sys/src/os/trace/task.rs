//! A task, and the call that it is in.

use std::fs;

use crate::counters::{Numbers, TaskId};
use crate::raw::Sysno;
use crate::trace::{Arguments, Call, Outcome, Shape};

/// A call that a task has entered.
pub(super) struct Entered {
    /// As far as it is known.
    pub(super) call: Call,
    /// `None` if there is nothing to know, or it is another table's.
    pub(super) shape: Option<&'static Shape>,
    pub(super) arguments: Arguments,
    /// Memory of its process that is resident, in bytes, if that matters.
    pub(super) resident: u64,
    /// The address of the instruction after it.
    pub(super) from: u64,
    /// Not if it was entered before the trace.
    pub(super) is_counted: bool,
}

impl Entered {
    pub(super) fn new(number: u64, is_foreign: bool, arguments: Arguments, from: u64) -> Entered {
        let call = Call {
            number: number as u32,
            is_foreign,
            variant: None,
            object: None,
            size: None,
            outcome: Outcome::Ok,
        };
        Entered {
            call,
            shape: None,
            arguments,
            resident: 0,
            from,
            is_counted: true,
        }
    }

    pub(super) fn is(&self, call: Sysno) -> bool {
        !self.call.is_foreign && call.number() == Some(self.call.number)
    }

    /// Whether this is how the kernel goes on with one that was broken off: by a call that is there for
    /// that, or the same from the same place.
    pub(super) fn continues(&self, broken: &Entered) -> bool {
        let is_same = self.call.number == broken.call.number
            && self.call.is_foreign == broken.call.is_foreign
            && self.arguments == broken.arguments
            && self.from == broken.from;
        // 0 is its number in the table of `int 0x80`.
        let is_restart = self.call.is_foreign && self.call.number == 0;
        is_same || is_restart || self.is(Sysno::RESTART_SYSCALL)
    }
}

/// Where a task is.
#[derive(Default)]
pub(super) enum At {
    #[default]
    Program,
    Call(Entered),
    /// It left a call in such a way that the kernel may make it again, unless a handler runs.
    Broken(Entered, Outcome),
}

#[derive(Default)]
pub(super) struct Task {
    /// Its process.
    pub(super) group: u32,
    pub(super) at: At,
    /// Faults that it had before the trace, or that were taken note of.
    faults: u64,
    /// Whether the next stop is the one by which it is attached to, which wakes it.
    pub(super) is_woken: bool,
}

impl Task {
    /// One that has begun within the trace.
    pub(super) fn of(group: u32) -> Task {
        Task {
            group,
            ..Task::default()
        }
    }

    /// One that is running, and is to be woken out of the call that it is in.
    pub(super) fn running(group: u32, id: u32) -> Task {
        let mut task = Task {
            group,
            at: call_of(id),
            faults: 0,
            is_woken: true,
        };
        task.new_faults(id);
        task
    }

    /// Page faults that it had since this was asked, minor and major ones.
    pub(super) fn new_faults(&mut self, id: u32) -> u64 {
        let task = TaskId {
            process: self.group,
            thread: id,
        };
        let now = Numbers::of(task).map_or(0, |so_far| so_far.minor_faults + so_far.major_faults);
        let now = now.max(self.faults);
        now - std::mem::replace(&mut self.faults, now)
    }
}

/// The call that a task is waiting in, as /proc/PID/syscall tells, as if it had left it already.
fn call_of(task: u32) -> At {
    let text = fs::read_to_string(format!("/proc/{task}/syscall")).unwrap_or_default();
    let mut words = text.split_whitespace();
    let number = words.next().and_then(|word| word.parse().ok());
    let words = words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16));
    let words: Vec<u64> = words.filter_map(Result::ok).collect();
    let (Some(number), &[a, b, c, d, e, f, _, from]) = (number, &words[..]) else {
        return At::Program;
    };
    let mut call = Entered::new(number, false, [a, b, c, d, e, f], from);
    call.is_counted = false;
    At::Broken(call, Outcome::Failed(libc::EINTR))
}
