//! From synthetic round trips to the terms of the model.

use super::*;

/// The model of round trips with these sizes and times, and of a stream with this bandwidth.
fn computed(
    term: &'static str,
    time: impl Fn(f64) -> f64,
    stream: f64,
) -> Result<Derived, Failure> {
    let sizes = ["1", "64", "1K", "4K", "16K", "64K"];
    let cases = sizes.map(|size| Case::new([("size", size)]));
    let plain = Case::new([("size", "64K")]);
    let mut sources: Vec<Source> = cases
        .iter()
        .map(|case| Source {
            id: ROUND_TRIP,
            case,
            median: time(case.number("size") as f64),
        })
        .collect();
    sources.push(Source {
        id: bandwidth::BENCHMARK.id,
        case: &plain,
        median: stream,
    });
    compute(&Case::new([(TERM, term)]), &sources)
}

fn verdicts(derived: &Derived) -> Vec<Verdict> {
    derived.evidence.iter().map(|one| one.verdict).collect()
}

#[test]
fn the_terms_of_a_path_are_found() {
    // 20 us, and 1 GB/s each way.
    let time = |bytes: f64| 20_000.0 + 2.0 * bytes;
    let latency = computed(LATENCY, time, 1.2e9).unwrap();
    let byte = computed(BYTE, time, 1.2e9).unwrap();
    assert!((latency.value - 20_000.0).abs() < 1.0, "{latency:?}");
    assert!((byte.value - 2.0).abs() < 1e-6, "{byte:?}");
    for derived in [latency, byte] {
        assert!((derived.details["bandwidth_bytes_per_s"] / 1e9 - 1.0).abs() < 1e-6);
        assert!((derived.details["half_bandwidth_bytes"] - 10_000.0).abs() < 1.0);
        assert_eq!(verdicts(&derived), [Verdict::Confirmed; 2]);
    }
}

#[test]
fn a_slower_stream_is_held_back_and_one_many_times_as_fast_refutes_the_model() {
    let time = |bytes: f64| 20_000.0 + 2.0 * bytes;
    for (stream, expected) in [
        (0.1e9, Verdict::Unverified),
        (0.5e9, Verdict::Unverified),
        (0.8e9, Verdict::Confirmed),
        (3.5e9, Verdict::Confirmed),
        // Bits for bytes.
        (8e9, Verdict::Refuted),
    ] {
        let derived = computed(LATENCY, time, stream).unwrap();
        assert_eq!(
            verdicts(&derived),
            [Verdict::Confirmed, expected],
            "{stream}"
        );
    }
    assert_eq!(beside_stream(1e9, 8e9, false).verdict, Verdict::Unverified);
}

#[test]
fn what_is_no_line_has_no_model() {
    let step = |bytes: f64| if bytes < 2000.0 { 20_000.0 } else { 90_000.0 };
    let misfit = computed(LATENCY, step, 1e9).unwrap().misfit;
    assert!(misfit.is_some_and(|misfit| misfit.starts_with("the times of messages are not")));
    let line = computed(LATENCY, |bytes| 20_000.0 + bytes, 1e9).unwrap();
    assert_eq!(line.misfit, None);
}

#[test]
fn a_term_that_there_is_not_is_a_defect() {
    let wrong = computed("bandwidth", |bytes| 1.0 + bytes, 1.0);
    assert!(matches!(wrong, Err(Failure::Broken(_))));
    let few = compute(&Case::new([(TERM, LATENCY)]), &[]);
    assert!(matches!(few, Err(Failure::Unsupported(_))));
}
