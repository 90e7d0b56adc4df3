//! By how much a sleep overshoots, by what ends it and by the timer slack.
//!
//! ## Measures
//! The time from before the call to after it, minus the time asked for: setting the timer, the
//! slack the kernel may take to wake several sleepers together, the interrupt, leaving the idle
//! state, and the switch back. `timerfd` sets a timer and reads it; `select`, `poll` and `epoll`
//! are `pselect6`, `ppoll` and `epoll_pwait2` of no descriptor with a time limit.
//! ## Does not measure
//! Sleeps on a busy processor, where the sleeper also waits for its turn, or under a real-time policy.
//! ## Interpretation
//! `slack=default` is what programs get: 50 µs on Linux, so that a sleep of 50 µs takes over 100.
//! With `slack=1ns` the interrupt and the wake-up are left. A timerfd has no slack. Longer sleeps
//! let the processor go deeper to sleep, and wake later for it. The histogram holds every
//! overshoot; where it has two heaps, `fast_state_ns`, `slow_state_ns` and `slow_state_percent`
//! tell them apart.
//! ## Source
//! lmbench `lat_usleep`; cyclictest.

mod way;

use rustix::io::Errno;
use rustix::time::Timespec;
use syscost_harness::prelude::*;
use syscost_sys::process::{DEFAULT_TIMER_SLACK_NS, class, set_timer_slack, timer_slack};

use self::way::Way;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "timing.sleep",
    title: "Sleep overshoot",
    tags: &[
        "timer slack",
        "timer latency",
        "nanosleep",
        "clock_nanosleep",
        "usleep",
        "timerfd",
        "high-resolution timer",
        "hrtimer",
        "lat_usleep",
        "cyclictest",
    ],
    cases: Cases::Grid(&[
        (
            "via",
            &["clock_nanosleep", "timerfd", "select", "poll", "epoll"],
        ),
        ("delay", &["50us", "1ms"]),
        (SLACK, &[DEFAULT, "1ns"]),
    ]),
    expect: &[
        // Far from one: on a busy machine a timer may expire before the call that would wait for
        // it. A call that never sleeps makes no switch, and early wake-ups are detected separately
        // below.
        at_least(Counter::VoluntarySwitches, 0.1),
        exactly(Counter::OtherSyscalls, 0.0),
        exactly(Counter::Reported("early wake-ups"), 0.0),
    ],
    quick: |case| {
        case.get("via") == "clock_nanosleep"
            && case.get("delay") == "50us"
            && case.get(SLACK) == DEFAULT
    },
    revision: 2,
    full: |case| case.get("via") != "clock_nanosleep",
    run,
    source: include_str!("sleep.rs"),
    ..Benchmark::DEFAULT
};

/// The key of the parameter with the timer slack, and the value for the default of programs.
const SLACK: &str = "slack";
const DEFAULT: &str = "default";

/// CLOCK_MONOTONIC, which ends the sleeps, may be slewed by this much against the run's clock
/// (adjtimex's limit of 500 ppm).
const SLEW: f64 = 0.000_5;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let asked_ns = b
        .case()
        .nanoseconds("delay")
        .ok_or_else(|| b.case().unknown("delay"))?;
    let length = Timespec {
        tv_sec: 0,
        tv_nsec: asked_ns as i64,
    };
    let mut way = Way::open(b.case())?;
    way.calls().iter().for_each(|call| b.expect(calls(*call)));
    if class()?.is_real_time() {
        let reason = "a task of a real-time class is woken without timer slack";
        return Err(Failure::Unsupported(reason.into()));
    }
    let slack = Slack::set(b.case())?;
    let clock = *b.clock();
    b.disregard_frequency();
    let mut overshoot = || {
        let start = clock.start();
        way.sleep(&length).map_err(|cause| match cause {
            Errno::NOSYS => Failure::Unsupported("this kernel has no such call".into()),
            cause => Failure::of("sleeping", cause),
        })?;
        let stop = clock.stop();
        Ok(clock.to_ns(stop.ticks.saturating_sub(start)) - asked_ns as f64)
    };
    b.lead_in(|| overshoot().map(drop))?;
    let mut overshoots = Vec::with_capacity(1024);
    b.observe(|| {
        let ns = overshoot()?;
        overshoots.push(ns);
        Ok(ns)
    })?;

    let early = overshoots
        .iter()
        .filter(|ns| **ns < -SLEW * asked_ns as f64)
        .count();
    b.report("early wake-ups", early as f64);
    overshoots.iter().for_each(|ns| b.record_single(*ns));
    b.detail(
        "longest_overshoot_ns",
        overshoots.iter().copied().fold(f64::NAN, f64::max),
    );
    let named = b.case().nanoseconds("delay").unwrap_or_default();
    let asked = length.tv_sec as u64 * 1_000_000_000 + length.tv_nsec as u64;
    b.claim_equal("length of each sleep in ns", named, asked, "benchmark");
    let seen = timer_slack()?;
    b.detail("timer_slack_ns", seen as f64);
    b.claim_equal("timer slack in ns", slack.wanted, seen, "prctl");
    Ok(())
}

/// A timer slack, until dropped.
struct Slack {
    before: u64,
    wanted: u64,
}

impl Slack {
    /// Sets the slack of this case.
    fn set(case: &Case) -> Result<Self, Failure> {
        let unsupported = |error: syscost_sys::SystemError| Failure::Unsupported(error.to_string());
        let before = timer_slack().map_err(unsupported)?;
        let wanted = match case.get(SLACK) {
            DEFAULT => DEFAULT_TIMER_SLACK_NS,
            _ => case.nanoseconds(SLACK).ok_or_else(|| case.unknown(SLACK))?,
        };
        set_timer_slack(wanted).map_err(unsupported)?;
        Ok(Self { before, wanted })
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        // The kernel accepted this value before; a worker could not report an error here.
        let _ = set_timer_slack(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slack_is_given_back() {
        let Ok(before) = timer_slack() else {
            println!("skipped: no timer slack here");
            return;
        };
        let of = |slack: &'static str| Slack::set(&Case::new([(SLACK, slack)]));
        let slack = of("1ns").unwrap();
        assert_eq!((slack.wanted, timer_slack().unwrap()), (1, 1));
        drop(slack);
        assert_eq!(timer_slack().unwrap(), before);
        assert!(of("1").is_err(), "a time has a unit");
        // Whatever a parent left to this process: the row is about what programs get.
        set_timer_slack(50_000_000).unwrap();
        let slack = of(DEFAULT).unwrap();
        assert_eq!((slack.wanted, timer_slack().unwrap()), (50_000, 50_000));
        drop(slack);
        set_timer_slack(before).unwrap();
    }
}
