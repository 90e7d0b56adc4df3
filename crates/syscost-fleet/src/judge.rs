//! Which machines are not like the others of their cohort.
//!
//! Each row of each machine is tested ([`crate::deviation`]). A machine's rows together give it one chance by Simes (1986), "An improved
//! Bonferroni procedure for multiple tests of significance", which holds for rows that depend on each other positively, as those
//! of a machine do. Over all machines the share of wrong accusations is kept below [`RATE`] by Benjamini and Hochberg (1995);
//! within an accused machine, rows by the same procedure at the rate of all times the share of machines accused: Benjamini
//! and Bogomolov (2014), "Selective inference on multiple families of hypotheses".

use std::collections::BTreeMap;
use std::thread;

use syscost_results::Better;
use syscost_stats::multiple::benjamini_hochberg;
use syscost_stats::order;

use crate::cohort::{Cohort, cohorts};
use crate::deviation::{Deviation, Expected, Figure, MIN_FIGURES, MIN_MACHINES, freedom_by_tails};
use crate::fleet::{Cell, Fleet};

/// Of the machines accused, so large a share may be accused wrongly, on average.
pub(crate) const RATE: f64 = 0.05;
/// A machine whose cores were its own by so many percentage points less of the time than those of half of its cohort cannot be
/// judged: what differs may be whoever else ran on them.
pub(crate) const OURS_APART: f64 = 20.0;
/// Maximum number of figures gathered by row at a time: all of them would be in memory twice.
const AT_ONCE: usize = 1 << 18;

/// What is judged of a machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The document that its facts are from, by number.
    pub(crate) entry: usize,
    /// Its figures, ascending by row.
    pub(crate) cells: &'a [Cell],
}

/// Which machines are not like the others.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    /// The cohorts, the largest first.
    pub(crate) cohorts: Vec<JudgedCohort>,
    /// The machines that are not like the others, the worst first.
    pub(crate) outliers: Vec<Outlier>,
    /// Those of which nothing can be said.
    pub(crate) untold: Vec<(usize, Untold)>,
    /// How many machines were judged.
    pub(crate) machines: usize,
    /// How many of their figures, and of those of machines of which nothing can be said.
    pub(crate) figures: usize,
    /// Of how many rows that machines measured.
    pub(crate) measured: usize,
}

/// A cohort, and what its machines say of each row.
#[derive(Debug)]
pub(crate) struct JudgedCohort {
    /// The machines.
    pub(crate) cohort: Cohort,
    /// What is expected, ascending by row; of rows that enough machines have.
    pub(crate) expected: Vec<(u32, Expected)>,
}

/// A machine that is not like the others.
#[derive(Debug)]
pub(crate) struct Outlier {
    /// Its document.
    pub(crate) entry: usize,
    /// Its cohort.
    pub(crate) cohort: usize,
    /// How likely any of such a cohort is as far off by chance.
    pub(crate) p_value: f64,
    /// The rows in which it differs, the worst first.
    pub(crate) findings: Vec<Finding>,
}

/// A row in which a machine differs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finding {
    /// The row's number.
    pub(crate) row: u32,
    /// By how much.
    pub(crate) deviation: Deviation,
    /// Whether it is worse than the others.
    pub(crate) is_worse: bool,
}

/// Why nothing can be said of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Untold {
    /// There are too few machines like it; their number, itself included.
    FewLikeIt(usize),
    /// Its cores were its own much less of the time than others'; both in percent.
    CoreNotOurs {
        /// Its own share.
        own: f64,
        /// That of half of the others.
        others: f64,
    },
    /// None of its rows, whose number this is, has a number beyond doubt that others have, too.
    NothingKnown(usize),
    /// How many of its figures could be judged, and how many rows it or the median machine has: more than twice that.
    LittleKnown(usize, usize),
}

/// Judges these machines, alike by these facts.
pub(crate) fn judge(fleet: &Fleet, subjects: &[Subject<'_>], alike: &[String]) -> Judgement {
    let mut by_entry = vec![None; fleet.entries.len()];
    for subject in subjects {
        by_entry[subject.entry] = Some(subject.cells);
    }
    let cells_of = |entry: &usize| by_entry[*entry].unwrap_or_default();
    let mut judgement = Judgement::default();
    // Of each machine with figures: its document, its cohort, its chance.
    let mut judged: Vec<(usize, usize, f64)> = Vec::new();
    // Those that show little, with how much, and of how much.
    let mut little: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let entries: Vec<usize> = subjects.iter().map(|subject| subject.entry).collect();
    for (number, cohort) in cohorts(fleet, &entries, alike).into_iter().enumerate() {
        let known = judgement.untold.len();
        let members = ours(fleet, &cohort, &mut judgement.untold);
        let left_out = judgement.untold[known..].iter();
        let left_out = left_out.map(|(entry, _)| fleet.entries[*entry].rows);
        judgement.measured += left_out.sum::<usize>();
        // Of too few machines nobody knows which is the odd one.
        let size = cohort.entries.len();
        let cells: Vec<&[Cell]> = members.iter().map(cells_of).collect();
        let held = if size < MIN_MACHINES { &[] } else { &cells[..] };
        let judged_cohort = JudgedCohort {
            expected: expected(held, fleet.rows.len()),
            cohort,
        };
        let chances = in_parallel(&cells, |cells| together(&judged_cohort, cells));
        let mut counts: Vec<usize> = chances.iter().map(|(figures, _)| *figures).collect();
        counts.sort_unstable();
        let usual = counts.get(counts.len() / 2).copied().unwrap_or(0);
        for (entry, (figures, chance)) in members.iter().zip(chances) {
            let measured = fleet.entries[*entry].rows.max(usual);
            judgement.figures += figures;
            judgement.measured += measured;
            if 2 * figures < measured {
                little.insert(*entry, (figures, measured));
            }
            match figures {
                0 => {
                    let size = judged_cohort.cohort.entries.len();
                    let why = match size < MIN_MACHINES {
                        true => Untold::FewLikeIt(size),
                        false => Untold::NothingKnown(fleet.entries[*entry].rows),
                    };
                    judgement.untold.push((*entry, why));
                }
                _ => judged.push((*entry, number, chance)),
            }
        }
        judgement.cohorts.push(judged_cohort);
    }
    let chances: Vec<f64> = judged.iter().map(|(_, _, chance)| *chance).collect();
    let accused = benjamini_hochberg(&chances, RATE);
    let share = accused.iter().filter(|is| **is).count() as f64 / accused.len().max(1) as f64;
    let (accused, others): (Vec<_>, Vec<_>) =
        judged.into_iter().zip(accused).partition(|(_, is)| *is);
    // Whoever shows little must not pass for one like the others; if that little is unlike them, it
    // counts.
    let show_little = others.iter().filter_map(|((entry, ..), _)| {
        let (figures, measured) = little.get(entry)?;
        Some((*entry, Untold::LittleKnown(*figures, *measured)))
    });
    let show_little: Vec<(usize, Untold)> = show_little.collect();
    judgement.machines = accused.len() + others.len() - show_little.len();
    judgement.untold.extend(show_little);
    judgement.outliers = accused
        .into_iter()
        .map(|((entry, cohort, p_value), _)| Outlier {
            entry,
            cohort,
            p_value,
            findings: findings(
                fleet,
                &judgement.cohorts[cohort],
                cells_of(&entry),
                RATE * share,
            ),
        })
        .collect();
    judgement.outliers.sort_by(|one, other| {
        let rank = |outlier: &Outlier| {
            let worse = outlier.findings.iter().filter(|finding| finding.is_worse);
            (worse.count(), outlier.findings.len())
        };
        rank(other)
            .cmp(&rank(one))
            .then(one.p_value.total_cmp(&other.p_value))
    });
    judgement
}

/// The machines of a cohort whose cores were not their own much less of the time than those of its
/// median machine.
pub(crate) fn ours(
    fleet: &Fleet,
    cohort: &Cohort,
    untold: &mut Vec<(usize, Untold)>,
) -> Vec<usize> {
    let own = |entry: &usize| fleet.entries[*entry].core_ours;
    let known: Vec<f64> = cohort.entries.iter().filter_map(own).collect();
    let middle = order::median(&known);
    let mut members = Vec::with_capacity(cohort.entries.len());
    for entry in &cohort.entries {
        match (own(entry), middle) {
            (Some(own), Some(others)) if own < others - OURS_APART => {
                untold.push((*entry, Untold::CoreNotOurs { own, others }));
            }
            _ => members.push(*entry),
        }
    }
    members
}

/// What the machines of a cohort say of each row, ascending by row; nothing of rows that too few have.
fn expected(machines: &[&[Cell]], rows: usize) -> Vec<(u32, Expected)> {
    let mut counts = vec![0usize; rows];
    for cell in machines.iter().copied().flatten() {
        counts[cell.row as usize] += 1;
    }
    for count in &mut counts {
        *count = if *count < MIN_FIGURES { 0 } else { *count };
    }
    // Rows of which figures are gathered together, as ranges of numbers.
    let mut parts: Vec<(usize, usize)> = Vec::new();
    let (mut begin, mut size) = (0, 0);
    for (row, count) in counts.iter().enumerate() {
        size += count;
        if size >= AT_ONCE || row + 1 == rows {
            parts.push((begin, row + 1));
            (begin, size) = (row + 1, 0);
        }
    }
    let found = in_parallel(&parts, |(begin, end)| {
        let mut of_row: Vec<Vec<f64>> = counts[*begin..*end]
            .iter()
            .map(|count| Vec::with_capacity(*count))
            .collect();
        for cells in machines {
            let first = cells.partition_point(|cell| (cell.row as usize) < *begin);
            let cells = cells[first..]
                .iter()
                .take_while(|cell| (cell.row as usize) < *end);
            for cell in cells.filter(|cell| counts[cell.row as usize] > 0) {
                of_row[cell.row as usize - begin].push(cell.log);
            }
        }
        let rows = of_row.iter_mut().zip(*begin as u32..);
        let found = rows.filter_map(|(logs, row)| Some((row, Expected::of(logs)?)));
        found.collect::<Vec<_>>()
    });
    let found: Vec<_> = found.into_iter().flatten().collect();
    let reaches: Vec<f64> = found.iter().filter_map(|(_, (_, reach))| *reach).collect();
    let most = freedom_by_tails(&reaches).unwrap_or(f64::INFINITY);
    let found = found.into_iter();
    found
        .map(|(row, (expected, _))| {
            let freedom = expected.freedom.min(most);
            (
                row,
                Expected {
                    freedom,
                    ..expected
                },
            )
        })
        .collect()
}

/// How many figures of a machine are tested, and the chance of all of them together, by Simes.
fn together(cohort: &JudgedCohort, cells: &[Cell]) -> (usize, f64) {
    let mut chances: Vec<f64> = deviations(cohort, cells)
        .map(|(_, one)| one.p_value)
        .collect();
    chances.sort_unstable_by(f64::total_cmp);
    let tests = chances.len();
    let of_rank = chances.iter().zip(1..);
    let chance = of_rank
        .map(|(chance, rank)| chance * tests as f64 / f64::from(rank))
        .fold(1.0, f64::min);
    (tests, chance)
}

/// The results of some work, in its order, by as many threads as there are CPUs.
fn in_parallel<T: Sync, R: Send>(work: &[T], result: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = work.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> = work
            .chunks(share)
            .map(|part| scope.spawn(|| part.iter().map(&result).collect::<Vec<R>>()))
            .collect();
        let done = parts.into_iter().map(|part| part.join());
        done.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn figure(cell: &Cell) -> Figure {
    Figure {
        log: cell.log,
        error: f64::from(cell.error),
    }
}

/// The rows in which an accused machine differs, the worst first.
fn findings(fleet: &Fleet, cohort: &JudgedCohort, cells: &[Cell], rate: f64) -> Vec<Finding> {
    let deviations: Vec<(u32, Deviation)> = deviations(cohort, cells).collect();
    let chances: Vec<f64> = deviations.iter().map(|(_, one)| one.p_value).collect();
    let found = deviations
        .into_iter()
        .zip(benjamini_hochberg(&chances, rate));
    let mut findings: Vec<Finding> = found
        .filter(|(_, is_found)| *is_found)
        .map(|((row, deviation), _)| Finding {
            row,
            deviation,
            is_worse: worse(fleet, row, deviation.log) > 0.0,
        })
        .collect();
    findings.sort_by(|one, other| {
        let badness = |finding: &Finding| worse(fleet, finding.row, finding.deviation.log);
        badness(other).total_cmp(&badness(one))
    });
    findings
}

/// How far each figure of a machine is from what its cohort has.
pub(crate) fn deviations<'a>(
    cohort: &'a JudgedCohort,
    cells: &'a [Cell],
) -> impl Iterator<Item = (u32, Deviation)> + 'a {
    cells.iter().filter_map(|cell| {
        let found = cohort
            .expected
            .binary_search_by_key(&cell.row, |(row, _)| *row)
            .ok()?;
        Some((cell.row, cohort.expected[found].1.deviation(figure(cell))))
    })
}

/// A deviation's logarithm such that above zero is worse.
pub(crate) fn worse(fleet: &Fleet, row: u32, log: f64) -> f64 {
    match fleet.rows[row as usize].better {
        Better::Lower => log,
        Better::Higher => -log,
    }
}

#[cfg(test)]
mod tests;
