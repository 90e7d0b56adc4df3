//! Reads that are what they claim to be, and reads that are not.

use syscost_harness::bencher::{Findings, Pass};
use syscost_results::Verdict;

use super::*;
use crate::fs::space::Space;
use crate::fs::space::tests::is_of_others;
use crate::testing::{claims, findings_of, found_of};

fn case(cache: &'static str, size: &'static str) -> Case {
    let place = (
        syscost_harness::directory::KEY,
        syscost_harness::directory::DEFAULT,
    );
    Case::new([
        place,
        Access::Random.parameter(),
        (CACHE, cache),
        (SIZE, size),
    ])
}

/// The findings of a case; if it cannot be measured, prints the reason and returns `None`.
fn found(
    case: &Case,
    pass: Pass,
    measure: impl FnOnce(&mut Bencher) -> Result<(), Failure>,
) -> Option<Findings> {
    found_of(case, pass, BENCHMARK.expect, measure)
}

#[test]
fn honest_reads_are_not_refuted() {
    for (cache, size) in [(WARM, "512"), (COLD, "4K"), (DIRECT, "64K")] {
        for pass in [Pass::Timed, Pass::Evidence] {
            let Some(findings) = found(&case(cache, size), pass, run) else {
                continue;
            };
            let mut refuted = claims(&findings, Verdict::Refuted);
            refuted.retain(|claim| !is_of_others(claim));
            assert_eq!(refuted, [""; 0], "{cache} {size}");
        }
    }
}

#[test]
fn every_cold_and_direct_read_is_in_the_histogram() {
    let Some(findings) = found(&case(DIRECT, "4K"), Pass::Timed, run) else {
        return;
    };
    let singles: u64 = findings.histogram.iter().map(|(_, count)| count).sum();
    assert!(singles > findings.samples.values.len() as u64, "{singles}");
}

#[test]
fn a_cold_read_of_a_cached_file_is_refuted() {
    let findings = found(&case(COLD, "4K"), Pass::Evidence, |b| {
        let kept = kept(b, FILE)?;
        kept.space.has_storage()?;
        let file = kept.file.open()?;
        let cache = Cache::of(&kept.space, &file)?;
        let mut reader = Reader::of(b, &kept, &file, Access::Random)?;
        reader::read_through(&kept.file, &file)?;
        let storage = Storage::watch(&file)?;
        b.single(|| Ok(()), || reader.read())?;
        cache.claim_seen(b, "pages before", 0, cache.resident()?);
        storage.claim_fetched(b, reader.bytes())
    });
    let Some(findings) = findings else { return };
    let refuted = claims(&findings, Verdict::Refuted);
    assert!(refuted.contains(&"pages before"), "{refuted:?}");
    assert!(
        refuted.contains(&"bytes fetched from storage per byte read"),
        "{refuted:?}"
    );
}

#[test]
fn a_direct_read_through_the_cache_is_refuted() {
    let findings = found(&case(DIRECT, "4K"), Pass::Evidence, |b| {
        let kept = kept(b, FILE)?;
        kept.space.has_storage()?;
        let file = kept.file.open()?;
        let cache = Cache::of(&kept.space, &file)?;
        cache.empty()?;
        let mut reader = Reader::of(b, &kept, &file, Access::Random)?;
        b.expect(at_most(Counter::VoluntarySwitches, 2.0));
        b.single(|| Ok(()), || reader.read())?;
        kept.file.claim_direct(b, &file, &cache)
    });
    let Some(findings) = findings else { return };
    let refuted = claims(&findings, Verdict::Refuted);
    assert!(
        refuted.contains(&"O_DIRECT of the open file"),
        "{refuted:?}"
    );
    let left = "pages that direct reads left in the page cache";
    assert!(refuted.contains(&left), "{refuted:?}");
}

#[test]
fn content_of_another_file_is_refuted() {
    let case = case(WARM, "4K");
    let refused = findings_of(&case, Pass::Evidence, BENCHMARK.expect, |b| {
        let space = Space::of(&case)?;
        let other = space.file("other", 1 << 20, 1)?.open()?;
        let file = space.file("content", 1 << 20, 2)?;
        let kept = Kept { space, file };
        let mut reader = Reader::of(b, &kept, &other, Access::Random)?;
        b.try_iter(|| reader.read())
    });
    match refused {
        Err(Failure::Refuted(_) | Failure::Failed(_)) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_is_too_short_fails() {
    let case = case(WARM, "64K");
    let refused = findings_of(&case, Pass::Timed, BENCHMARK.expect, |b| {
        let space = Space::of(&case)?;
        let short = space.file("short", 100_000, 1)?.open()?;
        let file = space.file("content", 1 << 20, 1)?;
        let kept = Kept { space, file };
        let mut reader = Reader::of(b, &kept, &short, Access::Sequential)?;
        b.try_iter(|| reader.read())
    });
    let reason = refused.unwrap_err().to_string();
    assert!(reason.contains("gave 34464"), "{reason}");
}
