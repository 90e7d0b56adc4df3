//! The state of one row during the run, and its entry in the document.

mod claims;
mod status;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::mem;

use syscost_results::estimate::between::Level;
use syscost_results::estimate::core_share::LineSums;
use syscost_results::estimate::floor::Floor;
use syscost_results::estimate::selection::Conversion;
use syscost_results::estimate::{Estimated, KeptRuns, Rules, estimate};
use syscost_results::stats::looks::StopRule;
use syscost_results::stats::order;
use syscost_results::{Estimate, Flag, Measurement, RoundSamples, Status, Verdict};

use self::claims::Claims;
use super::budget::Takes;
use super::frequencies::Frequencies;
use crate::bencher::{Findings, Over, Pass};
use crate::benchmark::Quantity;
use crate::catalogue::Row;
use crate::failure::Failure;

/// Maximum number of rounds of a row, as a multiple of those it needs, where its core is shared too often.
pub(super) const REPEATS: u32 = 3;

/// After this many rounds, none of which counts, a row is no longer deferred: it may need several cores
/// simultaneously.
const PATIENT_ROUNDS: usize = 3;

/// The state of one row.
pub(crate) struct RowState {
    pub(crate) row: Row,
    pub(crate) target_half_width: f64,
    pub(crate) rounds: Vec<RoundSamples>,
    pub(crate) failure: Option<Failure>,
    /// Why it is left out of the plan, if it is.
    pub(crate) skipped: Option<String>,
    /// Whether it needs no more rounds.
    pub(crate) settled: bool,
    /// Whether it is left out of the coming round, whose time is more useful for others.
    pub(crate) is_postponed: bool,
    /// Whether it has fewer rounds than it needs, or none, for lack of time.
    pub(crate) cut: bool,
    /// The first of the studies' tiers that names it, see [`tiered`](super::order::tiered).
    pub(crate) tier: usize,
    claims: Claims,
    /// What the evidence pass found, once it was completed; of a derived row, what holds for the whole run.
    proof: Option<Findings>,
    /// What the timed processes found besides `rounds`.
    timed: Vec<Findings>,
    /// How many rounds postponed it because no core was ours.
    pub(crate) deferred: u32,
    /// The time that it takes of the run.
    pub(crate) takes: Takes,
}

impl RowState {
    /// A row without any results, and the half-width of the interval, relative to the median, at
    /// which it needs no more rounds.
    pub(crate) fn new(row: Row, target_half_width: f64) -> Self {
        Self {
            row,
            target_half_width,
            rounds: Vec::new(),
            failure: None,
            skipped: None,
            settled: false,
            is_postponed: false,
            cut: false,
            tier: 0,
            claims: Claims::default(),
            proof: None,
            timed: Vec::new(),
            deferred: 0,
            takes: Takes::default(),
        }
    }

    /// The same row without any results.
    pub(crate) fn reset(&self) -> Self {
        Self::new(self.row.clone(), self.target_half_width)
    }

    /// Operations in each sample, which all rounds take alike, once a round has found out.
    pub(crate) fn iterations(&self) -> Option<u64> {
        self.rounds.first().map(|round| round.iterations)
    }

    /// The operations that its processes timed individually.
    fn histogram(&self) -> Vec<(f64, u64)> {
        let mut all: Vec<(f64, u64)> = Vec::new();
        for &(bound, count) in self.timed.iter().flat_map(|one| &one.histogram) {
            match all.binary_search_by(|(known, _)| known.total_cmp(&bound)) {
                Ok(index) => all[index].1 += count,
                Err(index) => all.insert(index, (bound, count)),
            }
        }
        all
    }

    /// Whether it needs more rounds.
    pub(crate) fn is_active(&self) -> bool {
        let is_measured = self.row.benchmark.derive.is_none();
        is_measured && !self.settled && self.failure.is_none() && self.skipped.is_none()
    }

    /// Whether the coming round measures it.
    pub(crate) fn takes_part(&self) -> bool {
        self.is_active() && !self.is_postponed
    }

    /// Adds the findings of a worker.
    pub(crate) fn take(&mut self, pass: Pass, result: Result<Findings, Failure>) {
        let mut findings = match result {
            Ok(findings) => findings,
            Err(Failure::Deferred) => {
                self.deferred += 1;
                return;
            }
            Err(failure) => {
                self.failure = Some(failure);
                return;
            }
        };
        for evidence in mem::take(&mut findings.evidence) {
            self.claims.add(evidence);
        }
        if pass == Pass::Evidence {
            self.takes.evidence_s = findings.took_ns / 1e9;
            self.proof = Some(findings);
            return;
        }
        self.takes.work_s = (findings.took_ns - findings.waited_ns).max(0.0) / 1e9;
        self.takes.longest_s = self.takes.longest_s.max(self.takes.work_s);
        self.takes.waited_s = findings.waited_ns / 1e9;
        let samples = mem::take(&mut findings.samples);
        if !samples.values.is_empty() {
            self.rounds.push(samples);
        }
        self.timed.push(findings);
    }

    /// What all its processes found, except samples and claims: those of the timed ones first.
    fn found(&self) -> impl Iterator<Item = &Findings> {
        self.timed.iter().chain(&self.proof)
    }

    /// What its figure is claimed not to be below.
    fn floor(&self) -> Option<Floor> {
        Some(Floor {
            cycles: self.found().find_map(|one| one.cycle_floor)?,
            copies: self.found().find_map(|one| one.copies).unwrap_or(1),
            bytes: self.found().find_map(|one| one.bytes),
        })
    }

    /// The limits of its method, where it has some: wide enough for all processes.
    fn limits(&self) -> Option<(f64, f64)> {
        // Those of a derived row are of the whole run.
        let found = match self.row.benchmark.derive {
            Some(_) => self.proof.as_slice(),
            None => &self.timed,
        };
        let limits = found.iter().filter_map(|findings| findings.limits);
        limits.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The details that its processes found, of a row with this value.
    fn details(&self, median: Option<f64>) -> BTreeMap<String, f64> {
        let mut all: BTreeMap<&str, (Over, Vec<f64>)> = BTreeMap::new();
        for findings in &self.timed {
            let waited = (findings.waited_ns > 0.0).then(|| findings.waited_ns.round());
            let waited = waited.map(|ns| ("waited_ns", Over::Median, ns));
            let own = findings.details.iter();
            let own = own.map(|(name, one)| (name.as_str(), one.over, one.value));
            for (name, over, value) in waited.into_iter().chain(own) {
                all.entry(name).or_insert((over, Vec::new())).1.push(value);
            }
        }
        let numbers = all.into_iter().filter_map(|(name, (over, values))| {
            Some((name.to_owned(), over.of(&values, median)?))
        });
        numbers.collect()
    }

    /// Whether what refuted it is to be counted again: others may have caused it.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.claims.are_doubtful()
    }

    /// Whether it may be left to a later round while no core is ours: not before it was measured, nor more
    /// often than it was measured, nor if none of its first rounds counts.
    pub(crate) fn may_defer(&self) -> bool {
        let counts = self.rounds.iter().any(RoundSamples::is_undisturbed);
        (self.deferred as usize) < self.rounds.len()
            && (counts || self.rounds.len() < PATIENT_ROUNDS)
    }

    /// How many of its rounds count, and how many there are in all, including those in which it was
    /// not measured because no core was ours.
    pub(crate) fn counting(&self) -> (usize, usize) {
        let counting = self.rounds.iter().filter(|round| round.is_undisturbed());
        (counting.count(), self.rounds.len() + self.deferred as usize)
    }

    /// The medians of its rounds that count, in order.
    pub(super) fn counting_medians(&self) -> impl Iterator<Item = f64> {
        let counting = self.rounds.iter().filter(|round| round.is_undisturbed());
        let as_measured = Conversion::new(self.row.benchmark.unit, None);
        counting.filter_map(move |round| order::median(&round.best(as_measured)))
    }

    /// Whether it measures a level, which may be zero or negative.
    pub(super) fn is_level(&self) -> bool {
        self.row.benchmark.quantity == Quantity::Level
    }

    /// What its next round will likely take, considering that it may be deferred.
    pub(crate) fn likely_takes(&self) -> Takes {
        let measured = self.rounds.len() as f64;
        let share = match self.deferred {
            0 => 1.0,
            deferred => measured / (measured + f64::from(deferred)),
        };
        self.takes.times(share)
    }

    /// Whether the row needs no more rounds than it has. Rounds count in which the core was ours often
    /// enough; the others are repeated, up to the maximum number of rounds.
    pub(crate) fn ends(
        &self,
        rule: StopRule<'_>,
        frequencies: &Frequencies,
        kept: Option<&KeptRuns>,
    ) -> bool {
        // No relative width is narrow at zero: a level stops at the first look, a cost that touches
        // zero at the last. More rounds do not narrow what differs between runs.
        let half_width = || match self.is_level() {
            true => Some(0.0),
            false => {
                let rounds = self.at_usual(frequencies);
                self.estimated(&rounds, kept).own_half_width
            }
        };
        self.rounds.len() as u32 >= REPEATS * rule.last()
            || rule.ends(self.counting().0 as u32, half_width, || {
                self.counting_medians().collect()
            })
    }

    /// The rounds, with the frequency at which the cost is given.
    fn at_usual(&self, frequencies: &Frequencies) -> Vec<RoundSamples> {
        let usual_ghz = frequencies.for_row(&self.rounds);
        let rounds = self.rounds.iter().cloned();
        rounds
            .map(|round| RoundSamples { usual_ghz, ..round })
            .collect()
    }

    fn estimated(&self, rounds: &[RoundSamples], kept: Option<&KeptRuns>) -> Estimated {
        fn of_all(values: impl Iterator<Item = f64>) -> f64 {
            order::median(&values.collect::<Vec<_>>()).unwrap_or(0.0)
        }
        estimate(
            rounds,
            &Rules {
                target_half_width: self.target_half_width,
                signed: self.is_level(),
                unit: self.row.benchmark.unit,
                better: self.row.benchmark.better,
                // The median, so that one disturbed round does not hide what the others show.
                resolution: of_all(self.found().filter_map(|findings| findings.resolution)),
                discrete: self.row.benchmark.quantity == Quantity::Choice,
                limits: self.limits(),
                grain: of_all(self.timed.iter().map(|findings| findings.grain)),
                histogram: &self.histogram(),
                kept,
            },
        )
    }

    /// What this run adds to what is known of the row: how its processes depended on the core's
    /// frequency, and its level. `None` without a number.
    pub(super) fn shown(&self, row: &Measurement) -> Option<(LineSums, Level)> {
        let rounds = row
            .samples
            .as_deref()
            .filter(|_| row.status == Status::Ok)?;
        let is_cost = row.between_runs.is_some();
        let level = Level::of(rounds, row.unit).filter(|_| is_cost)?;
        Some((LineSums::of_rounds(rounds, row.unit), level))
    }

    /// The row's entry in the document. `missing` says why a row without rounds has none.
    pub(crate) fn measurement(
        &self,
        keep_samples: bool,
        missing: &str,
        frequencies: &Frequencies,
        kept: Option<&KeptRuns>,
    ) -> Measurement {
        let rounds = self.at_usual(frequencies);
        let estimated = self.estimated(&rounds, kept);
        let mut evidence = self.claims.evidence();
        let floor = self.floor();
        evidence.extend(
            floor.and_then(|floor| floor.judge(&estimated, self.row.benchmark.unit, &rounds)),
        );
        let Estimated {
            mut estimate,
            core_cycles,
            core_share,
            between_runs,
            mut flags,
            below_resolution,
            details,
            ..
        } = estimated;
        let (status, reason) = self.status(&estimate, below_resolution, &evidence, missing);
        let is_shown = status.has_figures();
        if status == Status::AboveRange {
            estimate = Estimate {
                // Some rounds may have tried less.
                ci95_low: estimate.min,
                rounds: estimate.rounds,
                samples: estimate.samples,
                ..Estimate::default()
            };
            flags.clear();
        }
        if is_shown && evidence.iter().any(|e| e.verdict == Verdict::Unverified) {
            flags.push(Flag::PartlyUnverified);
        }
        let mut all_details = self.details(estimate.median);
        all_details.extend(details);
        if self.deferred > 0 {
            all_details.insert("deferred_rounds_count".to_owned(), f64::from(self.deferred));
        }
        let mut measurement = Measurement {
            name: self.row.name(),
            id: self.row.benchmark.id.to_owned(),
            case: self.row.case.to_map(),
            title: self.row.benchmark.title.to_owned(),
            revision: self.row.benchmark.revision,
            unit: self.row.benchmark.unit,
            better: self.row.benchmark.better,
            status,
            reason,
            estimate,
            core_cycles: core_cycles.filter(|_| status == Status::Ok),
            core_share,
            between_runs: between_runs.filter(|_| status == Status::Ok),
            flags,
            evidence,
            details: all_details,
            histogram: self.histogram(),
            samples: keep_samples.then_some(rounds),
        };
        if !is_shown {
            measurement.drop_figures();
        }
        measurement
    }
}
