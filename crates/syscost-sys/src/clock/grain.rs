//! The grid that a counter's readings lie on.
//!
//! Some counters advance by many ticks at a time: Zen 4 adds 26 to its counter every 10 ns. A burst
//! of half a microsecond then takes 20 or 21 of these, and two bursts that took the same time seem
//! to differ by 5 %.

use std::hint::black_box;

use crate::clock::Clock;

/// Number of intervals that are timed.
const INTERVALS: u32 = 256;

/// Range of grids that are looked for, in ticks. A finer one hides nothing.
const COARSEST: u64 = 256;
const FINEST: u64 = 6;

/// How far an interval may lie from the grid, in ticks: each reading is a whole number, and the
/// grid's step need not be one.
const OFF: f64 = 1.1;

/// Steps are looked for in this fraction of a tick: a hypervisor may scale the counter.
const PARTS: u64 = 32;

/// Where most intervals have no more ticks than this, the counter is so slow that its tick is its grid.
const SLOW: u64 = 8;

/// The share of the intervals that must lie on the grid.
const ON_GRID: f64 = 0.97;

impl Clock {
    /// The grid that this clock's readings lie on, in ticks; 1 where there is none or it is finer
    /// than a few ticks.
    pub fn grain_ticks(&self) -> u32 {
        // A cycle or two per iteration: were the intervals multiples of a longer time, that would
        // seem to be the clock's grid.
        let intervals = (1..=INTERVALS).map(|iterations| {
            let start = self.start();
            for iteration in 0..iterations {
                black_box(iteration);
            }
            self.stop().ticks.saturating_sub(start)
        });
        grain(&intervals.collect::<Vec<u64>>())
    }
}

/// The coarsest grid that nearly all of these intervals lie on.
fn grain(intervals: &[u64]) -> u32 {
    let spare = intervals.len() - (ON_GRID * intervals.len() as f64).ceil() as usize;
    let is_grid = |step: &f64| {
        let is_off = |ticks: f64| (ticks - (ticks / step).round() * step).abs() > OFF;
        let mut off = intervals.iter().filter(|ticks| is_off(**ticks as f64));
        off.nth(spare).is_none()
    };
    if intervals.iter().filter(|ticks| **ticks > SLOW).count() * 2 < intervals.len() {
        return 1;
    }
    let steps = (PARTS * FINEST..=PARTS * COARSEST).rev();
    let mut steps = steps.map(|parts| parts as f64 / PARTS as f64);
    steps.find(is_grid).map_or(1, |step| step.round() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of 80 to 400 ticks by a clock of this grid.
    fn intervals(step: f64) -> Vec<u64> {
        let mut random = fastrand::Rng::with_seed(3);
        let shown = |time: f64| ((time / step).floor() * step) as u64;
        (1..=INTERVALS)
            .map(|iterations| {
                let start = 1e6 * random.f64();
                shown(start + 80.0 + 1.3 * f64::from(iterations)) - shown(start)
            })
            .collect()
    }

    #[test]
    fn the_grid_of_a_coarse_counter_is_found() {
        // Scaled by a hypervisor, the readings jump by 24 or 25.
        for step in [24.5, 24.6, 25.9, 26.0, 26.5, 100.0] {
            let found = f64::from(grain(&intervals(step)));
            assert!((found - step).abs() <= 1.0, "{found} for {step}");
        }
    }

    #[test]
    fn a_fine_counter_has_no_grid() {
        for step in [1.0, 2.0, 4.0] {
            assert_eq!(grain(&intervals(step)), 1, "steps of {step}");
        }
        let slow: Vec<u64> = (0..INTERVALS).map(|number| u64::from(number % 3)).collect();
        assert_eq!(grain(&slow), 1, "of a few MHz");
    }
}
