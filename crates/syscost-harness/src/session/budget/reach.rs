//! Which rows the next round measures, once all have the minimum number of rounds: those that can
//! reach their target in the time left.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use syscost_results::stats::looks::StopRule;

use super::active_in_all;
use crate::session::plan::looks_of;
use crate::session::rows::RowState;
use crate::session::{Profile, Session};

/// Lower bound for the assumed share of rounds that count, since it is not well known from few rounds.
const MIN_SHARE: f64 = 0.1;

/// What a row still needs until it is settled.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Need {
    index: usize,
    /// Whether it needs more rounds than it may have.
    is_beyond: bool,
    /// How long its remaining rounds will take, in seconds.
    takes_s: f64,
}

/// Once rows have the minimum number of rounds, lets those rest in the next round that are too far
/// from their target for the time left: the rows that need least go first, so that as many as
/// possible get there. If several runs are measured together, a row rests in all of them.
pub(in crate::session) fn postpone(sides: &mut [&mut Session<'_>], rounds: u32, profile: Profile) {
    let [first, ..] = &*sides else { return };
    let min_rounds = first.header.config.min_rounds;
    if rounds < min_rounds {
        return;
    }
    let left_s = first.deadline().saturating_duration_since(Instant::now());
    let mut needs: Vec<Need> = active_in_all(sides).into_iter().map(Need::none).collect();
    for side in &*sides {
        let beside_s = beside_s(side);
        for need in &mut needs {
            let state = &side.states[need.index];
            need.add(state, profile.stop_rule(), beside_s[state.row.benchmark.id]);
        }
    }
    let resting = out_of_reach(needs, left_s.as_secs_f64());
    for side in sides {
        for (index, state) in side.states.iter_mut().enumerate() {
            // Those that were left out and came back take part until they have the minimum number.
            let turns = state.rounds.len() as u32 + state.deferred;
            state.is_postponed = turns >= min_rounds && resting.contains(&index);
        }
    }
}

/// Overhead of a worker besides its cases, in seconds, divided by the active rows of its benchmark;
/// by the benchmark's id.
fn beside_s(side: &Session<'_>) -> BTreeMap<&'static str, f64> {
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    for state in side.states.iter().filter(|state| state.is_active()) {
        *shares.entry(state.row.benchmark.id).or_default() += 1.0;
    }
    let worker_s = side.worker_s();
    shares
        .values_mut()
        .for_each(|rows| *rows = worker_s / *rows);
    shares
}

impl Need {
    fn none(index: usize) -> Self {
        Self {
            index,
            is_beyond: false,
            takes_s: 0.0,
        }
    }

    /// Adds what the row needs in one run, where each round has an overhead of `beside_s`.
    fn add(&mut self, state: &RowState, rule: StopRule<'_>, beside_s: f64) {
        let looks = looks_of(state.row.setup(), rule.looks);
        let rounds = state.rounds_to_go(StopRule { looks, ..rule });
        let takes = state.likely_takes();
        let round_s = takes.work_s + takes.waited_s + beside_s;
        self.is_beyond |= rounds.is_none();
        self.takes_s += rounds.unwrap_or(f64::from(rule.last())) * round_s;
    }
}

/// The rows that cannot be settled in the time left if those that need least go first; never all of them.
fn out_of_reach(mut needs: Vec<Need>, left_s: f64) -> BTreeSet<usize> {
    needs.sort_by(|a, b| {
        let by_time = a.takes_s.total_cmp(&b.takes_s);
        a.is_beyond.cmp(&b.is_beyond).then(by_time)
    });
    let mut sum_s = 0.0;
    let resting = needs.iter().skip_while(|need| {
        let is_first = sum_s == 0.0;
        sum_s += need.takes_s;
        is_first || sum_s <= left_s
    });
    resting.map(|need| need.index).collect()
}

impl RowState {
    /// How many more rounds the row likely needs until its interval is narrow enough, judged by the
    /// scatter of those that count; `None` if that exceeds the maximum.
    fn rounds_to_go(&self, rule: StopRule<'_>) -> Option<f64> {
        let medians: Vec<f64> = self.counting_medians().collect();
        let look = match self.is_level() {
            true => rule.looks.first().copied(),
            false => rule.look_for(&medians),
        };
        let (counting, all) = self.counting();
        let share = (counting as f64 / all.max(1) as f64).max(MIN_SHARE);
        let missing = (look? as usize).saturating_sub(counting).max(1);
        Some(missing as f64 / share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_need_least_go_first() {
        let need = |index, takes_s, is_beyond| Need {
            index,
            is_beyond,
            takes_s,
        };
        let needs = vec![
            need(0, 3.0, false),
            need(1, 0.5, true),
            need(2, 1.0, false),
            need(3, 2.0, false),
        ];
        let resting = |left_s| out_of_reach(needs.clone(), left_s);
        assert_eq!(resting(7.0), BTreeSet::new());
        let beyond = BTreeSet::from([1]);
        assert_eq!(resting(6.2), beyond, "what is beyond all rounds comes last");
        assert_eq!(resting(4.0), BTreeSet::from([0, 1]));
        let all_but_one = BTreeSet::from([0, 1, 3]);
        assert_eq!(resting(0.1), all_but_one, "one goes on whatever it takes");
    }
}
