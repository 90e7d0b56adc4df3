//! How long a core takes to reach its full frequency after a sleep.
//!
//! ## Measures
//! The time from waking after 10 ms of sleep until the core's frequency has come within 2 % of what
//! it is at the end of 5 ms of work. The frequency is that of dependent additions, one core cycle
//! each, in bursts of 8192; the median of five bursts in a row is taken, so that an interrupt does
//! not count as a change. Where the first five already ran at that frequency the row is marked as
//! below resolution.
//! ## Does not measure
//! The way out of the sleep itself, which is over when the task runs (`switch.wakeup`); frequencies
//! that go on rising after 5 ms; other cores; a ramp that is over within the first five bursts.
//! ## Interpretation
//! `initial_percent` is the initial frequency relative to the steady one. Tens of microseconds
//! point to a processor that chooses its frequency itself, milliseconds to an operating system that
//! does. In a virtual machine the host may have kept the core busy or fast meanwhile: the lack of a
//! ramp then says nothing about the processor. Cores that share their frequency with busy ones show
//! no ramp either.
//! ## Source
//! The ramp-up tests of hardware reviews; the method of avx-turbo for measuring the frequency
//! without privilege.

use std::cell::RefCell;
use std::thread;
use std::time::Duration;

use syscost_harness::prelude::*;
use syscost_stats::order::median;
use syscost_sys::frequency::{Moment, core_frequency, frequency_course};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Frequency ramp-up after a sleep",
    tags: "frequency scaling, dvfs, cpufreq, governor, p-state, turbo",
    expect: &[
        // It sleeps before each ramp, of which the first may be of no use.
        within(Counter::VoluntarySwitches, 0.5, TRIES as f64 + 0.5),
        within(Counter::Reported(STEADY), 0.5, 1.0),
    ],
    measure,
    ..Benchmark::DEFAULT
};

const STEADY: &str = "ramps that reach a steady frequency";

/// How long the core is idle before it works.
const IDLE: Duration = Duration::from_millis(10);

/// How long the core works after that, in ns.
const WORK_NS: f64 = 5e6;

/// Relative distance from the steady frequency at which it counts as reached.
const NEAR: f64 = 0.02;

/// Number of consecutive bursts of which the median is taken.
const TOGETHER: usize = 5;

/// Maximum length of the shortest detectable ramp, in bursts at the steady frequency. It is three
/// bursts long, which may be slower at first.
const FEW: f64 = 16.0;

/// A shortest ramp of more bursts than this is not due to interrupts: a quarter of the work is over.
const MANY: f64 = 400.0;

/// Maximum number of courses tried until one is usable.
const TRIES: usize = 5;

/// Maximum relative distance between the bursts and the chains where they are closest: a burst
/// includes the clock's own cost, and the frequency may move meanwhile.
const APART: f64 = 0.05;

fn measure(mut plan: Plan) -> Result<Outcome, Failure> {
    let clock = *plan.clock();
    let ramps = RefCell::new(Vec::new());
    // For each course on which both chains agreed: the relative difference of its frequency from
    // theirs, and the frequency that they measured.
    let chains = RefCell::new(Vec::new());
    if core_frequency(&clock).add_ghz.is_none() {
        let reason = "the clock does not move";
        return Err(Failure::Unsupported(reason.into()));
    }
    plan.disregard_frequency();
    let mut outcome = plan.measure(Observed::of(|| {
        let ramp = undisturbed(|| {
            thread::sleep(IDLE);
            frequency_course(&clock, WORK_NS)
                .as_deref()
                .and_then(Ramp::of)
        })?;
        if let Some(ghz) = core_frequency(&clock).agreed() {
            chains.borrow_mut().push((ramp.steady_ghz / ghz - 1.0, ghz));
        }
        let ns = ramp.ns;
        ramps.borrow_mut().push(ramp);
        Ok(ns)
    }))?;
    let ramps = ramps.into_inner();
    let steady = ramps.iter().filter(|ramp| ramp.is_steady).count();
    outcome.report(STEADY, steady as f64);
    let chains = chains.into_inner();
    let nearest = chains.iter().map(|(faster, _)| faster.abs());
    let nearest = nearest.reduce(f64::min);
    let claim = "difference of the bursts and of the two chains";
    let (most, source) = (format!("at most {:.0} %", 100.0 * APART), "both chains");
    match nearest {
        Some(apart) => {
            let (verdict, reason) = agree(apart, moved(&chains));
            let seen = format!("{:.2} %", 100.0 * apart);
            outcome.claim_verdict(claim, most, seen, source, verdict, reason);
        }
        None => {
            let reason = "the two chains never agreed with each other: the frequency moved, or \
                          others used the core";
            outcome.claim_unobserved(claim, most, source, reason);
        }
    }
    let of = |value: fn(&Ramp) -> f64| median(&ramps.iter().map(value).collect::<Vec<_>>());
    outcome.detail(
        "initial_percent",
        of(|ramp| 100.0 * ramp.initial).unwrap_or(0.0),
    );
    let min_ns = of(|ramp| ramp.min_ns).unwrap_or(0.0);
    let bursts = min_ns / of(|ramp| ramp.burst_ns).unwrap_or(f64::NAN);
    let verdict = few(bursts);
    outcome.claim_verdict(
        Claim::by_most("shortest ramp that can be distinguished, in bursts"),
        format!("at most {FEW}"),
        bursts,
        "clock",
        verdict,
        (verdict == Verdict::Unverified).then_some("others used the core at the beginning"),
    );
    outcome.resolution(min_ns);
    outcome.detail("steady_ghz", of(|ramp| ramp.steady_ghz).unwrap_or(0.0));
    Ok(outcome)
}

/// The first usable one of a few courses. A task that is interrupted for milliseconds gets through
/// too few bursts.
fn undisturbed(mut course: impl FnMut() -> Option<Ramp>) -> Result<Ramp, Failure> {
    (0..TRIES).find_map(|_| course()).ok_or_else(|| {
        Failure::Failed(format!(
            "in none of {TRIES} ramps was the steady frequency reached: others used this CPU most of the time"
        ))
    })
}

/// Judges whether the shortest detectable ramp, in bursts, is short enough. Interrupts lengthen the
/// bursts, but they do not stretch most of the courses to hundreds.
fn few(bursts: f64) -> Verdict {
    match bursts {
        ..=FEW => Verdict::Confirmed,
        ..=MANY => Verdict::Unverified,
        _ => Verdict::Refuted,
    }
}

/// How far the core's frequency moved: from one course to another, as the chains measured it, or
/// between a course and its chains, by more in some than in others. A burst or a chain of an incorrect
/// length deviates by the same amount in all of them.
fn moved(chains: &[(f64, f64)]) -> f64 {
    // Minimum and maximum of a value.
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let values = || chains.iter().map(of);
        let min = values().fold(f64::INFINITY, f64::min);
        (min, values().fold(f64::NEG_INFINITY, f64::max))
    };
    let (slowest, fastest) = ends(|(_, ghz)| *ghz);
    let (min, max) = ends(|(faster, _)| *faster);
    (fastest / slowest - 1.0).max(max - min)
}

/// Judges whether bursts and chains agree, by how close they were at best and by how far the
/// frequency moved meanwhile: the chains run after the bursts, so that a wandering frequency makes
/// them differ.
fn agree(apart: f64, moved: f64) -> (Verdict, Option<&'static str>) {
    if apart <= APART {
        (Verdict::Confirmed, None)
    } else if moved > APART / 2.0 {
        let reason = "the core's frequency moved from one course to the next, or within them";
        (Verdict::Unverified, Some(reason))
    } else {
        (Verdict::Refuted, None)
    }
}

/// The frequency ramp in a course.
#[derive(Debug, PartialEq)]
struct Ramp {
    /// Time until the steady frequency was reached, in ns; 0 if that was too early to be detected.
    ns: f64,
    /// The shortest detectable ramp, in ns.
    min_ns: f64,
    /// Typical duration of a burst, in ns.
    burst_ns: f64,
    /// The initial frequency, relative to the steady one.
    initial: f64,
    /// The frequency of the last quarter, in GHz.
    steady_ghz: f64,
    /// Whether most of the last quarter runs at that frequency.
    is_steady: bool,
}

impl Ramp {
    /// `None` if there is no course, or the steady frequency is never reached in it.
    fn of(course: &[Moment]) -> Option<Ramp> {
        let ghz: Vec<f64> = course.iter().map(|moment| moment.ghz).collect();
        let last = &ghz[ghz.len() - ghz.len() / 4..];
        let steady_ghz = median(last)?;
        let is_near = |ghz: f64| (ghz / steady_ghz - 1.0).abs() <= NEAR;
        let together: Vec<f64> = ghz.windows(TOGETHER).filter_map(median).collect();
        // The first that is as high, or higher: that is no ramp. A later drop is an interrupt.
        let reached = together
            .iter()
            .position(|ghz| *ghz >= (1.0 - NEAR) * steady_ghz)?;
        let bursts: Vec<f64> = course.windows(2).map(|two| two[1].ns - two[0].ns).collect();
        Some(Ramp {
            ns: match reached {
                0 => 0.0,
                // The median of five changes sides at the third.
                reached => course[reached + TOGETHER / 2 - 1].ns,
            },
            min_ns: course[TOGETHER / 2].ns,
            burst_ns: median(&bursts)?,
            initial: together[0] / steady_ghz,
            steady_ghz,
            is_steady: 2 * last.iter().filter(|ghz| is_near(**ghz)).count() > last.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A course with a burst every 3 us, whose frequency depends on its number.
    fn course(ghz: impl Fn(usize) -> f64) -> Vec<Moment> {
        (0..400)
            .map(|number| Moment {
                ns: 3000.0 * (number + 1) as f64,
                ghz: ghz(number),
            })
            .collect()
    }

    #[test]
    fn a_ramp_ends_where_the_frequency_is_reached() {
        let ramp = Ramp::of(&course(|number| if number < 40 { 2.0 } else { 3.0 })).unwrap();
        assert_eq!(
            (ramp.ns, ramp.steady_ghz, ramp.is_steady),
            (120_000.0, 3.0, true)
        );
        assert!((ramp.initial - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn interrupts_are_no_ramp_and_chaos_is_not_steady() {
        let interrupted = |number: usize| if number.is_multiple_of(7) { 1.0 } else { 3.0 };
        let ramp = Ramp::of(&course(interrupted)).unwrap();
        assert_eq!((ramp.ns, ramp.initial, ramp.is_steady), (0.0, 1.0, true));
        let chaos = |number: usize| 1.0 + (number * 7919 % 400) as f64 / 100.0;
        assert!(Ramp::of(&course(chaos)).is_none_or(|ramp| !ramp.is_steady));
        assert_eq!(Ramp::of(&[]), None);
    }

    #[test]
    fn short_courses_are_tried_again_and_the_reason_is_theirs() {
        let long = course(|_| 3.0);
        for short in 0..TOGETHER {
            assert_eq!(Ramp::of(&long[..short]), None);
        }
        let mut tries = 0;
        let ramp = undisturbed(|| {
            tries += 1;
            Ramp::of(if tries < 3 { &long[..2] } else { &long })
        });
        assert_eq!((tries, ramp), (3, Ok(Ramp::of(&long).unwrap())));
        match undisturbed(|| None) {
            Err(Failure::Failed(reason)) => assert!(reason.contains("others used this CPU")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_only_a_long_ramp_would_show_is_refuted() {
        let ramp = Ramp::of(&course(|_| 3.0)).unwrap();
        assert_eq!(ramp.min_ns / ramp.burst_ns, 3.0);
        assert_eq!(few(ramp.min_ns / ramp.burst_ns), Verdict::Confirmed);
        assert_eq!(few(30.0), Verdict::Unverified);
        for none in [5e6 / ramp.burst_ns, f64::NAN] {
            assert_eq!(few(none), Verdict::Refuted);
        }
    }

    #[test]
    fn chains_that_never_agreed_refute_nothing() {
        assert_eq!(agree(0.01, 0.0).0, Verdict::Confirmed);
        assert_eq!(agree(0.5, 0.0).0, Verdict::Refuted);
    }

    #[test]
    fn a_frequency_that_wanders_refutes_nothing_but_one_that_stands_does() {
        let steady = [(0.06, 3.0), (0.07, 3.01), (0.06, 3.0)];
        let wandering = [(0.06, 3.0), (0.07, 3.2), (0.06, 3.7)];
        let within = [(0.06, 3.0), (0.12, 3.0), (-0.07, 3.0)];
        assert!(moved(&steady) < 0.02 && moved(&wandering) > 0.2);
        assert_eq!(agree(0.06, moved(&steady)).0, Verdict::Refuted);
        for chains in [wandering, within] {
            let (verdict, reason) = agree(0.06, moved(&chains));
            assert_eq!((verdict, reason.is_some()), (Verdict::Unverified, true));
        }
    }
}
