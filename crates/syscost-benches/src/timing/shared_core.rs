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

use std::thread;

use syscost_harness::prelude::*;
use syscost_stats::order::median;
use syscost_sys::clock::Clock;
use syscost_sys::core_probe::{Alone, Probe, ProbeReading};
use syscost_sys::cpu;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "SMT contention: share of time the core is shared",
    tags: "hyper-threading, hyperthreading, simultaneous multithreading, sibling thread, \
        noisy neighbor, noisy neighbour, virtual machine, steal time",
    unit: Unit::Percent,
    quantity: Quantity::Level,
    expect: &[
        // The measuring thread sleeps while its helper probes.
        at_least(
            Counter::VoluntarySwitches,
            0.5,
            "it starts its helper, and waits for it",
        ),
    ],
    roles: roles!(_ => Role::SharedCore),
    ignores_interference: true,
    ..Benchmark::of::<TimingSharedCore>()
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
struct TimingSharedCore {
    cpu: Cpu,
}

impl Measured for TimingSharedCore {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(TimingSharedCore {
            cpu: super::spread_cpus(here)
        })
    }

    fn proofs(&self) -> TimingSharedCoreProofs<Proof> {
        TimingSharedCoreProofs {
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
    let unless = |holds, why| match holds {
        true => (Verdict::Confirmed, None),
        false => (Verdict::Unverified, Some(why)),
    };
    super::show_cpus(b, windows.iter().map(|window| window.ran_on));
    let typical = |of: fn(&Window) -> f64| median(&windows.iter().map(of).collect::<Vec<_>>());
    // A probe that takes twice as long looks as if there were a busy sibling. This detects a
    // level at which any core would count as unshared.
    if let Some(seen) = typical(|window| window.slowed_seen_percent) {
        b.claim_within(
            "per cent of looks slowed on purpose that find the core shared",
            Bound::Within(MIN_SEEN_PERCENT, 100.0),
            seen,
            "slowed probe",
        );
    }
    let expected = format!("at least {MIN_PROBING_PERCENT}");
    if let Some(probing) = typical(|window| window.probing_percent) {
        let why = "this processor was taken away for the rest of the time";
        let (verdict, reason) = unless(probing >= MIN_PROBING_PERCENT, why);
        let what = "per cent of the window spent looking";
        b.claim_verdict(what, expected, probing, "run's clock", verdict, reason);
    }
    let ratios: Vec<f64> = windows
        .iter()
        .filter_map(|window| window.chain_ratio)
        .collect();
    if let Some(ratio) = median(&ratios) {
        let why = "the frequency changed together with the sharing";
        let (verdict, reason) = unless((ratio - 1.0).abs() <= SAME_CHAIN, why);
        let what = "dependent instructions on a shared core, over those on one of our own";
        let expected = format!("from {} to {}", 1.0 - SAME_CHAIN, 1.0 + SAME_CHAIN);
        b.claim_verdict(what, expected, ratio, "run's clock", verdict, reason);
    }
}

/// How long probes are made one after the other.
const WINDOW_NS: f64 = 20e6;

/// Maximum slowdown of independent instructions by the SMT sibling: a longer probe was interrupted, and
/// shows nothing about the core.
const MAX_SLOWDOWN: f64 = 4.0;

/// A ratio below this share of an unshared core's comes from an interrupted chain.
const MIN_RATIO: f64 = 0.9;

/// Readings of a slowed probe after each window.
const SLOWED_PROBES: u32 = 200;

/// Minimum number of probes of either kind for a comparison of the two.
const MIN_LOOKS: usize = 50;

/// What was observed in one window.
#[derive(Debug, Default)]
struct Window {
    /// Time in probes that found the core unshared, and shared, in ns.
    own_ns: f64,
    shared_ns: f64,
    /// Whether the core was unshared, and for how long, in us, stretch after stretch.
    stretches: Vec<(bool, f64)>,
    /// How much longer independent instructions took at each probe that found the core shared, in
    /// percent.
    slowdowns: Vec<f64>,
    /// Share of the window spent in conclusive probes, in percent.
    probing_percent: f64,
    /// Dependent instructions on the shared core relative to those on an unshared one; `None`
    /// without enough of either.
    chain_ratio: Option<f64>,
    /// Share of the deliberately slowed probes that find the core shared, in percent.
    slowed_seen_percent: f64,
    ran_on: u32,
}

impl Window {
    /// Probes from the calling thread, which is pinned for it.
    fn take(clock: &Clock, probe: &Probe, alone: &Alone, number: u32) -> Result<Self, Failure> {
        cpu::pin(number).map_err(Unsupported::from)?;
        let first = clock.start();
        let mut readings = Vec::new();
        let mut now = first;
        while clock.to_ns(now.saturating_sub(first)) < WINDOW_NS {
            let reading = probe.read();
            let after = clock.stop().ticks;
            readings.push((reading, clock.to_ns(after.saturating_sub(now))));
            now = after;
        }
        let slowed = probe.slowed(2);
        let seen = (0..SLOWED_PROBES).filter(|_| !alone.holds(&slowed.read()));
        Ok(Self {
            slowed_seen_percent: 100.0 * seen.count() as f64 / f64::from(SLOWED_PROBES),
            ran_on: cpu::current(),
            ..Self::of(&readings, alone)
        })
    }

    /// The results of probes, each with the time it took, in ns.
    fn of(readings: &[(ProbeReading, f64)], alone: &Alone) -> Self {
        let mut window = Self::default();
        let mut chains = [Vec::new(), Vec::new()];
        let all_ns: f64 = readings.iter().map(|(_, ns)| ns).sum();
        for (reading, ns) in readings {
            let times = reading.ratio().map(|ratio| ratio / alone.ratio);
            let Some(times) = times.filter(|times| (MIN_RATIO..MAX_SLOWDOWN).contains(times))
            else {
                continue;
            };
            let is_exclusive = alone.holds(reading);
            chains[usize::from(is_exclusive)].push(f64::from(reading.chain));
            if is_exclusive {
                window.own_ns += ns;
            } else {
                window.shared_ns += ns;
                window.slowdowns.push(100.0 * (times - 1.0));
            }
            match window.stretches.last_mut() {
                Some((kind, us)) if *kind == is_exclusive => *us += ns / 1e3,
                _ => window.stretches.push((is_exclusive, ns / 1e3)),
            }
        }
        window.probing_percent = 100.0 * (window.own_ns + window.shared_ns) / all_ns.max(1.0);
        let [shared, own] = &chains;
        window.chain_ratio = median(shared)
            .zip(median(own))
            .filter(|_| shared.len().min(own.len()) >= MIN_LOOKS)
            .map(|(shared, own)| shared / own);
        window
    }

    /// Share of the time spent probing in which the core was shared, in percent.
    fn shared_percent(&self) -> Result<f64, Failure> {
        let all = self.own_ns + self.shared_ns;
        (all > 0.0)
            .then(|| 100.0 * self.shared_ns / all)
            .ok_or_else(|| Failure::Failed("no probe of the core was left undisturbed".into()))
    }

    /// Durations of the stretches in which the core was unshared, or shared, in us.
    fn stretches_us(&self, is_exclusive: bool) -> impl Iterator<Item = f64> {
        let stretches = self.stretches.iter();
        stretches.filter_map(move |(kind, us)| (*kind == is_exclusive).then_some(*us))
    }
}

/// The stretch that contains the middle of the time: half of all the time is in stretches of at
/// least this length.
fn long_stretch(stretches: &[f64]) -> Option<f64> {
    let mut sorted = stretches.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted.iter().sum::<f64>() / 2.0;
    let mut passed = 0.0;
    sorted.into_iter().find(|stretch| {
        passed += stretch;
        passed >= half
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Alone = Alone {
        ratio: 0.84,
        limit: 0.86,
        is_assumed: false,
    };

    fn reading(ratio: f64, chain: u32) -> (ProbeReading, f64) {
        let throughput = (ratio * f64::from(chain)) as u32;
        (ProbeReading { throughput, chain }, 1_000.0)
    }

    #[test]
    fn looks_are_distinguished_and_make_stretches() {
        let mut readings = vec![reading(0.84, 1000); 300];
        readings.extend(vec![reading(1.26, 1010); 100]);
        readings.extend(vec![reading(0.845, 1000); 100]);
        // An interrupt in either burst.
        readings.insert(50, reading(9.0, 1000));
        readings.insert(350, reading(0.2, 5000));
        let window = Window::of(&readings, &ALONE);
        assert_eq!(window.shared_percent().ok(), Some(20.0));
        assert_eq!(
            window.stretches_us(true).collect::<Vec<_>>(),
            [300.0, 100.0]
        );
        assert_eq!(window.stretches_us(false).collect::<Vec<_>>(), [100.0]);
        assert!(
            window
                .slowdowns
                .iter()
                .all(|slow| (slow - 50.0).abs() < 0.2)
        );
        assert!((window.probing_percent - 100.0 * 500.0 / 502.0).abs() < 1e-9);
        assert_eq!(window.chain_ratio, Some(1.01));
    }

    #[test]
    fn a_core_that_is_only_ours_has_nothing_to_compare() {
        let window = Window::of(&[reading(0.84, 1000); 300], &ALONE);
        assert_eq!(window.shared_percent().ok(), Some(0.0));
        assert_eq!((window.chain_ratio, window.slowdowns.len()), (None, 0));
        assert!(Window::of(&[], &ALONE).shared_percent().is_err());
    }

    #[test]
    fn half_of_the_time_lies_in_long_stretches() {
        let mut stretches = vec![1.0; 100];
        stretches.extend([80.0, 90.0]);
        assert_eq!(long_stretch(&stretches), Some(80.0));
        assert_eq!(long_stretch(&[]), None);
    }
}
