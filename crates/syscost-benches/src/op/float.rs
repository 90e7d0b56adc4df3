//! Floating-point operations, 32 and 64 bits: latency and reciprocal throughput.
//!
//! ## Measures
//! As `op.integer`, with scalar IEEE 754 numbers in registers. Values stay normal: no overflow, no
//! subnormal number. Divisors and squares have full mantissas, so that no divider stops early. The
//! chain of fused operations goes through the factor, as the evaluation of a polynomial does; that
//! of square roots has an exclusive or on it, which makes the square again and is included.
//! ## Does not measure
//! Vectors (`op.simd`), subnormal numbers (often a hundred times more expensive), conversions, and
//! the remainder, which is not an instruction but a loop in the library.
//! ## Interpretation
//! Addition and multiplication take 2 to 4 core cycles and overlap two- to fourfold; division and
//! square root take 10 to 20 and hardly overlap. A fused operation that costs as much as a
//! multiplication includes the addition for free.
//! ## Source
//! lmbench `lat_ops` and `par_ops`.

use syscost_harness::prelude::*;

use super::arithmetic_kernel;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "op.float",
    title: "Floating-point operation, latency and throughput",
    tags: &[
        "instruction latency",
        "fpu",
        "arithmetic",
        "add",
        "multiply",
        "divide",
        "square root",
        "fma",
        "fused multiply-add",
        "lat_ops",
        "par_ops",
    ],
    cases: Cases::Grid(&[
        (
            "op",
            &[
                "add",
                "multiply",
                "fused_multiply_add",
                "divide",
                "square_root",
            ],
        ),
        ("type", &["f32", "f64"]),
        ("shape", &["latency", "throughput"]),
    ]),
    quick: |case| {
        let is_latency = case.get("type") == "f64" && case.get("shape") == "latency";
        is_latency && case.get("op") != "multiply"
    },
    full: |case| case.get("type") != "f64" || case.get("op") == "multiply",
    support: |case| arithmetic_kernel(case).map(drop),
    run: |b| {
        let kernel = arithmetic_kernel(b.case())?;
        b.kernel(&kernel)
    },
    source: include_str!("float.rs"),
    ..Benchmark::DEFAULT
};
