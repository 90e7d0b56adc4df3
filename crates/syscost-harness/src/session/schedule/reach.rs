//! Which rows the next round measures, once all have the minimum number of rounds: those that can
//! reach their target in the time left.

use std::collections::{BTreeMap, BTreeSet};

use syscost_stats::looks::StopRule;

use super::budget::Standing;
use crate::profile::Profile;
use crate::session::ledger::Ledger;
use crate::session::row::RowState;

/// Lower bound for the assumed share of rounds that count, since it is not well known from few
/// rounds.
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

/// Once rows have the minimum number of rounds, those that rest in the next round, by index: they
/// are too far from their target for the time left. The rows that need least go first, so that as
/// many as possible get there. If several runs are measured together, a row rests in all of them.
pub(in crate::session) fn resting(standing: &Standing<'_>, profile: Profile) -> BTreeSet<usize> {
    if standing.rounds < standing.min_rounds {
        return BTreeSet::new();
    }
    let mut needs: Vec<Need> = standing.active_in_all().map(Need::none).collect();
    for ledger in standing.ledgers {
        let beside_s = beside_s(ledger);
        for need in &mut needs {
            let row = &ledger.rows[need.index];
            need.add(row, profile, beside_s[row.row.benchmark.id]);
        }
    }
    let mut resting = out_of_reach(needs, standing.left_s);
    // Those that were left out and came back take part until they have the minimum number; those that are
    // compared with each other, always.
    let may_rest = |row: &RowState| {
        row.counting().1 >= standing.min_rounds as usize && !row.row.benchmark.settles_together
    };
    resting.retain(|index| standing.each(*index).all(may_rest));
    resting
}

/// Overhead of a worker besides its cases, in seconds, divided by the active rows of its benchmark;
/// by the benchmark's id.
fn beside_s(ledger: &Ledger) -> BTreeMap<&'static str, f64> {
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    for row in ledger.rows.iter().filter(|row| row.is_active()) {
        *shares.entry(row.row.benchmark.id).or_default() += 1.0;
    }
    let worker_s = ledger.worker_s();
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
    fn add(&mut self, row: &RowState, profile: Profile, beside_s: f64) {
        let rounds = rounds_to_go(row, profile.stop_rule_with(row.row.setup()));
        let [work_s, waited_s] = row.likely_takes_s();
        let round_s = work_s + waited_s + beside_s;
        let all = f64::from(profile.stop_rule().last());
        self.is_beyond |= rounds.is_none();
        self.takes_s += rounds.unwrap_or(all) * round_s;
    }
}

/// The rows that cannot be settled in the time left if those that need least go first; never all of
/// them.
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

/// How many more rounds the row likely needs until its interval is narrow enough, judged by the
/// scatter of those that count; `None` if that exceeds the maximum.
fn rounds_to_go(row: &RowState, rule: StopRule<'_>) -> Option<f64> {
    let medians: Vec<f64> = row.counting_medians().collect();
    let look = match row.is_level() {
        true => rule.looks.first().copied(),
        false => rule.look_for(&medians),
    };
    let (counting, all) = row.counting();
    let share = (counting as f64 / all.max(1) as f64).max(MIN_SHARE);
    let missing = (look? as usize).saturating_sub(counting).max(1);
    Some(missing as f64 / share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::Pass;
    use crate::session::ledger::tests::{ledger, record};

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

    #[test]
    fn a_row_out_of_reach_rests_once_it_has_the_minimum_number_of_rounds() {
        let ledgers = [6, 5].map(|rounds| {
            let mut ledger = ledger();
            for round in 0..6 {
                ledger.enter(record(round, Pass::Timed, 0, 0.1));
            }
            for round in 0..rounds {
                ledger.enter(record(round, Pass::Timed, 1, 1.0));
            }
            ledger.rows[2].skipped = Some(String::new());
            ledger
        });
        let resting = |ledger: &Ledger, rounds, left_s| {
            let standing = Standing {
                ledgers: std::slice::from_ref(ledger),
                rounds,
                min_rounds: 6,
                budget_s: 20.0,
                left_s,
            };
            resting(&standing, Profile::Standard)
        };
        assert_eq!(resting(&ledgers[0], 6, 2.0), BTreeSet::new());
        assert_eq!(resting(&ledgers[0], 6, 0.5), BTreeSet::from([1]));
        assert_eq!(resting(&ledgers[0], 5, 0.5), BTreeSet::new(), "too early");
        assert_eq!(
            resting(&ledgers[1], 6, 0.5),
            BTreeSet::new(),
            "it came back"
        );
    }
}
