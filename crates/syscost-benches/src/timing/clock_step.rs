//! By how much a clock advances from one reading to the next that differs.
//!
//! ## Measures
//! The typical step between consecutive readings that differ, taken as fast as possible. The
//! details: the smallest step, the longest gap, quantiles, the share of readings that came over 1
//! µs after the one before, and how many readings in a row are equal. The histogram holds every
//! step.
//! ## Does not measure
//! The cost of a reading itself (`timing.clock_read`).
//! ## Interpretation
//! A clock finer than its own reading steps by about the cost of one: for `tsc` that is the cost of
//! a bare pair of `rdtsc`, which published measurements subtract from each result. A coarser one
//! steps by its resolution and repeats itself: gettimeofday by 1 µs, 20 to 50 readings each, coarse
//! clocks by the kernel's tick. The tail is the machine's, not the clock's: interrupts, and the
//! host of a virtual machine.
//! ## Source
//! The clock-read-switch experiment's runs of equal gettimeofday readings; the rdtsc row of the
//! three-costs experiment.

use std::io;
use std::time::Instant;

use syscost_harness::prelude::*;
use syscost_stats::order::nearest_rank;

use super::clock_read::{Named, by_reader};
use crate::implied::{Implied, Shares};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Clock granularity: step between readings",
    tags: "clock resolution, timer resolution, timer granularity, gettimeofday, rdtsc",
    ignores_interference: true,
    ..Benchmark::of::<ClockStep>()
};

const BACKWARDS: Counter = Counter::Reported("readings earlier than their predecessor");

/// Maximum length of an observation, in ns, by the clock observed, if it steps at all.
const OBSERVED_NS: f64 = 100_000.0;

/// A clock that makes this many steps meanwhile is fine enough for all of them together to be what
/// passed on another clock.
const FINE: usize = 50;

#[derive(Params, Clone)]
struct ClockStep {
    source: Named,
}

impl Measured for ClockStep {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        // An alarm clock is the clock it is named after, and `time` takes seconds to step.
        let same = [Named::RealtimeAlarm, Named::BoottimeAlarm, Named::Time];
        rows!(ClockStep {
            source: Named::ALL.into_iter().filter(|name| !same.contains(name))
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.source {
            Named::Monotonic => Profile::Quick,
            Named::Tsc | Named::MonotonicCoarse => Profile::Standard,
            Named::TscFenced
            | Named::Rdtscp
            | Named::Realtime
            | Named::RealtimeCoarse
            | Named::RealtimeAlarm
            | Named::MonotonicRaw
            | Named::Boottime
            | Named::BoottimeAlarm
            | Named::Tai
            | Named::ProcessCputime
            | Named::ThreadCputime
            | Named::Gettimeofday
            | Named::Time => Profile::Full,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        self.source.source().support()
    }

    fn proofs(&self) -> ClockStepProofs<Proof> {
        // Unfenced reads may pass one another: all that can be claimed is that few of them do.
        let backwards = match self.source == Named::Tsc {
            true => at_most(BACKWARDS, 1.0),
            false => exactly(BACKWARDS, 0.0),
        };
        ClockStepProofs {
            source: self.source.proof().and(Proof::counted([backwards])),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        steps_of(plan, self.source)
    }
}

fn steps_of(mut plan: Plan, named: Named) -> Result<Outcome, Failure> {
    let quantile = |values: &mut [f64], q| nearest_rank(values, q).unwrap_or(f64::NAN);
    let source = named.source();
    if plan.looks() {
        source.look(&mut plan)?;
    }
    let units_per_ns = source.units_per_ns(plan.clock());
    let long_enough = (OBSERVED_NS * units_per_ns) as i64;
    let mut steps = Steps::new();
    let (mut all, mut runs, mut readings) = (Vec::new(), Vec::new(), 0);
    let mut implied = Implied::default();
    let mut outcome = plan.measure(Observed::of(|| {
        let begun = Instant::now();
        by_reader!(
            source,
            read,
            steps.take(long_enough, || Ok(read())),
            steps.take(long_enough, read)
        )
        .tried("reading the clock")?;
        let (took, first) = (begun.elapsed(), all.len());
        all.extend(
            steps
                .seen
                .iter()
                .map(|(step, _)| *step as f64 / units_per_ns),
        );
        // A clock of few steps may have made its first one at once.
        if steps.seen.len() >= FINE {
            implied.note_over(all[first..].iter().sum(), took);
        }
        readings += steps
            .seen
            .iter()
            .map(|(_, run)| u64::from(*run))
            .sum::<u64>();
        // The first run began before the first reading.
        runs.extend(steps.seen.iter().skip(1).map(|(_, run)| f64::from(*run)));
        Ok(quantile(&mut all[first..].to_vec(), 0.5))
    }))?;

    if implied.has_any() {
        implied.claim(&mut outcome, Shares::WHOLE);
    }
    if let Some(typical) = nearest_rank(&mut all.clone(), 0.5) {
        Implied::of_values(&outcome, typical).claim_typical(&mut outcome);
    }
    outcome.report(
        "readings earlier than their predecessor",
        all.iter().filter(|ns| **ns < 0.0).count() as f64,
    );
    let over_1us = all.iter().filter(|ns| **ns > 1000.0).count() as f64;
    outcome.detail("steps_over_1us_percent", 100.0 * over_1us / readings as f64);
    for (name, q, over) in [
        ("smallest", 0.0, Over::Min),
        ("p50", 0.5, Over::Median),
        ("p99", 0.99, Over::Median),
        ("p999", 0.999, Over::Median),
        ("longest", 1.0, Over::Max),
    ] {
        outcome.detail_over(over, &format!("{name}_step_ns"), quantile(&mut all, q));
    }
    if !runs.is_empty() {
        outcome.detail("equal_readings_typical_count", quantile(&mut runs, 0.5));
        outcome.detail("equal_readings_max_count", quantile(&mut runs, 1.0));
    }
    all.iter().for_each(|ns| outcome.record_single(*ns));
    Ok(outcome)
}

/// Maximum number of steps of one observation.
const STEPS: usize = 4096;

/// Consecutive readings that differ.
struct Steps {
    /// How far each differs from the one before, and how many readings in a row were equal to that.
    seen: Vec<(i64, u32)>,
    last: u64,
}

impl Steps {
    /// Room for all steps, touched beforehand: a page fault between two readings would be seen as a gap.
    fn new() -> Self {
        Self {
            seen: vec![(1, 1); STEPS],
            last: 0,
        }
    }

    /// Reads until there are [`STEPS`] steps, or the clock has advanced by `long_enough`.
    fn take(
        &mut self,
        long_enough: i64,
        mut read: impl FnMut() -> io::Result<u64>,
    ) -> io::Result<()> {
        self.seen.clear();
        let first = read()?;
        self.last = first;
        while self.seen.len() < STEPS && self.last.wrapping_sub(first).cast_signed() < long_enough {
            let mut run = 1;
            let mut now = read()?;
            while now == self.last {
                run += 1;
                now = read()?;
            }
            self.seen
                .push((now.wrapping_sub(self.last).cast_signed(), run));
            self.last = now;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_runs_of_equal_readings_are_distinguished() {
        let mut readings = [10, 10, 13, 13, 13, 12, 20, 20].into_iter();
        let mut steps = Steps::new();
        steps
            .take(10, || {
                readings.next().ok_or(io::ErrorKind::UnexpectedEof.into())
            })
            .unwrap();
        assert_eq!(steps.seen, [(3, 2), (-1, 3), (8, 1)]);
        assert_eq!(steps.last, 20);
    }
}
