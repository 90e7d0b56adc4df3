//! A busy process on the CPU of the task that sleeps.

use std::hint::black_box;
use std::time::Instant;

use syscost_harness::prelude::*;
use syscost_sys::counters::{TaskReading, TaskStat};
use syscost_sys::partner::{Between, Partner};

use super::tally::Tally;

/// The share of the CPU, in percent, without which it was no load. On a busy machine others take theirs.
const LEAST_PERCENT: f64 = 10.0;

/// Every wake-up takes the CPU from somebody: at least so often from the load.
const LEAST_PREEMPTIONS: f64 = 0.2;

/// The process; it ends when this is dropped, or its maker ends.
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
        })
        .map_err(|error| Failure::Failed(error.to_string()))?;
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

    /// Claims that it was there.
    pub(super) fn tell(&self, b: &mut Bencher, tally: &Tally) -> Result<(), Failure> {
        let (began, before) = self.at_start;
        let used = self.stat.read()? - before;
        let claim = "preemptions of the load per wake-up";
        let preempted = used.involuntary_switches as f64 / tally.tries().max(1) as f64;
        let expected = format!("at least {LEAST_PREEMPTIONS}");
        b.claim(
            claim,
            expected,
            preempted,
            "/proc",
            preempted >= LEAST_PREEMPTIONS,
        );
        let Some(run_ns) = used.run_ns else {
            return Ok(());
        };
        let percent = 100.0 * run_ns as f64 / began.elapsed().as_nanos() as f64;
        let expected = format!("at least {LEAST_PERCENT}");
        let claim = "CPU time of the load in %";
        b.claim(claim, expected, percent, "/proc", percent >= LEAST_PERCENT);
        b.detail("load_percent", percent);
        Ok(())
    }
}
