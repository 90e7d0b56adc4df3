//! Vector instructions on 64-bit floating-point numbers, by width.
//!
//! ## Measures
//! One instruction, whatever its width: `latency` in a chain, `throughput` in twelve independent
//! ones. 128 bits are SSE2 on x86-64 (FMA3 for the fused operation) and Neon on aarch64, 256 AVX2,
//! 512 AVX-512. The processor's extensions are detected at run time; a width or an operation it
//! lacks is listed as unsupported.
//! ## Does not measure
//! Loading and storing the vectors (`memory.bandwidth`), integers, shuffles.
//! ## Interpretation
//! Numbers per nanosecond are lanes (2, 4, 8) over throughput; a fused operation counts as two.
//! Where 512 bits take twice as long as 256, the double width gains nothing. Core cycles are
//! counted by additions on the same core, so a frequency that wide instructions lower shows in the
//! nanoseconds and not in the cycles.
//! ## Source
//! Latency and throughput as instruction tables define them; avx-turbo for the question of
//! frequency. Not part of any published experiment.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Kernel, Shape, Simd, VectorOperation, vector};

use super::chosen;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "op.simd",
    title: "SIMD instruction, latency and throughput",
    tags: &[
        "vector instruction",
        "sse2",
        "avx2",
        "avx-512",
        "neon",
        "fma",
        "fused multiply-add",
    ],
    cases: Cases::Grid(&[
        ("bits", &["128", "256", "512"]),
        ("op", &["add", "fused_multiply_add"]),
        ("shape", &["latency", "throughput"]),
    ]),
    full: |case| case.get("op") == "add",
    support: |case| kernel(case).map(drop),
    run: |b| {
        let kernel = kernel(b.case())?;
        b.kernel(&kernel)
    },
    source: include_str!("simd.rs"),
    ..Benchmark::DEFAULT
};

fn kernel(case: &Case) -> Result<Kernel, Unsupported> {
    let operation = chosen(case, "op", VectorOperation::ALL, VectorOperation::name)?;
    let shape = chosen(case, "shape", Shape::ALL, Shape::name)?;
    match case.get("bits") {
        // Every processor has at most one of these two.
        "128" => {
            vector(Simd::Neon, operation, shape).or_else(|_| vector(Simd::Sse2, operation, shape))
        }
        "256" => vector(Simd::Avx2, operation, shape),
        "512" => vector(Simd::Avx512, operation, shape),
        other => Err(Unsupported::new(format!(
            "there is no width of {other} bits"
        ))),
    }
}
