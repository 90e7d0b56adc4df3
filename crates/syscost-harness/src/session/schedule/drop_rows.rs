//! Which rows are left out where the time is too short for all of them, and which come back.

use std::collections::BTreeMap;

use syscost_results::estimate::between::MIN_PROCESSES;
use syscost_stats::order::median;

use super::budget::{Standing, option};
use crate::session::row::RowState;

/// Length of a round with the minimum number of samples, relative to its full length: set-up takes
/// as long as ever.
const SHRINKS: f64 = 0.9;

/// In the first round, the share of the rows that must be known before the others are assumed to
/// take as long.
const KNOWN_SHARE: f64 = 0.2;

/// In the first round a row is left out in favour of others only if it takes this many times as
/// long as the median row.
const LONG: f64 = 5.0;

/// A row whose times are known.
#[derive(Debug, Clone, Copy)]
struct Known {
    index: usize,
    /// See [`crate::session::Options::studies`].
    tier: usize,
    /// See [`Takes`](crate::session::row::Takes), of all runs together.
    longest_s: f64,
    evidence_s: f64,
}

/// The rows to leave out, by index, of which those without rounds are skipped for a reason: rows of
/// the last tier, and of these the ones that take longest, where the time left is too short for the
/// minimum number of rounds of all rows: an interval for most rows is worth more than a range for
/// all. In the first round, unmeasured rows are assumed to take what the others take. Where there
/// is time for the minimum number of rounds, but not for those that will likely be needed, since
/// not all of them count, rows that have an interval and take many times as long as the median are
/// left out. Every row has its first round before any has its second, and keeps the rounds that it
/// has. If several runs are measured together, a row's times are added up, and it is left out of
/// all.
pub(in crate::session) fn dropped(standing: &Standing<'_>) -> Vec<(usize, Option<String>)> {
    let (min_rounds, budget_s) = (standing.min_rounds, standing.budget_s);
    let longest_s = |index| standing.each(index).map(|row| row.takes.longest_s).sum();
    let (known, unknown): (Vec<Known>, Vec<Known>) = standing
        .active_in_all()
        .map(|index| Known {
            index,
            tier: standing.each(index).map(|row| row.tier).min().unwrap_or(0),
            longest_s: longest_s(index),
            evidence_s: standing.each(index).map(|row| row.takes.evidence_s).sum(),
        })
        .partition(|row| row.longest_s > 0.0);
    let next_tier = unknown.iter().map(|row| row.tier).min().unwrap_or(0);
    let unknown = unknown.len();
    if unknown > 0 && (known.len() as f64) < KNOWN_SHARE * (known.len() + unknown) as f64 {
        return Vec::new();
    }
    // At least the first round is under way.
    let to_go = |all: u32| all.saturating_sub(standing.rounds.max(1));
    let left_s = |to_go: u32| standing.left_for_cases_s(to_go);
    let fewest = to_go(min_rounds);
    let all_s = budget_s - left_s(fewest) + needed_for_all_s(&known, unknown, fewest);
    let out = match unknown {
        0 => {
            let likely = to_go(standing.rounds_needed());
            let is_enough = |row: &RowState| row.rounds.len() >= MIN_PROCESSES;
            let mut longest = too_long(known.clone(), long_s(&known), likely, left_s(likely));
            longest.retain(|index| standing.each(*index).all(is_enough));
            let too_long = too_long(known, 0.0, fewest, left_s(fewest));
            // Both lists begin with the longest.
            match longest.len() > too_long.len() {
                true => longest,
                false => too_long,
            }
        }
        _ => too_long_of_some(known, unknown, next_tier, fewest, left_s(fewest)),
    };
    let with_reason = |index: usize| {
        let is_measured = standing.each(index).all(|row| !row.rounds.is_empty());
        let why = || too_short(budget_s, longest_s(index), min_rounds, all_s);
        (index, (!is_measured).then(why))
    };
    out.into_iter().map(with_reason).collect()
}

/// The rows to bring back that were left out after their first rounds, by index, once the others
/// have the minimum number of rounds and these took less time than was feared: those that get this
/// number, too, in the time left. The sources of computed rows come back together, since these need
/// rounds that all of them have.
pub(in crate::session) fn returning(standing: &Standing<'_>) -> Vec<usize> {
    let min_rounds = standing.min_rounds;
    // Runs that are measured in turn have the same rounds of a row.
    let [ledger] = standing.ledgers else {
        return Vec::new();
    };
    if standing.rounds < min_rounds {
        return Vec::new();
    }
    let (beside_s, mut left_s) = (ledger.worker_s(), standing.left_s);
    let mut together: BTreeMap<(Option<&str>, usize), Out> = BTreeMap::new();
    for (index, row) in ledger.rows.iter().enumerate() {
        let has = row.rounds.len() as u32;
        let needs_s = f64::from(min_rounds.saturating_sub(has)) * (row.takes.longest_s + beside_s);
        let may_return = row.cut && row.failure.is_none() && row.skipped.is_none();
        if may_return && (1..min_rounds).contains(&has) {
            let mut others = ledger.rows.iter();
            let computed = others.find(|other| other.row.is_computed_from(&row.row));
            let key = match computed {
                Some(computed) => (Some(computed.row.benchmark.id), 0),
                None => (None, index),
            };
            let out = together.entry(key).or_default();
            out.tier = Some(out.tier.map_or(row.tier, |tier| tier.min(row.tier)));
            out.needs_s += needs_s;
            out.rows.push(index);
        } else if row.is_active() {
            // It came back before.
            left_s -= needs_s;
        }
    }
    fitting(together.into_values().collect(), left_s)
}

/// Rows that were left out, which come back together.
#[derive(Debug, Clone, Default)]
struct Out {
    tier: Option<usize>,
    /// What they need to have the minimum number of rounds, in seconds.
    needs_s: f64,
    rows: Vec<usize>,
}

/// Those of these rows that fit into the time left: the first tier first, of a tier those that need
/// least.
fn fitting(mut all: Vec<Out>, mut left_s: f64) -> Vec<usize> {
    all.sort_by(|a, b| {
        let by_need = a.needs_s.total_cmp(&b.needs_s);
        a.tier.cmp(&b.tier).then(by_need)
    });
    all.retain(|out| {
        let fits = out.needs_s <= left_s;
        left_s -= if fits { out.needs_s } else { 0.0 };
        fits
    });
    all.into_iter().flat_map(|out| out.rows).collect()
}

/// Why a row is skipped whose rounds take this long, in seconds, 0 if that is not known, where all
/// rows would need `all_s`.
fn too_short(budget_s: f64, longest_s: f64, min_rounds: u32, all_s: f64) -> String {
    let why = match longest_s > 0.0 {
        true => format!("it takes {longest_s:.3} s in each of {min_rounds} rounds"),
        false => "the rows measured before it need all of it".to_owned(),
    };
    format!(
        "the budget of {budget_s:.1} s was too short: {why}; for all rows, give about {}",
        option(all_s.max(budget_s + 1.0))
    )
}

/// How long this many rounds of these rows take, in seconds, with the minimum number of samples.
fn needed_s<'a>(rows: impl IntoIterator<Item = &'a Known>, rounds: f64) -> f64 {
    let each_s = rows.into_iter().map(|row| row.longest_s);
    SHRINKS * rounds * each_s.sum::<f64>()
}

/// The rows to leave out so that the rest is not too much: those of the last tier first, of a tier
/// the longest, and only those that `may_go`.
fn left_out(
    mut rows: Vec<Known>,
    may_go: impl Fn(&Known) -> bool,
    is_too_much: impl Fn(&[Known]) -> bool,
) -> Vec<usize> {
    rows.sort_by(|a, b| {
        let by_time = b.longest_s.total_cmp(&a.longest_s);
        b.tier.cmp(&a.tier).then(by_time)
    });
    let mut out = Vec::new();
    while let Some(next) = rows.iter().position(&may_go)
        && is_too_much(&rows)
    {
        out.push(rows.remove(next));
    }
    // Those that went in vain, before a longer one of an earlier tier had to go as well.
    for at in (0..out.len()).rev() {
        rows.push(out[at]);
        match is_too_much(&rows) {
            true => rows.truncate(rows.len() - 1),
            false => drop(out.remove(at)),
        }
    }
    out.into_iter().map(|row| row.index).collect()
}

/// The time from which a row counts as much longer than the median of these, in seconds.
fn long_s(rows: &[Known]) -> f64 {
    let all: Vec<f64> = rows.iter().map(|row| row.longest_s).collect();
    LONG * median(&all).unwrap_or(0.0)
}

/// The rows to leave out so that `to_go` rounds fit into the time left; only those that take longer
/// than `min_s`.
fn too_long(rows: Vec<Known>, min_s: f64, to_go: u32, left_s: f64) -> Vec<usize> {
    let is_long = |row: &Known| row.longest_s > min_s;
    left_out(rows, is_long, |rest| {
        needed_s(rest, f64::from(to_go)) > left_s
    })
}

/// As [`too_long`], while some rows are unmeasured, the first of them in this tier. Only rows that
/// take much longer than the median are left out for them, and none of a tier before theirs.
fn too_long_of_some(
    known: Vec<Known>,
    unknown: usize,
    next_tier: usize,
    to_go: u32,
    left_s: f64,
) -> Vec<usize> {
    let min_s = long_s(&known);
    let may_go = |row: &Known| row.longest_s > min_s && row.tier >= next_tier;
    left_out(known, may_go, |rest| {
        needed_for_all_s(rest, unknown, to_go) > left_s
    })
}

/// How long this many rounds of these rows and of `unknown` others take, in seconds, with the
/// minimum number of samples: each of the others as long as a known one, plus one more round and
/// its evidence.
fn needed_for_all_s(known: &[Known], unknown: usize, to_go: u32) -> f64 {
    let rounds = f64::from(to_go);
    let others = unknown as f64 / known.len().max(1) as f64;
    let evidence_s: f64 = known.iter().map(|row| row.evidence_s).sum();
    needed_s(known, rounds + others * (rounds + 1.0)) + others * evidence_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::Pass;
    use crate::session::ledger::Ledger;
    use crate::session::ledger::tests::{ledger, record};

    fn rows(work_s: &[f64]) -> Vec<Known> {
        let known = |(index, &longest_s)| Known {
            index,
            tier: 0,
            longest_s,
            evidence_s: 1.0,
        };
        work_s.iter().enumerate().map(known).collect()
    }

    #[test]
    fn rows_of_a_later_tier_are_left_out_before_longer_ones() {
        let mut rows = rows(&[0.1, 1.0, 0.2, 0.3]);
        (rows[2].tier, rows[3].tier) = (1, 1);
        let out = |left_s| too_long(rows.clone(), 0.0, 5, left_s);
        assert_eq!((out(6.5), out(5.1)), (vec![3], vec![3, 2]));
        assert_eq!(out(3.0), [1], "the others went in vain");
        assert_eq!(out(1.0), [3, 2, 1]);
        // Long ones make way for those that are not measured yet, unless these are of a later tier.
        rows[1].longest_s = 9.0;
        let out_of = |next_tier| too_long_of_some(rows.clone(), 9, next_tier, 5, 1.0);
        assert_eq!((out_of(0), out_of(1)), (vec![1], vec![]));
    }

    #[test]
    fn of_what_was_left_out_the_first_tier_comes_back_and_the_shortest_of_it() {
        let out = |tier, needs_s, rows: &[usize]| Out {
            tier: Some(tier),
            needs_s,
            rows: rows.to_vec(),
        };
        let all = vec![
            out(1, 1.0, &[0]),
            out(0, 3.0, &[1, 4]),
            out(0, 2.0, &[2]),
            out(1, 0.5, &[3]),
        ];
        let back = |left_s| fitting(all.clone(), left_s);
        assert_eq!(back(9.0), [2, 1, 4, 3, 0]);
        assert_eq!(back(5.6), [2, 1, 4, 3]);
        assert_eq!(back(3.0), [2, 3], "what does not fit is no obstacle");
        assert_eq!(back(-1.0), [0; 0]);
    }

    #[test]
    fn rows_that_take_longest_are_left_out_first() {
        let out = |left_s| too_long(rows(&[0.1, 1.0, 0.2, 0.1]), 0.0, 5, left_s);
        assert_eq!(
            out(6.5),
            [0; 0],
            "with fewer samples all fit, however long they wait"
        );
        assert_eq!(out(3.0), [1]);
        assert_eq!(out(1.0), [1, 2]);
        assert_eq!(
            too_long(rows(&[1.0]), 0.0, 0, 0.0),
            [0; 0],
            "nothing is to be done"
        );
    }

    #[test]
    fn for_more_than_the_fewest_rounds_only_the_much_longer_make_way() {
        let rows = rows(&[0.1, 1.0, 0.2, 0.1]);
        let out = |left_s| too_long(rows.clone(), long_s(&rows), 5, left_s);
        assert_eq!(out(6.5), [0; 0]);
        assert_eq!(out(1.0), [1]);
    }

    #[test]
    fn rows_not_measured_yet_are_believed_to_take_what_others_take() {
        // Three of nine are known: 0.9 * (5 * 1.2 + 2 * 6 * 1.2) + 2 * 3 = 24.4 s for all.
        let out = |left_s| too_long_of_some(rows(&[0.1, 1.0, 0.1]), 6, 0, 5, left_s);
        assert_eq!(out(25.0), [0; 0]);
        assert_eq!(out(24.0), [1]);
        assert_eq!(out(1.0), [1], "the others take no longer than most");
    }

    #[test]
    fn the_reason_says_what_budget_all_rows_need() {
        let all_s = 1.0 + needed_for_all_s(&rows(&[0.1, 1.0, 0.1]), 6, 5);
        let reason = too_short(5.0, 0.0, 6, all_s);
        assert!(reason.contains("of 5.0 s was too short"), "{reason}");
        assert!(reason.ends_with("about --budget 26"), "{reason}");
        let long = too_short(5.0, 0.25, 6, 0.0);
        assert!(
            long.contains("it takes 0.250 s in each of 6 rounds"),
            "{long}"
        );
        assert!(long.ends_with("--budget 6"), "more than was given: {long}");
    }

    /// A ledger of which the second row takes ten times as long as the others, and of the last
    /// nothing is known.
    fn measured(rows: usize) -> Ledger {
        let mut ledger = ledger();
        for (index, took_s) in [0.1, 1.0, 0.1].into_iter().enumerate().take(rows) {
            let record = record(0, Pass::Timed, index, took_s);
            ledger.enter(record);
        }
        ledger
    }

    fn standing(ledgers: &[Ledger], rounds: u32, left_s: f64) -> Standing<'_> {
        Standing {
            ledgers,
            rounds,
            min_rounds: 6,
            budget_s: 20.0,
            left_s,
        }
    }

    #[test]
    fn a_row_that_is_dropped_keeps_its_rounds_or_says_why_it_has_none() {
        let one = [measured(3)];
        let dropped = |left_s| super::dropped(&standing(&one, 1, left_s));
        assert_eq!((dropped(6.0), dropped(3.0)), (vec![], vec![(1, None)]));
        let mut one = one;
        one[0].rows[1].rounds.clear();
        let [(1, Some(why))] = &super::dropped(&standing(&one, 1, 3.0))[..] else {
            panic!("it is skipped");
        };
        assert!(
            why.contains("it takes 1.000 s in each of 6 rounds"),
            "{why}"
        );
    }

    #[test]
    fn two_runs_drop_a_row_for_the_time_that_both_need() {
        let two = [measured(3), measured(3)];
        assert_eq!(dropped(&standing(&two[..1], 1, 6.0)), []);
        assert_eq!(dropped(&standing(&two, 1, 6.0)), [(1, None)]);
    }

    #[test]
    fn a_row_that_was_dropped_returns_once_the_others_have_their_rounds_and_time_is_left() {
        let mut two = [measured(3), measured(3)];
        two[0].rows[1].leave_out(None);
        let back = |rounds, left_s| returning(&standing(&two[..1], rounds, left_s));
        assert_eq!((back(6, 7.0), back(6, 5.0)), (vec![1], vec![]));
        assert_eq!(back(5, 7.0), [0; 0], "others come first");
        assert_eq!(
            returning(&standing(&two, 6, 7.0)),
            [0; 0],
            "a pair's rounds stay equal"
        );
    }
}
