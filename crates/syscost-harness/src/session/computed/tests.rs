//! Rows computed from other rows.

use std::collections::BTreeMap;

use syscost_params::{Params, Value};
use syscost_results::{Better, Estimate, RoundSamples, Unit};

use super::*;
use crate::benchmark::{Benchmark, Entry, Quantity};
use crate::case::Case;
use crate::catalogue::Catalogue;
use crate::computed::{Computed, ComputedValue, points};
use crate::rows;

static MEASURED: Entry = Benchmark::DEFAULT.named(COST, "");

const COST: &str = "some.cost";

/// The kind of row.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    A,
    B,
}

#[derive(Params, Clone)]
struct Cost {
    /// Bytes.
    size: u32,
    kind: Kind,
}

/// Sums beyond this are treated as not visible.
const MAX_SEEN: f64 = 1000.0;

/// A benchmark that sums the costs of a kind.
static SUM: Entry = Benchmark {
    quantity: Quantity::Level,
    ..Benchmark::computed::<Sum>()
}
.named("some.sum", "");

#[derive(Params, Clone)]
struct Sum {
    kind: Kind,
}

impl Computed for Sum {
    const FROM: &'static [&'static str] = &[COST];

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Sum { kind: Kind::ALL })
    }

    fn takes(&self, other: &Row) -> bool {
        let cost = other.case.row::<Cost>();
        cost.is_some_and(|cost| cost.kind == self.kind)
    }

    fn compute(&self, sources: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
        let sizes = points(COST, sources, |cost: &Cost| cost.size.into())?;
        if sizes.len() < 2 {
            return Err(Failure::Unsupported("two are needed".to_owned()));
        }
        let value = sizes.iter().map(|(_, cost)| cost).sum();
        if value > MAX_SEEN {
            return Err(Failure::Unsupported("too much to see".to_owned()));
        }
        Ok(ComputedValue {
            value,
            evidence: vec![Evidence::new(
                "sum",
                "below 100",
                value,
                "arithmetic",
                Verdict::of(value < 100.0),
            )],
            details: BTreeMap::from([("rows_count".to_owned(), sizes.len() as f64)]),
            ..ComputedValue::default()
        })
    }
}

fn source(row: &Row, rounds: &[(u32, f64)]) -> Measurement {
    Measurement {
        name: row.name(),
        id: row.benchmark.id.to_owned(),
        case: row.case.to_map(),
        revision: 1,
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        status: Status::Ok,
        estimate: Estimate {
            median: median(&rounds.iter().map(|(_, value)| *value).collect::<Vec<_>>()),
            ..Estimate::default()
        },
        samples: Some(
            rounds
                .iter()
                .map(|&(round, value)| RoundSamples {
                    round,
                    cpu: 1,
                    iterations: 10,
                    values: vec![value - 1.0, value, value + 5.0],
                    ..RoundSamples::default()
                })
                .collect(),
        ),
        ..Measurement::default()
    }
}

/// Three rows of kind a: 1, 2 and 3 times the round's number plus one, in this many rounds each;
/// and one of kind b.
fn run(rounds: [u32; 3]) -> Vec<(Row, Measurement)> {
    let benchmark = &MEASURED;
    let make = |size: u32, kind: Kind, rounds: u32| {
        let mut cases = rows!(Cost {
            size: [size],
            kind: [kind]
        });
        let case = cases.remove(0).erased();
        let row = Row { benchmark, case };
        let values: Vec<(u32, f64)> = (0..rounds)
            .map(|round| (round, f64::from(size * (round + 1))))
            .collect();
        let measurement = source(&row, &values);
        (row, measurement)
    };
    let mut rows: Vec<_> = (1..)
        .zip(rounds)
        .map(|(n, r)| make(n, Kind::A, r))
        .collect();
    rows.push(make(1, Kind::B, 9));
    rows
}

fn compute(kind: Kind, run: &[(Row, Measurement)]) -> Measurement {
    let rows = Catalogue::rows([&SUM], &Testbed::plain());
    let is_it = |row: &&Row| row.case.row().is_some_and(|sum: &Sum| sum.kind == kind);
    let row = rows.iter().find(is_it).expect("a row of each kind");
    computed(
        row,
        run.iter().map(|(row, m)| (row, m)),
        0.02,
        None,
        &Testbed::plain(),
    )
}

#[test]
fn a_value_is_computed_in_each_round_that_all_sources_have() {
    let row = compute(Kind::A, &run([9, 9, 7]));
    assert_eq!((row.status, row.reason), (Status::Ok, None));
    // Rounds 0 to 6 sum up to 6, 12, ... 42.
    assert_eq!(row.estimate.median, Some(24.0));
    assert_eq!((row.estimate.rounds, row.estimate.samples), (7, 7));
    let interval = (row.estimate.ci95_low, row.estimate.ci95_high);
    assert_eq!(interval, (Some(6.0), Some(42.0)));
    assert_eq!(row.details["rows_count"], 3.0);
    let claims: Vec<&str> = row.evidence.iter().map(|e| &*e.claim.sentence).collect();
    let expected = [
        "evidence of the rows it is computed from",
        "sum",
        "rounds that it is seen in",
    ];
    assert_eq!(claims, expected);
    let rounds: Vec<(u32, u32)> = row
        .samples
        .iter()
        .flatten()
        .map(|round| (round.round, round.cpu))
        .collect();
    assert_eq!(rounds[6], (6, 1));
}

#[test]
fn undisturbed_rounds_of_different_processes_go_together() {
    let mut measured = run([4, 4, 4]);
    // In each round another source is disturbed, except for the last, in which none is.
    for (number, (_, measurement)) in measured[..3].iter_mut().enumerate() {
        let rounds = measurement.samples.as_mut().expect("kept");
        rounds
            .iter_mut()
            .for_each(|round| round.alone_percent = Some(90.0));
        rounds[number].disturbed = (0..3)
            .map(|sample| Disturbance { sample, ..SHARED })
            .collect();
    }
    let row = compute(Kind::A, &measured);
    // The first of each are rounds 1, 0 and 0, then 2, 2 and 1, then all 3.
    let values: Vec<f64> = row.samples.iter().flatten().map(|r| r.values[0]).collect();
    assert_eq!(values, [7.0, 15.0, 24.0]);
    assert_eq!(row.estimate.undisturbed_percent, Some(100.0));
}

#[test]
fn a_refuted_claim_withholds_the_number() {
    // The median rounds of 29 sum up to 90: the claim holds. Of 39, to 120.
    assert_eq!(compute(Kind::A, &run([29, 29, 29])).status, Status::Ok);
    let row = compute(Kind::A, &run([39, 39, 39]));
    assert_eq!((row.status, row.estimate.median), (Status::Withheld, None));
    assert_eq!(row.samples, None);
}

#[test]
fn a_source_without_a_number_leaves_none() {
    let mut measured = run([9, 9, 9]);
    measured[1].1.status = Status::Withheld;
    let row = compute(Kind::A, &measured);
    let reason = "it is computed from some.cost{size=2,kind=a}, which has no number";
    assert_eq!(
        (row.status, row.reason.as_deref()),
        (Status::Skipped, Some(reason))
    );
    assert_eq!(compute(Kind::B, &[]).status, Status::Skipped);
}

#[test]
fn what_the_machine_cannot_do_takes_no_part() {
    let mut measured = run([9, 9, 9]);
    measured[2].1.status = Status::Unsupported;
    let row = compute(Kind::A, &measured);
    assert_eq!(row.details["rows_count"], 2.0);
    measured[1].1.status = Status::Unsupported;
    let row = compute(Kind::A, &measured);
    assert_eq!(
        (row.status, row.reason.as_deref()),
        (Status::Unsupported, Some("two are needed"))
    );
}

/// Two rows of this many rounds, in the last of which the result is not visible.
fn seen_in(having: u32, all: u32) -> Measurement {
    let mut measured = run([all, all, 0]);
    measured.remove(2);
    for (row, measurement) in &mut measured[..2] {
        let cost = |round| if round < having { 1.0 } else { MAX_SEEN };
        let rounds: Vec<(u32, f64)> = (0..all).map(|round| (round, cost(round))).collect();
        *measurement = source(row, &rounds);
        measurement.estimate.median = Some(1.0);
    }
    compute(Kind::A, &measured)
}

#[test]
fn what_only_some_rounds_show_is_doubtful_and_what_few_show_is_not_there() {
    let row = seen_in(9, 9);
    let verdict = |row: &Measurement| row.evidence.last().map(|last| last.verdict);
    assert_eq!(verdict(&row), Some(Verdict::Confirmed));
    let row = seen_in(7, 9);
    assert_eq!((row.status, row.estimate.rounds), (Status::Ok, 7));
    assert_eq!(verdict(&row), Some(Verdict::Unverified));
    let row = seen_in(4, 9);
    assert_eq!(
        (row.status, row.reason.as_deref()),
        (
            Status::Unsupported,
            Some("it is seen in 4 of 9 rounds only")
        )
    );
    assert_eq!(row.samples, None);
}

#[test]
fn doubts_of_the_sources_are_reported() {
    let mut measured = run([9, 9, 9]);
    let doubt = crate::expect::calls(syscost_sys::raw::Sysno::GETPPID);
    measured[0].1.evidence = vec![doubt.unverified("seccomp audit", "not here")];
    let row = compute(Kind::A, &measured);
    assert_eq!(row.status, Status::Ok);
    assert_eq!(row.evidence[0].verdict, Verdict::Unverified);
}

#[test]
fn rows_that_never_met_have_no_number() {
    let mut measured = run([9, 9, 9]);
    for round in measured[0].1.samples.iter_mut().flatten() {
        round.round += 100;
    }
    let row = compute(Kind::A, &measured);
    assert_eq!(row.status, Status::Skipped);
    assert!(row.reason.unwrap().contains("no round in common"));
}
