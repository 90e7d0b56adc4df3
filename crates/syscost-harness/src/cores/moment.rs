//! Whether a core is ours at a moment: some probes in a row.

use syscost_sys::core_probe::{Alone, Probe};

use super::Cores;

/// How many probes in a row must find the core ours, about 5 us, before it is believed to stay so:
/// there are thousands of shorter stretches, after which the other work goes on.
/// Fewer where a probe takes longer, because of a coarse clock.
const IN_A_ROW: u32 = 8;
const MIN_IN_A_ROW: u32 = 3;

/// How many probes a task takes first that has just come to a CPU: its arrival may wake up the
/// core, and its neighbour, too. After three, where a probe takes 4 us, one in thirty still looked 5 %
/// slow (EPYC, 2026-11-27).
const ARRIVAL: u32 = 16;

/// How many readings of this probe in a row must find the core ours.
pub(crate) fn probes_in_a_row(probe: &Probe) -> u32 {
    (IN_A_ROW / probe.scale()).max(MIN_IN_A_ROW)
}

/// Waits some microseconds, until the effects of coming to a CPU are over.
pub(crate) fn arrive(probe: &Probe) {
    for _ in 0..ARRIVAL {
        probe.read();
    }
}

/// How slow the current core seems, by the worst of this many probes: 1 for one of our own; infinite where one was
/// interrupted, which shows nothing.
pub(crate) fn slowdown(probe: &Probe, alone: &Alone, probes: u32) -> f64 {
    // The first probe may still be slowed by the move.
    let seen = (0..probes.max(2)).map(|_| alone.slowdown(&probe.read()));
    seen.skip(1).fold(0.0, f64::max)
}

/// Whether this many probes find the current core ours.
pub(crate) fn is_exclusive(probe: &Probe, alone: &Alone, probes: u32) -> bool {
    slowdown(probe, alone, probes) * alone.ratio <= alone.limit
}

impl Cores {
    /// Whether this CPU's core is ours at the moment; `None` where nothing is known of it. For a
    /// task that has just come to this CPU: it first waits some microseconds until the effects of
    /// the move are over.
    pub fn is_exclusive(&self, cpu: u32, probe: &Probe) -> Option<bool> {
        let alone = self.alone_or_alike(cpu)?;
        arrive(probe);
        Some(is_exclusive(probe, &alone, probes_in_a_row(probe)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscost_sys::clock::Clock;

    #[test]
    fn a_core_is_judged_by_what_is_known_of_it() {
        let clock = Clock::system();
        let any = Cores {
            grain: clock.grain_ticks(),
            ..Cores::with_limit(0, f64::INFINITY)
        };
        let probe = any.probe(clock);
        let alone = any.alone(0).expect("it is known");
        // Whatever the ratio is, it is not a million; nor is it as low as this.
        assert!(!is_exclusive(
            &probe,
            &Alone {
                ratio: 1e6,
                limit: 2e6,
                is_assumed: false
            },
            3
        ));
        assert!(!is_exclusive(
            &probe,
            &Alone {
                ratio: 1e-6,
                limit: 2e-6,
                is_assumed: false
            },
            3
        ));
        // A probe during which this task, or the virtual CPU, was preempted shows nothing, and on a
        // busy host that may go on for milliseconds.
        const TRIES: u32 = 100_000;
        assert!((0..TRIES).any(|_| is_exclusive(&probe, &alone, 3)));
        assert!((0..TRIES).any(|_| any.is_exclusive(0, &probe) == Some(true)));
        assert_eq!(crate::cores::UNKNOWN.is_exclusive(0, &probe), None);
    }
}
