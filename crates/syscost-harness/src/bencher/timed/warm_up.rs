//! Warming up: as long as the profile says, and further until batches are no longer shorter than
//! those before.

use syscost_stats::order::median;

use crate::bencher::Plan;
use crate::bencher::body::Body;
use crate::failure::Failure;
use crate::profile::Effort;

/// Batches that are shorter by less than this share count as equally long.
const MIN_FALL: f64 = 0.01;

/// Minimum share of the later batches that must be shorter than the earlier ones typically are: a
/// smaller share is due to chance.
const MIN_SHARE: f64 = 0.75;

/// Whether a case is warm, by how long its batches last.
///
/// The later half of all batches is compared with the earlier half, whenever their total time has
/// doubled: a cold system warms up ever more slowly, so that over a short while it would seem
/// steady.
#[derive(Debug)]
pub(in crate::bencher) struct WarmUp {
    costs: Vec<f64>,
    spent_ns: f64,
    /// When it is judged next, in ns.
    until_ns: f64,
    /// When it ends in any case, in ns.
    limit_ns: f64,
}

impl WarmUp {
    /// A warm-up that lasts as long as the profile says, and if necessary longer by as much as
    /// samples may take.
    pub(in crate::bencher) fn new(effort: &Effort) -> Self {
        Self {
            costs: Vec::new(),
            spent_ns: 0.0,
            until_ns: effort.warm_up_ns,
            limit_ns: effort.warm_up_ns + effort.case_ns,
        }
    }

    /// Whether another batch is needed.
    pub(in crate::bencher) fn goes_on(&mut self) -> bool {
        if self.spent_ns >= self.until_ns {
            if self.spent_ns >= self.limit_ns || is_level(&self.costs) {
                return false;
            }
            self.until_ns = (2.0 * self.spent_ns).min(self.limit_ns);
        }
        true
    }

    /// Records a batch: its cost, and its time including everything that belongs to it.
    pub(in crate::bencher) fn note(&mut self, cost: f64, took_ns: f64) {
        self.costs.push(cost);
        self.spent_ns += took_ns;
    }

    pub(in crate::bencher) fn min_cost(&self) -> Option<f64> {
        self.costs.iter().copied().reduce(f64::min)
    }
}

/// Whether the later half of these costs is no lower than the earlier half. A single batch does not show it.
fn is_level(costs: &[f64]) -> bool {
    let (earlier, later) = costs.split_at(costs.len() / 2);
    let (Some(before), Some(after)) = (median(earlier), median(later)) else {
        return false;
    };
    let lower = later.iter().filter(|cost| **cost < before).count();
    after > (1.0 - MIN_FALL) * before || (lower as f64) < MIN_SHARE * later.len() as f64
}

impl Plan<'_> {
    /// Runs batches of `iterations` iterations until they are warm, and returns the time of the
    /// shortest, in ns.
    pub(in crate::bencher) fn warm_up_case(
        &mut self,
        iterations: u64,
        per_iteration: u64,
        body: &mut dyn Body,
    ) -> Result<Option<f64>, Failure> {
        let mut warm_up = WarmUp::new(self.given.effort);
        while warm_up.goes_on() {
            let began = self.given.clock.start();
            let ns = self.time_warm(body, iterations, 0)?;
            self.done.operations += iterations * per_iteration;
            // Including the preparation of a batch, which may take longer than the batch.
            let ended = self.given.clock.stop().ticks;
            warm_up.note(ns, self.given.clock.to_ns(ended.saturating_sub(began)));
        }
        Ok(warm_up.min_cost())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bencher::tests::EFFORT;

    /// The number of batches that are made if they last `cost_us` after that much work, and their
    /// total time, in us.
    fn warmed(cost_us: impl Fn(f64) -> f64) -> (usize, f64) {
        let effort = Effort {
            warm_up_ns: 500e3,
            case_ns: 3e6,
            ..EFFORT
        };
        let mut warm_up = WarmUp::new(&effort);
        let mut spent_us = 0.0;
        while warm_up.goes_on() {
            let us = cost_us(spent_us);
            warm_up.note(1e3 * us, 1e3 * us);
            spent_us += us;
        }
        (warm_up.costs.len(), spent_us)
    }

    #[test]
    fn what_is_level_or_rises_ends_with_the_profiles_time() {
        assert_eq!(warmed(|_| 25.0), (20, 500.0));
        let (_, spent_us) = warmed(|at_us| 25.0 + 0.01 * at_us);
        assert!(spent_us < 550.0, "{spent_us}");
        // One batch in five is longer by half, at any time.
        let (_, spent_us) = warmed(|at_us| {
            if (at_us as u64).is_multiple_of(5) {
                37.0
            } else {
                25.0
            }
        });
        assert!(spent_us < 550.0, "{spent_us}");
    }

    #[test]
    fn what_falls_goes_on_until_it_stands() {
        // It falls from 50 to 25 over the first 600 us.
        let (_, spent_us) = warmed(|at_us| 25.0 + (25.0 - at_us / 24.0).max(0.0));
        assert!((1_200.0..2_500.0).contains(&spent_us), "{spent_us}");
    }

    #[test]
    fn what_never_stands_ends_with_the_limit() {
        let (_, spent_us) = warmed(|at_us| 25.0 * (1.0 + at_us / 100.0).powf(-0.3));
        assert!((3_500.0..3_530.0).contains(&spent_us), "{spent_us}");
        let (count, _) = warmed(|_| 4_000.0);
        assert_eq!(count, 1, "one that takes longer than the limit");
    }

    #[test]
    fn half_a_percent_less_is_level_and_so_are_batches_of_which_some_are_longer() {
        let halves = |later: &[f64]| is_level(&[&[100.0; 10], later].concat());
        assert!(halves(&[99.5; 10]) && !halves(&[98.0; 10]));
        let lower = |count| [vec![90.0; count], vec![110.0; 10 - count]].concat();
        assert!(halves(&lower(6)) && !halves(&lower(8)));
    }

    #[test]
    fn one_batch_does_not_suffice() {
        assert_eq!(warmed(|_| 600.0).0, 2);
    }
}
