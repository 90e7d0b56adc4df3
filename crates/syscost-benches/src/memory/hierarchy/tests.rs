//! Machines whose hierarchy is known.

use syscost_harness::Catalogue;

use super::*;
use crate::CATALOGUE;
use crate::memory::latency::{Access, MemoryLatency as Dense};
use crate::memory::tlb::Tlb as Apart;
use crate::memory::{cache_latency, cache_size, tlb_miss, tlb_reach};

/// Latencies in ns of a machine with caches of 48 KiB and 2 MiB, including translation in small pages.
fn nanoseconds(bytes: f64) -> f64 {
    match bytes {
        ..=49152.0 => 1.6,
        ..=2_097_152.0 => 5.0,
        ..=33_554_432.0 => 35.0,
        _ => 130.0,
    }
}

/// The cost of translation for this many pages, in ns.
fn translation_ns(pages: f64) -> f64 {
    match pages {
        ..=96.0 => 0.0,
        ..=2048.0 => 2.3,
        _ => 12.0,
    }
}

/// The result of a computed benchmark's row on that machine; the first has number 0.
fn computed(benchmark: &'static Benchmark, number: usize) -> Result<ComputedValue, Failure> {
    let case = (benchmark.cases)(&Testbed::plain()).swap_remove(number);
    let sources = [DENSE, APART].into_iter().flat_map(|id| CATALOGUE.find(id));
    let rows = Catalogue::rows(sources, &Testbed::plain());
    let computation = benchmark.computation.as_ref().expect("it is computed");
    let sources: Vec<Source<'_>> = rows
        .iter()
        .filter(|row| {
            computation.from.contains(&row.benchmark.id) && (computation.takes)(&case, row)
        })
        .map(|row| Source {
            id: row.benchmark.id,
            case: &row.case,
            median: match row.benchmark.id {
                APART => {
                    let count = row.case.row::<Apart>().unwrap().count as f64;
                    nanoseconds(64.0 * count) + translation_ns(count)
                }
                _ => {
                    let row: &Dense = row.case.row().unwrap();
                    let (bytes, is_small) = (row.size.0 as f64, row.pages == Pages::Small);
                    let pages = if is_small { bytes / 4096.0 } else { 0.0 };
                    nanoseconds(bytes) + translation_ns(pages)
                }
            },
        })
        .collect();
    (computation.compute)(&case, &sources, &Testbed::plain())
}

#[test]
fn caches_are_found_with_their_sizes_and_latencies() {
    let sizes = [49152.0, 2_097_152.0, 33_554_432.0];
    for (level, size) in sizes.into_iter().enumerate() {
        let found = computed(&cache_size::BENCHMARK, level).unwrap();
        assert!(
            (0.8..1.4).contains(&(found.value / size)),
            "{level}: {found:?}"
        );
        assert_eq!(found.evidence[0].verdict, Verdict::Confirmed);
        assert!(found.details["plateau_to_bytes"] <= found.value);
        assert!(found.details["next_plateau_from_bytes"] >= found.value);
    }
    // The last row is memory's.
    for (level, ns) in [(0, 1.6), (1, 5.0), (2, 35.0), (4, 130.0)] {
        let found = computed(&cache_latency::BENCHMARK, level).unwrap();
        assert!((found.value / ns - 1.0).abs() < 0.1, "{level}: {found:?}");
        assert_eq!(found.evidence[0].verdict, Verdict::Confirmed);
    }
}

#[test]
fn a_level_that_is_not_there_is_unsupported() {
    for benchmark in [&cache_size::BENCHMARK, &cache_latency::BENCHMARK] {
        match computed(benchmark, 3) {
            Err(Failure::Unsupported(reason)) => {
                let expected = "level 4 was not found: the curve has only 3 steps";
                assert_eq!(reason, expected);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_a_cache_may_hold_is_no_memory() {
    let of = |most: f64| {
        let sizes = (12..29).map(|power| f64::from(1 << power));
        let points: Vec<(f64, f64)> = sizes
            .filter(|bytes| *bytes <= most)
            .map(|bytes| (bytes, nanoseconds(bytes)))
            .collect();
        memory(&points, &staircase(&points).expect("plateaus"))
    };
    let (plateau, claim) = of(f64::from(256 << 20)).unwrap();
    assert_eq!((plateau.cost, claim.verdict), (130.0, Verdict::Confirmed));
    match of(f64::from(64 << 20)) {
        Err(Failure::Unsupported(reason)) => assert!(reason.contains("beyond 64 MiB"), "{reason}"),
        other => panic!("{other:?}"),
    }
    let flat: Vec<(f64, f64)> = (20..29).map(|power| (f64::from(1 << power), 9.0)).collect();
    match memory(&flat, &staircase(&flat).expect("one plateau")) {
        Err(Failure::Unsupported(reason)) => assert!(reason.contains("no step"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn memory_whose_latency_still_rises_has_a_number_that_is_not_proved() {
    let rising = (12..29).map(|power| {
        let size = f64::from(1 << power);
        (
            size,
            if power < 24 {
                nanoseconds(size)
            } else {
                30.0 * f64::from(power - 22)
            },
        )
    });
    let points: Vec<(f64, f64)> = rising.collect();
    let (plateau, claim) = memory(&points, &staircase(&points).unwrap()).unwrap();
    assert_eq!(plateau.cost, 165.0, "between 128 and 256 MiB");
    assert_eq!(claim.verdict, Verdict::Unverified, "{claim:?}");
}

#[test]
fn tlbs_are_found_with_their_reach_and_the_cost_of_missing_them() {
    for (level, pages, ns) in [(0, 96.0, 2.3), (1, 2048.0, 12.0)] {
        let reach = computed(&tlb_reach::BENCHMARK, level).unwrap();
        let found = reach.details["pages_count"];
        assert!((0.99..1.4).contains(&(found / pages)), "{level}: {found}");
        assert_eq!(reach.value, 4096.0 * found);
        assert!(
            reach
                .evidence
                .iter()
                .all(|one| one.verdict == Verdict::Confirmed)
        );
        let miss = computed(&tlb_miss::BENCHMARK, level).unwrap().value;
        assert!((miss - ns).abs() < 0.5, "{level}: {miss}");
    }
}

#[test]
fn a_curve_that_rises_evenly_has_no_steep_step() {
    let counts = (3..17).flat_map(|power| [1.0, 1.5].map(|part| part * f64::from(1 << power)));
    for exponent in [0.15, 0.2, 0.25, 0.28] {
        let even = |count: f64| (count, 2.0 * count.powf(exponent));
        let curve = staircase(&counts.clone().map(even).collect::<Vec<_>>()).unwrap();
        let (plateau, _, next) = step(&curve, 1).unwrap();
        let verdict = is_steep(&plateau, &next);
        assert!(
            matches!(verdict, Err(Failure::Unsupported(_))),
            "{exponent}"
        );
    }
    // A step that spreads over a doubling or two still counts.
    let soft = |count: f64| (count, 2.0 + 10.0 / (1.0 + (512.0 / count).powi(3)));
    let curve = staircase(&counts.map(soft).collect::<Vec<_>>()).unwrap();
    let (plateau, _, next) = step(&curve, 1).unwrap();
    assert_eq!(
        is_steep(&plateau, &next).unwrap().verdict,
        Verdict::Confirmed
    );
}

#[test]
fn what_translation_adds_is_not_clamped() {
    // Lines on separate pages seem to cost less than the nearest dense ones, because of noise.
    let counts = (4..14).map(|power| 1 << power);
    let pages = rows!(Apart {
        pages: [Pages::Small],
        count: counts.clone()
    });
    let dense = rows!(Dense {
        pages: [Pages::Huge],
        access: [Access::Random],
        size: counts.clone().map(|count| Bytes(64 * count))
    });
    let rows: Vec<_> = pages
        .into_iter()
        .map(|case| (APART, case.erased(), 1.8))
        .chain(dense.into_iter().map(|case| (DENSE, case.erased(), 2.0)))
        .collect();
    let sources: Vec<Source<'_>> = rows
        .iter()
        .map(|(id, case, median)| Source {
            id,
            case,
            median: *median,
        })
        .collect();
    let plateaus = translation(&sources).unwrap().plateaus;
    assert_eq!(plateaus.len(), 1);
    assert!((plateaus[0].cost - 1.8).abs() < 1e-9, "{plateaus:?}");
}

#[test]
fn without_rows_there_is_no_hierarchy() {
    assert!(matches!(caches(&[]), Err(Failure::Unsupported(_))));
    assert!(matches!(translation(&[]), Err(Failure::Unsupported(_))));
}

#[test]
fn a_wrong_report_is_doubted_and_refutes_nothing() {
    let right = reported::is_level(Some(2.1e6), 1.9e6);
    assert_eq!(right.verdict, Verdict::Confirmed);
    for (reported_size, why) in [(Some(270e6), "virtual machine"), (None, "does not report")] {
        let doubted = reported::is_level(reported_size, 20e6);
        assert_eq!(doubted.verdict, Verdict::Unverified);
        assert!(doubted.reason.is_some_and(|reason| reason.contains(why)));
    }
}

#[test]
fn levels_are_compared_with_reports_and_small_pages_are_doubted() {
    for pages in [Pages::Small, Pages::Huge] {
        let cases = rows!(Dense {
            pages: [pages],
            access: [Access::Random],
            size: [Bytes::kib(16)]
        });
        let source = Source {
            id: DENSE,
            case: &cases[0].clone().erased(),
            median: 1.0,
        };
        let evidence = without_translation(&[source]);
        let is_small = pages == Pages::Small;
        assert_eq!(evidence.is_some(), is_small);
        assert!(evidence.is_none_or(|evidence| evidence.verdict == Verdict::Unverified));
    }
    for benchmark in [&cache_size::BENCHMARK, &cache_latency::BENCHMARK] {
        let evidence = computed(benchmark, 0).unwrap().evidence;
        let compared = evidence.iter().find(|one| one.source == "sysfs").unwrap();
        // 48 KiB, if this machine reports it.
        let expected =
            reported::is_level(reported::cache_bytes(&Testbed::plain().allowed, 1), 49152.0)
                .expected;
        assert_eq!(compared.expected, expected);
    }
}

#[test]
fn curves_are_read_between_their_points() {
    let points = [(1.0, 10.0), (4.0, 20.0)];
    let read = [0.5, 1.0, 2.0, 4.0, 9.0].map(|size| at(&points, size));
    assert_eq!(read, [10.0, 10.0, 15.0, 20.0, 20.0]);
}
