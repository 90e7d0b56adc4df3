//! Shared: whether what was measured is what the row says: a benchmark might use half of a size.

use syscost_harness::prelude::*;

/// Maximum number of blocks that may be missing from a random order.
const MISSING: u64 = 4;

/// Claims that an operation has as many bytes as the row says, with the source of that number.
pub(super) fn claim_size(b: &mut Bencher, size: Bytes, bytes: u64, source: &str) {
    b.claim_equal("bytes of what is measured", size.0, bytes, source);
}

/// Claims that an order of blocks covers a whole file, instead of repeating a
/// part of it, which would stay in the core's caches: `blocks` different ones are visited.
pub(super) fn claim_whole(b: &mut Bencher, file: u64, block: u64, blocks: usize) {
    let all = file / block.max(1);
    let bound = Bound::Within(all.saturating_sub(MISSING) as f64, all as f64);
    let claim = "blocks of the file that take their turn";
    b.claim_within(claim, bound, blocks as f64, "offsets of the calls");
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_results::Verdict;

    use super::*;
    use crate::testing::{claims, findings};

    fn refuted(measure: impl FnOnce(&mut Bencher)) -> usize {
        let found = findings(Pass::Evidence, &[], |b| {
            b.observe(|| Ok(1.0))?;
            measure(b);
            Ok(())
        });
        claims(&found.unwrap(), Verdict::Refuted)
            .iter()
            .filter(|claim| claim.contains("blocks of") || claim.contains("bytes of"))
            .count()
    }

    #[test]
    fn half_a_size_is_not_the_one_that_is_named() {
        assert_eq!(refuted(|b| claim_size(b, Bytes::kib(4), 4096, "test")), 0);
        assert_eq!(refuted(|b| claim_size(b, Bytes::kib(4), 2048, "test")), 1);
    }

    #[test]
    fn some_blocks_are_not_the_whole_file() {
        assert_eq!(refuted(|b| claim_whole(b, 1 << 20, 4096, 256)), 0);
        assert_eq!(refuted(|b| claim_whole(b, 1 << 20, 4096, 254)), 0);
        assert_eq!(refuted(|b| claim_whole(b, 1 << 20, 4096, 16)), 1);
        assert_eq!(refuted(|b| claim_whole(b, 8 << 20, 1 << 20, 2)), 1);
    }
}
