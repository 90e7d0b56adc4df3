//! One row of a ledger: what its processes found, and its entry in the document.

mod claims;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use syscost_results::estimate::between::Level;
use syscost_results::estimate::core_share::LineSums;
use syscost_results::estimate::floor::Floor;
use syscost_results::estimate::selection::Conversion;
use syscost_results::estimate::sharing::{self, OwnCores};
use syscost_results::estimate::{Estimated, KeptRuns, Rules, estimate};
use syscost_results::measurement::Cause;
use syscost_results::{
    Better, Bound, Claim, Estimate, Evidence, Flag, Measurement, RoundSamples, Sharing, Status,
    Verdict,
};
use syscost_stats::looks::StopRule;
use syscost_stats::order;

use self::claims::Claims;
use super::frequencies::Frequencies;
use crate::bencher::{Findings, Over, WAITED_SHARE};
use crate::benchmark::Quantity;
use crate::catalogue::Row;
use crate::failure::Failure;
use crate::pass::Pass;
use crate::profile::REPEATS;

/// After this many rounds, none of which counts, a row is no longer deferred: it may need several
/// cores simultaneously.
const PATIENT_ROUNDS: usize = 3;

/// Maximum share of a figure that disturbances may explain.
const MAX_EXPLAINED: f64 = 0.1;

/// The share of a run's time that a row takes, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Takes {
    pub(super) evidence_s: f64,
    /// Time of its last timed pass, without waiting for an undisturbed core; 0 if there was none
    /// yet.
    pub(super) work_s: f64,
    /// Time of its longest pass so far: cases reuse memory, and the one that comes first pays for
    /// it.
    pub(super) longest_s: f64,
    pub(super) waited_s: f64,
}

pub(super) struct RowState {
    pub(super) row: Row,
    pub(super) target_half_width: f64,
    pub(super) rounds: Vec<RoundSamples>,
    pub(super) failure: Option<Failure>,
    /// Why it is left out of the plan, if it is.
    pub(super) skipped: Option<String>,
    /// Whether it needs no more rounds.
    pub(super) settled: bool,
    /// Whether it is left out of the coming round, whose time is more useful for others.
    pub(super) is_postponed: bool,
    /// Whether it has fewer rounds than it needs, or none, for lack of time.
    pub(super) cut: bool,
    /// The first of the studies' tiers that names it, see [`tiered`](super::schedule::tiered).
    pub(super) tier: usize,
    claims: Claims,
    /// What the evidence pass found, once it was completed; of a computed row, what holds for the
    /// whole run.
    proof: Option<Findings>,
    /// What the timed processes found besides `rounds`.
    timed: Vec<Findings>,
    /// What disturbances explain of each of `rounds`.
    explained: Vec<BTreeMap<Cause, f64>>,
    /// How many rounds postponed it because no core was ours.
    pub(super) deferred: u32,
    pub(super) takes: Takes,
}

impl RowState {
    /// A row without any results, its tier, and the half-width of the interval, relative to the
    /// median, at which it needs no more rounds.
    pub(super) fn new(row: Row, tier: usize, target_half_width: f64) -> Self {
        Self {
            row,
            target_half_width,
            rounds: Vec::new(),
            failure: None,
            skipped: None,
            settled: false,
            is_postponed: false,
            cut: false,
            tier,
            claims: Claims::default(),
            proof: None,
            timed: Vec::new(),
            explained: Vec::new(),
            deferred: 0,
            takes: Takes::default(),
        }
    }

    /// Operations in each sample, which all rounds take alike, once a round has found out; the latest one may
    /// have found that the others' are too few.
    pub(super) fn iterations(&self) -> Option<u64> {
        self.rounds.last().map(|round| round.iterations)
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
    pub(super) fn is_active(&self) -> bool {
        let is_measured = self.row.benchmark.computation.is_none();
        is_measured && !self.settled && self.failure.is_none() && self.skipped.is_none()
    }

    /// Whether the coming round measures it.
    pub(super) fn takes_part(&self) -> bool {
        self.is_active() && !self.is_postponed
    }

    /// Adds the findings of a worker.
    pub(super) fn take(&mut self, pass: Pass, result: Result<Findings, Failure>) {
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
            self.explained.push(mem::take(&mut findings.explained));
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
            // What calls cost is known where they are counted.
            cycles: (self.proof.iter().chain(&self.timed)).find_map(|one| one.cycle_floor)?,
            copies: self.found().find_map(|one| one.copies).unwrap_or(1),
            bytes: self.found().find_map(|one| one.bytes),
        })
    }

    /// Judges how long an operation takes where it is timed against where it is counted.
    fn judge_counted(&self, rounds: &[RoundSamples]) -> Option<Evidence> {
        self.proof.as_ref()?.judge_time(self.timed.first()?, rounds)
    }

    /// The limits of its method, where it has some: wide enough for all processes.
    fn limits(&self) -> Option<(f64, f64)> {
        // Those of a computed row are of the whole run.
        let found = match self.row.benchmark.computation {
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

    /// The share of the figure that each disturbance explains: the median over the rounds that count,
    /// or over all if none does.
    fn explained(&self) -> BTreeMap<Cause, f64> {
        let rounds = || self.rounds.iter().zip(&self.explained);
        let counts = |(round, _): &(&RoundSamples, _)| round.is_undisturbed();
        let mut counting: Vec<_> = rounds().filter(counts).map(|(_, one)| one).collect();
        if counting.is_empty() {
            counting = self.explained.iter().collect();
        }
        let causes: BTreeSet<Cause> = counting
            .iter()
            .flat_map(|one| one.keys().copied())
            .collect();
        let share_of = |cause: &Cause| {
            let shares = counting
                .iter()
                .map(|one| one.get(cause).copied().unwrap_or(0.0));
            order::median(&shares.collect::<Vec<_>>()).filter(|share| *share > 0.0)
        };
        let shares = causes
            .into_iter()
            .filter_map(|cause| Some((cause, share_of(&cause)?)));
        shares.collect()
    }

    /// Leaves it out from now on for lack of time: it keeps its rounds, or is skipped for this
    /// reason.
    pub(super) fn leave_out(&mut self, reason: Option<String>) {
        self.cut = true;
        match reason {
            None => self.settled = true,
            Some(_) => self.skipped = reason,
        }
    }

    /// Lets it take part again.
    pub(super) fn bring_back(&mut self) {
        (self.cut, self.settled) = (false, false);
    }

    /// Whether what refuted it is to be counted again: others may have caused it.
    pub(super) fn is_doubtful(&self) -> bool {
        self.claims.are_doubtful()
    }

    /// Whether it may be left to a later round while no core is ours: not before it was measured,
    /// nor more often than it was measured, nor if none of its first rounds counts.
    pub(super) fn may_defer(&self) -> bool {
        let counts = self.rounds.iter().any(RoundSamples::is_undisturbed);
        (self.deferred as usize) < self.rounds.len()
            && (counts || self.rounds.len() < PATIENT_ROUNDS)
    }

    /// How many of its rounds count, and how many there are in all, including those in which it was
    /// not measured because no core was ours.
    pub(super) fn counting(&self) -> (usize, usize) {
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

    /// What its next round will likely take, working and waiting, in seconds: it may be deferred.
    pub(super) fn likely_takes_s(&self) -> [f64; 2] {
        let share = match self.counting().1 {
            0 => 1.0,
            all => self.rounds.len() as f64 / all as f64,
        };
        [self.takes.work_s, self.takes.waited_s].map(|takes_s| share * takes_s)
    }

    /// Whether the row needs no more rounds than it has. Rounds count in which the core was ours
    /// often enough; the others are repeated, up to the maximum number of rounds.
    pub(super) fn ends(
        &mut self,
        rule: StopRule<'_>,
        frequencies: &Frequencies,
        cores: &OwnCores,
        kept: Option<&KeptRuns>,
    ) -> bool {
        if rule.looks.contains(&(self.rounds.len() as u32)) {
            self.judge(frequencies, cores);
        }
        // No relative width is narrow at zero: a level stops at the first look, a cost that touches
        // zero at the last. More rounds do not narrow what differs between runs.
        let half_width = || match self.is_level() {
            true => Some(0.0),
            false => {
                let (rounds, _) = self.judged(frequencies, cores);
                self.estimated(&rounds, kept).own_half_width
            }
        };
        self.rounds.len() as u32 >= REPEATS * rule.last()
            || rule.ends(self.counting().0 as u32, half_width, || {
                self.counting_medians().collect()
            })
    }

    /// The rounds, with the frequency at which the cost is given and the ratio up to which their
    /// samples are of a core of our own, and what says so.
    fn judged(
        &self,
        frequencies: &Frequencies,
        cores: &OwnCores,
    ) -> (Vec<RoundSamples>, Option<Sharing>) {
        let usual_ghz = frequencies.for_row(&self.rounds);
        let rounds = self.rounds.iter().cloned();
        let mut rounds: Vec<RoundSamples> = rounds
            .map(|round| RoundSamples { usual_ghz, ..round })
            .collect();
        let sharing = sharing::judge(&mut rounds, self.row.benchmark.unit, cores);
        (rounds, sharing)
    }

    /// Judges anew which of its rounds count.
    pub(super) fn judge(&mut self, frequencies: &Frequencies, cores: &OwnCores) {
        let (judged, _) = self.judged(frequencies, cores);
        for (round, judged) in self.rounds.iter_mut().zip(judged) {
            round.own_limit = judged.own_limit;
        }
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
                published: None,
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

    /// The status of the row, and the reason if it has no number.
    fn status(
        &self,
        estimate: &Estimate,
        below_resolution: bool,
        evidence: &[Evidence],
        missing: &str,
    ) -> (Status, Option<String>) {
        if let Some(failure) = &self.failure {
            let status = match failure {
                Failure::Unsupported(_) => Status::Unsupported,
                Failure::Refuted(_) => Status::Withheld,
                Failure::Failed(_) | Failure::Broken(_) | Failure::Deferred => Status::Failed,
            };
            return (status, Some(failure.to_string()));
        }
        if let Some(reason) = &self.skipped {
            return (Status::Skipped, Some(reason.clone()));
        }
        if let Some(refuted) = evidence.iter().find(|e| e.verdict == Verdict::Refuted) {
            return (Status::Withheld, Some(refuted.to_string()));
        }
        if self.rounds.is_empty() {
            return (Status::Skipped, Some(missing.to_owned()));
        }
        if evidence.iter().all(Evidence::is_note) {
            let defect = Failure::Broken("claims nothing that could be wrong".to_owned());
            return (Status::Failed, Some(defect.to_string()));
        }
        if self.proof.is_none() {
            let reason = "its evidence pass did not come back, so nothing proves the number";
            return (Status::Failed, Some(reason.to_owned()));
        }
        if below_resolution {
            let unit = self.row.benchmark.unit.symbol();
            let bound = estimate.ci95_high.map_or(
                "too few processes count to say how small it is".to_owned(),
                |bound| format!("less than {bound:.3} {unit}"),
            );
            let reason = format!("it cannot be distinguished from zero: {bound}");
            return (Status::BelowResolution, Some(reason));
        }
        // If other rounds did find it, the bounds of these rounds are among the values.
        let larger: Vec<&String> = self
            .timed
            .iter()
            .filter_map(|one| one.larger.as_ref())
            .collect();
        if let Some(why) = larger
            .first()
            .filter(|_| 2 * larger.len() > self.rounds.len())
        {
            return (Status::AboveRange, Some((*why).clone()));
        }
        (Status::Ok, None)
    }

    /// The row's entry in the document. `missing` says why a row without rounds has none.
    pub(super) fn measurement(
        &self,
        keep_samples: bool,
        missing: &str,
        frequencies: &Frequencies,
        cores: &OwnCores,
        kept: Option<&KeptRuns>,
    ) -> Measurement {
        let (rounds, sharing) = self.judged(frequencies, cores);
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
            earlier,
            mut flags,
            below_resolution,
            details,
            ..
        } = estimated;
        evidence.extend(self.judge_counted(&rounds));
        let explained = self.explained();
        let doubts = explained.iter();
        evidence.extend(doubts.filter_map(|(cause, share)| doubted(*cause, *share, &estimate)));
        evidence.extend(in_company(&estimate, self.row.benchmark.better));
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
        all_details.extend(
            explained
                .iter()
                .map(|(cause, share)| (detail_of(*cause).to_owned(), 100.0 * share)),
        );
        if self.deferred > 0 {
            all_details.insert("deferred_rounds_count".to_owned(), f64::from(self.deferred));
        }
        let case = self.row.case.to_map();
        let mut measurement = Measurement {
            name: self.row.name(),
            id: self.row.benchmark.id.to_owned(),
            roles: self.row.benchmark.roles_of(&case),
            case,
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
            earlier,
            sharing: sharing.filter(|_| status == Status::Ok),
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

/// The detail with the share of the time that this cause explains.
fn detail_of(cause: Cause) -> &'static str {
    match cause {
        Cause::Interrupted => "interrupted_percent",
        Cause::Displaced => "displaced_percent",
        Cause::Contended => "contended_percent",
        _ => "waited_for_cpu_percent",
    }
}

/// What is doubtful about a figure of which a disturbance explains this share; nothing where the
/// interval includes it, or a wait is short.
fn doubted(cause: Cause, share: f64, estimate: &Estimate) -> Option<Evidence> {
    let half_width = || {
        let (low, high) = estimate.ci95_low.zip(estimate.ci95_high)?;
        Some((high - low) / (2.0 * estimate.median?.abs()))
    };
    let (claim, most, source, reason) = match cause {
        Cause::Interrupted => (
            "share of the time that interrupts took",
            half_width().unwrap_or(MAX_EXPLAINED).min(MAX_EXPLAINED),
            "/proc/interrupts",
            "other programs have this CPU interrupted, which is a part of the time",
        ),
        Cause::Displaced => (
            "share of the time that others' displacing it from the cache took",
            half_width().unwrap_or(MAX_EXPLAINED).min(MAX_EXPLAINED),
            "clock",
            "others displaced from the cache what this was to find there, or it holds less than is reported",
        ),
        Cause::Contended => (
            "share of its processes beside which another program was ready on the CPU",
            MAX_EXPLAINED,
            "/proc/stat",
            "beside a third task the kernel switches between two in another way",
        ),
        _ => (
            WAITED_SHARE,
            MAX_EXPLAINED,
            "schedstat",
            "other programs had a CPU of its tasks, which is a part of the time",
        ),
    };
    let evidence = Evidence::judged(Claim::by_most(claim), Bound::AtMost(most), share, source);
    (share > most).then(|| evidence.tolerated(|| Some(reason)))
}

/// Minimum cost in company, in costs on a core of our own: what a fifth of chance may take off, where both
/// are of few processes.
const MIN_IN_COMPANY: f64 = 0.8;

/// What a price in company says of that of an own core where it is the lower one. `None` elsewhere.
fn in_company(estimate: &Estimate, better: Better) -> Option<Evidence> {
    let (own, shared) = estimate.median.zip(estimate.shared_median)?;
    let share = match better {
        Better::Lower => shared / own,
        Better::Higher => own / shared,
    };
    let claim = Claim::by_most("cost in company, in costs on a core of our own");
    let evidence = Evidence::judged(claim, Bound::AtLeast(MIN_IN_COMPANY), share, "probes");
    let reason = "a neighbour makes nothing cheaper: something else than the cores tells these samples apart";
    (share < MIN_IN_COMPANY).then(|| evidence.tolerated(|| Some(reason)))
}

#[cfg(test)]
mod tests {
    use syscost_results::measurement::Disturbance;

    use super::*;
    use crate::benchmark::{Benchmark, Entry};
    use crate::case::Case;
    use crate::computed::Computation;

    /// A row without any results.
    fn row() -> RowState {
        static ANY: Entry = Benchmark::DEFAULT.named("", "");
        let benchmark = &ANY;
        let case = Case::default();
        RowState::new(Row { benchmark, case }, 0, 0.02)
    }

    /// A process on an undisturbed core, or on a shared one.
    fn process(is_exclusive: bool) -> Result<Findings, Failure> {
        let tag = |sample| Disturbance {
            sample,
            cause: Cause::SharedCore,
        };
        Ok(Findings {
            samples: RoundSamples {
                iterations: 1,
                values: vec![1.0; 5],
                alone_percent: Some(0.0),
                disturbed: (0..5).map(tag).filter(|_| !is_exclusive).collect(),
                ..RoundSamples::default()
            },
            took_ns: 4e6,
            ..Findings::default()
        })
    }

    fn take(row: &mut RowState, round: u32, result: Result<Findings, Failure>) {
        let numbered = |mut findings: Findings| {
            findings.samples.round = round;
            findings
        };
        row.take(Pass::Timed, result.map(numbered));
    }

    #[test]
    fn what_is_timed_takes_as_long_as_what_is_counted() {
        let verdict = |counted_ns, process: Result<Findings, Failure>| {
            let mut row = row();
            let counted = Findings {
                counted_ns,
                ..Findings::default()
            };
            row.take(Pass::Evidence, Ok(counted));
            take(&mut row, 0, process);
            Some(row.judge_counted(&row.rounds)?.verdict)
        };
        for (counted_ns, expected) in [(1.3, Verdict::Confirmed), (0.7, Verdict::Confirmed)] {
            assert_eq!(verdict(Some(counted_ns), process(true)), Some(expected));
        }
        for counted_ns in [0.4, 2.1] {
            let found = verdict(Some(counted_ns), process(true));
            assert_eq!(found, Some(Verdict::Unverified), "{counted_ns}");
        }
        // It was not timed where it was counted, or never on a core of its own.
        assert_eq!(verdict(None, process(true)), None);
        assert_eq!(verdict(Some(9.0), process(false)), None);
        let observed = process(true).map(|found| Findings {
            observed: true,
            ..found
        });
        assert_eq!(verdict(Some(9.0), observed), None);
    }

    #[test]
    fn a_row_is_deferred_no_more_often_than_it_was_measured() {
        let mut row = row();
        assert!(!row.may_defer(), "nothing is known of it");
        take(&mut row, 0, process(true));
        assert!(row.may_defer());
        take(&mut row, 1, Err(Failure::Deferred));
        assert!(row.failure.is_none() && row.is_active());
        assert!(!row.may_defer());
        take(&mut row, 2, process(false));
        assert!(row.may_defer());
        assert_eq!(row.counting(), (1, 3));
    }

    #[test]
    fn a_row_none_of_whose_rounds_counts_is_measured_all_the_same() {
        let mut row = row();
        for round in 0..3 {
            assert_eq!(row.may_defer(), round > 0);
            take(&mut row, round, process(false));
        }
        assert!(!row.may_defer());
        take(&mut row, 3, process(true));
        assert!(row.may_defer());
    }

    #[test]
    fn what_a_row_likely_takes_is_less_if_it_may_be_deferred() {
        let mut row = row();
        take(&mut row, 0, process(true));
        assert_eq!(row.likely_takes_s(), [4e-3, 0.0]);
        take(&mut row, 1, Err(Failure::Deferred));
        assert_eq!(row.likely_takes_s(), [2e-3, 0.0]);
    }

    #[test]
    fn a_row_says_larger_than_if_most_of_its_rounds_do() {
        let evidence = Evidence::new("a", 1.0, 1.0, "b", Verdict::Confirmed);
        let of = |larger: &[bool]| {
            let mut row = row();
            let proof = Findings {
                evidence: vec![evidence.clone()],
                limits: Some((1.0, 1000.0)),
                ..Findings::default()
            };
            row.take(Pass::Evidence, Ok(proof));
            for (round, is_larger) in (0..).zip(larger) {
                let findings = Findings {
                    samples: RoundSamples {
                        iterations: 1,
                        values: vec![256.0 + f64::from(round); 5],
                        ..RoundSamples::default()
                    },
                    limits: Some((240.0 - f64::from(round), 300.0)),
                    larger: is_larger.then(|| "time ended".to_owned()),
                    ..Findings::default()
                };
                take(&mut row, round, Ok(findings));
            }
            row.measurement(true, "", &Frequencies::default(), &OwnCores::new(), None)
        };
        let above = of(&[true, true, false]);
        assert_eq!(above.status, Status::AboveRange);
        assert_eq!(above.reason.as_deref(), Some("time ended"));
        let Estimate {
            median,
            ci95_low,
            ci95_high,
            rounds,
            ..
        } = above.estimate;
        assert_eq!(
            (median, ci95_low, ci95_high, rounds),
            (None, Some(256.0), None, 3)
        );
        let found = of(&[true, false, false]);
        assert_eq!(
            (found.status, found.estimate.median),
            (Status::Ok, Some(257.0))
        );
        let ends = (found.estimate.ci95_low, found.estimate.ci95_high);
        assert_eq!(
            ends,
            (Some(238.0), Some(300.0)),
            "the limits of all rounds, not of the evidence pass"
        );
    }

    #[test]
    fn a_computed_row_has_its_limits_from_the_whole_run() {
        static COMPUTED: Entry = Benchmark {
            computation: Some(Computation {
                series: None,
                from: &[],
                takes: |_, _| false,
                compute: |_, _, _| Err(Failure::Failed("it is not asked".to_owned())),
            }),
            ..Benchmark::DEFAULT
        }
        .named("some.size", "");
        let case = Case::default();
        let benchmark = &COMPUTED;
        let mut row = RowState::new(Row { benchmark, case }, 0, 0.02);
        let proof = Findings {
            limits: Some((240.0, 300.0)),
            ..Findings::default()
        };
        row.take(Pass::Evidence, Ok(proof));
        take(&mut row, 0, process(true));
        assert_eq!(row.limits(), Some((240.0, 300.0)));
    }

    #[test]
    fn a_row_that_only_notes_facts_claims_nothing() {
        let mut row = row();
        take(&mut row, 0, process(true));
        let note = Evidence::note("its name", "a name", "the kernel");
        let claim = Evidence::new("its name", "a", "a", "the kernel", Verdict::Confirmed);
        let why = |evidence: &[Evidence]| {
            let (_, reason) = row.status(&Estimate::default(), false, evidence, "");
            reason.unwrap_or_default()
        };
        let defect = "claims nothing that could be wrong";
        assert!(why(&[]).contains(defect));
        assert!(why(std::slice::from_ref(&note)).contains(defect));
        assert!(!why(&[note, claim]).contains(defect));
    }

    #[test]
    fn what_is_cheaper_in_company_was_not_told_apart_by_the_core() {
        let verdict = |own: f64, shared: Option<f64>, better| {
            let estimate = Estimate {
                median: Some(own),
                shared_median: shared,
                ..Estimate::default()
            };
            in_company(&estimate, better).map(|evidence| evidence.verdict)
        };
        let doubtful = Some(Verdict::Unverified);
        assert_eq!(verdict(602.0, Some(182.0), Better::Lower), doubtful);
        assert_eq!(verdict(2e9, Some(6e9), Better::Higher), doubtful);
        for (own, shared, better) in [
            (182.0, Some(602.0), Better::Lower),
            (182.0, Some(170.0), Better::Lower),
            (6e9, Some(2e9), Better::Higher),
            (602.0, None, Better::Lower),
        ] {
            assert_eq!(verdict(own, shared, better), None, "{own} {shared:?}");
        }
    }

    #[test]
    fn what_others_may_have_broken_is_counted_again_and_withheld_only_if_most_say_so() {
        use Verdict::{Confirmed, Refuted};
        let counted = |verdict| {
            Ok(Findings {
                evidence: vec![Evidence::new(
                    Claim::by_most("switches of all its tasks per operation"),
                    2.0,
                    2.4,
                    "/proc",
                    verdict,
                )],
                ..Findings::default()
            })
        };
        let after = |verdicts: &[Verdict]| {
            let mut row = row();
            for (round, verdict) in (0..).zip(verdicts) {
                assert_eq!(row.is_doubtful(), round > 0, "{verdicts:?}, {round}");
                row.take(Pass::Evidence, counted(*verdict));
                take(&mut row, round, process(true));
            }
            let measured =
                row.measurement(true, "", &Frequencies::default(), &OwnCores::new(), None);
            (row.is_doubtful(), measured.status)
        };
        assert_eq!(after(&[Confirmed]), (false, Status::Ok));
        assert_eq!(after(&[Refuted, Confirmed, Confirmed]), (false, Status::Ok));
        let lie = [Refuted, Refuted, Refuted];
        assert_eq!(after(&lie), (false, Status::Withheld));
        // No time for more: one cannot tell what others broke.
        assert_eq!(after(&[Refuted]), (true, Status::Ok));
    }

    /// Whether a row whose rounds, on own cores or not, are explained by these shares of a cause has
    /// a claim that could not be verified.
    fn is_doubted(cause: Cause, rounds: &[(bool, f64)]) -> bool {
        let mut row = row();
        for (number, (is_own, share)) in rounds.iter().enumerate() {
            let found = process(*is_own).map(|found| Findings {
                explained: BTreeMap::from([(cause, *share)]),
                ..found
            });
            take(&mut row, number as u32, found);
        }
        let entry = row.measurement(true, "", &Frequencies::default(), &OwnCores::new(), None);
        let mut evidence = entry.evidence.iter();
        evidence.any(|one| one.verdict == Verdict::Unverified && one.reason.is_some())
    }

    #[test]
    fn a_figure_of_which_a_disturbance_explains_more_than_its_interval_is_doubted() {
        let of = |cause, share| is_doubted(cause, &[(true, share); 6]);
        assert!(of(Cause::RunDelay, 0.2) && !of(Cause::RunDelay, 0.05));
        // All values are the same, so the interval has no width.
        assert!(of(Cause::Interrupted, 0.01));
        assert!(!of(Cause::Interrupted, 0.0));
    }

    #[test]
    fn what_disturbed_a_process_that_does_not_count_raises_no_doubt() {
        let own = [(true, 0.0); 3];
        let most_shared = [&own[..], &[(false, 0.9); 4]].concat();
        assert!(!is_doubted(Cause::RunDelay, &most_shared));
        assert!(is_doubted(Cause::RunDelay, &[(false, 0.9); 6]), "all count");
        let one = [&own[..], &[(true, 0.9)]].concat();
        assert!(!is_doubted(Cause::RunDelay, &one), "their median has none");
    }
}
