//! Floating-point operations per second, by width, of one thread and of all CPUs.
//!
//! ## Measures
//! How many additions and multiplications of 64-bit numbers per second all threads make together,
//! in fused operations on registers: each counts as two for each of its numbers. `bits` is the
//! width of a register: 64 holds one number, 512 eight. Each thread is pinned to a separate CPU and
//! has twelve independent chains. Every lane of every chain counts the operations, so that none can
//! be missing; a run with a factor other than the 1 that they count with shows that the same
//! instructions also multiply.
//! ## Does not measure
//! What a program achieves that also loads and stores its numbers (`memory.bandwidth`); 32-bit
//! numbers, of which twice as many fit; matrix units.
//! ## Interpretation
//! Divided by the core's frequency (`timing.core_frequency`) it is the operations per core cycle:
//! two units of 512 bits perform 32. Where 512 bits give less than twice the rate of 256, the core
//! has half as many units, or a lower frequency, for the wide ones. All CPUs together give less
//! than one CPU's rate times their number where cores lower their clocks together, or two threads
//! share a core's units. A core that can overlap more than twelve operations (four units, each of
//! four cycles) does not reach its peak here.
//! ## Source
//! Peak performance as vendors define it, and as LINPACK approaches it.

use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::kernel::{
    Kernel, Kind, Operation, Shape, Simd, VectorOperation, arithmetic, vector,
};
use syscost_sys::partner::Between;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "op.flops",
    title: "Peak floating-point performance, 64-bit",
    tags: &[
        "gflops",
        "flop/s",
        "peak flops",
        "fma",
        "fused multiply-add",
        "double precision",
        "avx2",
        "avx-512",
        "roofline",
        "linpack",
        "likwid-bench",
    ],
    // Since revision 2 the unit is FLOP/s.
    revision: 2,
    unit: Unit::FlopsPerSecond,
    better: Better::Higher,
    cases: Cases::Here(cases),
    quick: |case| case.number("bits") >= 256 && case.number("threads") == 1,
    full: |case| {
        let bits = case.number("bits");
        bits == 128 || (bits < 128 && case.number("threads") > 1)
    },
    support: |case| kernel(case.number("bits")).map(drop),
    run,
    source: include_str!("flops.rs"),
    ..Benchmark::DEFAULT
};

/// Maximum number of threads that is measured.
const MAX_THREADS: usize = 512;

/// Turns of the kernel between two comparisons of its checksum: enough to make the cost of entering
/// and leaving it negligible.
const TURNS: u64 = 64;

fn cases(_: &Here) -> Vec<Case> {
    let all = cpu::allowed().map_or(1, |cpus| cpus.len()).min(MAX_THREADS);
    let mut threads = vec![1, all];
    threads.dedup();
    let of = |bits: u64| {
        let case = move |threads: &usize| {
            Case::new([("bits", bits.to_string()), ("threads", threads.to_string())])
        };
        threads.iter().map(case).collect::<Vec<_>>()
    };
    [64, 128, 256, 512].into_iter().flat_map(of).collect()
}

/// Twelve chains of fused operations on registers of this many bits, and the vector extension of
/// these registers.
fn kernel(bits: u64) -> Result<(Kernel, Option<Simd>), Unsupported> {
    let of = |simd| {
        let kernel = vector(simd, VectorOperation::FusedMultiplyAdd, Shape::Throughput)?;
        Ok((kernel, Some(simd)))
    };
    match bits {
        64 => {
            let kernel = arithmetic(Operation::FusedMultiplyAdd, Kind::F64, Shape::Throughput)?;
            Ok((kernel, None))
        }
        // Every processor has at most one of these two.
        128 => of(Simd::Neon).or_else(|_| of(Simd::Sse2)),
        256 => of(Simd::Avx2),
        512 => of(Simd::Avx512),
        other => Err(Unsupported::new(format!(
            "there is no width of {other} bits"
        ))),
    }
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (bits, threads) = (b.case().number("bits"), b.case().number("threads"));
    let (one, simd) = kernel(bits)?;
    // The checksum is the sum of all lanes, each of which counts its fused operations: an addition
    // and a multiplication.
    let per_turn = 2 * one.expected(TURNS);
    let instructions = TURNS * one.operations_per_turn;
    let (named, claim) = (
        2 * (bits / 64) * instructions,
        "additions and multiplications of a turn, by the row's name",
    );
    b.claim_equal(claim, named, per_turn, "kernel's checksum");
    let floor = one.floor_cycles * instructions as f64 / per_turn as f64;
    b.expect(at_least(Counter::CoreCycles, floor));
    b.copies(Between::Threads, threads as usize, per_turn, move |_| {
        let (kernel, simd) = kernel(bits)?;
        multiplies(&kernel, simd)?;
        Ok(move || {
            let expected = kernel.expected(TURNS);
            match kernel.run(TURNS) {
                sum if sum == expected => Ok(()),
                sum => Err(format!(
                    "the kernel's checksum is {sum}, expected {expected}"
                )),
            }
        })
    })?;
    let [expected, observed] = one.products(simd);
    let claim = "sum of one turn with a factor of 2 and an addend of 3";
    b.claim_equal(claim, expected, observed, "kernel");
    Ok(())
}

/// Checks that the kernel, which each thread runs itself, multiplies.
fn multiplies(kernel: &Kernel, simd: Option<Simd>) -> Result<(), Failure> {
    let [expected, observed] = kernel.products(simd);
    match observed == expected {
        true => Ok(()),
        false => Err(Failure::Refuted(format!(
            "with a factor of 2 a turn comes to {observed}, expected {expected}: it does not multiply"
        ))),
    }
}
