//! What a run may take: when it ends, how much of each row fits, and what is left out.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use syscost_results::stats::order::median;

use super::Session;
use super::plan::{DEAR_LOOKS, active_benchmarks};
use super::rows::Takes;
use crate::bencher::Effort;
use crate::benchmark::Setup;

/// Set-up of one benchmark may take this share of the budget.
const DEAR_SHARE: f64 = 0.5;

/// Neither samples nor patience are ever scaled below this to fit a budget.
const MIN_SCALE: f64 = 0.2;

/// What is left of a round's length with samples as few as they may become: set-up takes as long as ever.
const SHRINKS: f64 = 0.9;

/// After as many rounds a row that there is no more time for keeps what it has.
const KEPT_ROUNDS: usize = 2;

/// Kept back from the budget for the last worker and the document.
const RESERVE: Duration = Duration::from_millis(300);

/// Operations timed one by one that a process takes however little time there is: over six processes, as many as p99 needs.
const MIN_SINGLES: u32 = 50;

/// In the first round, the share of the rows that must be known before others are believed to take as long.
const KNOWN_SHARE: f64 = 0.2;

/// In the first round a row is left out for others only if it takes as many times as long as most.
const LONG: f64 = 5.0;

/// How much of the profile's effort is taken, so that the fewest rounds fit into the budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    /// The share of the samples.
    samples: f64,
    /// The share of the time that a case may wait for a core of our own.
    patience: f64,
}

impl Pace {
    /// All of it.
    pub(super) const FULL: Self = Self {
        samples: 1.0,
        patience: 1.0,
    };

    /// That at which `to_go` more rounds fit into what is left, going by how long work and waiting took in the last one. Waiting gets what work leaves: a number of a shared core is better
    /// than none.
    fn next(self, to_go: u32, left_s: f64, work_s: f64, waited_s: f64) -> Self {
        if to_go == 0 {
            return Self::FULL;
        }
        let share_s = left_s / f64::from(to_go);
        let scaled = |now: f64, share_s: f64, took_s: f64| match took_s > 0.0 {
            true => (now * share_s / took_s).clamp(MIN_SCALE, 1.0),
            false => 1.0,
        };
        let samples = scaled(self.samples, share_s, work_s);
        let work_s = work_s * samples / self.samples;
        Self {
            samples,
            patience: scaled(self.patience, (share_s - work_s).max(0.0), waited_s),
        }
    }
}

impl Session<'_> {
    /// Leaves out the rows that take longest where the fewest rounds of all of them cannot be had in the time that is left: an interval for most rows is worth
    /// more than a range for all. In the first round rows that were not measured yet are believed to take what the others take.
    pub(super) fn shed(&mut self, rounds: u32) {
        let min_rounds = self.header.config.min_rounds;
        let active = || {
            self.states
                .iter()
                .enumerate()
                .filter(|(_, state)| state.is_active())
        };
        let known: Vec<(usize, Takes)> = active()
            .filter(|(_, state)| state.takes.longest_s > 0.0)
            .map(|(index, state)| (index, state.takes))
            .collect();
        let unknown = active().count() - known.len();
        let is_known = known.len() as f64 >= KNOWN_SHARE * (known.len() + unknown) as f64;
        if unknown > 0 && !is_known {
            return;
        }
        // The first round is under way at least.
        let to_go = min_rounds.saturating_sub(rounds.max(1));
        let left_s = self.left_for_cases_s(to_go, &[self]);
        let out = match unknown {
            0 => too_long(known, to_go, left_s),
            _ if is_full(&known, to_go, left_s) => {
                self.skip_unmeasured();
                return;
            }
            _ => too_long_of_some(known, unknown, to_go, left_s),
        };
        for index in out {
            let state = &mut self.states[index];
            if state.rounds.len() >= KEPT_ROUNDS {
                state.settled = true;
                continue;
            }
            let seconds = state.takes.longest_s;
            state.skipped = Some(format!(
                "the time budget was too short: this row takes {seconds:.3} s in each of {min_rounds} rounds; give it more with --budget"
            ));
        }
    }

    /// Skips what was not measured yet, so that what was has its rounds.
    fn skip_unmeasured(&mut self) {
        let active = self.states.iter_mut().filter(|state| state.is_active());
        for state in active.filter(|state| state.takes.longest_s == 0.0) {
            state.skipped = Some(
                "the time budget was too short: the rows that came before it need all of it; give it more with --budget"
                    .to_owned(),
            );
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

    /// The pace of the rounds to come after `rounds` of this run, or of both of a pair.
    pub(super) fn pace(&self, pace: Pace, rounds: u32, sides: &[&Session<'_>]) -> Pace {
        let to_go = self.header.config.min_rounds.saturating_sub(rounds);
        let states = sides.iter().flat_map(|side| &side.states);
        let active: Vec<Takes> = states
            .filter(|state| state.is_active())
            .map(|state| state.takes)
            .collect();
        let work_s = active.iter().map(|takes| takes.work_s).sum();
        let waited_s = active.iter().map(|takes| takes.waited_s).sum();
        pace.next(to_go, self.left_for_cases_s(to_go, sides), work_s, waited_s)
    }

    /// What is left for the cases of as many rounds of these runs, in seconds: not what their workers take beside.
    fn left_for_cases_s(&self, to_go: u32, sides: &[&Session<'_>]) -> f64 {
        let left = self.deadline().saturating_duration_since(Instant::now());
        let beside_s = |side: &&Session<'_>| {
            let each_s = median(&side.beside_s).unwrap_or(0.0);
            each_s * active_benchmarks(&[*side]).len() as f64
        };
        let beside_s: f64 = sides.iter().map(beside_s).sum();
        (left.as_secs_f64() - f64::from(to_go) * beside_s).max(0.0)
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

/// What as many rounds of these rows take, in seconds, with samples as few as they may become.
fn needed_s(rows: &[(usize, Takes)], rounds: f64) -> f64 {
    SHRINKS * rounds * rows.iter().map(|(_, takes)| takes.longest_s).sum::<f64>()
}

/// Of rows, each with what it takes, those to leave out so that as many rounds fit into the time left: the longest first.
fn too_long(mut rows: Vec<(usize, Takes)>, to_go: u32, left_s: f64) -> Vec<usize> {
    rows.sort_by(|(_, a), (_, b)| b.longest_s.total_cmp(&a.longest_s));
    let out = (0..rows.len()).take_while(|out| needed_s(&rows[*out..], f64::from(to_go)) > left_s);
    let out = out.count();
    rows[..out].iter().map(|(index, _)| *index).collect()
}

/// Whether these rows alone need all the time that is left.
fn is_full(rows: &[(usize, Takes)], to_go: u32, left_s: f64) -> bool {
    needed_s(rows, f64::from(to_go)) >= left_s
}

/// The same while others are still to be measured, of which nothing is known: they are believed to take what most take, in a round more and for
/// their evidence. Only rows that take much longer than most are left out for them.
fn too_long_of_some(
    mut known: Vec<(usize, Takes)>,
    unknown: usize,
    to_go: u32,
    left_s: f64,
) -> Vec<usize> {
    known.sort_by(|(_, a), (_, b)| b.longest_s.total_cmp(&a.longest_s));
    let rounds = f64::from(to_go);
    let middle_s = known
        .get(known.len() / 2)
        .map_or(0.0, |(_, takes)| takes.longest_s);
    let is_too_much = |rest: &[(usize, Takes)]| {
        let others = unknown as f64 / rest.len().max(1) as f64;
        let evidence_s: f64 = rest.iter().map(|(_, takes)| takes.evidence_s).sum();
        needed_s(rest, rounds + others * (rounds + 1.0)) + others * evidence_s > left_s
    };
    let out = (0..known.len())
        .take_while(|out| known[*out].1.longest_s > LONG * middle_s && is_too_much(&known[*out..]));
    let out = out.count();
    known[..out].iter().map(|(index, _)| *index).collect()
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

/// The same effort at a slower pace.
pub(super) fn scaled(effort: &Effort, pace: Pace) -> Effort {
    let fewer = |count: u32| (f64::from(count) * pace.samples).ceil() as u32;
    Effort {
        samples: fewer(effort.samples),
        case_ns: effort.case_ns * pace.samples,
        patience_ns: effort.patience_ns * pace.patience,
        singles: fewer(effort.singles).max(MIN_SINGLES.min(effort.singles)),
        ..effort.clone()
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

    fn rows(work_s: &[f64]) -> Vec<(usize, Takes)> {
        let takes = |&longest_s| Takes {
            longest_s,
            work_s: 0.0,
            evidence_s: 1.0,
            waited_s: 9.0,
        };
        work_s.iter().map(takes).enumerate().collect()
    }

    #[test]
    fn rows_that_take_longest_are_left_out_first() {
        let out = |left_s| too_long(rows(&[0.1, 1.0, 0.2, 0.1]), 5, left_s);
        assert_eq!(
            out(6.5),
            [0; 0],
            "with fewer samples all fit, however long they wait"
        );
        assert_eq!(out(3.0), [1]);
        assert_eq!(out(1.0), [1, 2]);
        assert_eq!(
            too_long(rows(&[1.0]), 0, 0.0),
            [0; 0],
            "nothing is to be done"
        );
    }

    #[test]
    fn rows_not_measured_yet_are_believed_to_take_what_others_take() {
        // Three of nine are known: 0.9 * (5 * 1.2 + 2 * 6 * 1.2) + 2 * 3 = 24.4 s for all.
        let out = |left_s| too_long_of_some(rows(&[0.1, 1.0, 0.1]), 6, 5, left_s);
        assert_eq!(out(25.0), [0; 0]);
        assert_eq!(out(24.0), [1]);
        assert_eq!(out(1.0), [1], "the others take no longer than most");
    }

    #[test]
    fn what_is_known_goes_before_what_is_not() {
        let known = rows(&[0.1, 1.0, 0.1]);
        assert!(is_full(&known, 5, 5.0) && !is_full(&known, 5, 6.0));
    }

    #[test]
    fn samples_shrink_to_fit_and_waiting_gets_what_is_left() {
        assert_eq!(Pace::FULL.next(5, 20.0, 1.0, 3.0), Pace::FULL);
        let scarce = Pace::FULL.next(5, 10.0, 1.0, 2.0);
        assert_eq!((scarce.samples, scarce.patience), (1.0, 0.5));
        let short = Pace::FULL.next(5, 2.5, 1.0, 2.0);
        assert_eq!((short.samples, short.patience), (0.5, MIN_SCALE));
        assert_eq!(short.next(4, 40.0, 0.5, 0.4), Pace::FULL, "and grow back");
        assert_eq!(
            short.next(0, 0.0, 0.5, 0.4),
            Pace::FULL,
            "the fewest are done"
        );
        assert_eq!(Pace::FULL.next(5, 1.0, 0.0, 0.0), Pace::FULL);
        assert_eq!(scaled(&Profile::Quick.effort(), short).samples, 8);
    }
}
