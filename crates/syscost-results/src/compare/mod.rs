//! Compares two sides of runs, row by row.
//!
//! Estimates the ratio of the costs of both sides' processes, with its interval; applies a
//! margin below which nothing is called a change; and controls the false discovery rate over all
//! rows. The reasons are in docs/METHODOLOGY.md, "Comparing runs".

mod drift;
mod facts;
mod frequency;
mod groups;
mod level;
mod noise;
mod notes;
mod paired;
mod pool;
mod power;
mod ratio;
mod row;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;
use syscost_stats::multiple::benjamini_hochberg;
use syscost_stats::{interval, normal, student};

use crate::facts::Affects;
use crate::{Better, Measurement, Role, Run};
pub use facts::setting;
pub use groups::Group;
pub use pool::{CORE_SHARED, INTERRUPTED};
use pool::{Loss, Pooled};
pub use power::{POWER, Power};
pub use row::{ComparedIn, Gated, Pair, Row};

/// Why a row cannot be compared in core cycles.
const NO_CYCLES: &str = "no core cycles: it is neither a time nor a rate, or the core's frequency is not known on both sides";

/// Changes of a ratio up to this share are always called the same.
pub const MIN_MARGIN: f64 = 0.02;
/// A change lies beyond this share at least, or beyond [`MIN_MARGIN`] where runs were not measured in turn:
/// what a machine does between two runs does not affect the ratios of those that were.
pub const MIN_PAIRED_MARGIN: f64 = 0.01;
/// A change larger than this is never called the same, however much a metric's runs differ: a wide
/// margin is ignorance, not equality.
pub const MAX_SAME: f64 = 0.10;
/// Share of the rows called better or worse that may be wrong on average.
pub const FALSE_DISCOVERIES: f64 = 0.05;

/// What became of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It changed for the worse, by more than the margin.
    Worse,
    /// It changed for the better, by more than the margin.
    Better,
    /// The samples do not tell.
    Inconclusive,
    /// Any change is within the margin.
    Same,
}

/// The comparison of two sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// What is compared with.
    pub base: Side,
    /// What is compared.
    pub new: Side,
    /// Groups of rows by name, and all rows together last, where there is more than one group.
    pub groups: Vec<Group>,
    /// What the processes of one side were under and those of the other were not: what explains a
    /// change first.
    pub causes: Vec<Cause>,
    /// Facts of machine and program that differ: what explains a change first, then by how much
    /// each can change.
    pub facts: Vec<Difference>,
    /// Compared rows, what matters most first: Worse, Better, Inconclusive, Same, each by how far
    /// the ratio is from 1.
    pub rows: Vec<Row>,
    /// Rows on both sides that must not be compared, with the reason.
    pub refused: Vec<Refused>,
    /// Rows that have a number on one side only, or no core cycles where these were asked for.
    pub missing: Vec<Missing>,
    /// How many rows both sides were to measure and neither did: they failed, were withheld, or
    /// there was no time for them.
    pub unmeasured: usize,
    /// Whether core cycles were asked for: rows without them are missing.
    pub in_cycles: bool,
    /// Whether the rounds of both sides were measured in turn (`syscost ab`), so that ratios are
    /// those of rounds.
    pub paired: bool,
    /// Ids of further runs in the base's state that only served to estimate the spread between its runs.
    pub spread: Vec<String>,
    /// How large a change this comparison could have found; null without rows.
    pub power: Option<Power>,
}

impl Comparison {
    /// Rows that were not compared and why, the refused ones first.
    pub fn uncompared(&self) -> impl Iterator<Item = (&str, &str)> {
        let refused = self.refused.iter().map(|row| (&*row.name, &*row.reason));
        refused.chain(self.missing.iter().map(|row| (&*row.name, &*row.reason)))
    }

    /// How many rows have an interval though it is not known how much they differ from run to run
    /// when nothing changed: then whatever differs between two runs can look like a change.
    pub fn of_single_runs(&self) -> usize {
        let rows = self.rows.iter();
        rows.filter(|row| row.ci95_low.is_some() && !row.knows_runs)
            .count()
    }

    /// The rows that the new side lost, with the reason: the base has a number that noise alone does
    /// not explain the lack of. A gate must not pass that.
    pub fn lost(&self) -> impl Iterator<Item = (&str, &str)> {
        let missing = self.missing.iter().filter(|row| row.lost);
        let missing = missing.map(|row| (&*row.name, &*row.reason));
        let refused = self.refused.iter().filter(|row| row.lost);
        missing.chain(refused.map(|row| (&*row.name, &*row.reason)))
    }

    /// How many rows there were to compare: also those that one side or both failed to measure.
    pub fn all(&self) -> usize {
        self.rows.len() + self.refused.len() + self.missing.len() + self.unmeasured
    }

    /// How many of them both sides were asked for and could have: the others are left out on purpose.
    pub fn due(&self) -> usize {
        let lost = self.missing.iter().filter(|row| row.lost || row.to_noise);
        self.rows.len() + self.refused.len() + lost.count() + self.unmeasured
    }

    /// The groups whose rows together became better or worse, by more than the margin, whatever is
    /// said of each row.
    pub fn changed_groups(&self) -> impl Iterator<Item = (&Group, Change)> {
        let named = self.groups.iter().filter(|group| !group.name.is_empty());
        named.filter_map(|group| Some((group, group.verdict?)))
    }

    /// The number of rows with this verdict.
    pub fn count(&self, verdict: Change) -> usize {
        self.rows
            .iter()
            .filter(|row| row.verdict == verdict)
            .count()
    }
}

impl Change {
    /// All verdicts, the most important first.
    pub const ALL: [Change; 4] = [
        Change::Worse,
        Change::Better,
        Change::Inconclusive,
        Change::Same,
    ];
}

/// One side of a comparison: one run, or several pooled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// Ids of the pooled runs.
    pub runs: Vec<String>,
    /// When the first of them began, RFC 3339, UTC.
    pub started: String,
    /// Host name of the first.
    pub hostname: String,
    /// Version of the program that measured the first.
    pub version: String,
}

/// A fact that differs between the sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Its name in the run document, e.g. `machine.kernel`.
    pub fact: String,
    /// On the base's side, `none` if it is absent. What is not known of a side is no difference.
    pub base: Option<String>,
    /// On the new side.
    pub new: Option<String>,
    /// What it does to the numbers, where that is known.
    pub meaning: Option<String>,
    /// Whether it can change rows that did change.
    pub explains: bool,
}

/// What the processes of one side were under, and those of the other were not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// Whether those of the new side were.
    pub is_new: bool,
    /// What it is, as a clause: `this process runs under a seccomp filter`.
    pub message: String,
    /// What it does to the numbers, as a clause; null where that is not known.
    pub effect: Option<String>,
    /// Which costs it can change.
    #[serde(skip)]
    pub affects: Affects,
    /// Whether it can change rows that did change.
    pub explains: bool,
}

/// A row that must not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refused {
    /// Name of the row.
    pub name: String,
    /// Why not, e.g. that its definition changed.
    pub reason: String,
    /// Whether the new side's is another thing under the same name (revision, unit, direction), so
    /// that the base's is lost: a gate must not pass that.
    pub lost: bool,
}

/// A row that one side lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// Name of the row.
    pub name: String,
    /// Which side lacks it and why, e.g. `withheld on the new side`.
    pub reason: String,
    /// Whether the base has a number where the new side failed, was withheld, unsupported or
    /// interrupted, or does not have the row though it was asked for the same as the base: a gate
    /// must not pass that.
    pub lost: bool,
    /// Whether the new side lost it to noise alone: no core of its own or no time was left when it
    /// was to be measured, or it is computed from a row without a number. No gate judges that.
    pub to_noise: bool,
}

/// How two sides are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct How {
    /// In core cycles: each sample counts by the frequency its core ran at, and rows without cycles
    /// are missing.
    pub in_cycles: bool,
    /// The rounds of both sides, a run each, were measured in turn (`syscost ab`).
    pub in_turn: bool,
}

/// Compares `new` with `base`. The runs of a side are pooled. `spread` are further runs in the
/// base's state, which only show how much its runs differ among themselves.
///
/// The same runs give the same comparison, and exchanging the sides inverts it.
pub fn compare(base: &[&Run], new: &[&Run], spread: &[&Run]) -> Comparison {
    compare_as(How::default(), base, new, spread)
}

/// Compares two runs whose rounds were measured in turn.
pub fn compare_pair(base: &Run, new: &Run) -> Comparison {
    let in_turn = How {
        in_turn: true,
        ..How::default()
    };
    compare_as(in_turn, &[base], &[new], &[])
}

/// As [`compare`], in this way.
pub fn compare_as(how: How, base: &[&Run], new: &[&Run], spread: &[&Run]) -> Comparison {
    let (sides, spread_rows) = ([by_name(base), by_name(new)], by_name(spread));
    let compared = [base, new, spread].concat();
    let mut comparison = Comparison {
        base: Side::of(base),
        new: Side::of(new),
        groups: Vec::new(),
        causes: facts::causes(base, new),
        facts: noise::differing(base, new),
        rows: Vec::new(),
        refused: Vec::new(),
        missing: Vec::new(),
        unmeasured: 0,
        in_cycles: how.in_cycles,
        paired: how.in_turn,
        spread: spread.iter().map(|run| run.id.clone()).collect(),
        power: None,
    };
    comparison.facts.extend(facts::differing(base, new));
    let was_asked = asked_for_the_same(base, new);
    for name in names(base.iter().chain(new)) {
        let found = |side: usize, runs| pool::rows(sides[side].get(name), runs);
        let (base_rows, new_rows) = (found(0, base.len()), found(1, new.len()));
        let name = name.to_owned();
        if let Some(reason) = pool::missing(&base_rows, &new_rows) {
            // A row that neither side measured is only counted.
            if !base_rows.has_number() && !new_rows.has_number() {
                let both = base_rows.was_due() && new_rows.was_due();
                comparison.unmeasured += usize::from(both);
            } else {
                let loss = pool::loss(&base_rows, &new_rows, was_asked);
                comparison.missing.push(Missing {
                    name,
                    reason,
                    lost: loss == Loss::Real,
                    to_noise: loss == Loss::ToNoise,
                });
            }
            continue;
        }
        let spread_rows = pool::rows(spread_rows.get(&*name), spread.len()).like(&base_rows);
        match pool::refusal(&base_rows, &new_rows) {
            Some((reason, lost)) => comparison.refused.push(Refused { name, reason, lost }),
            None => {
                let pooled = [&base_rows, &new_rows, &spread_rows];
                let pooled = pooled.map(|rows| Pooled::new(rows, &compared));
                match ratio::row(&pooled, how) {
                    Some(row) => comparison.rows.push(row),
                    None => comparison.missing.push(Missing {
                        name,
                        reason: NO_CYCLES.to_owned(),
                        lost: false,
                        to_noise: false,
                    }),
                }
            }
        }
    }
    power::set(&mut comparison.rows);
    comparison.power = Power::of(&comparison.rows);
    judge(&mut comparison.rows);
    let runs = match how.in_turn {
        // Differences between whole runs cancel.
        true => groups::Runs::InTurn,
        false => groups::Runs::Apart([base, new, spread]),
    };
    comparison.groups = groups::of(&comparison.rows, runs);
    facts::rank(&mut comparison);
    comparison
}

/// Whether each run of the new side was asked for what a run of the base was: the same selectors, at
/// the same profile, with the same kind of far end, NFS server and directories. A row that is not in
/// its document then was lost; else the selection is another on purpose.
fn asked_for_the_same(base: &[&Run], new: &[&Run]) -> bool {
    let asked = |run: &Run| {
        let labels = run
            .directories
            .iter()
            .map(|directory| directory.label.clone());
        (
            run.config.selectors.clone(),
            run.config.profile.clone(),
            run.peer.is_some(),
            run.nfs.is_some(),
            labels.collect::<Vec<String>>(),
        )
    };
    let of_base: Vec<_> = base.iter().map(|run| asked(run)).collect();
    new.iter().all(|run| of_base.contains(&asked(run)))
}

/// Sets the verdict of each row, given all of them, and sorts the rows as described at
/// [`Comparison::rows`].
fn judge(rows: &mut [Row]) {
    let p_values: Vec<f64> = rows.iter().map(|row| row.p_value.unwrap_or(1.0)).collect();
    let discovered = benjamini_hochberg(&p_values, FALSE_DISCOVERIES);
    for (row, discovered) in rows.iter_mut().zip(discovered) {
        row.verdict = verdict(row, discovered);
    }
    let distance = |row: &Row| -row.ratio.ln().abs();
    rows.sort_by(|a, b| {
        let by_verdict = a.verdict.cmp(&b.verdict);
        by_verdict.then(distance(a).total_cmp(&distance(b)))
    });
}

/// The verdict that follows from a row's ratio, interval and margin; `discovered` says whether its
/// p-value is significant among those of all rows.
pub fn verdict(row: &Row, discovered: bool) -> Change {
    let (Some(low), Some(high)) = (row.ci95_low, row.ci95_high) else {
        return Change::Inconclusive;
    };
    let (floor, ceiling) = (1.0 / (1.0 + row.margin), 1.0 + row.margin);
    let rose = low > ceiling;
    // Check for a change first: a narrow interval may lie beyond the margin and still within what
    // is called the same.
    if discovered && (rose || high < floor) {
        return match rose == (row.better == Better::Higher) {
            true => Change::Better,
            false => Change::Worse,
        };
    }
    let same = 1.0 + row.same_within;
    match 1.0 / same <= low && high <= same {
        true => Change::Same,
        false => Change::Inconclusive,
    }
}

/// The largest change that is called the same, at least `min_margin`, if two sides may differ by
/// the logarithm `spread` although nothing changed. `freedom` are the degrees of freedom of that
/// spread.
///
/// The interval is as wide as the spread, so an unchanged row would hardly ever lie within the
/// spread itself; within (t(97.5 %) + t(90 %)) / z(97.5 %) times the spread most do: the power of
/// two one-sided tests (Schuirmann 1987).
fn same_within(min_margin: f64, spread: f64, freedom: u32) -> f64 {
    let t = |chance| student::quantile_two_sided(chance, freedom.max(1));
    let reach = (t(1.0 - interval::CONFIDENCE) + t(0.2)) / normal::quantile(0.975);
    (reach * spread).exp_m1().clamp(min_margin, MAX_SAME)
}

impl Side {
    fn of(runs: &[&Run]) -> Self {
        let first = runs.first();
        let text = |of: fn(&Run) -> &str| first.map_or_else(String::new, |run| of(run).to_owned());
        Side {
            runs: runs.iter().map(|run| run.id.clone()).collect(),
            started: text(|run| &run.started),
            hostname: text(|run| &run.machine.hostname),
            version: text(|run| &run.tool.version),
        }
    }
}

/// The rows of some runs by name.
fn by_name<'a>(runs: &[&'a Run]) -> BTreeMap<&'a str, Vec<&'a Measurement>> {
    let mut rows: BTreeMap<&str, Vec<&Measurement>> = BTreeMap::new();
    for row in runs.iter().flat_map(|run| &run.measurements) {
        rows.entry(&row.name).or_default().push(row);
    }
    rows
}

/// The distinct names of all rows to compare, in the order of the runs.
fn names<'a>(runs: impl Iterator<Item = &'a &'a Run>) -> Vec<&'a str> {
    let mut seen = std::collections::BTreeSet::new();
    runs.flat_map(|run| &run.measurements)
        .filter(|row| !Role::OF_THE_HOUR.into_iter().any(|role| row.is(role)))
        .map(|row| row.name.as_str())
        .filter(|&name| seen.insert(name))
        .collect()
}
