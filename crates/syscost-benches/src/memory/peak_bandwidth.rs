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

use std::collections::{BTreeMap, BTreeSet};

use syscost_harness::prelude::*;
use syscost_results::Claim;
use syscost_sys::topology::{Cache, CacheKind, Topology};

use super::bandwidth::{self, Level, max_threads};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Peak memory and cache bandwidth",
    tags: "maximum bandwidth, l1, l2, l3, roofline, memory throughput, bw_mem, STREAM",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    roles: roles!(
        PeakBandwidth { level: Level::First, threads: Copies(1) } => Role::L1Bandwidth,
        PeakBandwidth { level: Level::Second, threads: Copies(1) } => Role::L2Bandwidth,
        PeakBandwidth { level: Level::Third, threads: Copies(1) } => Role::L3Bandwidth,
        PeakBandwidth { level: Level::Memory, threads: Copies(1) } => Role::MemoryBandwidth,
    ),
    ..Benchmark::computed::<PeakBandwidth>()
};

#[derive(Params, Clone)]
struct PeakBandwidth {
    level: Level,
    /// How many threads stream at once, each on a separate CPU.
    threads: Copies,
}

impl Computed for PeakBandwidth {
    const FROM: &'static [&'static str] = &[id!(memory::bandwidth)];
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let most = max_threads(here);
        let threads = [1, most].map(Copies).into_iter().take(most.min(2) as usize);
        rows!(PeakBandwidth {
            level: Level::ALL,
            threads: threads.clone()
        })
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        let row = other.case.row::<bandwidth::ReadOrWrite>();
        row.is_some_and(|row| row.level() == Some(self.level) && row.threads == self.threads)
    }

    fn compute(&self, sources: &[Source<'_>], here: &Testbed) -> Result<ComputedValue, Failure> {
        let rows = sources.iter().filter_map(|source| {
            let row = source.case.row::<bandwidth::ReadOrWrite>()?;
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
fn is_largest(row: &bandwidth::ReadOrWrite, count: usize) -> Evidence {
    let largest = Claim::new(
        "the largest of its rows",
        format!("the largest of {count} rows"),
    );
    let observed = format!("{} with {}", row.op.name(), row.simd.text());
    Evidence::note(largest, observed, id!(memory::bandwidth))
}

/// Arrays in memory must be this many times as large as all last-level caches in use: a pass over them
/// then finds little in these caches.
const WELL_ABOVE: u64 = 2;

/// Claims that the nearest cache that holds the arrays of all threads that share it is that of this level.
///
/// `allowed` are the CPUs that the calling process may use. It keeps off the measuring one, and
/// does not know which one that is.
fn lies_in(level: Level, threads: u32, topology: &Topology, allowed: &[u32]) -> Evidence {
    let each = level.size(threads).0 / u64::from(threads);
    let cpu_sets = cpu_sets(threads as usize, topology, allowed);
    let places: Option<BTreeSet<String>> = cpu_sets
        .iter()
        .flat_map(|cpus| cpus.iter().map(|cpu| place(topology, *cpu, cpus, each)))
        .collect();
    let places = places.unwrap_or_default();
    let last = cpu_sets.iter().map(|cpus| last_bytes(topology, cpus)).max();
    let (all, last) = (each * u64::from(threads), last.unwrap_or(0));
    let (verdict, reason) = if places.is_empty() {
        let reason = "this system does not report its caches".to_owned();
        (Verdict::Unverified, Some(reason))
    } else if !places.contains(level.name()) {
        (Verdict::Refuted, None)
    } else if places.len() > 1 {
        let reason = "CPUs of this machine have different caches".to_owned();
        (Verdict::Unverified, Some(reason))
    } else if level == Level::Memory && all < WELL_ABOVE * last {
        let reason = format!(
            "the last caches in use hold {} MiB, of which much of {} MiB can stay there",
            last >> 20,
            all >> 20
        );
        (Verdict::Unverified, Some(reason))
    } else {
        (Verdict::Confirmed, None)
    };
    let places: Vec<String> = places.into_iter().collect();
    let claim = Claim::new(
        "level of caches in which the bytes of each thread fit",
        format!("level of caches in which {each} bytes of each thread fit"),
    );
    Evidence {
        observed: (!places.is_empty()).then(|| places.join(" or ").into()),
        verdict,
        reason,
        ..Evidence::unobserved(claim, level.name(), "/sys/devices/system/cpu")
    }
}

/// The sets of CPUs that this many threads may have been on, one for each CPU that may have been the
/// measured one. There is one thread, or one on each CPU.
fn cpu_sets(threads: usize, topology: &Topology, allowed: &[u32]) -> BTreeSet<BTreeSet<u32>> {
    let with = |own: u32| -> BTreeSet<u32> {
        let others = allowed.iter().copied().filter(move |cpu| *cpu != own);
        [own].into_iter().chain(others).take(threads).collect()
    };
    topology
        .cpus
        .iter()
        .map(|cpu| with(cpu.cpu))
        .filter(|cpus| cpus.len() == threads)
        .collect()
}

/// The level of the nearest cache of a CPU that holds this many bytes for each of these CPUs that share it;
/// `None` if the system does not report all sizes.
fn place(topology: &Topology, cpu: u32, cpus: &BTreeSet<u32>, each: u64) -> Option<String> {
    let caches = topology.cpu(cpu)?.caches.iter();
    let of_data = caches.filter(|cache| cache.kind != CacheKind::Instruction);
    let sizes = of_data.map(|cache| Some((cache, cache.size_bytes?)));
    let sizes: Vec<(&Cache, u64)> = sizes.collect::<Option<_>>()?;
    if sizes.is_empty() {
        return None;
    }
    let holds = |(cache, bytes): &(&Cache, u64)| {
        let shared = cache.shared_cpus.iter().filter(|cpu| cpus.contains(cpu));
        *bytes >= each * shared.count().max(1) as u64
    };
    let holding = sizes.into_iter().filter(holds).map(|(cache, _)| cache);
    let nearest = holding.min_by_key(|cache| cache.level);
    Some(nearest.map_or("memory".to_owned(), |cache| cache.level.to_string()))
}

/// Total size of the last-level caches of these CPUs, in bytes.
fn last_bytes(topology: &Topology, cpus: &BTreeSet<u32>) -> u64 {
    let caches: BTreeMap<&[u32], u64> = cpus
        .iter()
        .filter_map(|cpu| topology.cpu(*cpu)?.last_level_cache())
        .filter_map(|cache| Some((cache.shared_cpus.as_slice(), cache.size_bytes?)))
        .collect();
    caches.values().sum()
}

#[cfg(test)]
mod tests {
    use syscost_sys::topology::Cpu;

    use super::*;

    #[test]
    fn the_largest_of_the_rows_of_a_level_counts() {
        let peak = PeakBandwidth {
            level: Level::First,
            threads: Copies(1),
        };
        let rows = (bandwidth::BENCHMARK.cases)(&Testbed::plain());
        let source = |(case, median)| Source {
            id: id!(memory::bandwidth),
            case,
            median,
        };
        let sources: Vec<Source<'_>> = rows.iter().zip([2e9, 3e9]).map(source).collect();
        let computed = peak.compute(&sources, &Testbed::plain()).unwrap();
        assert_eq!(computed.value, 3e9);
        assert!(peak.compute(&[], &Testbed::plain()).is_err());
    }

    /// A machine of this many CPUs, `smt` of which share a core and `near` of which share a
    /// third-level cache.
    fn machine(cpus: u32, smt: u32, near: u32, sizes: [u64; 3]) -> Topology {
        let group = |cpu: u32, size: u32| -> Vec<u32> {
            let first = cpu / size * size;
            (first..first + size).collect()
        };
        let cpu = |cpu: u32| Cpu {
            cpu,
            package: Some(0),
            node: Some(0),
            smt_siblings: Some(Vec::new()),
            caches: (1..)
                .zip(sizes)
                .zip([smt, smt, near])
                .map(|((level, size_bytes), sharing)| Cache {
                    level,
                    kind: CacheKind::Unified,
                    size_bytes: Some(size_bytes).filter(|bytes| *bytes > 0),
                    line_bytes: Some(64),
                    shared_cpus: group(cpu, sharing),
                })
                .collect(),
        };
        Topology {
            cpus: (0..cpus).map(cpu).collect(),
            nodes: vec![0],
        }
    }

    const SIZES: [u64; 3] = [48 << 10, 2 << 20, 32 << 20];

    /// The verdict for each level. The process is kept off CPU 0.
    fn verdicts(threads: u32, topology: &Topology) -> [Verdict; 4] {
        let allowed: Vec<u32> = (1..topology.cpus.len() as u32).collect();
        Level::ALL.map(|level| lies_in(level, threads, topology, &allowed).verdict)
    }

    #[test]
    fn arrays_of_threads_that_share_a_cache_are_added_up() {
        use Verdict::{Confirmed, Refuted};
        let own = machine(8, 1, 8, [48 << 10, 2 << 20, 128 << 20]);
        assert_eq!(verdicts(1, &own), [Confirmed; 4]);
        assert_eq!(verdicts(8, &own), [Confirmed; 4]);
        // Two times 24 KiB still fit, eight times 12 MiB do not.
        let shared = machine(8, 2, 8, SIZES);
        assert_eq!(
            verdicts(8, &shared),
            [Confirmed, Confirmed, Refuted, Confirmed]
        );
        let small = machine(2, 2, 2, [32 << 10, 512 << 10, 32 << 20]);
        assert_eq!(verdicts(1, &small), [Confirmed; 4]);
        assert_eq!(
            verdicts(2, &small),
            [Refuted, Refuted, Confirmed, Confirmed]
        );
    }

    #[test]
    fn a_level_that_is_another_is_refuted() {
        let small = machine(2, 1, 2, [32 << 10, 256 << 10, 16 << 20]);
        assert_eq!(verdicts(1, &small)[1], Verdict::Refuted);
        // All 512 MiB fit into the third caches of this many cores.
        let large = machine(64, 1, 8, [48 << 10, 2 << 20, 96 << 20]);
        assert_eq!(verdicts(64, &large)[3], Verdict::Refuted);
    }

    #[test]
    fn memory_that_is_hardly_larger_than_the_caches_is_unverified() {
        let large = machine(2, 1, 2, [48 << 10, 2 << 20, 260 << 20]);
        assert_eq!(verdicts(2, &large)[3], Verdict::Unverified);
        let none = machine(2, 1, 2, [0; 3]);
        assert_eq!(verdicts(1, &none), [Verdict::Unverified; 4]);
        assert_eq!(verdicts(1, &Topology::default()), [Verdict::Unverified; 4]);
    }

    #[test]
    fn cpus_with_different_caches_are_unverified() {
        let mut mixed = machine(2, 1, 2, SIZES);
        mixed.cpus[1].caches[1].size_bytes = Some(256 << 10);
        assert_eq!(verdicts(1, &mixed)[1], Verdict::Unverified);
        assert_eq!(verdicts(1, &mixed)[0], Verdict::Confirmed);
    }
}
