//! The measuring clock.
//!
//! A [`Clock`] counts ticks of its [`Source`]; [`Bracket`]s taken some time apart against the
//! system's raw monotonic clock give its rate. [`health`] says whether the processor's counter can
//! be trusted and [`mock`] is a clock that a test moves by hand.

mod bracket;
mod gaps;
mod grain;
pub mod health;
pub mod mock;

use std::fmt;
use std::str::FromStr;

pub use bracket::{Bracket, ticks_per_ns};
pub use gaps::{Gaps, LONG_GAP_NS};

use syscost_params::Value;

use crate::{Unsupported, arch, os};

/// Where a clock's ticks come from.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The x86 time-stamp counter.
    Tsc,
    /// The virtual counter of aarch64's generic timer.
    Cntvct,
    /// The system's raw monotonic clock (`clock_gettime(CLOCK_MONOTONIC_RAW)`); ticks are
    /// nanoseconds.
    ClockGettime,
    /// A clock moved by hand; see [`mock`].
    Mock,
}

impl Source {
    /// The best source of this target, whose health is yet to be checked: the processor's counter.
    pub const fn preferred() -> Source {
        arch::COUNTER
    }

    /// Whether this machine has the source.
    ///
    /// # Errors
    /// `Unsupported` when the counter belongs to another processor, or the processor lacks
    /// `rdtscp`.
    pub fn support(self) -> Result<(), Unsupported> {
        match self {
            Source::Tsc | Source::Cntvct if arch::COUNTER != self => Err(Unsupported::new(
                format!("the clock source {self} does not exist on this target"),
            )),
            Source::Tsc => arch::rdtscp(),
            Source::Cntvct | Source::ClockGettime | Source::Mock => Ok(()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no clock source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown clock source {0:?}; the sources are tsc, cntvct, clock_gettime and mock")]
pub struct UnknownSource(pub String);

impl FromStr for Source {
    type Err = UnknownSource;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Value::read(text).ok_or_else(|| UnknownSource(text.to_owned()))
    }
}

/// What [`Clock::stop`] read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The time, in ticks.
    pub ticks: u64,
    /// The processor on which the time was read, where the instruction reports it at no cost.
    pub cpu: Option<u32>,
}

/// A clock of known rate. Reading it checks nothing, so [`Clock::new`] refuses what does not exist.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    source: Source,
    ticks_per_ns: f64,
}

impl Clock {
    /// A clock of this source at this rate (see [`ticks_per_ns`]).
    ///
    /// # Errors
    /// `Unsupported` when this machine lacks the source, or when the rate is not a positive number
    /// (two brackets taken at the same moment).
    pub fn new(source: Source, ticks_per_ns: f64) -> Result<Clock, Unsupported> {
        source.support()?;
        if !(ticks_per_ns.is_finite() && ticks_per_ns > 0.0) {
            return Err(Unsupported::new(format!(
                "a rate of {ticks_per_ns} ticks per ns is no rate; calibrate again"
            )));
        }
        Ok(Clock {
            source,
            ticks_per_ns,
        })
    }

    /// Returns the system's clock, which exists everywhere and needs no calibration.
    pub const fn system() -> Clock {
        Clock {
            source: Source::ClockGettime,
            ticks_per_ns: 1.0,
        }
    }

    /// Returns the clock that [`mock`] moves, one tick per nanosecond.
    pub const fn mock() -> Clock {
        Clock {
            source: Source::Mock,
            ticks_per_ns: 1.0,
        }
    }

    /// Where the ticks come from.
    pub const fn source(&self) -> Source {
        self.source
    }

    /// The rate, in ticks per ns.
    pub const fn ticks_per_ns(&self) -> f64 {
        self.ticks_per_ns
    }

    /// Converts a difference of ticks to nanoseconds.
    #[inline]
    pub fn to_ns(&self, ticks: u64) -> f64 {
        ticks as f64 / self.ticks_per_ns
    }

    /// The time from one reading to another in ns, negative if the other is earlier.
    #[inline]
    pub fn between(&self, from: u64, to: u64) -> f64 {
        to.wrapping_sub(from).cast_signed() as f64 / self.ticks_per_ns
    }

    /// Reads the time before the measured code: nothing after the read begins before it. In ticks.
    #[inline(always)]
    pub fn start(&self) -> u64 {
        match self.source {
            Source::Tsc | Source::Cntvct => arch::start(),
            Source::ClockGettime => os::monotonic_raw_ns(),
            Source::Mock => mock::read(self.ticks_per_ns),
        }
    }

    /// Reads the time after the measured code: everything before the read has finished. (Stores
    /// may still wait in the store buffer; a test of stores adds its own fence.)
    #[inline(always)]
    pub fn stop(&self) -> Stop {
        match self.source {
            Source::Tsc | Source::Cntvct => {
                let (ticks, cpu) = arch::stop();
                Stop { ticks, cpu }
            }
            Source::ClockGettime => Stop {
                ticks: os::monotonic_raw_ns(),
                cpu: None,
            },
            Source::Mock => Stop {
                ticks: mock::read(self.ticks_per_ns),
                cpu: None,
            },
        }
    }

    /// What a measurement of nothing shows, in ns: the time from a start to the stop right after
    /// it. Means of 100 pairs, because a coarse clock shows 0 for most single ones; the median of
    /// 51 means, because an interrupt falls into some.
    pub fn measure_read_ns(&self) -> f64 {
        /// Pairs of readings of which a mean is taken.
        const PAIRS: u64 = 100;
        let sum_of_pairs = |_| -> u64 {
            let pair = |_| {
                let start = self.start();
                self.stop().ticks.saturating_sub(start)
            };
            (0..PAIRS).map(pair).sum()
        };
        let mut sums: Vec<u64> = (0..51).map(sum_of_pairs).collect();
        sums.sort_unstable();
        self.to_ns(sums[sums.len() / 2]) / PAIRS as f64
    }

    /// The smallest difference other than zero between two reads in a row, in ns: the clock's step,
    /// or an upper bound of it where a read takes longer than a step. The counters are read
    /// unfenced, which comes closer. 0 when the clock did not move at all in 10 000 reads (a
    /// stopped mock).
    pub fn measure_step_ns(&self) -> f64 {
        let read = || match self.source {
            Source::Tsc | Source::Cntvct => arch::cycle_counter_unfenced(),
            Source::ClockGettime | Source::Mock => self.start(),
        };
        let mut smallest = u64::MAX;
        let mut before = read();
        for _ in 0..10_000 {
            let now = read();
            if now > before {
                smallest = smallest.min(now - before);
            }
            before = now;
        }
        if smallest == u64::MAX {
            0.0
        } else {
            self.to_ns(smallest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_found_by_its_name() {
        for source in Source::ALL {
            assert_eq!(source.name().parse::<Source>().unwrap(), source);
        }
        assert!(
            "hpet"
                .parse::<Source>()
                .unwrap_err()
                .to_string()
                .contains("clock_gettime")
        );
    }

    #[test]
    fn a_clock_that_cannot_be_is_refused() {
        let foreign = if arch::COUNTER == Source::Tsc {
            Source::Cntvct
        } else {
            Source::Tsc
        };
        assert!(Clock::new(foreign, 1.0).is_err());
        assert!(Clock::new(Source::ClockGettime, 0.0).is_err());
        assert!(Clock::new(Source::ClockGettime, f64::NAN).is_err());
    }

    #[test]
    fn the_preferred_clock_agrees_with_the_system_clock() {
        let source = Source::preferred();
        let first = Bracket::take(source);
        std::thread::sleep(std::time::Duration::from_millis(50));
        let second = Bracket::take(source);
        let clock = Clock::new(source, ticks_per_ns(&first, &second)).unwrap();

        let (start, outer) = (clock.start(), os::monotonic_raw_ns());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (inner, stop) = (os::monotonic_raw_ns(), clock.stop());
        // The outer pair encloses the inner one, so it cannot be shorter by more than the
        // calibration's error.
        assert!(clock.to_ns(stop.ticks - start) > (inner - outer) as f64 * 0.999);
        assert!(clock.measure_read_ns() > 0.0);
        assert!(clock.measure_step_ns() > 0.0);
    }

    #[test]
    fn stop_names_the_processor_it_ran_on() {
        let clock = or_skip!(Clock::new(Source::Tsc, 1.0), "no time-stamp counter");
        std::thread::spawn(move || {
            for cpu in crate::cpu::allowed().unwrap() {
                crate::cpu::pin(cpu).unwrap();
                assert_eq!(clock.stop().cpu, Some(cpu));
            }
        })
        .join()
        .unwrap();
    }
}
