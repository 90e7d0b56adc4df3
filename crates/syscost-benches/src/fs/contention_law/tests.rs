//! From rates of reads, made by hand, to the law.

use super::*;

const COUNTS: [u32; 7] = [1, 2, 4, 8, 16, 32, 50];

fn law_of(rate: impl Fn(f64) -> f64) -> Result<Derived, Failure> {
    let cases =
        COUNTS.map(|count| Case::new([(FILE, OWN.to_owned()), (PROCESSES, count.to_string())]));
    let sources: Vec<Source> = cases
        .iter()
        .map(|case| Source {
            id: contention::BENCHMARK.id,
            case,
            median: rate(case.number(PROCESSES) as f64),
        })
        .collect();
    compute(&Case::default(), &sources)
}

/// One process achieves 300 reads per second, many of them almost 500.
#[test]
fn a_device_with_a_limit_adds_its_inverse() {
    let derived = law_of(|n| 500.0 * n / (n + 2.0 / 3.0)).unwrap();
    assert!((derived.value / 2e6 - 1.0).abs() < 0.01, "{derived:?}");
    assert_eq!(derived.evidence[0].observed, Some("linear".into()));
    assert!((derived.details["fitted_50_per_s"] / 500.0 - 1.0).abs() < 0.1);
    assert!(
        derived
            .evidence
            .iter()
            .all(|one| one.verdict == Verdict::Confirmed)
    );
}

#[test]
fn a_device_without_a_limit_adds_nothing() {
    let derived = law_of(|n| 10_000.0 * n).unwrap();
    assert!(derived.value.abs() < 1.0, "{derived:?}");
}

#[test]
fn rates_that_follow_no_law_say_so() {
    let derived = law_of(|n| {
        if [4.0, 16.0].contains(&n) {
            100.0 * n
        } else {
            1000.0 * n
        }
    });
    let misfit = derived.unwrap().misfit.unwrap_or_default();
    assert!(misfit.starts_with("the rates follow no law"), "{misfit}");
}

#[test]
fn each_row_of_contention_belongs_to_one_law() {
    use syscost_harness::Catalogue;
    let rows = Catalogue::rows(
        [&contention::BENCHMARK].into_iter(),
        &syscost_harness::Here::plain(),
    );
    let laws = Catalogue::rows([&BENCHMARK].into_iter(), &syscost_harness::Here::plain());
    for row in &rows {
        let of = laws.iter().filter(|law| law.is_computed_from(row)).count();
        assert_eq!(of, 1, "{}", row.name());
    }
}
