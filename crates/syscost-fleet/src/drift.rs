//! What changed since machines were measured before: of one machine, of all, and since when one has not been like the others.

use std::collections::{HashMap, HashSet};

use syscost_stats::multiple::benjamini_hochberg;

use crate::cohort::cohorts;
use crate::deviation::Deviation;
use crate::fleet::{Cell, Fleet};
use crate::judge::{Judgement, RATE, Subject, judge, ours};

/// What changed between machines' latest documents and those before.
#[derive(Debug)]
pub(crate) struct Drift {
    /// The machines whose change is not like the others'; deviations are from the cohort's median change.
    pub(crate) judgement: Judgement,
    /// The document before, by that of the last collection.
    pub(crate) before: HashMap<usize, usize>,
    /// Rows in which a whole cohort changed.
    pub(crate) together: Vec<Together>,
}

/// A row in which a cohort changed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Together {
    /// Its number among the judgement's cohorts.
    pub(crate) cohort: usize,
    /// The row's number.
    pub(crate) row: u32,
    /// How many machines were measured in it both times.
    pub(crate) machines: usize,
    /// The median machine's change.
    pub(crate) change: Deviation,
}

/// What changed with the last collection; `None` if it is the only one.
pub(crate) fn drift(fleet: &Fleet, alike: &[String]) -> Option<Drift> {
    let (last, earlier) = fleet.collections.split_last()?;
    let of_host = fleet.latest(earlier);
    let not_ours = not_ours(fleet, alike);
    let pair = |entry: &usize| {
        let now = &fleet.entries[*entry];
        let before = *of_host.get(&*now.host)?;
        let is_known = !not_ours.contains(entry) && !not_ours.contains(&before);
        (is_known && fleet.entries[before].started <= now.started).then_some((*entry, before))
    };
    let before: HashMap<usize, usize> = last.entries.iter().filter_map(pair).collect();
    if before.is_empty() {
        return None;
    }
    let mut changes: Vec<(usize, Vec<Cell>)> = before
        .iter()
        .map(|(now, before)| (*now, change(fleet, *now, *before)))
        .collect();
    changes.sort_unstable_by_key(|(entry, _)| *entry);
    let subjects: Vec<Subject<'_>> = changes
        .iter()
        .map(|(entry, cells)| Subject {
            entry: *entry,
            cells,
        })
        .collect();
    let judgement = judge(fleet, &subjects, alike);
    let together = together(&judgement);
    Some(Drift {
        judgement,
        before,
        together,
    })
}

/// The documents of machines whose cores were not their own when their collection was made: what
/// changed since, or until then, is whoever else ran there.
fn not_ours(fleet: &Fleet, alike: &[String]) -> HashSet<usize> {
    let mut untold = Vec::new();
    for collection in &fleet.collections {
        for cohort in cohorts(fleet, &collection.entries, alike) {
            ours(fleet, &cohort, &mut untold);
        }
    }
    untold.into_iter().map(|(entry, _)| entry).collect()
}

/// The changes of a machine's figures, as logarithms, from one document to another.
fn change(fleet: &Fleet, now: usize, before: usize) -> Vec<Cell> {
    let before = &fleet.entries[before].cells;
    let now = fleet.entries[now].cells.iter();
    let changed = now.filter_map(|cell| {
        let found = before
            .binary_search_by_key(&cell.row, |cell| cell.row)
            .ok()?;
        Some(Cell {
            log: cell.log - before[found].log,
            error: cell.error.hypot(before[found].error),
            row: cell.row,
        })
    });
    changed.collect()
}

/// The rows in which whole cohorts changed, of which at most the share [`RATE`] is wrong on average.
fn together(judgement: &Judgement) -> Vec<Together> {
    let mut all = Vec::new();
    for (cohort, judged) in judgement.cohorts.iter().enumerate() {
        all.extend(judged.expected.iter().map(|(row, expected)| Together {
            cohort,
            row: *row,
            machines: expected.machines,
            change: expected.distance_from_zero(),
        }));
    }
    let chances: Vec<f64> = all.iter().map(|one| one.change.p_value).collect();
    let found = all.into_iter().zip(benjamini_hochberg(&chances, RATE));
    let mut found: Vec<Together> = found
        .filter_map(|(one, is_found)| is_found.then_some(one))
        .collect();
    found.sort_by(|one, other| other.change.log.abs().total_cmp(&one.change.log.abs()));
    found
}

/// Since which collection each of these machines has not been like the others, by host name.
pub(crate) fn since(
    fleet: &Fleet,
    judgement: &Judgement,
    alike: &[String],
) -> HashMap<String, usize> {
    let Some(last) = fleet.collections.len().checked_sub(1) else {
        return HashMap::new();
    };
    let host = |entry: usize| fleet.entries[entry].host.clone();
    let outliers = judgement.outliers.iter();
    let mut since: HashMap<String, usize> = outliers.map(|one| (host(one.entry), last)).collect();
    let mut still: HashSet<String> = since.keys().cloned().collect();
    for collection in (0..last).rev() {
        if still.is_empty() {
            break;
        }
        let entries = fleet.as_of(collection);
        let then = judge(fleet, &subjects(fleet, &entries), alike);
        let accused: HashSet<String> = then.outliers.iter().map(|one| host(one.entry)).collect();
        still.retain(|host| accused.contains(host));
        since.extend(still.iter().map(|host| (host.clone(), collection)));
    }
    since
}

/// These documents' figures, to be judged.
pub(crate) fn subjects<'a>(fleet: &'a Fleet, entries: &[usize]) -> Vec<Subject<'a>> {
    let subject = |entry: &usize| Subject {
        entry: *entry,
        cells: &fleet.entries[*entry].cells,
    };
    entries.iter().map(subject).collect()
}

#[cfg(test)]
mod tests {
    use syscost_results::{Better, Unit};

    use super::*;
    use crate::fleet::{Collection, Entry, Row};

    /// Twelve machines on two days; the fourth took twice as long on the first, when its cores were
    /// its own for this share of the time.
    fn two_days(core_ours: f64) -> Fleet {
        let mut fleet = Fleet::default();
        fleet.rows.push(Row {
            name: "x".to_owned(),
            revision: 1,
            unit: Unit::Nanoseconds,
            better: Better::Lower,
        });
        for number in 0..24 {
            let (machine, day) = (number % 12, number / 12);
            let is_slow = number == 3;
            let cell = Cell {
                log: 0.001 * machine as f64 + if is_slow { 0.69 } else { 0.0 },
                error: 0.001,
                row: 0,
            };
            let mut entry = Entry::simulated(machine, vec![cell]);
            entry.started = day as i64;
            entry.core_ours = Some(if is_slow { core_ours } else { 98.0 });
            fleet.entries.push(entry);
        }
        let day = |entries: std::ops::Range<usize>| Collection {
            first: 0,
            last: 0,
            entries: entries.collect(),
        };
        fleet.collections = vec![day(0..12), day(12..24)];
        fleet
    }

    #[test]
    fn a_machine_that_was_shared_before_has_not_changed() {
        let accused = |core_ours| {
            let drift = drift(&two_days(core_ours), &[]).expect("two collections");
            let outliers = drift.judgement.outliers.iter();
            outliers.map(|one| one.entry).collect::<Vec<_>>()
        };
        assert_eq!(accused(98.0), [15]);
        assert_eq!(accused(69.0), [0; 0]);
    }
}
