//! What a run may take: when it ends, how much of each row fits, and what is left out.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::Session;
use super::plan::{DEAR_LOOKS, active_benchmarks};
use super::rows::RowState;
use crate::bencher::Effort;
use crate::benchmark::Setup;

/// Set-up of one benchmark may take this share of the budget.
const DEAR_SHARE: f64 = 0.5;

/// Effort is never scaled below this to fit a budget.
const LEAST_SCALE: f64 = 0.2;

/// What is left of a round's length with samples as few as they may become: set-up takes as long as ever.
const SHRINKS: f64 = 0.7;

/// Kept back from the budget for the last worker and the document.
const RESERVE: Duration = Duration::from_millis(300);

impl Session<'_> {
    /// Leaves out the benchmarks that take longest per row where the fewest rounds of all of them cannot be had in the time that is left: an interval for
    /// most rows is worth more than a range for all.
    pub(super) fn shed(&mut self, rounds: u32) {
        let to_go = self.header.config.min_rounds.saturating_sub(rounds);
        let left = self
            .deadline()
            .saturating_duration_since(Instant::now())
            .as_secs_f64();
        let mut costs: Vec<(&'static str, f64, usize)> = active_benchmarks(&[self])
            .into_iter()
            .map(|benchmark| {
                let of_this =
                    |state: &&RowState| state.row.benchmark.id == benchmark.id && state.is_active();
                let rows = self.states.iter().filter(of_this).count();
                (
                    benchmark.id,
                    self.round_s.get(benchmark.id).copied().unwrap_or(0.0),
                    rows,
                )
            })
            .collect();
        for id in too_long(&mut costs, to_go, left) {
            let seconds = self.round_s.get(id).copied().unwrap_or(0.0);
            for state in self
                .states
                .iter_mut()
                .filter(|state| state.row.benchmark.id == id && state.is_active())
            {
                state.skipped = Some(format!(
                    "the time budget was too short: its benchmark takes {seconds:.1} s in each of {} rounds; give it more with --budget",
                    self.header.config.min_rounds
                ));
            }
        }
    }

    /// Whether the budget ends the run; a resumed one has it anew.
    pub(super) fn is_spent(&self) -> bool {
        Instant::now() >= self.deadline()
    }

    /// When the last worker must have ended.
    pub(super) fn deadline(&self) -> Instant {
        self.begun + self.budget().saturating_sub(RESERVE)
    }

    fn budget(&self) -> Duration {
        Duration::from_secs_f64(self.header.config.budget_s)
    }

    /// Effort for the rounds to come, so that the fewest rounds fit into the budget.
    pub(super) fn rescaled(&self, scale: f64, rounds: u32, last_round_s: f64) -> f64 {
        let to_go = self.header.config.min_rounds.saturating_sub(rounds);
        let left = self
            .budget()
            .saturating_sub(self.begun.elapsed() + RESERVE)
            .as_secs_f64();
        rescale(scale, to_go, left, last_round_s)
    }

    pub(super) fn time_left(&self, done: f64) -> Duration {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let by_pace = if done > 0.0 {
            elapsed / done - elapsed
        } else {
            f64::INFINITY
        };
        let by_budget = self.header.config.budget_s - elapsed;
        Duration::from_secs_f64(by_pace.min(by_budget).max(0.0))
    }

    /// Skips what is too dear for the budget, of which this run has that share.
    pub(super) fn skip_what_cannot_fit(&mut self, share: f64) {
        let budget = share * self.header.config.budget_s;
        let mut together: BTreeMap<&str, f64> = BTreeMap::new();
        for state in &self.states {
            *together.entry(state.row.benchmark.id).or_default() += state.row.setup().seconds();
        }
        for state in &mut self.states {
            let is_dear = state.row.setup() != Setup::Cheap;
            let seconds = together[state.row.benchmark.id];
            state.skipped = is_dear.then(|| too_dear(seconds, budget)).flatten();
        }
    }
}

/// Of benchmarks, each with the seconds it takes in a round and its rows, those to leave out so that so many rounds fit into the time left, with samples
/// as few as they may become: the longest per row first.
fn too_long(
    costs: &mut [(&'static str, f64, usize)],
    to_go: u32,
    left_s: f64,
) -> Vec<&'static str> {
    let per_row = |(_, seconds, rows): &(&str, f64, usize)| seconds / (*rows).max(1) as f64;
    costs.sort_by(|a, b| per_row(b).total_cmp(&per_row(a)));
    let mut needed: f64 =
        f64::from(to_go) * costs.iter().map(|(_, seconds, _)| seconds).sum::<f64>();
    let mut left_out = Vec::new();
    for (id, seconds, _) in costs.iter() {
        if SHRINKS * needed <= left_s {
            break;
        }
        needed -= f64::from(to_go) * seconds;
        left_out.push(*id);
    }
    left_out
}

/// Why a benchmark cannot be afforded whose rows' set-up takes so long together, if so.
fn too_dear(seconds: f64, budget_s: f64) -> Option<String> {
    let rounds = DEAR_LOOKS[0];
    (seconds * f64::from(rounds) > budget_s * DEAR_SHARE).then(|| {
        format!(
            "the set-up of its benchmark's rows takes about {seconds:.1} s in each of {rounds} rounds, more than half of the budget \
             of {budget_s:.0} s; give it more with --budget"
        )
    })
}

/// The scale at which `to_go` more rounds fit into what is left, going by the last round. The first round carries the
/// evidence pass as well, so its length is an upper bound, and the scale may rise again later.
fn rescale(scale: f64, to_go: u32, left_s: f64, last_round_s: f64) -> f64 {
    if to_go == 0 || last_round_s <= 0.0 {
        return scale;
    }
    (scale * left_s / (last_round_s * f64::from(to_go))).clamp(LEAST_SCALE, 1.0)
}

/// The same effort on fewer samples.
pub(super) fn scaled(effort: &Effort, scale: f64) -> Effort {
    Effort {
        samples: (f64::from(effort.samples) * scale).ceil() as u32,
        warm_up_ns: effort.warm_up_ns,
        case_ns: effort.case_ns * scale,
        patience_ns: effort.patience_ns * scale,
        batch_ns: effort.batch_ns,
        second_witness: effort.second_witness,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Profile;

    #[test]
    fn a_set_up_that_eats_the_budget_is_skipped_with_advice() {
        assert_eq!(
            too_dear(2.0, 24.0),
            None,
            "six rounds of 2 s fit into half of 24 s"
        );
        let reason = too_dear(2.0, 23.0).expect("they do not fit into half of 23 s");
        assert!(reason.contains("about 2.0 s in each of 6 rounds") && reason.contains("--budget"));
    }

    #[test]
    fn what_takes_longest_per_row_is_left_out_first() {
        let costs = || [("many", 1.0, 100), ("long", 1.0, 2), ("short", 0.1, 1)];
        assert_eq!(too_long(&mut costs(), 5, 11.0), [""; 0]);
        assert_eq!(too_long(&mut costs(), 5, 5.0), ["long"]);
        assert_eq!(too_long(&mut costs(), 5, 3.6), ["long", "short"]);
        assert_eq!(
            too_long(&mut costs(), 0, 0.0),
            [""; 0],
            "nothing is to be done"
        );
    }

    #[test]
    fn effort_shrinks_to_fit_and_grows_back() {
        assert_eq!(rescale(1.0, 5, 10.0, 1.0), 1.0, "more than enough");
        assert_eq!(rescale(1.0, 5, 2.5, 1.0), 0.5);
        assert_eq!(rescale(1.0, 5, 0.1, 1.0), LEAST_SCALE, "never below");
        assert_eq!(
            rescale(0.5, 4, 4.0, 0.5),
            1.0,
            "the first round was only slow by its evidence"
        );
        assert_eq!(rescale(0.5, 0, 0.0, 1.0), 0.5, "the fewest rounds are done");
        assert_eq!(scaled(&Profile::Quick.effort(), 0.2).samples, 3);
    }
}
