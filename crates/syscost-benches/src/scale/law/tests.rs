//! From eight synthetic rows of throughput to the rows of the law.

use syscost_harness::session::computed;
use syscost_harness::{Catalogue, Row};
use syscost_results::stats::order::median;
use syscost_results::stats::usl::UniversalLaw;
use syscost_results::{Estimate, Measurement, RoundSamples, Status};

use super::open::Row as Open;
use super::*;
use crate::CATALOGUE;

const COPIES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 96];

const ROUNDS: u32 = 9;

/// The rows of `scale.open{of=same,as=threads}` on a machine of 96 CPUs, with these throughputs in
/// every round.
fn run(throughput: impl Fn(usize, u32) -> f64) -> Vec<(Row, Measurement)> {
    let benchmark = CATALOGUE.find(OPEN).expect("it is listed");
    let cases = rows!(Open {
        of: [open::Of::Same],
        r#as: [Between::Threads],
        copies: COPIES.map(|copies| Copies(copies as u32))
    });
    let row = |(copies, case): (usize, Case<Open>)| {
        let row = Row {
            benchmark,
            case: case.erased(),
        };
        let values: Vec<f64> = (0..ROUNDS).map(|round| throughput(copies, round)).collect();
        let measurement = Measurement {
            name: row.name(),
            id: benchmark.id.to_owned(),
            case: row.case.to_map(),
            title: benchmark.title.to_owned(),
            revision: 1,
            unit: benchmark.unit,
            better: benchmark.better,
            status: Status::Ok,
            estimate: Estimate {
                median: median(&values),
                ..Estimate::default()
            },
            samples: Some(
                (0..)
                    .zip(values)
                    .map(|(round, value)| one_round(round, value))
                    .collect(),
            ),
            ..Measurement::default()
        };
        (row, measurement)
    };
    COPIES.into_iter().zip(cases).map(row).collect()
}

fn one_round(round: u32, value: f64) -> RoundSamples {
    RoundSamples {
        round,
        cpu: 0,
        iterations: 1_000,
        values: vec![value; 5],
        ..RoundSamples::default()
    }
}

fn law_of(run: &[(Row, Measurement)], term: &str) -> Measurement {
    let benchmark = CATALOGUE.find(id!(scale::law)).expect("it is listed");
    let rows = Catalogue::rows(std::iter::once(benchmark), &syscost_harness::Here::plain());
    let name = format!("scale.law{{of=open_same,as=threads,term={term}}}");
    let row = rows.iter().find(|row| row.name() == name).expect("a row");
    computed(
        row,
        run.iter().map(|(row, m)| (row, m)),
        0.02,
        None,
        &Here::plain(),
    )
}

#[test]
fn eight_rows_give_the_terms_of_their_law_with_intervals() {
    let law = UniversalLaw {
        lambda: 2e6,
        sigma: 0.08,
        kappa: 4e-4,
        relative_error: 0.0,
    };
    // Each round and row is off by up to two percent, in a fixed pattern.
    let noise = |copies: usize, round: u32| {
        1.0 + 0.02 * (((copies as u32 * 7 + round * 5) % 11) as f64 / 5.0 - 1.0)
    };
    let run = run(|copies, round| law.throughput(copies as f64) * noise(copies, round));
    for (term, truth) in [("contention", law.sigma), ("coherence", law.kappa)] {
        let row = law_of(&run, term);
        assert_eq!((row.status, &row.reason), (Status::Ok, &None), "{term}");
        let Estimate {
            median,
            ci95_low,
            ci95_high,
            rounds,
            ..
        } = row.estimate;
        let (median, low, high) = (median.unwrap(), ci95_low.unwrap(), ci95_high.unwrap());
        assert_eq!(rounds, ROUNDS);
        assert!((median / truth - 1.0).abs() < 0.1, "{term}: {median}");
        assert!(
            low < median && median < high,
            "{term}: {low} {median} {high}"
        );
        assert!((row.details["lambda_operations_per_s"] / 2e6 - 1.0).abs() < 0.05);
        assert!(row.details["relative_error_percent"] < 3.0);
    }
}

#[test]
fn what_follows_no_law_has_none() {
    let cliff = run(|copies, _| {
        if copies <= 16 {
            copies as f64 * 1e6
        } else {
            2e6
        }
    });
    let row = law_of(&cliff, "contention");
    let absent = (Status::Unsupported, None);
    assert_eq!((row.status, row.estimate.median), absent);
    let reason = row.reason.unwrap();
    assert!(reason.contains("follow no law of this form"), "{reason}");
}

#[test]
fn two_numbers_of_copies_have_no_law() {
    let few = run(|copies, _| copies as f64);
    let row = law_of(&few[..2], "contention");
    assert_eq!(
        (row.status, row.estimate.median),
        (Status::Unsupported, None)
    );
    let reason = row.reason.unwrap();
    let expected = "needs at least 4 numbers of copies to fit the law; 2 were measured";
    assert_eq!(reason, expected);
}

#[test]
fn every_measured_row_of_the_group_belongs_to_one_law_of_both_terms() {
    let scale = CATALOGUE
        .groups()
        .iter()
        .find(|group| group.name == "scale");
    let benchmarks = scale.expect("the group").benchmarks;
    let rows = Catalogue::rows(benchmarks.iter(), &syscost_harness::Here::plain());
    let (laws, measured): (Vec<&Row>, Vec<&Row>) = rows
        .iter()
        .partition(|row| row.benchmark.computation.is_some());
    for row in &measured {
        let of = laws.iter().filter(|law| law.is_computed_from(row)).count();
        assert_eq!(of, 2, "{}", row.name());
    }
    for law in laws {
        let points = measured
            .iter()
            .filter(|row| law.is_computed_from(row))
            .count();
        assert_eq!(
            points,
            copies::counts(&Here::plain()).len(),
            "{}",
            law.name()
        );
    }
}
