//! What could have disturbed a sample, as the kernel reports between samples.

use syscost_results::measurement::Cause;
use syscost_sys::counters::{SchedStat, Usage};

/// Reads, between samples, what could have disturbed them.
pub(super) struct Watch {
    schedule: Option<SchedStat>,
    delay_ns: u64,
    usage: Option<Usage>,
    may_block: bool,
    /// Tasks that work together preempt and wait for each other: that is the operation.
    is_team: bool,
}

impl Watch {
    pub(super) fn start(may_block: bool, is_team: bool) -> Self {
        let schedule = SchedStat::open().ok();
        let delay_ns = schedule
            .as_ref()
            .and_then(|s| s.read().ok())
            .map_or(0, |s| s.run_delay_ns);
        Self {
            schedule,
            delay_ns,
            usage: Usage::thread().ok(),
            may_block,
            is_team,
        }
    }

    pub(super) fn look(&mut self) -> Option<Cause> {
        if self.is_team {
            return None;
        }
        let usage = Usage::thread().ok();
        let preempted = usage
            .zip(self.usage)
            .is_some_and(|(now, then)| now.involuntary_switches > then.involuntary_switches);
        self.usage = usage;
        let delay = self
            .schedule
            .as_ref()
            .and_then(|s| s.read().ok())
            .map(|s| s.run_delay_ns);
        let delayed = delay.is_some_and(|ns| ns > self.delay_ns);
        self.delay_ns = delay.unwrap_or(self.delay_ns);
        // An operation that sleeps may be preempted by what it wakes, and after waking up it always
        // waits a little in the run queue.
        if self.may_block {
            None
        } else if preempted {
            Some(Cause::Preempted)
        } else if delayed {
            Some(Cause::RunDelay)
        } else {
            None
        }
    }
}
