//! Shared: rows of all benchmarks of the group, as they are named and with a neighbour measured in
//! their place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use syscost_harness::Entry;
use syscost_harness::bencher::{Findings, Pass};
use syscost_harness::directory::{DEFAULT, Directory};
use syscost_results::Verdict;
use syscost_sys::audit;

use super::space::tests::is_of_others;
use super::*;
use crate::testing::{claims, findings_of_row, on_disk};
use syscost_sys::or_skip;

/// A run in a directory on a disk, and in one in memory.
fn here() -> Testbed {
    let directory = |label: &str, path: PathBuf| Directory {
        label: label.to_owned(),
        path,
    };
    let mut here = Testbed {
        allowed: vec![0],
        ..Testbed::plain()
    };
    here.targets.directories = vec![
        directory(DEFAULT, on_disk()),
        directory("memory", "/dev/shm".into()),
    ];
    here
}

/// For each benchmark its first row, and those that differ from it in one parameter: of each
/// parameter the two nearest.
fn rows(here: &Testbed) -> Vec<(&'static Entry, Vec<Case>)> {
    let of = |benchmark: &'static Entry| {
        let mut cases = (benchmark.cases)(here);
        cases.retain(|case| (benchmark.support)(case, here).is_ok());
        let first = cases.first()?.clone();
        let mut times: BTreeMap<&str, u32> = BTreeMap::new();
        cases.retain(|case| {
            let pairs = first.parameters().zip(case.parameters());
            let mut others = pairs.filter(|(one, other)| one != other);
            match (others.next(), others.next()) {
                (None, _) => true,
                (Some((_, (key, _))), None) => {
                    let times = times.entry(key).or_default();
                    *times += 1;
                    *times <= 2
                }
                (Some(_), Some(_)) => false,
            }
        });
        Some((benchmark, cases))
    };
    let all = GROUP.benchmarks.iter();
    let measured = all.filter(|one| one.computation.is_none());
    measured.filter_map(of).collect()
}

/// What is found of a row when this one is measured; `None` where it cannot be.
fn found(
    benchmark: &Entry,
    here: &Testbed,
    pair: (&Case, &Case),
    pass: Pass,
) -> Option<Result<Findings, Failure>> {
    match findings_of_row(benchmark, here, pair, pass) {
        Err(Failure::Unsupported(reason)) => {
            println!("skipped: {}{}: {reason}", benchmark.id, pair.1.suffix());
            None
        }
        found => Some(found),
    }
}

/// Held by whoever reads from storage: what a ring's own threads fetch is counted for the process.
static STORAGE: Mutex<()> = Mutex::new(());

#[test]
#[ignore = "machine suite"]
fn what_rows_say_of_themselves_is_not_refuted() {
    let _alone = STORAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let here = here();
    for (benchmark, cases) in rows(&here) {
        for case in &cases {
            for pass in [Pass::Timed, Pass::Evidence] {
                let name = format!("{}{}", benchmark.id, case.suffix());
                let refuted = || {
                    let found = found(benchmark, &here, (case, case), pass)?;
                    let found = found.unwrap_or_else(|failure| panic!("{name}: {failure}"));
                    let mut refuted = claims(&found, Verdict::Refuted);
                    refuted.retain(|claim| !is_of_others(claim));
                    Some(refuted)
                };
                // A page of a warm file may have been taken away meanwhile; hardly so twice.
                let twice = refuted()
                    .filter(|one| !one.is_empty())
                    .and_then(|_| refuted());
                assert_eq!(twice.unwrap_or_default(), [""; 0], "{name}");
            }
        }
    }
}

/// The claims that are not confirmed.
fn unconfirmed(found: &Findings) -> BTreeSet<String> {
    let mut all = claims(found, Verdict::Refuted);
    all.extend(claims(found, Verdict::Unverified));
    all.retain(|claim| !is_of_others(claim));
    all.into_iter().collect()
}

#[test]
#[ignore = "machine suite"]
fn no_row_is_confirmed_when_its_neighbour_is_measured() {
    let _alone = STORAGE.lock().unwrap_or_else(PoisonError::into_inner);
    or_skip!(audit::available());
    let here = here();
    let mut kept = Vec::new();
    for (benchmark, cases) in rows(&here) {
        for other in &cases[1..] {
            for (named, measured) in [(&cases[0], other), (other, &cases[0])] {
                let honest = found(benchmark, &here, (named, named), Pass::Evidence);
                let lie = found(benchmark, &here, (named, measured), Pass::Evidence);
                let (Some(Ok(honest)), Some(Ok(lie))) = (honest, lie) else {
                    continue;
                };
                if unconfirmed(&lie).is_subset(&unconfirmed(&honest)) {
                    let measured = measured.suffix();
                    kept.push(format!("{}{} by {measured}", benchmark.id, named.suffix()));
                }
            }
        }
    }
    assert_eq!(kept, [""; 0]);
}
