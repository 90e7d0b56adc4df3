//! The rows of a side's runs under one name, pooled.

use super::Pair;
use crate::estimate::selection::{Choice, Conversion, Selection, select};
use crate::measurement::{Flag, RoundSamples};
use crate::stats::order;
use crate::{Estimate, Measurement, Status};

/// The reason of a failed row that could not be measured because of noise alone.
pub const CORE_SHARED: &str = "something else ran on its core whenever it was due";

/// The same in documents of earlier builds.
const CORE_SHARED_FORMERLY: &str = "its core worked for somebody else";

/// The rows with one name in the runs of a side.
pub(super) struct Rows<'a> {
    /// Rows with a number.
    numbers: Vec<&'a Measurement>,
    /// Rows without one.
    without: Vec<&'a Measurement>,
    /// The number of runs on the side.
    runs: usize,
}

impl Rows<'_> {
    pub(super) fn has_number(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Whether a row without a number was to be measured here and could have been.
    pub(super) fn was_due(&self) -> bool {
        let is_due = |row: &Measurement| is_tried(row) || row.status == Status::Skipped;
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

/// The rows with one name, if there are any, on a side with this many runs.
pub(super) fn rows<'a>(found: Option<&Vec<&'a Measurement>>, runs: usize) -> Rows<'a> {
    let has_number = |row: &&Measurement| row.status == Status::Ok && row.estimate.median.is_some();
    let (numbers, without) = found.into_iter().flatten().partition(|row| has_number(row));
    Rows {
        numbers,
        without,
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

/// Whether the base has a number and the new side tried but has none.
pub(super) fn is_lost(base: &Rows<'_>, new: &Rows<'_>) -> bool {
    base.has_number() && !new.has_number() && new.without.iter().any(|row| is_tried(row))
}

fn is_tried(row: &Measurement) -> bool {
    matches!(row.status, Status::Failed | Status::Withheld)
}

/// Whether the new side lost a row to noise alone: its core was shared whenever the row was to be
/// measured.
pub(super) fn is_lost_to_noise(base: &Rows<'_>, new: &Rows<'_>) -> bool {
    let by_noise = |row: &&Measurement| {
        let reason = row.reason.as_deref();
        let is_noise = |reason| [CORE_SHARED, CORE_SHARED_FORMERLY].contains(&reason);
        row.status == Status::Failed && reason.is_some_and(is_noise)
    };
    let mut tried = new.without.iter().filter(|row| is_tried(row)).peekable();
    is_lost(base, new) && tried.peek().is_some() && tried.all(by_noise)
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
    /// The rows without those that have a different meaning than those of `base`.
    pub(super) fn like(mut self, base: &Rows<'a>) -> Self {
        if let Some(first) = base.numbers.first() {
            self.numbers.retain(|row| {
                row.revision == first.revision
                    && row.unit == first.unit
                    && row.better == first.better
            });
        }
        self
    }
}

/// Why rows must not be compared although both have numbers; `None` if they may.
pub(super) fn refusal(base: &Rows<'_>, new: &Rows<'_>) -> Option<String> {
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
    let level = |row: &&Measurement| row.estimate.median.is_some_and(|median| median <= 0.0);
    if all().any(level) {
        return Some("a ratio of a level around zero says nothing".to_owned());
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
    /// The samples by run and process; `None` if a run has none.
    pub(super) samples: Option<Vec<Vec<Vec<f64>>>>,
    /// The processes by run whose samples were undisturbed at any frequency.
    pub(super) rounds: Vec<Vec<&'a RoundSamples>>,
    /// The estimate of each run.
    pub(super) estimates: Vec<&'a Estimate>,
    /// The number of runs without a number, and why they have none.
    pub(super) without: Option<(usize, String)>,
    /// Median of the core frequency at the samples, in GHz.
    pub(super) core_ghz: Option<f64>,
    /// The same for each run.
    pub(super) run_ghz: Vec<Option<f64>>,
    /// Median of the runs' costs in core cycles; `None` if a run has none.
    pub(super) core_cycles: Option<f64>,
    /// Whether any row had too few undisturbed samples.
    pub(super) is_disturbed: bool,
    /// Whether every run checked if the core was shared.
    pub(super) is_looked_at: bool,
}

impl<'a> Pooled<'a> {
    pub(super) fn new(rows: &Rows<'a>) -> Self {
        let without = rows.runs.saturating_sub(rows.numbers.len());
        let numbers = || rows.numbers.iter();
        let selections: Vec<Option<Selection<'_>>> = numbers()
            .map(|row| Some(select(row.samples.as_ref()?, Conversion::of(row))))
            .collect();
        let of_runs = selections.iter().map(|selection| selection.as_ref());
        let of_runs = of_runs.map(|selection| selection.map_or_else(Vec::new, frequencies));
        let by_run: Vec<Vec<f64>> = of_runs.collect();
        let cycles: Option<Vec<f64>> = numbers().map(|row| row.core_cycles).collect();
        Pooled {
            first: rows.numbers.first().copied(),
            samples: selections
                .into_iter()
                .map(|selection| Some(selection?.processes).filter(|all| !all.is_empty()))
                .collect(),
            rounds: numbers().map(|row| undisturbed(row)).collect(),
            estimates: numbers().map(|row| &row.estimate).collect(),
            without: (without > 0).then(|| (without, rows.reason())),
            core_ghz: order::median(&by_run.concat()),
            run_ghz: by_run.iter().map(|ghz| order::median(ghz)).collect(),
            core_cycles: cycles.and_then(|cycles| order::median(&cycles)),
            is_disturbed: numbers().any(|row| row.flags.contains(&Flag::Disturbed)),
            is_looked_at: numbers().all(|row| row.estimate.undisturbed_percent.is_some()),
        }
    }

    /// This side without its runs.
    pub(super) fn without_runs(&self) -> Self {
        Pooled {
            samples: Some(Vec::new()),
            rounds: Vec::new(),
            estimates: Vec::new(),
            run_ghz: Vec::new(),
            ..self.clone()
        }
    }

    /// The number of processes that measured.
    pub(super) fn processes(&self) -> usize {
        match &self.samples {
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
        let runs = self.samples.as_ref()?.iter();
        Some(
            runs.map(|run| {
                run.iter()
                    .filter_map(|process| order::median(process))
                    .collect()
            })
            .collect(),
        )
    }

    /// The median of each run.
    pub(super) fn run_medians(&self) -> Vec<f64> {
        match self.process_medians() {
            // Of the compared samples, which may be at another frequency than the estimate's.
            Some(runs) => runs.iter().filter_map(|run| order::median(run)).collect(),
            None => self
                .estimates
                .iter()
                .filter_map(|estimate| estimate.median)
                .collect(),
        }
    }

    /// The median of the process medians of all runs, or of the runs' medians without samples.
    pub(super) fn median(&self) -> Option<f64> {
        match (self.process_medians(), &self.estimates[..]) {
            // From the same values as the interval, so that the two cannot contradict each other.
            (Some(runs), _) => order::median(&runs.concat()),
            (_, [only]) => only.median,
            (None, _) => order::median(&self.run_medians()),
        }
    }
}

/// The processes of a row that have enough undisturbed samples, at any frequency.
pub(super) fn undisturbed(row: &Measurement) -> Vec<&RoundSamples> {
    let looked = |round: &&RoundSamples| round.alone_percent.is_some();
    let rounds = row.samples.iter().flatten().filter(looked);
    rounds
        .filter(|round| Choice::Undisturbed.counts(round))
        .collect()
}

/// The frequencies in GHz of the selected samples, by process: their own, or the usual one if they
/// were converted to it.
fn frequencies(selection: &Selection<'_>) -> Vec<f64> {
    let own = |round: &RoundSamples| {
        let samples = selection.choice.of(round);
        let known = samples.filter_map(|(index, _)| round.sample_ghz.get(index).copied());
        let known: Vec<f64> = known.filter(|ghz| *ghz > 0.0).collect();
        order::median(&known).or(round.core_ghz)
    };
    let of = |round: &&RoundSamples| match selection.is_converted() {
        true => round.usual_ghz,
        false => own(round),
    };
    selection.rounds.iter().filter_map(of).collect()
}
