//! How much of the time a processor's core is shared with another hardware thread.
//!
//! ## Measures
//! The share of the time in which the second hardware thread of the core was busy: on a rented
//! machine with another guest, else with other programs of this one. Windows of 20 ms, from a
//! thread pinned to the processor, which takes one probe after the other: a burst of
//! independent instructions, which proceed half as fast while the core is shared, and one of
//! dependent instructions, which proceed as fast as ever. Their ratio on an unshared core has been
//! determined by the run before.
//! ## Does not measure
//! Who shares the core, and what is shared between cores: the last cache, memory, the power
//! budget. Time in which this processor was taken away altogether is `timing.noise`'s.
//! ## Interpretation
//! An unshared core shows about one per cent: probes right after an interrupt find caches and
//! predictors filled by other code. `slowdown_median_percent` is how much longer independent
//! instructions take while the core is shared; other work loses less. Half of the time in which the
//! core was unshared lay in stretches of at least `alone_stretch_median_us`, half of the shared
//! time in stretches of at least `shared_stretch_median_us`; no stretch is longer than a window.
//! Rows of this run are measured in the former, if they fit.
//! ## Source
//! Method of this project; see "Undisturbed samples" in docs/METHODOLOGY.md.

mod window;

use std::thread;

use syscost_harness::bencher::Over;
use syscost_harness::prelude::*;
use syscost_results::Verdict;
use syscost_results::stats::order::median;

use self::window::{Window, long_stretch};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "SMT contention: share of time the core is shared",
    tags: "hyper-threading, hyperthreading, simultaneous multithreading, sibling thread, \
        noisy neighbor, noisy neighbour, virtual machine, steal time",
    unit: Unit::Percent,
    quantity: Quantity::Level,
    expect: &[
        // The measuring thread sleeps while its helper probes.
        at_least(Counter::VoluntarySwitches, 0.5),
    ],
    roles: roles!(_ => Role::SharedCore),
    ..Benchmark::of::<Row>()
};

/// Minimum share of the readings of a deliberately slowed probe that must find the core shared, in
/// percent.
const MIN_SEEN_PERCENT: f64 = 90.0;

/// Minimum share of the typical window that probes must fill, in percent.
const MIN_PROBING_PERCENT: f64 = 80.0;

/// Maximum relative difference of dependent instructions on a shared core from those on an unshared
/// one: the SMT sibling takes the front end, not the frequency.
const SAME_CHAIN: f64 = 0.05;

#[derive(Params, Clone)]
struct Row {
    cpu: Cpu,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            cpu: super::spread(&here.allowed, super::MAX_CPUS)
                .into_iter()
                .map(Cpu)
        })
    }

    fn ignores_interference(&self) -> bool {
        true
    }

    fn proofs(&self) -> RowProofs<Proof> {
        RowProofs {
            cpu: super::runs_on([self.cpu]),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let Cpu(number) = self.cpu;
        let probe = plan.core_probe();
        let alone = plan.alone_core(number).ok_or_else(|| {
            Failure::Unsupported(
                "probes of this core agree on no level, so it is not known what it shows while it is ours".into(),
            )
        })?;
        let clock = *plan.clock();
        let mut windows = Vec::new();
        let mut outcome = plan.measure(Observed::of(|| {
            // A separate thread, so that the measuring one stays where it is pinned.
            let window = thread::scope(|scope| {
                scope
                    .spawn(|| Window::take(&clock, &probe, &alone, number))
                    .join()
            })
            .map_err(|_| Failure::Failed("the looking thread panicked".into()))??;
            let shared_percent = window.shared_percent();
            windows.push(window);
            shared_percent
        }))?;
        detail(&mut outcome, &windows);
        claim(&mut outcome, &windows);
        Ok(outcome)
    }
}

fn detail(b: &mut Bencher, windows: &[Window]) {
    let slowdowns: Vec<f64> = windows
        .iter()
        .flat_map(|window| &window.slowdowns)
        .copied()
        .collect();
    if let Some(median) = median(&slowdowns) {
        b.detail("slowdown_median_percent", median);
        let largest = slowdowns.iter().copied().fold(0.0, f64::max);
        b.detail_over(Over::Max, "slowdown_largest_percent", largest);
    }
    for (name, is_exclusive) in [("alone", true), ("shared", false)] {
        let stretches: Vec<f64> = windows
            .iter()
            .flat_map(|window| window.stretches_us(is_exclusive))
            .collect();
        if let Some(long) = long_stretch(&stretches) {
            b.detail(&format!("{name}_stretch_median_us"), long);
            let longest = stretches.iter().copied().fold(0.0, f64::max);
            b.detail_over(Over::Max, &format!("{name}_stretch_longest_us"), longest);
        }
    }
}

fn claim(b: &mut Bencher, windows: &[Window]) {
    super::show_cpus(b, windows.iter().map(|window| window.ran_on));
    let typical = |of: fn(&Window) -> f64| median(&windows.iter().map(of).collect::<Vec<_>>());
    // A probe that takes twice as long looks as if there were a busy sibling. This detects a
    // level at which any core would count as unshared.
    if let Some(seen) = typical(|window| window.slowed_seen_percent) {
        b.claim_within(
            "per cent of looks slowed on purpose that find the core shared",
            Bound::AtLeast(MIN_SEEN_PERCENT),
            seen,
            "slowed probe",
        );
    }
    let expected = format!("at least {MIN_PROBING_PERCENT}");
    if let Some(probing) = typical(|window| window.probing_percent) {
        let (verdict, reason) = match probing >= MIN_PROBING_PERCENT {
            true => (Verdict::Confirmed, None),
            false => (
                Verdict::Unverified,
                Some("this processor was taken away for the rest of the time"),
            ),
        };
        let what = "per cent of the window spent looking";
        b.claim_verdict(what, expected, probing, "run's clock", verdict, reason);
    }
    let ratios: Vec<f64> = windows
        .iter()
        .filter_map(|window| window.chain_ratio)
        .collect();
    if let Some(ratio) = median(&ratios) {
        let (verdict, reason) = match (ratio - 1.0).abs() <= SAME_CHAIN {
            true => (Verdict::Confirmed, None),
            false => (
                Verdict::Unverified,
                Some("the frequency changed together with the sharing"),
            ),
        };
        let what = "dependent instructions on a shared core, over those on one of our own";
        let expected = format!("from {} to {}", 1.0 - SAME_CHAIN, 1.0 + SAME_CHAIN);
        b.claim_verdict(what, expected, ratio, "run's clock", verdict, reason);
    }
}
