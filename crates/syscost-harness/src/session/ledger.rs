//! The ledger of a run: the records of its workers become rows, and these its document. The journal
//! is its copy on the disk: whether a record comes from there or was just made, it is entered
//! alike.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use syscost_results::estimate::frequency;
use syscost_results::estimate::sharing::OwnCores;
use syscost_results::run::{Frequency, Run};
use syscost_results::{Measurement, RoundSamples};
use syscost_stats::order::{median, quantile};
use syscost_stats::student;

use super::computed::computed;
use super::executor::{Due, Executor};
use super::frequencies::Frequencies;
use super::journal::{self, Header, Journal, Record};
use super::kept::KeptFile;
use super::request::INTERRUPTED;
use super::row::RowState;
use crate::doctor;
use crate::profile::Profile;
use crate::testbed::Testbed;
use crate::worker::is_of_tracer;

/// The result of a run: the document, and the journal that can be removed once that is saved.
pub struct Finished {
    /// The document.
    pub run: Run,
    /// How long it waited for a core of its own, between rounds (`--patient`).
    pub waited: Duration,
    /// Its journal; kept if the run was interrupted, so that it can be resumed.
    pub journal: Option<Journal>,
}

/// What a run measured so far.
pub(super) struct Ledger {
    pub(super) header: Header,
    pub(super) journal: Option<Journal>,
    /// The records of a resumed run, until their jobs are due.
    pub(super) recorded: Vec<Record>,
    pub(super) rows: Vec<RowState>,
    /// What earlier runs of this machine showed.
    pub(super) kept: KeptFile,
    /// The usual frequency of both runs of a pair, in GHz.
    pub(super) common_ghz: Option<f64>,
    /// By what it is judged which samples are of a core of our own.
    cores: OwnCores,
    started_in_ms: Vec<f64>,
    beside_s: Vec<f64>,
}

impl Ledger {
    /// One of these rows, without results and without a journal.
    pub(super) fn new(header: Header, rows: Vec<RowState>, kept: KeptFile) -> Self {
        Self {
            header,
            journal: None,
            recorded: Vec::new(),
            rows,
            kept,
            common_ghz: None,
            cores: OwnCores::new(),
            started_in_ms: Vec::new(),
            beside_s: Vec::new(),
        }
    }

    pub(super) fn journal_path(&self) -> Option<&Path> {
        self.journal.as_ref().map(Journal::path)
    }

    /// Whether a run that is resumed has not come to where it ended.
    pub(super) fn is_replaying(&self) -> bool {
        !self.recorded.is_empty()
    }

    /// Forgets records of rounds that are over: of rows that needed fewer rounds this time.
    pub(super) fn forget_before(&mut self, round: u32) {
        self.recorded.retain(|record| record.round >= round);
    }

    /// The record of what is due, if the run made it before it was interrupted.
    pub(super) fn recorded(&mut self, due: &Due) -> Option<Record> {
        let wanted = (due.round, due.pass, due.benchmark.id);
        let is_due = |suffix: &String| due.cases.iter().any(|case| case.suffix == *suffix);
        let is_it = |record: &Record| {
            (record.round, record.pass, &*record.benchmark) == wanted
                && record.cases.iter().any(|(suffix, _)| is_due(suffix))
        };
        let index = self.recorded.iter().position(is_it)?;
        Some(self.recorded.swap_remove(index))
    }

    /// Writes a new record to the journal, unless the budget ended its worker.
    pub(super) fn keep(&mut self, record: &Record) {
        if record.is_whole
            && let Some(journal) = &mut self.journal
            && let Err(error) = journal.append(record)
        {
            self.header.warnings.push(journal::lost(&error));
            self.journal = None;
        }
    }

    /// Enters a record, from the journal or fresh.
    pub(super) fn enter(&mut self, record: Record) {
        self.started_in_ms.push(record.started_in_ms);
        self.beside_s.extend(record.beside_s);
        for (suffix, result) in record.cases {
            let mut rows = self.rows.iter_mut();
            let row = rows.find(|one| {
                one.row.benchmark.id == record.benchmark && one.row.case.suffix() == suffix
            });
            let Some(row) = row else { continue };
            let result = result.map(|mut findings| {
                let samples = &mut findings.samples;
                samples.round = record.round;
                // The observed steal belongs to the job's CPU.
                samples.steal_percent = record.steal_percent.filter(|_| samples.cpu == record.cpu);
                let core = self.cores.get(&samples.cpu);
                let is_probed = !samples.ratios.is_empty();
                samples.own_limit = core.filter(|_| is_probed).map(|core| core.limit);
                findings
            });
            row.take(record.pass, result);
        }
    }

    /// Judges all samples by what is known of cores from now on: rows that were settled may need more rounds.
    pub(super) fn judge(&mut self, cores: OwnCores) {
        self.cores = cores;
        let frequencies = self.frequencies();
        for row in &mut self.rows {
            row.judge(&frequencies, &self.cores);
            row.settled &= row.cut;
        }
    }

    /// Overhead of a timed worker besides its cases, in seconds.
    pub(super) fn worker_s(&self) -> f64 {
        median(&self.beside_s).unwrap_or(0.0)
    }

    pub(super) fn rounds(&self) -> impl Iterator<Item = &RoundSamples> + Clone {
        self.rows.iter().flat_map(|row| &row.rounds)
    }

    /// Settles rows at a look: those whose interval is narrow enough, and those that no more rounds
    /// would help.
    pub(super) fn settle(&mut self, profile: Profile) {
        let frequencies = self.frequencies();
        for row in &mut self.rows {
            let rule = profile.stop_rule_with(row.row.setup());
            let kept = self.kept.of(row);
            row.settled |= row.ends(rule, &frequencies, &self.cores, kept);
        }
        let together = self
            .rows
            .iter()
            .filter(|row| row.row.benchmark.settles_together);
        let active = together.filter(|row| row.is_active());
        let ids: BTreeSet<&str> = active.map(|row| row.row.benchmark.id).collect();
        for row in &mut self.rows {
            row.settled &= row.cut || !ids.contains(row.row.benchmark.id);
        }
    }

    fn frequencies(&self) -> Frequencies {
        Frequencies::of(self.kept.before.usual_ghz, self.common_ghz, self.rounds())
    }

    /// The rows' entries in the document, those of computed rows last. `missing` says why a row
    /// without rounds has none.
    fn measurements(
        &self,
        missing: &str,
        frequencies: &Frequencies,
        here: &Testbed,
    ) -> Vec<Measurement> {
        let measured = self.rows.iter();
        let mut all: Vec<Measurement> = measured
            .map(|row| row.measurement(true, missing, frequencies, &self.cores, self.kept.of(row)))
            .collect();
        for (index, row) in self.rows.iter().enumerate() {
            if row.row.benchmark.computation.is_some() {
                let sources = self.rows.iter().map(|row| &row.row).zip(&all);
                let (target, kept) = (row.target_half_width, self.kept.of(row));
                all[index] = computed(&row.row, sources, target, kept, here);
            }
        }
        all
    }

    /// The document of a run that took this long. The journal of an interrupted one is kept, so
    /// that it can be resumed.
    pub(super) fn finish(
        self,
        executor: &Executor<'_>,
        took: Duration,
        keep_samples: bool,
    ) -> Finished {
        let is_interrupted = executor.is_interrupted();
        let fewest = self.header.config.min_rounds as usize;
        let has_enough =
            |row: &RowState| !row.cut && (!row.is_active() || row.counting().1 >= fewest);
        let complete = !is_interrupted && self.rows.iter().all(has_enough);
        let missing = match is_interrupted {
            true => INTERRUPTED,
            false => "the time budget was spent",
        };
        let frequencies = self.frequencies();
        let usual = frequencies.usual();
        let mut measurements = self.measurements(missing, &frequencies, &executor.here);
        let known = frequency::known(self.rounds());
        // Another program says nothing about the next run.
        if self.header.config.program.is_none() {
            // A run that was cut short knows the frequency, but no row well enough.
            let rows = self.rows.iter().take(if complete { usize::MAX } else { 0 });
            let own = frequency::usual(known.clone());
            self.kept.add(
                &self.header.machine,
                &self.header.id,
                own,
                rows.zip(&measurements),
            );
        }
        if !keep_samples {
            for row in &mut measurements {
                row.samples = None;
            }
        }
        let mut noise = executor.noise();
        for noise in &mut noise {
            let here = self.rounds().filter(|round| round.cpu == noise.cpu);
            let shares: Vec<f64> = here.filter_map(|round| round.alone_percent).collect();
            noise.measured_alone_percent = (!shares.is_empty()).then(|| student::mean(&shares));
        }
        let clock = executor.found.clock.clone().report();
        let described = self.header.described();
        let mut config = self.header.config;
        config.cpus = executor.cpus.used.clone();
        config.worker_start_ms = median(&self.started_in_ms);
        let mut warnings = self.header.warnings;
        warnings.extend(executor.warnings.iter().cloned());
        doctor::add_noise(&mut warnings, &noise);
        let mut evidence = measurements.iter().flat_map(|row| &row.evidence);
        let traced = evidence.any(is_of_tracer);
        warnings.extend(doctor::warnings_after(
            &clock,
            executor.cpus.steal_percent(),
        ));
        warnings.extend(doctor::late_tracer(traced, &warnings));
        warnings.extend(doctor::converted(&measurements));
        doctor::worst_first(&mut warnings);
        let mut run = Run {
            burst: Some(executor.found.cores.burst).filter(|burst| *burst > 0),
            duration_s: took.as_secs_f64(),
            complete,
            clock,
            core_ghz: usual,
            frequency: usual.map(|usual_ghz| Frequency {
                usual_ghz,
                low_ghz: quantile(&known, 0.05).unwrap_or(usual_ghz),
                high_ghz: quantile(&known, 0.95).unwrap_or(usual_ghz),
                is_of_machine: frequencies.is_of_machine(),
            }),
            noise,
            config,
            warnings,
            measurements,
            ..described
        };
        run.withhold_contradictions();
        Finished {
            run,
            waited: Duration::ZERO,
            journal: self.journal,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use syscost_results::LimitBasis;
    use syscost_results::estimate::sharing::OwnCore;
    use syscost_results::{Evidence, Status, Verdict};

    use super::*;
    use crate::bencher::Findings;
    use crate::benchmark::{Benchmark, Entry};
    use crate::case::Case;
    use crate::catalogue::Row;
    use crate::pass::Pass;
    use crate::session::journal::tests::header;

    /// The benchmarks of [`ledger`].
    pub(in crate::session) static BENCHMARKS: [Entry; 3] = [
        Benchmark::DEFAULT.named("a", ""),
        Benchmark::DEFAULT.named("b", ""),
        Benchmark::DEFAULT.named("c", ""),
    ];

    /// A ledger of one row of each benchmark.
    pub(in crate::session) fn ledger() -> Ledger {
        let row = |benchmark| {
            let case = Case::default();
            RowState::new(Row { benchmark, case }, 0, 0.02)
        };
        let rows = BENCHMARKS.iter().map(row).collect();
        let mut ledger = Ledger::new(header(), rows, KeptFile::default());
        ledger.judge(own_up_to(1.1));
        ledger
    }

    /// CPU 1 is known to be own up to this ratio.
    pub(in crate::session) fn own_up_to(limit: f64) -> OwnCores {
        let core = OwnCore {
            ratio: limit.min(1.0),
            limit,
            basis: LimitBasis::Gap,
        };
        OwnCores::from([(1, core)])
    }

    /// What a worker found in this many seconds.
    pub(in crate::session) fn record(
        round: u32,
        pass: Pass,
        benchmark: usize,
        took_s: f64,
    ) -> Record {
        let evidence = Evidence::new("calls", 1.0, 1.0, "the kernel", Verdict::Confirmed);
        let is_timed = pass == Pass::Timed;
        let findings = Findings {
            samples: RoundSamples {
                cpu: 1,
                iterations: 10,
                values: vec![100.0; if is_timed { 5 } else { 0 }],
                ratios: vec![1000; if is_timed { 5 } else { 0 }],
                alone_percent: is_timed.then_some(100.0),
                ..RoundSamples::default()
            },
            evidence: (!is_timed).then_some(evidence).into_iter().collect(),
            took_ns: took_s * 1e9,
            ..Findings::default()
        };
        Record {
            cases: vec![(String::new(), Ok(findings))],
            steal_percent: Some(0.5),
            ..Record::new(round, pass, BENCHMARKS[benchmark].id, 1)
        }
    }

    fn measured(ledger: &Ledger) -> Vec<Measurement> {
        ledger.measurements("", &ledger.frequencies(), &Testbed::plain())
    }

    #[test]
    fn a_record_is_entered_alike_whether_fresh_or_from_the_journal() {
        let (mut fresh, mut resumed) = (ledger(), ledger());
        let records = [Pass::Evidence, Pass::Timed].map(|pass| record(0, pass, 1, 0.1));
        for record in records {
            let line = serde_json::to_string(&record).expect("JSON");
            fresh.enter(record);
            resumed.recorded = vec![serde_json::from_str(&line).expect("a record")];
            assert!(resumed.is_replaying());
            let again = resumed.recorded.remove(0);
            resumed.enter(again);
        }
        assert_eq!(measured(&fresh), measured(&resumed));
        let of = |index: usize| measured(&fresh)[index].status;
        assert_eq!((of(0), of(1)), (Status::Skipped, Status::Ok));
    }

    #[test]
    fn rounds_are_judged_by_what_is_known_of_cores_now() {
        let mut ledger = ledger();
        ledger.enter(record(0, Pass::Timed, 0, 0.1));
        assert_eq!(ledger.rows[0].counting(), (1, 1));
        ledger.rows[0].settled = true;
        ledger.judge(own_up_to(0.5));
        assert_eq!(
            ledger.rows[0].counting(),
            (0, 1),
            "undisturbed cores show half of it"
        );
        assert!(!ledger.rows[0].settled, "others are needed");
    }

    #[test]
    fn a_resumed_run_forgets_rounds_that_are_over() {
        let mut ledger = ledger();
        ledger.recorded = (0..3)
            .map(|round| record(round, Pass::Timed, 0, 0.1))
            .collect();
        ledger.forget_before(2);
        assert_eq!((ledger.recorded.len(), ledger.recorded[0].round), (1, 2));
    }
}
