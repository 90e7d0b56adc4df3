//! How much time a processor takes from a program that only reads the clock.
//!
//! ## Measures
//! The share of the time that went into gaps of over 1 µs between two readings, on one processor:
//! interrupts, other tasks, firmware and, in a virtual machine, the host. Windows of 10 ms, from a
//! thread pinned to the processor.
//! ## Does not measure
//! Slowness without gaps: for SMT interference see `timing.shared_core`; a guest that uses
//! the memory is not detected.
//! ## Interpretation
//! An idle processor loses a few hundredths of a per cent to the timer's tick. `longest_gap_ns` is
//! what a single operation may have to wait; `gaps_over_5us_per_s` counts from the threshold that
//! osnoise has by default. The run's own noise probe counts lost time from there as well, so it
//! detects less.
//! ## Source
//! Linux's osnoise and hwlat tracers, from user space.

use std::thread;

use syscost_harness::prelude::*;
use syscost_sys::clock::{Clock, Gaps};
use syscost_sys::counters::Usage;
use syscost_sys::cpu;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "OS noise: time lost to others",
    tags: "operating system noise, jitter, interrupts, preemption, steal time, osnoise, hwlat",
    unit: Unit::Percent,
    quantity: Quantity::Level,
    expect: &[
        // The measuring thread sleeps while its helper listens.
        at_least(
            Counter::VoluntarySwitches,
            0.5,
            "it starts its helper, and waits for it",
        ),
        // A task switched out twice before it continues shows only one gap; that is rare.
        at_most(Counter::Reported("switches that no gap shows"), 0.5),
    ],
    roles: roles!(_ => Role::Noise),
    ignores_interference: true,
    ..Benchmark::of::<TimingNoise>()
};

#[derive(Params, Clone)]
struct TimingNoise {
    cpu: Cpu,
}

impl Measured for TimingNoise {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(TimingNoise {
            cpu: super::spread_cpus(here)
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        Profile::Quick
    }

    fn proofs(&self) -> TimingNoiseProofs<Proof> {
        TimingNoiseProofs {
            cpu: super::runs_on([self.cpu]),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let Cpu(number) = self.cpu;
        let clock = *plan.clock();
        let mut windows = Vec::new();
        let mut outcome = plan.measure(Observed::of(|| {
            // A separate thread, so that the measuring one stays where it is pinned.
            let window =
                thread::scope(|scope| scope.spawn(|| Window::listen(&clock, number)).join())
                    .map_err(|_| Failure::Failed("the listening thread panicked".into()))??;
            let lost = lost_percent([&window]);
            windows.push(window);
            Ok(lost)
        }))?;

        let sum =
            |part: fn(&Gaps) -> f64| windows.iter().map(|window| part(&window.gaps)).sum::<f64>();
        outcome.report(
            "switches that no gap shows",
            windows
                .iter()
                .map(|window| window.unseen_switches as f64)
                .sum(),
        );
        let longest = windows
            .iter()
            .map(|window| window.gaps.longest_ns)
            .fold(0.0, f64::max);
        outcome.detail_over(Over::Max, "longest_gap_ns", longest);
        outcome.detail(
            "gaps_over_5us_per_s",
            1e9 * sum(|gaps| gaps.long as f64) / sum(|gaps| gaps.spent_ns),
        );
        outcome.detail("lost_mean_percent", lost_percent(&windows));
        let reading_ns =
            sum(|gaps| gaps.spent_ns - gaps.lost_ns) / sum(|gaps| gaps.readings as f64);
        let holds = reading_ns < LOST_NS / 10.0;
        outcome.claim(
            "ns from reading to reading",
            "under 100",
            reading_ns,
            "run's clock",
            holds,
        );
        super::show_cpus(&mut outcome, windows.iter().map(|window| window.ran_on));
        Ok(outcome)
    }
}

/// How long gaps are listened for.
const WINDOW_NS: f64 = 10e6;

/// Minimum length of a gap that is lost time, in ns: tens of readings fit into it.
const LOST_NS: f64 = 1_000.0;

/// What was observed in one window.
#[derive(Debug)]
struct Window {
    gaps: Gaps,
    /// Switches that the kernel counted beyond the gaps that were seen.
    unseen_switches: u64,
    ran_on: u32,
}

impl Window {
    /// Listens from the calling thread, which is pinned for it.
    fn listen(clock: &Clock, number: u32) -> Result<Self, Failure> {
        cpu::pin(number).map_err(Unsupported::from)?;
        let before = Usage::thread()?;
        let gaps = Gaps::listen(clock.ticks_per_ns(), WINDOW_NS, LOST_NS, || clock.start());
        let used = Usage::thread()? - before;
        let switches = used.voluntary_switches + used.involuntary_switches;
        Ok(Self {
            gaps,
            unseen_switches: switches.saturating_sub(gaps.lost),
            ran_on: cpu::current(),
        })
    }
}

/// The share of these windows that was lost, in percent.
fn lost_percent<'w>(windows: impl IntoIterator<Item = &'w Window>) -> f64 {
    let (lost, spent) = (windows.into_iter()).fold((0.0, 0.0), |(lost, spent), window| {
        (lost + window.gaps.lost_ns, spent + window.gaps.spent_ns)
    });
    100.0 * lost / spent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_was_lost_counts() {
        // Three gaps are lost: of 2, 5 and 4 µs.
        let mut ticks = [0, 2_000, 2_010, 7_010, 11_010, 11_110].into_iter();
        let gaps = Gaps::listen(1.0, 11_100.0, LOST_NS, || ticks.next().expect("one more"));
        let window = Window {
            gaps,
            unseen_switches: 0,
            ran_on: 0,
        };
        assert_eq!(lost_percent([&window]), 100.0 * 11_000.0 / 11_110.0);
        assert_eq!(lost_percent([&window, &window]), lost_percent([&window]));
    }
}
