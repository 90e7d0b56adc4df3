//! The rows of a side's runs under one name, pooled.

use syscost_stats::order;

use super::Pair;
use super::frequency::middle;
use crate::estimate::selection::{ChosenSamples, Conversion, MIN_SAMPLES, select};
use crate::measurement::{EarlierRun, RoundSamples};
use crate::{Estimate, Measurement, Run, Status};

/// The reason of a failed row that could not be measured because of noise alone.
pub const CORE_SHARED: &str = "something else ran on its core whenever it was due";

/// The reason of a skipped row that an interrupted run did not come to.
pub const INTERRUPTED: &str = "interrupted";

/// The same as [`CORE_SHARED`] in documents of earlier builds.
const CORE_SHARED_FORMERLY: &str = "its core worked for somebody else";

/// The rows with one name in the runs of a side.
pub(super) struct Rows<'a> {
    numbers: Vec<&'a Measurement>,
    without: Vec<&'a Measurement>,
    /// The number of rows left out because they are prices in company and others are own ones.
    in_company: usize,
    /// The number of runs on the side.
    runs: usize,
}

impl Rows<'_> {
    pub(super) fn has_number(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Whether a row without a number was to be measured here and could have been.
    pub(super) fn was_due(&self) -> bool {
        let is_due = |row: &Measurement| match row.status {
            Status::Failed | Status::Withheld | Status::Skipped => true,
            Status::Ok | Status::BelowResolution | Status::AboveRange | Status::Unsupported => {
                false
            }
        };
        self.without.iter().any(|row| is_due(row))
    }

    /// Why there is no number, e.g. `withheld`.
    fn reason(&self) -> String {
        match self.without.first() {
            Some(row) => {
                let status = status(row.status);
                row.reason.as_ref().map_or_else(
                    || status.to_owned(),
                    |reason| format!("{status} ({reason})"),
                )
            }
            None => "not measured".to_owned(),
        }
    }
}

/// The rows with one name, if there are any, on a side with this many runs: own prices and prices in
/// company are never mixed.
pub(super) fn rows<'a>(found: Option<&Vec<&'a Measurement>>, runs: usize) -> Rows<'a> {
    let has_number = |row: &&Measurement| row.status == Status::Ok && row.estimate.median.is_some();
    let (numbers, without): (Vec<&Measurement>, Vec<&Measurement>) =
        found.into_iter().flatten().partition(|row| has_number(row));
    let (in_company, own): (Vec<&Measurement>, Vec<&Measurement>) =
        numbers.into_iter().partition(|row| row.is_in_company());
    let (numbers, left_out) = match own.is_empty() {
        true => (in_company, 0),
        false => (own, in_company.len()),
    };
    Rows {
        numbers,
        without,
        in_company: left_out,
        runs,
    }
}

/// Which side has no number and why; `None` if both have one.
pub(super) fn missing(base: &Rows<'_>, new: &Rows<'_>) -> Option<String> {
    match (base.has_number(), new.has_number()) {
        (true, true) => None,
        (false, true) => Some(format!("{} on the base side", base.reason())),
        (true, false) => Some(format!("{} on the new side", new.reason())),
        (false, false) => Some(format!("{} on both sides", base.reason())),
    }
}

/// What became of a row that has a number on the base's side and none on the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// It is no loss: the base has none, the new side has a bound instead, or was asked for less.
    None,
    /// To noise: no core of its own or no time was left when it was due, or it is computed from a
    /// row that has no number.
    ToNoise,
    /// To anything else.
    Real,
}

/// What the new side lost of a row; `was_asked` says whether it was asked for what the base was.
pub(super) fn loss(base: &Rows<'_>, new: &Rows<'_>, was_asked: bool) -> Loss {
    if !base.has_number() || new.has_number() {
        return Loss::None;
    }
    let of = |row: &&Measurement| match row.status {
        Status::Ok | Status::Withheld | Status::Unsupported => Loss::Real,
        Status::BelowResolution | Status::AboveRange => Loss::None,
        Status::Failed => match row.reason.as_deref() {
            Some(CORE_SHARED | CORE_SHARED_FORMERLY) => Loss::ToNoise,
            Some(_) | None => Loss::Real,
        },
        Status::Skipped => match row.reason.as_deref() {
            Some(INTERRUPTED) => Loss::Real,
            Some(_) | None => Loss::ToNoise,
        },
    };
    let losses: Vec<Loss> = new.without.iter().map(of).collect();
    match losses.contains(&Loss::Real) || losses.is_empty() && was_asked {
        true => Loss::Real,
        false => losses.first().copied().unwrap_or(Loss::None),
    }
}

/// The 99th percentiles of both sides, the median over their runs; `None` if a run has none.
pub(super) fn p99(base: &Pooled<'_>, new: &Pooled<'_>) -> Option<Pair> {
    let of = |side: &Pooled<'_>| {
        let known: Option<Vec<f64>> = side.estimates.iter().map(|one| one.p99).collect();
        order::median(&known?).filter(|p99| *p99 > 0.0)
    };
    Some(Pair {
        base: of(base)?,
        new: of(new)?,
    })
}

impl<'a> Rows<'a> {
    /// The rows without those that have a different meaning than those of `base`, or are prices in
    /// company where those are not.
    pub(super) fn like(mut self, base: &Rows<'a>) -> Self {
        if let Some(first) = base.numbers.first() {
            self.numbers.retain(|row| {
                row.revision == first.revision
                    && row.unit == first.unit
                    && row.better == first.better
                    && row.is_in_company() == first.is_in_company()
            });
        }
        self
    }
}

/// Why rows must not be compared although both have numbers; `None` if they may. The flag says
/// whether they are different things under one name.
pub(super) fn refusal(base: &Rows<'_>, new: &Rows<'_>) -> Option<(String, bool)> {
    let another = another_meaning(base, new).map(|reason| (reason, true));
    another.or_else(|| {
        let mut all = base.numbers.iter().chain(&new.numbers);
        let is_level = |row: &&Measurement| row.estimate.median.is_some_and(|one| one <= 0.0);
        let reason = "a ratio of a level around zero says nothing";
        all.any(is_level).then(|| (reason.to_owned(), false))
    })
}

/// What the rows of both sides differ in that says what they mean.
fn another_meaning(base: &Rows<'_>, new: &Rows<'_>) -> Option<String> {
    let all = || base.numbers.iter().chain(&new.numbers);
    let first = base.numbers.first()?;
    let differs = |what: fn(&Measurement) -> u32| all().any(|row| what(row) != what(first));
    if differs(|row| row.revision) {
        let revisions = |rows: &Rows<'_>| {
            let mut revisions: Vec<u32> = rows.numbers.iter().map(|row| row.revision).collect();
            revisions.sort_unstable();
            revisions.dedup();
            let revisions: Vec<String> = revisions.iter().map(u32::to_string).collect();
            revisions.join(" and ")
        };
        return Some(format!(
            "its definition changed: revision {} on the base side, {} on the new side",
            revisions(base),
            revisions(new)
        ));
    }
    if differs(|row| row.unit as u32) {
        let mut units: Vec<&str> = all().map(|row| row.unit.symbol()).collect();
        units.dedup();
        return Some(format!(
            "its unit differs between the runs: {}",
            units.join(" and ")
        ));
    }
    if differs(|row| row.better as u32) {
        return Some("whether lower or higher is better changed".to_owned());
    }
    None
}

fn status(status: Status) -> &'static str {
    match status == Status::Ok {
        true => "without a median",
        false => status.words(),
    }
}

/// What a side knows about one row.
#[derive(Clone)]
pub(super) struct Pooled<'a> {
    /// The first of the rows with a number.
    pub(super) first: Option<&'a Measurement>,
    /// The rows with a number, one for each run.
    pub(super) rows: Vec<&'a Measurement>,
    /// The processes that count, by run; `None` if a run has none.
    pub(super) runs: Option<Vec<Vec<Process>>>,
    pub(super) estimates: Vec<&'a Estimate>,
    /// The row's levels in earlier runs, as that document knows them that knows most.
    pub(super) earlier: Vec<&'a EarlierRun>,
    /// The number of runs without a number, and why they have none.
    pub(super) without: Option<(usize, String)>,
    /// The number of runs left out because they know the price in company alone.
    pub(super) left_in_company: usize,
    /// Median of the core frequency at the samples, in GHz.
    pub(super) core_ghz: Option<f64>,
    /// Whether its rows are prices in company.
    pub(super) is_disturbed: bool,
    /// Whether every run checked if the core was shared.
    pub(super) is_looked_at: bool,
}

/// The samples of one process that count.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub(super) round: u32,
    /// Each sample, and the core's frequency at it in GHz, where that is known.
    samples: Vec<(f64, Option<f64>)>,
    /// What probes beside each sample took, by what they take on a core of our own or by any other
    /// unit; none where that is not known.
    slowdowns: Vec<u16>,
}

impl Process {
    fn of(round: &RoundSamples, choice: ChosenSamples) -> Self {
        let ghz = |index: usize| match round.sample_ghz.is_empty() {
            // Older documents have only the frequency of the whole process.
            true => round.core_ghz,
            false => round.sample_ghz.get(index).copied(),
        };
        let samples = choice.of(round);
        let ratios = choice
            .of(round)
            .filter_map(|(index, _)| round.ratios.get(index).copied());
        Self {
            round: round.round,
            slowdowns: ratios
                .filter(|ratio| (1..u16::MAX).contains(ratio))
                .collect(),
            samples: samples
                .map(|(index, value)| (value, ghz(index).filter(|ghz| *ghz > 0.0)))
                .collect(),
        }
    }

    pub(super) fn median(&self) -> Option<f64> {
        let values = self.samples.iter().map(|(value, _)| *value);
        order::median(&values.collect::<Vec<f64>>())
    }

    /// The median of the core's frequency at its samples, in GHz.
    pub(super) fn ghz(&self) -> Option<f64> {
        middle(self.samples.iter().filter_map(|(_, ghz)| *ghz))
    }

    /// Its samples of known frequency as if taken at this one, in GHz; `None` if there are too few.
    pub(super) fn at_one(&self, ghz: f64, at: impl Fn((f64, f64)) -> f64) -> Option<Self> {
        let known = self.samples.iter();
        let known = known.filter_map(|(value, own)| Some((at((*value, (*own)?)), Some(ghz))));
        let samples: Vec<(f64, Option<f64>)> = known.collect();
        (samples.len() >= MIN_SAMPLES.min(self.samples.len())).then_some(Self {
            round: self.round,
            slowdowns: self.slowdowns.clone(),
            samples,
        })
    }
}

impl<'a> Pooled<'a> {
    /// What these rows know; what is compared says nothing about how far other runs differ.
    pub(super) fn new(rows: &Rows<'a>, compared: &[&Run]) -> Self {
        let is_other = |one: &&EarlierRun| compared.iter().all(|run| run.id != one.run);
        let earlier = rows
            .numbers
            .iter()
            .map(|row| row.earlier.iter().filter(is_other).collect());
        let without = rows
            .runs
            .saturating_sub(rows.numbers.len() + rows.in_company);
        let numbers = || rows.numbers.iter();
        let runs: Option<Vec<Vec<Process>>> = numbers().map(|row| processes(row)).collect();
        let known = runs.iter().flatten().flatten();
        Pooled {
            first: rows.numbers.first().copied(),
            rows: rows.numbers.clone(),
            core_ghz: middle(known.filter_map(Process::ghz)),
            runs,
            estimates: numbers().map(|row| &row.estimate).collect(),
            earlier: earlier.max_by_key(Vec::len).unwrap_or_default(),
            without: (without > 0).then(|| (without, rows.reason())),
            left_in_company: rows.in_company,
            is_disturbed: numbers().any(|row| row.is_in_company()),
            is_looked_at: numbers().all(|row| row.estimate.undisturbed_percent.is_some()),
        }
    }

    /// This side with each process mapped; processes that have no image are left out, and so are
    /// runs without half of their processes.
    pub(super) fn mapped(&self, map: impl Fn(&Process) -> Option<Process>) -> Self {
        let mut found = Pooled {
            rows: Vec::new(),
            runs: Some(Vec::new()),
            estimates: Vec::new(),
            ..self.clone()
        };
        for (run, row) in self.runs.iter().flatten().zip(&self.rows) {
            let mapped: Vec<Process> = run.iter().filter_map(&map).collect();
            if 2 * mapped.len() > run.len() {
                found.runs.get_or_insert_default().push(mapped);
                found.rows.push(row);
                found.estimates.push(&row.estimate);
            }
        }
        found
    }

    /// What the probes beside its samples showed, in one unit.
    pub(super) fn slowdowns(&self) -> impl Iterator<Item = f64> {
        let processes = self.runs.iter().flatten().flatten();
        processes.flat_map(|process| process.slowdowns.iter().map(|ratio| f64::from(*ratio)))
    }

    /// The number of processes that measured.
    pub(super) fn processes(&self) -> usize {
        match &self.runs {
            Some(runs) => runs.iter().map(Vec::len).sum(),
            None => self
                .estimates
                .iter()
                .map(|estimate| estimate.rounds as usize)
                .sum(),
        }
    }

    /// The medians of each run's processes; `None` without samples.
    pub(super) fn process_medians(&self) -> Option<Vec<Vec<f64>>> {
        let runs = self.runs.as_ref()?.iter();
        let medians = runs.map(|run| run.iter().filter_map(Process::median).collect());
        Some(medians.collect())
    }

    /// The median of the process medians of all runs, or of the runs' medians without samples.
    pub(super) fn median(&self) -> Option<f64> {
        match self.process_medians() {
            // From the same values as the interval, so that the two cannot contradict each other.
            Some(runs) => order::median(&runs.concat()),
            None => {
                let medians = self.estimates.iter().filter_map(|one| one.median);
                order::median(&medians.collect::<Vec<f64>>())
            }
        }
    }
}

/// The processes of a row that its own numbers are from; `None` without any.
fn processes(row: &Measurement) -> Option<Vec<Process>> {
    let samples = row.samples.as_ref()?;
    // As measured: both sides are converted to one frequency later.
    let selection = select(samples, Conversion::new(row.unit, None));
    let counting = selection.rounds.iter();
    let found: Vec<Process> = counting
        .map(|round| Process::of(round, selection.choice))
        .collect();
    (!found.is_empty()).then_some(found)
}
