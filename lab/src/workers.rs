//! Workers that measure rows otherwise than a run does, and how such rows end.

use std::collections::BTreeSet;
use std::process;
use std::slice;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use syscost_benches::CATALOGUE;
use syscost_harness::bencher::{Effort, Findings, Pass};
use syscost_harness::clock::RunClock;
use syscost_harness::worker::{ClockSettings, Job, JobCase, Launcher, Program};
use syscost_harness::{Case, Entry, Failure, Group, Testbed};
use syscost_results::{ClaimId, Verdict};
use syscost_stats::order::median;
use syscost_sys::cpu;

/// Costs further apart than this make a false number worth finding.
pub(crate) const APART: f64 = 0.1;

/// How long a worker may be silent.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// As little as shows a cost.
const EFFORT: Effort = Effort {
    samples: 5,
    warm_up_ns: 1e5,
    batch_ns: 2e4,
    case_ns: 2e7,
    patience_ns: 0.0,
    singles: 0,
    second_witness: false,
};

/// The benchmarks that are measured, of these ids; of hidden groups only what is asked for.
pub(crate) fn chosen(ids: &[String]) -> Result<Vec<&'static Entry>> {
    let is_shown = |group: &&Group| !group.hidden || !ids.is_empty();
    let groups = CATALOGUE.groups().filter(is_shown);
    let all = groups.flat_map(|group| group.benchmarks);
    let all = all.filter(|one| one.computation.is_none());
    let is_asked = |one: &&Entry| {
        let under = |id: &String| one.id == id || one.id.starts_with(&format!("{id}."));
        ids.is_empty() || ids.iter().any(under)
    };
    let chosen: Vec<_> = all.filter(is_asked).collect();
    if chosen.is_empty() {
        bail!("no benchmark is called {}", ids.join(" or "));
    }
    Ok(chosen)
}

/// Starts workers of a program, on one CPU.
pub(crate) struct Workers<'a> {
    launcher: Launcher<'a>,
    pub(crate) here: Testbed,
    clock: ClockSettings,
    cpu: u32,
}

/// What a worker found of a case.
pub(crate) type Found = Result<Findings, Failure>;

impl<'a> Workers<'a> {
    pub(crate) fn new(program: Program, interrupted: &'a AtomicBool) -> Result<Self> {
        let here = Testbed::plain();
        let cpu = *here.allowed.last().context("no CPU may be used")?;
        cpu::pin(cpu).context("pinning")?;
        let mut clock = RunClock::choose(&[cpu]);
        let calibrated = clock.calibrate();
        cpu::pin_to(&here.allowed).context("pinning")?;
        Ok(Self {
            clock: ClockSettings {
                source: calibrated.source().name().to_owned(),
                ticks_per_ns: calibrated.ticks_per_ns(),
                cost: clock.cost(),
            },
            launcher: Launcher::new(program, TIME_LIMIT, interrupted),
            here,
            cpu,
        })
    }

    /// The same of another program, or in another environment.
    pub(crate) fn of(&self, program: Program, interrupted: &'a AtomicBool) -> Self {
        Self {
            launcher: Launcher::new(program, TIME_LIMIT, interrupted),
            here: self.here.clone(),
            clock: self.clock.clone(),
            cpu: self.cpu,
        }
    }

    /// What workers find of these cases, in their order.
    pub(crate) fn found(
        &self,
        benchmark: &Entry,
        pass: Pass,
        cases: &[JobCase],
    ) -> Result<Vec<Found>> {
        let mut all: Vec<Found> = Vec::new();
        while all.len() < cases.len() {
            let job = self.job(benchmark, pass, &cases[all.len()..]);
            let outcome = self.launcher.run(&job, 0, None)?;
            // One that crashed costs its own row; the others go to another worker.
            let answered = outcome.results.into_iter().map_while(|result| result);
            let before = all.len();
            all.extend(answered);
            if all.len() == before {
                all.push(Err(Failure::Failed("no answer".to_owned())));
            }
        }
        Ok(all)
    }

    fn job(&self, benchmark: &Entry, pass: Pass, cases: &[JobCase]) -> Job {
        Job {
            benchmark: benchmark.id.to_owned(),
            cases: cases.to_vec(),
            keeps_order: true,
            targets: self.here.targets.clone(),
            pass,
            time_limit_s: self.launcher.time_limit().as_secs_f64(),
            effort: EFFORT,
            clock: self.clock.clone(),
            cpu: self.cpu,
            candidates: Vec::new(),
            allowed: self.here.allowed.clone(),
            cores: Default::default(),
            programs: Vec::new(),
            commands: Vec::new(),
            seed: 1,
            stack_offset: 0,
            parent: process::id(),
        }
    }
}

/// A case of a job: this row, or what is measured under its name.
pub(crate) fn job_case(named: &Case, instead: Option<String>) -> JobCase {
    JobCase {
        suffix: named.suffix(),
        iterations: None,
        may_defer: false,
        is_audited: true,
        instead,
    }
}

/// What a timed pass found, and what a run says of its time beside that of an evidence pass.
pub(crate) fn beside(counted: Option<&Findings>, mut timed: Found) -> Found {
    if let (Some(counted), Ok(timed)) = (counted, &mut timed) {
        let judged = counted.judge_time(timed, slice::from_ref(&timed.samples));
        timed.evidence.extend(judged);
    }
    timed
}

/// What is known of a row that does not lie.
#[derive(Debug, Clone)]
pub(crate) struct Honest {
    pub(crate) cost: Option<f64>,
    unverified: BTreeSet<ClaimId>,
    /// Its evidence pass.
    pub(crate) counted: Findings,
}

impl Honest {
    /// Of its evidence and timed pass; `None` if it has no number, or a claim refuted.
    pub(crate) fn of(counted: &Found, timed: &Found) -> Option<Self> {
        let timed = beside(counted.as_ref().ok(), timed.clone());
        let (counted, timed) = (counted.as_ref().ok()?, timed.ok()?);
        let evidence = || counted.evidence.iter().chain(&timed.evidence);
        if evidence().any(|one| one.verdict == Verdict::Refuted) {
            return None;
        }
        let unverified = evidence().filter(|one| one.verdict == Verdict::Unverified);
        Some(Self {
            cost: median(&timed.samples.values),
            unverified: unverified.map(|one| one.claim.id.clone()).collect(),
            counted: counted.clone(),
        })
    }

    /// What is known of a row that was measured several times.
    pub(crate) fn together(all: &[Self]) -> Option<Self> {
        let costs: Vec<f64> = all.iter().filter_map(|one| one.cost).collect();
        let unverified = all.iter().flat_map(|one| &one.unverified);
        Some(Self {
            cost: median(&costs),
            unverified: unverified.cloned().collect(),
            counted: all.first()?.counted.clone(),
        })
    }

    /// By which factor the number of a timed pass is off.
    pub(crate) fn factor(&self, timed: &Found) -> Option<f64> {
        let cost = median(&timed.as_ref().ok()?.samples.values)?;
        Some(cost / self.cost?)
    }
}

/// How a row ended that lied; the worst for the lie first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// Its number was withheld by evidence: this.
    Refuted(String),
    /// Without a number for another reason: it ran out of time, crashed, or cannot be measured here.
    Failed(String),
    /// Marked, since it lied.
    Doubted(String),
    /// Marked, as it is when it does not lie.
    Marked,
    /// As if nothing was wrong.
    Kept,
}

impl End {
    /// Of one pass.
    pub(crate) fn of(found: &Found, honest: &Honest) -> Self {
        let findings = match found {
            Ok(findings) => findings,
            Err(Failure::Refuted(why)) => return End::Refuted(why.clone()),
            Err(failure) => return End::Failed(failure.to_string()),
        };
        let with = |verdict| {
            let evidence = findings.evidence.iter();
            evidence.filter(move |one| one.verdict == verdict)
        };
        if let Some(refuted) = with(Verdict::Refuted).next() {
            return End::Refuted(refuted.to_string());
        }
        let is_new = |id: &ClaimId| !honest.unverified.contains(id);
        match with(Verdict::Unverified).find(|one| is_new(&one.claim.id)) {
            Some(new) => End::Doubted(new.to_string()),
            None if !honest.unverified.is_empty() => End::Marked,
            None => End::Kept,
        }
    }

    /// Whether it has no number any more.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self, End::Refuted(_) | End::Failed(_))
    }

    pub(crate) fn said(&self) -> String {
        match self {
            End::Refuted(why) => format!("refuted ({why})"),
            End::Failed(why) => format!("no number ({why})"),
            End::Doubted(why) => format!("? ({why})"),
            End::Marked => "? as ever".to_owned(),
            End::Kept => "KEPT".to_owned(),
        }
    }
}

/// How many rows ended in each way.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    refuted: u32,
    failed: u32,
    doubted: u32,
    marked: u32,
    kept: u32,
    apart: u32,
}

impl Tally {
    /// The columns' names, as [`Tally::columns`].
    pub(crate) const NAMES: &str =
        "refuted  failed  ? by it  ? as ever    kept  of these over 10 % off";

    /// Adds one, whose number is `apart` from the honest one.
    pub(crate) fn add(&mut self, end: &End, is_apart: bool) {
        match end {
            End::Refuted(_) => self.refuted += 1,
            End::Failed(_) => self.failed += 1,
            End::Doubted(_) => self.doubted += 1,
            End::Marked => self.marked += 1,
            End::Kept => {
                self.kept += 1;
                self.apart += u32::from(is_apart);
            }
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            refuted: self.refuted + other.refuted,
            failed: self.failed + other.failed,
            doubted: self.doubted + other.doubted,
            marked: self.marked + other.marked,
            kept: self.kept + other.kept,
            apart: self.apart + other.apart,
        }
    }

    pub(crate) fn all(self) -> u32 {
        self.refuted + self.failed + self.doubted + self.marked + self.kept
    }

    /// The share that lost its number or its check mark.
    pub(crate) fn share_caught(self) -> f64 {
        let caught = self.refuted + self.failed + self.doubted;
        f64::from(caught) / f64::from(self.all().max(1))
    }

    pub(crate) fn columns(self) -> String {
        format!(
            "{:>7}{:>8}{:>9}{:>11}{:>8}{:>24}",
            self.refuted, self.failed, self.doubted, self.marked, self.kept, self.apart
        )
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::Evidence;

    use super::*;

    fn found(verdict: Verdict) -> Found {
        let evidence = vec![Evidence::new("bytes", 1.0, 1.0, "kernel", verdict)];
        Ok(Findings {
            evidence,
            ..Findings::default()
        })
    }

    #[test]
    fn a_lie_is_refuted_failed_doubted_marked_or_kept() {
        let end = |found: &Found, unverified: &[&str]| {
            let honest = Honest {
                cost: None,
                unverified: unverified.iter().map(|one| ClaimId::of(one)).collect(),
                counted: Findings::default(),
            };
            End::of(found, &honest)
        };
        let withheld = Err(Failure::Refuted("its checksum".to_owned()));
        for lie in [&found(Verdict::Refuted), &withheld] {
            assert!(matches!(end(lie, &[]), End::Refuted(_)));
        }
        let crashed = Err(Failure::Failed("it crashed".to_owned()));
        assert!(matches!(end(&crashed, &[]), End::Failed(_)));
        let unverified = found(Verdict::Unverified);
        assert!(matches!(end(&unverified, &[]), End::Doubted(_)));
        assert_eq!(end(&unverified, &["bytes"]), End::Marked);
        assert_eq!(end(&found(Verdict::Confirmed), &[]), End::Kept);
    }
}
