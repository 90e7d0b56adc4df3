//! The universal scalability law, fitted to the throughputs of the other rows of this group.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `scale.syscall`, `fault`, `futex`, `pipe` and
//! `open`. By Gunther's law n copies together perform X(n) = λ n / (1 + σ (n − 1) + κ n (n − 1))
//! operations per second. `term=contention` is σ, the share of the work that only one copy at a
//! time can do: its inverse bounds the speedup of any number of copies over one. `term=coherence`
//! is κ, what each pair of copies pays to agree on what they share: with it throughput has a peak
//! and then falls.
//! ## Does not measure
//! The cause. Copies that share a core, a cache or a clock look like contention too; compare with
//! `of=syscall`, which shares nothing else. Nor anything beyond the number of CPUs that were
//! measured: the law can be extrapolated, but the machine need not follow it.
//! ## Interpretation
//! 0 is best: throughput grows with the copies. No term can be negative. The law is fitted anew in
//! every round, by least squares of the relative errors; the interval shows how much rounds differ.
//! `lambda_operations_per_s` is what one copy would do alone, `relative_error_percent` how far the
//! rows typically are from the law. Beyond 10 % the law does not fit and there is no number; nor is
//! there with fewer than four numbers of copies, which takes four CPUs.
//! ## Source
//! Gunther, Guerrilla Capacity Planning (2007).

use std::collections::BTreeMap;

use syscost_harness::Row;
use syscost_harness::prelude::*;
use syscost_results::stats::usl::{self, MIN_POINTS};
use syscost_results::{Evidence, Verdict};

use super::crowd;

/// Maximum relative error of a law that fits its rows.
const MAX_ERROR: f64 = 0.1;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "scale.law",
    title: "Universal scalability law",
    tags: &[
        "usl",
        "contention",
        "coherence",
        "amdahl",
        "gunther",
        "speedup",
    ],
    unit: Unit::Ratio,
    quantity: Quantity::Level,
    cases: Cases::Grid(&[
        (
            "of",
            &[
                "syscall",
                "fault",
                "futex_wake",
                "futex_wait",
                "pipe",
                "open_same",
                "open_different",
            ],
        ),
        (crowd::AS, &["processes", "threads"]),
        ("term", &["contention", "coherence"]),
    ]),
    full: |case| {
        let is_measured = case.get(crowd::AS) == "processes" || case.get("of") == "fault";
        !is_measured || case.get("of") == "futex_wait"
    },
    support: |_| match crowd::counts().len() {
        MIN_POINTS.. => Ok(()),
        // So few that each number of copies up to them is measured.
        cpus => Err(Unsupported::new(format!(
            "needs at least {MIN_POINTS} CPUs to fit the law; {cpus} may be used here"
        ))),
    },
    derive: Some(Derive {
        from: &[
            "scale.syscall",
            "scale.fault",
            "scale.futex",
            "scale.pipe",
            "scale.open",
        ],
        takes,
        compute,
    }),
    source: include_str!("law.rs"),
    ..Benchmark::DEFAULT
};

/// Whether the law of this case is fitted to that row.
fn takes(case: &Case, row: &Row) -> bool {
    // `open_same` is `scale.open` with a first parameter of value `same`.
    let (operation, what) = case
        .get("of")
        .split_once('_')
        .unwrap_or((case.get("of"), ""));
    let kinds = [row.case.find("of"), row.case.find("op")];
    row.benchmark.id.strip_prefix("scale.") == Some(operation)
        && (what.is_empty() || kinds.contains(&Some(what)))
        && row.case.get(crowd::AS) == case.get(crowd::AS)
}

fn compute(case: &Case, sources: &[Source<'_>]) -> Result<Derived, Failure> {
    if sources.len() < MIN_POINTS {
        return Err(Failure::Unsupported(format!(
            "needs at least {MIN_POINTS} numbers of copies to fit the law; {} were measured",
            sources.len()
        )));
    }
    let points: Vec<(f64, f64)> = sources
        .iter()
        .map(|source| (crowd::count(source.case) as f64, source.median))
        .collect();
    let law = usl::fit(&points)
        .ok_or_else(|| Failure::Failed("no law can be fitted to these throughputs".to_owned()))?;
    let misfit = (law.relative_error > MAX_ERROR).then(|| {
        let percent = 100.0 * law.relative_error;
        format!("the throughputs follow no law of this form: the nearest is {percent:.0} % off")
    });
    Ok(Derived {
        misfit,
        value: match case.get("term") {
            "contention" => law.sigma,
            "coherence" => law.kappa,
            _ => return Err(case.unknown("term")),
        },
        evidence: vec![Evidence {
            claim: "relative error of the fitted law".to_owned(),
            expected: format!("at most {MAX_ERROR}").into(),
            observed: Some(law.relative_error.into()),
            source: "least squares".to_owned(),
            verdict: Verdict::Confirmed,
            reason: None,
        }],
        details: BTreeMap::from([
            ("lambda_operations_per_s".to_owned(), law.lambda),
            (
                "relative_error_percent".to_owned(),
                100.0 * law.relative_error,
            ),
        ]),
        ..Derived::default()
    })
}

#[cfg(test)]
mod tests;
