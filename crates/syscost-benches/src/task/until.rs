//! Shared: a task that is created and then ended, timed up to either moment.

use std::cell::Cell;

use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;
use syscost_sys::process::{self, Batch};

/// How often the creator left the CPU while it was timed. New tasks share it, so one that runs
/// before the call that created it has returned takes it from the creator, and the creator leaves
/// it at least once to a task whose end is timed as well.
const LEFT: &str = "switches from the creator to others in what is timed";

/// The moment up to which a task is timed.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// It has been created, or has executed its program; it runs only afterwards.
    Created,
    /// It has been waited for.
    Reaped,
}

/// A way to create a task that is a benchmark.
pub(super) trait Creation {
    /// Which profiles measure the creation alone, and all up to the end.
    const PROFILES: [Profile; 2] = [Profile::Full, Profile::Standard];

    /// Measures it up to this moment.
    fn measure(until: Until, plan: Plan) -> Result<Outcome, Failure>;

    /// What proves that it was this moment.
    fn proof(until: Until) -> Proof;
}

/// The row of a way to create tasks.
#[derive(Params, Clone)]
pub(super) struct TaskCreation {
    pub(super) until: Until,
}

impl<C: Creation> Measured<C> for TaskCreation {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(TaskCreation { until: Until::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        let [created, reaped] = C::PROFILES;
        match self.until {
            Until::Created => created,
            Until::Reaped => reaped,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        TaskCreationProofs {
            until: C::proof(self.until),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        C::measure(self.until, plan)
    }
}

/// What proves that tasks that exit by `exit` were timed up to this moment by [`measure`].
pub(super) fn proof_of_threads(until: Until, exit: Sysno) -> Proof {
    Proof::counted(match until {
        Until::Created => vec![
            // The last task of the audit is ended after it: 31 of 32 are counted, or all.
            within(Counter::Syscall(exit), 0.9, 1.0),
            at_most(Counter::Reported(LEFT), 0.25),
            // Within the call; waits of the preparation do not count.
            at_most(Counter::VoluntarySwitches, 0.02),
        ],
        Until::Reaped => vec![
            calls(exit),
            at_least(
                Counter::Reported(LEFT),
                0.9,
                "others may switch it out as well",
            ),
        ],
    })
}

/// Measures `create` alone, or `create` and `end` together (`until=reaped`).
pub(crate) fn measure<'a, T>(
    mut plan: Plan<'a>,
    until: Until,
    mut create: impl FnMut() -> Result<T, Failure>,
    mut end: impl FnMut(T) -> Result<(), Failure>,
) -> Result<Outcome<'a>, Failure> {
    detail_size(&mut plan);
    if until == Until::Reaped {
        let before = Usage::thread()?;
        let mut outcome = plan.measure(Loop::each(|| end(create()?)))?;
        let used = Usage::thread()? - before;
        let left = used.voluntary_switches + used.involuntary_switches;
        outcome.report(LEFT, left as f64);
        return Ok(outcome);
    }
    // In the class for batch work new tasks do not preempt.
    let _policy = Batch::enter().map_err(Unsupported::from)?;
    let made = Cell::new(None);
    let (mut early, mut before) = (0, 0);
    let switches = || Ok::<_, Failure>(Usage::thread()?.involuntary_switches);
    let mut outcome = plan.measure(Single::of(
        || {
            let after = switches()?;
            if let Some(task) = made.take() {
                early += after.saturating_sub(before);
                end(task)?;
            }
            before = switches()?;
            Ok(())
        },
        || {
            made.set(Some(create()?));
            Ok(())
        },
    ))?;
    outcome.report(LEFT, early as f64);
    made.take().map_or(Ok(()), end)?;
    Ok(outcome)
}

/// Details the memory of the measuring process: copying its page tables is most of the cost of a fork.
pub(crate) fn detail_size(b: &mut Bencher) {
    if let Ok(bytes) = process::resident_bytes() {
        b.detail("resident_bytes", bytes as f64);
    }
}
