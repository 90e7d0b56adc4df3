//! The maximum bandwidth of each level of caches and of memory.
//!
//! ## Measures
//! Nothing by itself: it is the largest of the rows of `memory.bandwidth` with arrays that fit in
//! this level, of one thread or of one on each CPU. `level=1` are the rows with 24 KiB for each
//! thread, `2` those with 384 KiB, `3` those with 12 MiB, `memory` those with 512 MiB.
//! ## Does not measure
//! The machine's theoretical peak. The largest of several noisy numbers is a little too large.
//! ## Interpretation
//! The first piece of evidence is the cache that arrays of this size fit into, as the kernel
//! reports, if all threads that share it put theirs there; memory is unverified where the last
//! caches hold more than half of the arrays. The second is the row that was the largest: usually
//! one that reads and writes at the same time in a cache, which has units for both, and one that
//! only reads in memory.
//! ## Source
//! The roofs of a roofline model: Williams, Waterman and Patterson, Roofline (2009).

mod place;

use syscost_harness::prelude::*;
use syscost_results::Evidence;
use syscost_sys::topology::Topology;

use super::bandwidth::{self, Level, max_threads};
use place::lies_in;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Peak memory and cache bandwidth",
    tags: "maximum bandwidth, l1, l2, l3, roofline, memory throughput, bw_mem, STREAM",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    roles: roles!(
        Row { level: Level::First, threads: Copies(1) } => Role::L1Bandwidth,
        Row { level: Level::Second, threads: Copies(1) } => Role::L2Bandwidth,
        Row { level: Level::Third, threads: Copies(1) } => Role::L3Bandwidth,
        Row { level: Level::Memory, threads: Copies(1) } => Role::MemoryBandwidth,
    ),
    ..Benchmark::computed::<Row>()
};

#[derive(Params, Clone)]
struct Row {
    level: Level,
    /// How many threads stream at once, each on a separate CPU.
    threads: Copies,
}

impl Computed for Row {
    const FROM: &'static [&'static str] = &[id!(memory::bandwidth)];
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        let most = max_threads(here);
        let threads = [1, most].map(Copies).into_iter().take(most.min(2) as usize);
        rows!(Row {
            level: Level::ALL,
            threads: threads.clone()
        })
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        let row = other.case.row::<bandwidth::Row>();
        row.is_some_and(|row| row.level() == Some(self.level) && row.threads == self.threads)
    }

    fn compute(&self, sources: &[Source<'_>], here: &Here) -> Result<ComputedValue, Failure> {
        let rows = sources.iter().filter_map(|source| {
            let row = source.case.row::<bandwidth::Row>()?;
            Some((row, source.median))
        });
        let (fastest, value) = rows
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .ok_or_else(|| Failure::Unsupported("none of its rows was measured".to_owned()))?;
        Ok(ComputedValue {
            value,
            evidence: vec![
                lies_in(self.level, self.threads.0, Topology::here(), &here.allowed),
                is_largest(fastest, sources.len()),
            ],
            ..ComputedValue::default()
        })
    }
}

/// The row with the largest bandwidth, and of how many.
fn is_largest(row: &bandwidth::Row, count: usize) -> Evidence {
    let largest = Claim::new(
        "the largest of its rows",
        format!("the largest of {count} rows"),
    );
    let observed = format!("{} with {}", row.op.name(), row.simd.text());
    Evidence::note(largest, observed, id!(memory::bandwidth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_the_rows_of_a_level_counts() {
        let peak = Row {
            level: Level::First,
            threads: Copies(1),
        };
        let rows = (bandwidth::BENCHMARK.cases)(&Here::plain());
        let source = |(case, median)| Source {
            id: id!(memory::bandwidth),
            case,
            median,
        };
        let sources: Vec<Source<'_>> = rows.iter().zip([2e9, 3e9]).map(source).collect();
        let computed = peak.compute(&sources, &Here::plain()).unwrap();
        assert_eq!(computed.value, 3e9);
        assert!(peak.compute(&[], &Here::plain()).is_err());
    }
}
