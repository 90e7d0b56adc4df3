//! How often a clock is more than a microsecond further on at the next reading.
//!
//! ## Measures
//! 100 000 readings in a row through the C library: the share of them, in percent, that came over 1
//! µs after the one before, by the clock itself.
//! ## Does not measure
//! How long these steps are together (`timing.noise`), or how finely the clock counts
//! (`timing.clock_step`).
//! ## Interpretation
//! No reading takes that long: what lies between two of them is an interrupt, another task or, in a
//! virtual machine, the host. The timer's tick alone makes 250 to 1000 of them a second
//! (`long_steps_per_s`), some thousandths of a percent. More of them, and the tail of anything that
//! is timed by two readings is the machine's. gettimeofday counts whole microseconds, so a step
//! must be of two to be longer than one: it shows only some of the gaps of one to two.
//! ## Source
//! The clock-read-switch experiment, which counted long steps of gettimeofday in 100 000 readings.

use syscost_harness::prelude::*;

use super::clock_read::Named;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Clock readings over 1 µs after the one before",
    tags: "jitter, interrupts, clock granularity, gettimeofday, os noise",
    unit: Unit::Percent,
    quantity: Quantity::Level,
    expect: &[
        exactly(Counter::Reported(BACKWARDS), 0.0),
        // They wait for nothing: a switch that no step shows would be one the clock did not see.
        at_most(Counter::VoluntarySwitches, 0.05),
    ],
    ignores_interference: true,
    ..Benchmark::of::<LongSteps>()
};

const BACKWARDS: &str = "readings earlier than their predecessor";

/// Readings of an observation.
const READINGS: u64 = 100_000;

/// A step longer than this is long, in ns.
const LONG_NS: i64 = 1000;

/// What some readings in a row showed; times in ns, which is what these clocks count.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct StepCounts {
    readings: u64,
    long: u64,
    backwards: u64,
    longest_ns: i64,
    spent_ns: i64,
}

impl StepCounts {
    fn take<E>(
        &mut self,
        readings: u64,
        mut read: impl FnMut() -> Result<u64, E>,
    ) -> Result<(), E> {
        let mut last = read()?;
        for _ in 0..readings {
            let now = read()?;
            let step = now.wrapping_sub(last).cast_signed();
            self.long += u64::from(step > LONG_NS);
            self.backwards += u64::from(step < 0);
            self.longest_ns = self.longest_ns.max(step);
            self.spent_ns += step;
            last = now;
        }
        self.readings += readings;
        Ok(())
    }
}

#[derive(Params, Clone)]
struct LongSteps {
    source: Named,
}

impl Measured for LongSteps {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(LongSteps {
            source: [Named::Gettimeofday, Named::Monotonic]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.source == Named::Gettimeofday {
            true => Profile::Standard,
            false => Profile::Full,
        }
    }

    fn proofs(&self) -> LongStepsProofs<Proof> {
        LongStepsProofs {
            source: self.source.proof(),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let source = self.source.source();
        if plan.looks() {
            source.look(&mut plan)?;
        }
        let mut all = StepCounts::default();
        let mut outcome = plan.measure(Observed::of(|| {
            let before = all.long;
            all.take(READINGS, || source.read())
                .tried("reading the clock")?;
            Ok(100.0 * (all.long - before) as f64 / READINGS as f64)
        }))?;
        outcome.report(BACKWARDS, all.backwards as f64);
        outcome.detail_over(Over::Max, "longest_step_ns", all.longest_ns as f64);
        let per_s = 1e9 * all.long as f64 / all.spent_ns as f64;
        outcome.detail("long_steps_per_s", per_s);
        outcome.detail(
            "long_steps_mean_percent",
            100.0 * all.long as f64 / all.readings as f64,
        );
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn only_steps_over_the_limit_are_long() {
        let mut seen = StepCounts::default();
        for readings in [vec![5, 5, 1005, 2006, 2000], vec![9000, 9001, 12_000]] {
            let mut readings = readings.into_iter();
            let steps = readings.len() as u64 - 1;
            let read = || Ok::<u64, Infallible>(readings.next().expect("one for each"));
            let Ok(()) = seen.take(steps, read);
        }
        let expected = StepCounts {
            readings: 6,
            long: 2,
            backwards: 1,
            longest_ns: 2999,
            spent_ns: 1995 + 3000,
        };
        assert_eq!(seen, expected, "what lies between two series is no step");
    }
}
