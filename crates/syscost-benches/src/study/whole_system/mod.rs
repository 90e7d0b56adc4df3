//! The whole-system experiment: processor, memory, network and file system of one machine, by trials
//! between two readings of the time-stamp counter.

pub(super) mod memory_access;
pub(super) mod memory_bandwidth;
pub(super) mod page_fault;
pub(super) mod procedure_call;
pub(super) mod switch;
pub(super) mod system_call;
pub(super) mod task_creation;
pub(super) mod timing_overhead;

use syscost_harness::prelude::*;
use syscost_sys::arch;
use syscost_sys::clock::{Clock, Source};

/// Number of trials whose mean is a published result.
const TRIALS: u64 = 10;

/// Operations of a trial where they are short.
const MANY: u64 = 1_000_000;

/// The counter that times trials: CPUID and RDTSC before, RDTSCP and CPUID after.
struct Timer<'b> {
    clock: &'b Clock,
}

impl Timer<'_> {
    /// The result of `work`, and its duration in ns.
    #[inline(always)]
    fn time<T>(&self, work: impl FnOnce() -> T) -> (T, f64) {
        let begun = arch::serialized_start();
        let made = work();
        let ended = arch::serialized_stop();
        (made, self.clock.to_ns(ended.saturating_sub(begun)))
    }
}

/// The trials of a procedure, and how much they differed.
struct Trials {
    clock: Clock,
    deviations: Vec<f64>,
    /// The shortest result of all trials: an undisturbed one.
    min: f64,
}

impl Trials {
    /// # Errors
    /// Unsupported where there is no time-stamp counter that RDTSCP reads, or its rate is not known.
    fn new(b: &Bencher) -> Result<Self, Failure> {
        arch::rdtscp()?;
        let clock = *b.clock();
        match clock.source() {
            Source::Tsc => Ok(Self::by(clock)),
            Source::Cntvct | Source::ClockGettime | Source::Mock => {
                let reason = "the time-stamp counter is not fit to be a clock here";
                Err(Failure::Unsupported(reason.to_owned()))
            }
        }
    }

    /// A published result: the mean of ten trials.
    #[inline(always)]
    fn mean(
        &mut self,
        mut trial: impl FnMut(&Timer<'_>) -> Result<f64, Failure>,
    ) -> Result<f64, Failure> {
        let timer = Timer { clock: &self.clock };
        let results = (0..TRIALS).map(|_| trial(&timer));
        let results: Vec<f64> = results.collect::<Result<_, _>>()?;
        let (mean, deviation) = mean_and_deviation(&results);
        self.deviations.push(deviation);
        self.min = results.into_iter().fold(self.min, f64::min);
        Ok(mean)
    }

    /// The mean of ten trials of `operations` each, in ns per operation.
    #[inline(always)]
    fn per_operation<T>(
        &mut self,
        operations: u64,
        mut trial: impl FnMut() -> Result<T, Failure>,
    ) -> Result<f64, Failure> {
        self.mean(|timer| {
            let (made, ns) = timer.time(&mut trial);
            made?;
            Ok(ns / operations as f64)
        })
    }

    /// The typical standard deviation of the trials of a result.
    fn deviation(&self) -> f64 {
        super::procedure::median(&self.deviations)
    }

    /// Trials that this clock times.
    fn by(clock: Clock) -> Self {
        Self {
            clock,
            deviations: Vec::new(),
            min: f64::INFINITY,
        }
    }

    /// Trials of something else, timed by the same clock.
    fn beside(&self) -> Self {
        Self::by(self.clock)
    }

    /// Details the deviation of times, as published.
    fn detail(&self, b: &mut Bencher) {
        b.detail("trials_stddev_ns", self.deviation());
    }
}

/// The mean of some values, and their sample standard deviation.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    (mean, (squares.sum::<f64>() / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use syscost_results::study::{Quantity, Study};

    use super::*;

    #[test]
    fn a_result_is_the_mean_of_ten_trials() {
        let (mean, deviation) = mean_and_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(mean, 5.0);
        assert!((deviation - 32_f64.sqrt() / 7_f64.sqrt()).abs() < 1e-12);
        let mut trials = Trials::by(Clock::system());
        let mut number = 0.0;
        let result = trials.mean(|_| {
            number += 1.0;
            Ok(number)
        });
        assert_eq!((result.unwrap(), number), (5.5, 10.0));
        assert_eq!((trials.deviations.len(), trials.min), (1, 1.0));
    }

    #[test]
    fn the_study_has_the_figures_of_the_text() {
        let study = Study::parse(include_str!("study.toml")).expect("it is right");
        let with = |has: fn(&Quantity) -> bool| {
            let quantities = study.quantities.iter().filter(|one| has(one));
            quantities.map(|one| one.id.as_str()).collect::<Vec<_>>()
        };
        let has_cycles = |one: &Quantity| one.published.iter().any(|one| one.cycles.is_some());
        assert_eq!(
            with(has_cycles),
            [
                "timing-overhead",
                "system-call",
                "thread-creation",
                "process-creation",
                "thread-switch",
                "process-switch"
            ]
        );
        assert_eq!(
            with(|one| one.table == "Memory" && !one.published.is_empty()),
            [
                "access-16k",
                "access-256m",
                "l1-border",
                "l2-border",
                "l3-border",
                "read-bandwidth",
                "write-bandwidth",
                "page-fault"
            ]
        );
        assert_eq!(
            with(|one| one.table == "File system" && !one.published.is_empty()),
            ["file-cache", "contention-law"]
        );
        let is_call = |one: &Quantity| one.id.starts_with("call-") && one.published.is_empty();
        assert_eq!(with(is_call).len(), 8, "whose figures are not published");
    }
}
