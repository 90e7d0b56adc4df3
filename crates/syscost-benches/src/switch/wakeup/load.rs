//! A busy process on the CPU of the task that sleeps.

use std::hint::black_box;
use std::time::Instant;

use syscost_harness::prelude::*;
use syscost_sys::counters::{TaskReading, TaskStat};
use syscost_sys::partner::{Between, Partner};

use super::tally::Tally;

/// The process; it ends when this is dropped, or its parent ends.
pub(super) struct Load {
    _process: Partner,
    stat: TaskStat,
    at_start: (Instant, TaskReading),
}

impl Load {
    pub(super) fn start(cpu: u32) -> Result<Self, Failure> {
        let process = Partner::start(Between::Processes, &[cpu], || -> Result<(), String> {
            let mut sum = 0_u64;
            loop {
                sum = black_box(sum.wrapping_add(1));
            }
        })?;
        let stat = TaskStat::of(process.task())?;
        let at_start = (Instant::now(), stat.read()?);
        Ok(Self {
            _process: process,
            stat,
            at_start,
        })
    }

    pub(super) fn stat(&self) -> &TaskStat {
        &self.stat
    }

    /// Claims that it wanted the CPU all the time: it has never slept. The share it got, and how
    /// often it was preempted, are details: on a busy machine other tasks preempt it, too.
    pub(super) fn claim(&self, b: &mut Bencher, tally: &Tally) -> Result<(), Failure> {
        let (began, before) = self.at_start;
        let used = self.stat.read()? - before;
        b.claim_equal("sleeps of the load", 0, used.voluntary_switches, "/proc");
        if let Some(run_ns) = used.run_ns {
            let percent = 100.0 * run_ns as f64 / began.elapsed().as_nanos() as f64;
            b.detail("load_ran_percent", percent);
        }
        let preempted = used.involuntary_switches as f64 / tally.tries().max(1) as f64;
        b.detail("load_preemptions_per_wake_up", preempted);
        Ok(())
    }
}
