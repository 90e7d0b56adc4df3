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
#![allow(unsafe_code)] // pselect6 and epoll_pwait2 have no safe form that takes nanoseconds

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::thread::{ClockId, NanosleepRelativeResult, clock_nanosleep_relative};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use syscost_harness::prelude::*;
use syscost_sys::process::{DEFAULT_TIMER_SLACK_NS, class, set_timer_slack, timer_slack};
use syscost_sys::raw::syscall6;

use crate::implied::{Implied, Shares};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Sleep overshoot",
    tags: "timer slack, timer latency, nanosleep, clock_nanosleep, usleep, timerfd, \
        high-resolution timer, hrtimer, lat_usleep, cyclictest",
    expect: &[
        // Far from one: on a busy machine a timer may expire before the call that would wait for
        // it. A call that never sleeps makes no switch, and early wake-ups are detected separately
        // below.
        within(Counter::VoluntarySwitches, 0.1, 1.05),
        exactly(Counter::OtherSyscalls, 0.0),
        exactly(Counter::Reported("early wake-ups"), 0.0),
    ],
    revision: 2,
    ..Benchmark::of::<TimingSleep>()
};

const SHORT: Nanoseconds = Nanoseconds(50_000);

/// CLOCK_MONOTONIC, which ends the sleeps, may be slewed by this much against the run's clock
/// (adjtimex's limit of 500 ppm).
const SLEW: f64 = 0.000_5;

static SHORTEST: Witness = Witness::of("shortest of the sleeps, in ns", "run's clock")
    .by_most()
    .only_in(Pass::Timed);
static SLACK: Witness = Witness::of("timer slack in ns", "prctl");

/// The timer slack of the sleeping task.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Slack {
    /// What programs get.
    Default,
    #[value("1ns")]
    Least,
}

impl Slack {
    const fn ns(self) -> u64 {
        match self {
            Slack::Default => DEFAULT_TIMER_SLACK_NS,
            Slack::Least => 1,
        }
    }
}

/// Why the shortest sleep may be much longer than asked for: a kernel without high-resolution timers
/// wakes at its ticks alone.
fn coarse_timers(asked_ns: u64) -> Option<&'static str> {
    let step = rustix::time::clock_getres(rustix::time::ClockId::Monotonic);
    let is_coarse = step.tv_sec > 0 || step.tv_nsec as u64 > asked_ns;
    is_coarse.then_some("this kernel's timers end at its ticks, which are further apart")
}

#[derive(Params, Clone)]
struct TimingSleep {
    via: Via,
    /// How long the sleep is to be.
    delay: Nanoseconds,
    slack: Slack,
}

impl Measured for TimingSleep {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(TimingSleep {
            via: Via::ALL,
            delay: [SHORT, Nanoseconds(1_000_000)],
            slack: Slack::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.via, self.slack) {
            (Via::ClockNanosleep, Slack::Default) if self.delay == SHORT => Profile::Quick,
            (Via::ClockNanosleep, Slack::Default | Slack::Least) => Profile::Standard,
            (Via::Timerfd | Via::Select | Via::Poll | Via::Epoll, _) => Profile::Full,
        }
    }

    fn proofs(&self) -> TimingSleepProofs<Proof> {
        let Nanoseconds(asked) = self.delay;
        let asked = asked as f64;
        let calls = self.via.calls().iter().copied().map(calls);
        TimingSleepProofs {
            via: Proof::counted(calls),
            delay: SHORTEST.within(Bound::Within((1.0 - SLEW) * asked, 10.0 * asked)),
            slack: SLACK.expects(self.slack.ns()),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let Nanoseconds(asked_ns) = self.delay;
        let length = Timespec {
            tv_sec: 0,
            tv_nsec: asked_ns as i64,
        };
        let mut way = Way::open(self.via)?;
        if class()?.is_real_time() {
            let reason = "a task of a real-time class is woken without timer slack";
            return Err(Failure::Unsupported(reason.into()));
        }
        let _slack = Slackened::by(self.slack)?;
        let clock = *plan.clock();
        plan.disregard_frequency();
        let mut sleep = || -> Result<f64, Failure> {
            let start = clock.start();
            way.sleep(&length).map_err(|cause| match cause {
                Errno::NOSYS => Failure::Unsupported("this kernel has no such call".into()),
                cause => Failure::of("sleeping", cause),
            })?;
            let stop = clock.stop();
            Ok(clock.to_ns(stop.ticks.saturating_sub(start)))
        };
        plan.warm_up(|| sleep().map(drop))?;
        let mut overshoots = Vec::with_capacity(1024);
        let mut shortest = f64::INFINITY;
        let overshoot = || {
            let whole = sleep()?;
            let ns = whole - asked_ns as f64;
            shortest = shortest.min(whole);
            overshoots.push(ns);
            Ok(ns)
        };
        let mut outcome = plan.measure(Observed::of(overshoot).time_of_one_in(1))?;
        let early = overshoots
            .iter()
            .filter(|ns| **ns < -SLEW * asked_ns as f64)
            .count();
        outcome.report("early wake-ups", early as f64);
        overshoots.iter().for_each(|ns| outcome.record_single(*ns));
        outcome.detail_over(
            Over::Max,
            "longest_overshoot_ns",
            overshoots.iter().copied().fold(f64::NAN, f64::max),
        );
        outcome.observe_unless(&SHORTEST, shortest, coarse_timers(asked_ns));
        // A value is what its observation took beyond the sleep.
        let beyond = outcome.observed().iter();
        let beyond = beyond.map(|(value, took_ns)| value / (took_ns - asked_ns as f64));
        let beyond = Implied::from_iter(beyond);
        if beyond.has_any() {
            beyond.claim(&mut outcome, Shares::INNER);
        }
        let seen = timer_slack()?;
        outcome.detail("timer_slack_ns", seen as f64);
        outcome.observe(&SLACK, seen);
        Ok(outcome)
    }
}

/// A timer slack, until dropped.
struct Slackened {
    before: u64,
}

impl Slackened {
    fn by(slack: Slack) -> Result<Self, Failure> {
        let unsupported = |error: syscost_sys::SystemError| Failure::Unsupported(error.to_string());
        let before = timer_slack().map_err(unsupported)?;
        set_timer_slack(slack.ns()).map_err(unsupported)?;
        Ok(Self { before })
    }
}

impl Drop for Slackened {
    fn drop(&mut self) {
        // The kernel accepted this value before; a worker could not report an error here.
        let _ = set_timer_slack(self.before);
    }
}

/// What ends the sleep.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    ClockNanosleep,
    Timerfd,
    Select,
    Poll,
    Epoll,
}

/// It, with the descriptor that it takes.
enum Way {
    Nanosleep,
    Timerfd(OwnedFd),
    Select,
    Poll,
    Epoll(OwnedFd),
}

impl Via {
    fn calls(self) -> &'static [Sysno] {
        match self {
            Self::ClockNanosleep => &[Sysno::CLOCK_NANOSLEEP],
            Self::Timerfd => &[Sysno::TIMERFD_SETTIME, Sysno::READ],
            Self::Select => &[Sysno::PSELECT6],
            Self::Poll => &[Sysno::PPOLL],
            Self::Epoll => &[Sysno::EPOLL_PWAIT2],
        }
    }
}

impl Way {
    fn open(via: Via) -> Result<Self, Failure> {
        let failed = |cause: Errno| Failure::of(via.name(), cause);
        let monotonic = TimerfdClockId::Monotonic;
        Ok(match via {
            Via::ClockNanosleep => Self::Nanosleep,
            Via::Timerfd => {
                Self::Timerfd(timerfd_create(monotonic, TimerfdFlags::CLOEXEC).map_err(failed)?)
            }
            Via::Select => Self::Select,
            Via::Poll => Self::Poll,
            Via::Epoll => Self::Epoll(epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?),
        })
    }

    #[inline]
    fn sleep(&mut self, length: &Timespec) -> Result<(), Errno> {
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut limit = *length;
        let woken = match self {
            Self::Nanosleep => match clock_nanosleep_relative(ClockId::Monotonic, length) {
                NanosleepRelativeResult::Ok => return Ok(()),
                NanosleepRelativeResult::Interrupted(_) => return Err(Errno::INTR),
                NanosleepRelativeResult::Err(error) => return Err(error),
            },
            Self::Timerfd(timer) => {
                let once = Itimerspec {
                    it_interval: zero,
                    it_value: *length,
                };
                timerfd_settime(timer.as_fd(), TimerfdTimerFlags::empty(), &once)?;
                rustix::io::read(timer.as_fd(), &mut [0_u8; 8])?;
                return Ok(());
            }
            Self::Poll => return rustix::event::poll(&mut [], Some(length)).map(drop),
            // SAFETY: no set is given; the kernel reads and writes the limit, which is the caller's own copy.
            Self::Select => unsafe {
                syscall6(
                    Sysno::PSELECT6,
                    0,
                    0,
                    0,
                    0,
                    (&raw mut limit).expose_provenance(),
                    0,
                )
            },
            Self::Epoll(epoll) => {
                let mut event = epoll::Event {
                    flags: epoll::EventFlags::empty(),
                    data: epoll::EventData::new_u64(0),
                };
                let (fd, events) = (
                    epoll.as_raw_fd() as usize,
                    (&raw mut event).expose_provenance(),
                );
                // SAFETY: room for one event is given, and the limit is the caller's own copy;
                // there is no signal mask.
                unsafe {
                    syscall6(
                        Sysno::EPOLL_PWAIT2,
                        fd,
                        events,
                        1,
                        (&raw mut limit).expose_provenance(),
                        0,
                        0,
                    )
                }
            }
        };
        // No descriptor can be ready: anything but the time limit is an error.
        if woken == 0 {
            Ok(())
        } else {
            Err(Errno::from_raw_os_error(-woken as i32))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn the_slack_is_given_back() {
        let before = or_skip!(timer_slack(), "no timer slack here");
        let slack = Slackened::by(Slack::Least).unwrap();
        assert_eq!(timer_slack().unwrap(), 1);
        drop(slack);
        assert_eq!(timer_slack().unwrap(), before);
        // Whatever a parent left to this process: the row is about what programs get.
        set_timer_slack(50_000_000).unwrap();
        let slack = Slackened::by(Slack::Default).unwrap();
        assert_eq!(timer_slack().unwrap(), 50_000);
        drop(slack);
        set_timer_slack(before).unwrap();
    }

    #[test]
    fn every_way_sleeps_as_long_as_asked() {
        let length = Timespec {
            tv_sec: 0,
            tv_nsec: 2_000_000,
        };
        for via in Via::ALL {
            let mut way = Way::open(via).unwrap();
            let start = Instant::now();
            match way.sleep(&length) {
                Err(Errno::NOSYS) => println!("skipped: this kernel has no {via:?}"),
                result => {
                    result.unwrap();
                    assert!(start.elapsed() >= Duration::from_millis(2), "{via:?}");
                }
            }
        }
    }
}
