//! Shared: a task that is created and then ended, timed up to either moment.

use std::cell::Cell;

use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;
use syscost_sys::process::{self, Batch};

use super::marked::Marked;

/// Evidence that a new task ran before the call that created it returned. They share one CPU.
pub(crate) enum Witness<'a> {
    /// Nothing blocks the creator: a new task that runs early causes an involuntary switch within
    /// the call. To prevent that the creator is meanwhile of the class SCHED_BATCH, in which new
    /// tasks do not preempt.
    Switches,
    /// The creator is blocked until the task has executed the tiny program: if that runs early, its
    /// marker has already come. To prevent that the creator is of the normal class, in which a
    /// woken task runs before others.
    Marker(&'a Marked),
}

impl Witness<'_> {
    fn claim(&self) -> &'static str {
        match self {
            Witness::Switches => "involuntary switches within the call",
            Witness::Marker(_) => "programs that ran within the call",
        }
    }

    /// A count that grows when the task runs early.
    fn count(&self) -> Result<u64, Failure> {
        match self {
            Witness::Switches => Ok(Usage::thread()?.involuntary_switches),
            Witness::Marker(marked) => marked.waiting(),
        }
    }
}

/// Measures `create` alone, or `create` and `end` together (`until=reaped`). `ending` are the calls
/// that belong to the task's end: its work, its exit, and the wait.
pub(crate) fn measure<T>(
    b: &mut Bencher,
    ending: &[Sysno],
    witness: Witness<'_>,
    mut create: impl FnMut() -> Result<T, Failure>,
    mut end: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    detail_size(b);
    let is_reaped = match b.case().get("until") {
        "reaped" => true,
        "created" | "executed" => false,
        _ => return Err(b.case().unknown("until")),
    };
    if is_reaped {
        ending.iter().for_each(|call| b.expect(calls(*call)));
        return b.try_iter(|| end(create()?));
    }
    // The last task of the audit is ended after it: 31 of 32 are counted, or all.
    let nearly_all = |call: &Sysno| within(Counter::Syscall(*call), 0.9, 1.0);
    ending.iter().for_each(|call| b.expect(nearly_all(call)));
    b.expect(at_most(Counter::Reported(witness.claim()), 0.25));
    let _policy = match witness {
        Witness::Switches => {
            // Within the call; waits of the preparation do not count.
            b.expect(at_most(Counter::VoluntarySwitches, 0.02));
            Some(Batch::enter().map_err(|error| Failure::Unsupported(error.to_string()))?)
        }
        Witness::Marker(_) => {
            b.expect(within(Counter::VoluntarySwitches, 0.9, 1.1));
            None
        }
    };
    let made = Cell::new(None);
    let (mut early, mut before) = (0, 0);
    b.single(
        || {
            let after = witness.count()?;
            if let Some(task) = made.take() {
                early += after.saturating_sub(before);
                end(task)?;
            }
            before = witness.count()?;
            Ok(())
        },
        || {
            made.set(Some(create()?));
            Ok(())
        },
    )?;
    // A creator that must wait for its CPU lets the new task run first.
    b.report_shared(witness.claim(), early as f64);
    made.take().map_or(Ok(()), end)
}

/// Details the memory of the measuring process: copying its page tables is most of the cost of a fork.
pub(crate) fn detail_size(b: &mut Bencher) {
    if let Ok(bytes) = process::resident_bytes() {
        b.detail("resident_bytes", bytes as f64);
    }
}
