//! Calibration: one moment read on two clocks.

use super::{Source, mock};
use crate::{arch, os};

/// One moment on the system's raw monotonic clock and on a source: system, source, system, the
/// tightest of 100.
///
/// The raw clock is used because the plain monotonic one is slewed by time synchronisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bracket {
    /// The system's time, in ns from an arbitrary start: the middle of the bracket.
    pub ns: u64,
    /// The source's time, in ticks.
    pub ticks: u64,
    /// The width of the bracket, in ns: `ns` is wrong by at most half of it.
    pub width_ns: u64,
}

impl Bracket {
    /// Takes the tightest of 100 brackets (about 10 µs).
    pub fn take(source: Source) -> Bracket {
        let system = || {
            if source == Source::Mock {
                mock::now_ns()
            } else {
                os::monotonic_raw_ns()
            }
        };
        let one = |_| {
            let before = system();
            let ticks = match source {
                Source::Tsc | Source::Cntvct => arch::cycle_counter_fenced(),
                Source::ClockGettime => os::monotonic_raw_ns(),
                Source::Mock => mock::read(1.0),
            };
            let width_ns = system().saturating_sub(before);
            Bracket {
                ns: before + width_ns / 2,
                ticks,
                width_ns,
            }
        };
        let first = one(0);
        (1..100).map(one).fold(first, |best, next| {
            if next.width_ns < best.width_ns {
                next
            } else {
                best
            }
        })
    }
}

/// The rate of a source between two brackets; take them at least 200 ms apart.
///
/// Not a number, infinite or negative when they are not apart or the counter went back:
/// [`Clock::new`](super::Clock::new) refuses such a rate.
pub fn ticks_per_ns(first: &Bracket, second: &Bracket) -> f64 {
    let signed = |to: u64, from: u64| to.wrapping_sub(from).cast_signed() as f64;
    signed(second.ticks, first.ticks) / signed(second.ns, first.ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_ticks_by_time_with_its_sign() {
        let at = |ns, ticks| Bracket {
            ns,
            ticks,
            width_ns: 20,
        };
        assert_eq!(ticks_per_ns(&at(1_000, 500), &at(2_000, 3_000)), 2.5);
        assert_eq!(ticks_per_ns(&at(1_000, 3_000), &at(2_000, 500)), -2.5);
        assert!(!ticks_per_ns(&at(1_000, 5), &at(1_000, 9)).is_finite());
    }

    #[test]
    fn the_system_clock_calibrates_to_one() {
        let first = Bracket::take(Source::ClockGettime);
        std::thread::sleep(std::time::Duration::from_millis(30));
        let second = Bracket::take(Source::ClockGettime);
        assert!((ticks_per_ns(&first, &second) - 1.0).abs() < 1e-3);
    }
}
