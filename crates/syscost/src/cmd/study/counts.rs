//! What rows count: the claims of their evidence, and details. Much of that is only known once they
//! are run.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use syscost_harness::Targets;
use syscost_harness::bencher::{Effort, Findings, Pass};
use syscost_harness::clock::RunClock;
use syscost_harness::worker::{ClockSettings, Job, JobCase, Launcher, Program};
use syscost_harness::{Counter, Row};
use syscost_results::{Measurement, Run, Status};
use syscost_store::LATEST;
use syscost_sys::cpu;

use crate::kept;

/// Very few samples: what is counted does not depend on their number.
const EFFORT: Effort = Effort {
    samples: 5,
    warm_up_ns: 0.0,
    batch_ns: 1e4,
    case_ns: 1e6,
    patience_ns: 0.0,
    singles: 20,
    second_witness: false,
};

/// Where it is looked up what rows count, beyond what their benchmarks declare.
#[derive(Debug, Clone, Copy)]
pub(super) enum Counts<'r> {
    /// Nowhere: it is not needed to show a study.
    Unknown,
    /// In this run, by which the study is judged.
    Of(&'r Run),
    /// By an unrecorded trial of each row, which may take so long, and in the latest kept run, since some
    /// details occur only in longer runs: whoever measures touches the machine anyway.
    Tried(Duration),
    /// These, by every row.
    #[cfg(test)]
    These(&'static [&'static str]),
}

impl Counts<'_> {
    /// Returns the names of everything that this row counts; `None` if that is unknown.
    pub(super) fn of(self, row: &Row) -> Option<Vec<String>> {
        let all = match self {
            Counts::Unknown => return None,
            Counts::Of(run) => counted(run, &row.name())?,
            Counts::Tried(limit) => {
                let mut all = tried(row, limit)?;
                all.extend(kept(&row.name()).unwrap_or_default());
                all
            }
            #[cfg(test)]
            Counts::These(names) => names.iter().map(|name| (*name).to_owned()).collect(),
        };
        Some(all.into_iter().collect())
    }
}

/// Returns what the row counts in both passes of a worker; `None` if it cannot be measured here.
fn tried(row: &Row, limit: Duration) -> Option<BTreeSet<String>> {
    let interrupted = AtomicBool::new(false);
    let program = Program::this().ok()?;
    let launcher = Launcher::new(program, limit, &interrupted);
    let allowed = cpu::allowed().ok()?;
    let cpu = *allowed.last()?;
    let mut clock = RunClock::choose(&[cpu]);
    let calibrated = clock.calibrate();
    let job = |pass| Job {
        benchmark: row.benchmark.id.to_owned(),
        cases: vec![JobCase {
            suffix: row.case.suffix(),
            iterations: None,
            may_defer: false,
            is_audited: false,
            instead: None,
        }],
        keeps_order: true,
        targets: Targets::default(),
        pass,
        time_limit_s: limit.as_secs_f64(),
        effort: EFFORT,
        clock: ClockSettings {
            source: calibrated.source().name().to_owned(),
            ticks_per_ns: calibrated.ticks_per_ns(),
            cost: clock.cost(),
        },
        cpu,
        candidates: Vec::new(),
        allowed: allowed.clone(),
        cores: Default::default(),
        programs: Vec::new(),
        commands: Vec::new(),
        seed: 1,
        stack_offset: 0,
        parent: std::process::id(),
    };
    // Only judged at the end of a run, once the core's frequency is known.
    let mut found = BTreeSet::from([Counter::CoreCycles.claim()]);
    for pass in [Pass::Evidence, Pass::Timed] {
        let outcome = launcher.run(&job(pass), 0, None).ok()?;
        let findings: Findings = outcome.results.into_iter().next()??.ok()?;
        found.extend(findings.evidence.into_iter().map(|one| one.claim.sentence));
        found.extend(findings.details.into_keys());
    }
    Some(found)
}

/// Returns what the row counted in the latest kept run that has a figure for it.
fn kept(name: &str) -> Option<BTreeSet<String>> {
    let has = |run: &Run| counted(run, name).is_some();
    let (loaded, _) = kept::having(LATEST, has).ok()?;
    counted(&loaded.run, name)
}

/// Returns what the row counted in this run, if it has a figure: only then it is complete.
fn counted(run: &Run, name: &str) -> Option<BTreeSet<String>> {
    let is_it = |row: &&Measurement| row.name == name && row.status == Status::Ok;
    let row = run.measurements.iter().find(is_it)?;
    let claims = row.evidence.iter().map(|one| one.claim.sentence.clone());
    Some(claims.chain(row.details.keys().cloned()).collect())
}
