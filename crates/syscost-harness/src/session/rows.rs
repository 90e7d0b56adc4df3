//! The state of one row during the run, and its entry in the document.

mod claims;
mod combine;
mod status;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use syscost_results::estimate::between::Level;
use syscost_results::estimate::core_share::Line;
use syscost_results::estimate::selection::Conversion;
use syscost_results::estimate::{Estimated, KeptRuns, Rules, estimate};
use syscost_results::stats::looks::StopRule;
use syscost_results::stats::order;
use syscost_results::{Estimate, Flag, Measurement, RoundSamples, Status, Verdict};

use self::claims::Claims;
use self::combine::{merge_histogram, over_processes, wider};
use super::budget::Takes;
use super::frequencies::Frequencies;
use crate::bencher::{Findings, Follows, Pass};
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
    pub(crate) iterations: Option<u64>,
    pub(crate) failure: Option<Failure>,
    /// Why it is left out of the plan, if it is.
    pub(crate) skipped: Option<String>,
    /// Whether it needs no more rounds.
    pub(crate) settled: bool,
    /// Whether it is left out of the coming round, whose time is more useful for others.
    pub(crate) rests: bool,
    /// Whether it has fewer rounds than it needs, or none, for lack of time.
    pub(crate) cut: bool,
    /// The first of the studies' tiers that names it, see [`tiered`](super::order::tiered).
    pub(crate) tier: usize,
    claims: Claims,
    /// Whether the evidence pass has been completed.
    is_proved: bool,
    observed: bool,
    cycle_floor: Option<f64>,
    /// How many copies ran simultaneously, if its throughput was measured.
    copies: Option<u32>,
    /// How many bytes an operation moves, if a rate was measured.
    bytes: Option<f64>,
    /// The resolution of each round that reported one.
    resolutions: Vec<f64>,
    /// The grain of each round.
    grains: Vec<f64>,
    /// The limits of its method, where it has some.
    limits: Option<(f64, f64)>,
    /// The reason of each round in which nothing larger than the values was tried.
    larger: Vec<String>,
    /// How many rounds postponed it because no core was ours.
    pub(crate) deferred: u32,
    /// The time that it takes of the run.
    pub(crate) takes: Takes,
    details: BTreeMap<String, Vec<f64>>,
    follows: BTreeMap<String, Follows>,
    histogram: Vec<(f64, u64)>,
}

impl RowState {
    /// A row without any results, and the half-width of the interval, relative to the median, at
    /// which it needs no more rounds.
    pub(crate) fn new(row: Row, target_half_width: f64) -> Self {
        Self {
            row,
            target_half_width,
            rounds: Vec::new(),
            iterations: None,
            failure: None,
            skipped: None,
            settled: false,
            rests: false,
            cut: false,
            tier: 0,
            claims: Claims::default(),
            is_proved: false,
            observed: false,
            cycle_floor: None,
            copies: None,
            bytes: None,
            resolutions: Vec::new(),
            grains: Vec::new(),
            limits: None,
            larger: Vec::new(),
            deferred: 0,
            takes: Takes::default(),
            details: BTreeMap::new(),
            follows: BTreeMap::new(),
            histogram: Vec::new(),
        }
    }

    /// The same row without any results.
    pub(crate) fn afresh(&self) -> Self {
        Self::new(self.row.clone(), self.target_half_width)
    }

    /// Whether it needs more rounds.
    pub(crate) fn is_active(&self) -> bool {
        let is_measured = self.row.benchmark.derive.is_none();
        is_measured && !self.settled && self.failure.is_none() && self.skipped.is_none()
    }

    /// Whether the coming round measures it.
    pub(crate) fn takes_part(&self) -> bool {
        self.is_active() && !self.rests
    }

    /// Adds the findings of a worker.
    pub(crate) fn take(
        &mut self,
        pass: Pass,
        round: u32,
        cpu: u32,
        steal_percent: Option<f64>,
        result: Result<Findings, Failure>,
    ) {
        let findings = match result {
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
        for evidence in findings.evidence {
            self.claims.add(evidence);
        }
        self.observed |= findings.observed;
        self.cycle_floor = findings.cycle_floor.or(self.cycle_floor);
        self.copies = findings.copies.or(self.copies);
        self.bytes = findings.bytes.or(self.bytes);
        self.resolutions.extend(findings.resolution);
        if pass == Pass::Evidence {
            // The evidence pass times nothing for the record. A derived row gets its limits here: they
            // are those of the whole run.
            self.is_proved = true;
            if self.row.benchmark.derive.is_some() {
                self.limits = findings.limits;
            }
            self.takes.evidence_s = findings.took_ns / 1e9;
            return;
        }
        self.limits = wider(self.limits, findings.limits);
        self.takes.work_s = (findings.took_ns - findings.waited_ns).max(0.0) / 1e9;
        self.takes.longest_s = self.takes.longest_s.max(self.takes.work_s);
        self.takes.waited_s = findings.waited_ns / 1e9;
        if findings.waited_ns > 0.0 {
            let waited = self.details.entry("waited_ns".to_owned()).or_default();
            waited.push(findings.waited_ns.round());
        }
        for (name, value) in findings.details {
            self.details.entry(name).or_default().push(value);
        }
        self.follows.extend(findings.follows);
        self.grains.push(findings.grain);
        self.larger.extend(findings.larger);
        merge_histogram(&mut self.histogram, &findings.histogram);
        if !findings.values.is_empty() {
            self.iterations.get_or_insert(findings.iterations);
            self.rounds.push(RoundSamples {
                round,
                cpu,
                iterations: findings.iterations,
                core_ghz: findings.core_ghz,
                sample_ghz: findings.sample_ghz,
                usual_ghz: None,
                alone_percent: findings.alone_percent,
                values: findings.values,
                raw: findings.raw,
                disturbed: findings.disturbed,
                steal_percent,
            });
        }
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
        estimate(
            rounds,
            &Rules {
                target_half_width: self.target_half_width,
                signed: self.is_level(),
                unit: self.row.benchmark.unit,
                better: self.row.benchmark.better,
                // The median, so that one disturbed round does not hide what the others show.
                resolution: order::median(&self.resolutions).unwrap_or(0.0),
                discrete: self.row.benchmark.quantity == Quantity::Choice,
                limits: self.limits,
                grain: order::median(&self.grains).unwrap_or(0.0),
                histogram: &self.histogram,
                kept,
            },
        )
    }

    /// What this run adds to what is known of the row: how its processes depended on the core's
    /// frequency, and its level. `None` without a number.
    pub(super) fn shown(&self, row: &Measurement) -> Option<(Line, Level)> {
        let rounds = row
            .samples
            .as_deref()
            .filter(|_| row.status == Status::Ok)?;
        let is_cost = row.between_runs.is_some();
        let level = Level::of(rounds, row.unit).filter(|_| is_cost)?;
        Some((Line::of_rounds(rounds, row.unit), level))
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
        let Estimated {
            mut estimate,
            core_cycles,
            core_share,
            between_runs,
            mut flags,
            below_resolution,
            details,
            ..
        } = self.estimated(&rounds, kept);
        let mut evidence = self.claims.evidence();
        let usual_ghz = rounds.iter().find_map(|round| round.usual_ghz);
        evidence.extend(self.judge_floor(&estimate, core_cycles, usual_ghz));
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
        let mut all_details: BTreeMap<String, f64> = self
            .details
            .iter()
            .filter_map(|(name, values)| Some((name.clone(), over_processes(name, values)?)))
            .collect();
        all_details.extend(details);
        if let Some(median) = estimate.median {
            let following = self.follows.iter();
            let following = following.map(|(name, how)| (name.clone(), how.of(median)));
            all_details.extend(following.filter(|(_, value)| value.is_finite()));
        }
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
            histogram: self.histogram.clone(),
            samples: keep_samples.then_some(rounds),
        };
        if !is_shown {
            measurement.drop_figures();
        }
        measurement
    }
}
