//! For unit tests: the findings of a measurement without a worker around it.

use std::path::PathBuf;
use std::time::Duration;

use syscost_harness::Entry;
use syscost_harness::bencher::{Effort, Findings, Situation};
use syscost_harness::clock::ClockCost;
use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;

/// Where this program is, which is on a disk; the folder for temporary files may be in memory.
pub(crate) fn on_disk() -> PathBuf {
    let program = std::env::current_exe().expect("a path");
    program.parent().expect("a folder").to_owned()
}

pub(crate) fn findings_by(
    case: &Case,
    pass: Pass,
    expect: &[Expect],
    measure: impl FnOnce(Plan) -> Result<Outcome, Failure>,
) -> Result<Findings, Failure> {
    with_situation(case, pass, |situation| {
        measure(Plan::new(expect, situation))?.finish()
    })
}

fn with_situation(
    case: &Case,
    pass: Pass,
    measure: impl FnOnce(Situation<'_>) -> Result<Findings, Failure>,
) -> Result<Findings, Failure> {
    let clock = Clock::system();
    let effort = Effort {
        samples: 5,
        warm_up_ns: 0.0,
        batch_ns: 0.0,
        case_ns: 1e6,
        patience_ns: 0.0,
        singles: 200,
        second_witness: false,
    };
    let mut here = Testbed {
        allowed: vec![0],
        ..Testbed::plain()
    };
    here.targets.directories[0].path = on_disk();
    let situation = Situation {
        case,
        instead: None,
        pass,
        is_audited: false,
        time_limit: Duration::from_secs(20),
        effort: &effort,
        clock: &clock,
        clock_cost: ClockCost {
            step_ns: 1.0,
            read_ns: 20.0,
        },
        iterations: None,
        cpu: 0,
        here: &here,
        cores: &syscost_harness::cores::UNKNOWN,
        seed: 1,
    };
    measure(situation)
}

/// The findings of a row of a benchmark; of another one, if that is measured in its place.
pub(crate) fn findings_of_row(
    benchmark: &Entry,
    here: &Testbed,
    (named, measured): (&Case, &Case),
    pass: Pass,
) -> Result<Findings, Failure> {
    let measure = benchmark.measure;
    with_situation(named, pass, |situation| {
        let situation = Situation {
            here,
            instead: Some(measured),
            is_audited: true,
            ..situation
        };
        measure(Plan::new(benchmark.expect, situation))?.finish()
    })
}

/// As [`findings_by`], or why it cannot be measured here.
pub(crate) fn found_by(
    case: &Case,
    pass: Pass,
    expect: &[Expect],
    measure: impl FnOnce(Plan) -> Result<Outcome, Failure>,
) -> Result<Findings, String> {
    match findings_by(case, pass, expect, measure) {
        Err(Failure::Unsupported(reason)) => Err(reason),
        found => Ok(found.unwrap_or_else(|failure| panic!("{failure}"))),
    }
}

/// The findings of what is claimed of an outcome, whatever it is of.
pub(crate) fn judged(pass: Pass, claim: impl FnOnce(&mut Outcome)) -> Findings {
    let found = findings_by(&Case::default(), pass, &[], |plan| {
        let mut outcome = plan.measure(Observed::of(|| Ok(1.0)))?;
        claim(&mut outcome);
        Ok(outcome)
    });
    found.expect("it can be observed")
}

pub(crate) fn claims(findings: &Findings, verdict: Verdict) -> Vec<String> {
    let judged = findings.evidence.iter();
    let judged = judged.filter(|evidence| evidence.verdict == verdict);
    judged.map(|one| one.claim.sentence.to_string()).collect()
}
