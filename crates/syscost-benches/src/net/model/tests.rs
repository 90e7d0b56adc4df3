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
fn a_stream_that_is_much_slower_refutes_the_model() {
    let time = |bytes: f64| 20_000.0 + 2.0 * bytes;
    let derived = computed(LATENCY, time, 0.5e9).unwrap();
    let held_back = [Verdict::Confirmed, Verdict::Unverified];
    assert_eq!(verdicts(&derived), held_back);
    let derived = computed(LATENCY, time, 0.1e9).unwrap();
    assert_eq!(verdicts(&derived), [Verdict::Confirmed, Verdict::Refuted]);
}

#[test]
fn what_is_no_line_does_not_fit() {
    let step = |bytes: f64| if bytes < 2000.0 { 20_000.0 } else { 90_000.0 };
    let derived = computed(LATENCY, step, 1e9).unwrap();
    assert_eq!(verdicts(&derived)[0], Verdict::Refuted);
}

#[test]
fn a_term_that_there_is_not_is_a_defect() {
    let wrong = computed("bandwidth", |bytes| 1.0 + bytes, 1.0);
    assert!(matches!(wrong, Err(Failure::Broken(_))));
    let few = compute(&Case::new([(TERM, LATENCY)]), &[]);
    assert!(matches!(few, Err(Failure::Unsupported(_))));
}
