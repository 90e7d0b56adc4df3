//! The law by which reads take longer with the number of concurrent processes.
//!
//! ## Measures
//! Nothing by itself: it is computed from the `fs.contention` rows of one directory and kind of
//! file. With n processes a read takes n / X(n), X being the rate of all. Three laws are fitted to
//! these times: *linear*, t(n) = a + b n, a device that serves one read after the other;
//! *exponential, then linear*; and the *universal scalability law* (`scale.law`), in which reads
//! also hinder each other in pairs. The number is how much longer a read takes for each further
//! process, where most of them read.
//! ## Does not measure
//! The cause. The device, its driver, the file system's locks and the CPUs that the processes share all
//! look the same from here.
//! ## Interpretation
//! The evidence names the law that was chosen: the one with the lowest Akaike information criterion,
//! corrected for few points, so that a law with more parameters must fit better by more than
//! chance. With a saturated device the number is the inverse of its rate: 2 ms per process at 500
//! reads per second. Points that were left out of a fit check the law: where their typical distance
//! from it exceeds a quarter, the rates follow none of these laws, and there is no number.
//! `fitted_8_per_s` is the rate that the law predicts for 8 processes.
//! ## Source
//! Hurvich and Tsai, Regression and time series model selection in small samples (1989); Gunther,
//! Guerrilla Capacity Planning (2007).

use std::collections::BTreeMap;

use syscost_harness::directory;
use syscost_harness::prelude::*;
use syscost_results::curve::{CHOSEN_LAW, fitted_detail};
use syscost_results::stats::growth::{self, Choice, Kind, MIN_POINTS};
use syscost_results::{Evidence, Verdict};

use super::contention::{self, FILE, OWN, PROCESSES, SHARED};
use super::in_each_directory;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "fs.contention_law",
    title: "Parallel reads: added latency per process",
    tags: &[
        "i/o contention",
        "disk contention",
        "scalability",
        "universal scalability law",
        "usl",
    ],
    quantity: Quantity::Level,
    cases: Cases::Here(cases),
    full: |_| true,
    derive: Some(Derive {
        from: &[contention::BENCHMARK.id],
        takes: |case, row| {
            [directory::KEY, FILE]
                .into_iter()
                .all(|key| row.case.get(key) == case.get(key))
        },
        compute,
    }),
    source: include_str!("contention_law.rs"),
    ..Benchmark::DEFAULT
};

/// Maximum typical distance of a law from points left out of the fit, relative to them.
const MAX_ERROR: f64 = 0.25;

fn cases(here: &Here) -> Vec<Case> {
    in_each_directory(here, &[OWN, SHARED].map(|file| Case::new([(FILE, file)])))
}

fn compute(_: &Case, sources: &[Source<'_>], _: &Here) -> Result<Derived, Failure> {
    let rates: Vec<(f64, f64)> = sources
        .iter()
        .map(|source| (source.case.number(PROCESSES) as f64, source.median))
        .collect();
    let times: Vec<(f64, f64)> = rates.iter().map(|(n, rate)| (*n, n * 1e9 / rate)).collect();
    let choice = growth::choose(&times).ok_or_else(|| {
        Failure::Unsupported(format!(
            "no law can be fitted to {} numbers of processes; it takes at least {MIN_POINTS}",
            times.len()
        ))
    })?;
    let error = choice.held_out_error;
    let misfit = (error > MAX_ERROR).then(|| {
        let (nearest, percent) = (choice.law.kind().name(), 100.0 * error);
        format!(
            "the rates follow no law: the nearest, {nearest}, is typically {percent:.0} % off at \
             points left out of its fit"
        )
    });
    let most = times
        .iter()
        .map(|(processes, _)| *processes)
        .fold(1.0, f64::max);
    let mut details = BTreeMap::from([("held_out_error_percent".to_owned(), 100.0 * error)]);
    for (processes, _) in &times {
        let rate = processes * 1e9 / choice.law.time(*processes);
        details.insert(fitted_detail(*processes), rate);
    }
    for (kind, criterion) in &choice.criteria {
        details.insert(format!("aicc_{}", kind.word()), *criterion);
    }
    Ok(Derived {
        misfit,
        value: choice.law.per_task(most),
        evidence: evidence(&choice),
        details,
        ..Derived::default()
    })
}

/// The law that was chosen, and its distance from points left out.
fn evidence(choice: &Choice) -> Vec<Evidence> {
    let is_of_all = choice.criteria.len() == Kind::ALL.len();
    let chosen = Evidence::new(
        CHOSEN_LAW,
        Kind::ALL.map(Kind::name).join(" or "),
        choice.law.kind().name(),
        "Akaike information criterion",
        Verdict::Confirmed,
    )
    .unless((!is_of_all).then_some("too few numbers of processes for the others"));
    let near = Evidence::new(
        "relative error of the law at points left out of its fit",
        format!("at most {MAX_ERROR}"),
        choice.held_out_error,
        "least squares",
        Verdict::Confirmed,
    );
    vec![chosen, near]
}

#[cfg(test)]
mod tests;
