//! Vector arithmetic on 64-bit floating-point numbers.
//!
//! Every lane of every chain counts operations in steps of 1.0; `finish` adds all lanes.

use super::super::shell::kernel;
use super::super::{Code, Shape, Simd, VectorOperation};
use super::each;
use crate::Unsupported;

/// One chain in `v16`, or twelve. With one chain the other registers stay 0, so that the sum is the
/// same for both.
macro_rules! vector {
    ($name:ident: $times:literal times $chains:literal, $body:expr) => {
        kernel! {
            $name: $times times $chains, chains $chains,
            prepare [
                "ldr d28, [x1, 8]", "dup v28.2d, v28.d[0]", "ldr d29, [x1, 16]", "dup v29.2d, v29.d[0]",
                each!(vector: "movi \\r, 0"),
            ],
            body [$body],
            after [],
            finish [
                "movi v30.2d, 0",
                each!(vector: "fadd v30.2d, v30.2d, \\r"),
                "faddp d30, v30.2d",
                "fcvtzs x20, d30",
            ]
        }
    };
}

vector! { ADD: 64 times 1, "fadd v16.2d, v16.2d, v28.2d" }
vector! { ADDS: 20 times 12, each!(vector: "fadd \\r, \\r, v28.2d") }
vector! { FUSED: 64 times 1, "fmla v16.2d, v28.2d, v29.2d" }
vector! { FUSEDS: 20 times 12, each!(vector: "fmla \\r, v28.2d, v29.2d") }

/// The kernels of latency and of throughput.
pub(in super::super) fn vector(
    simd: Simd,
    operation: VectorOperation,
) -> Result<[Code; 2], Unsupported> {
    if simd != Simd::Neon {
        return Err(Unsupported::new(
            "SSE and AVX are of x86-64; this is aarch64",
        ));
    }
    Ok(match operation {
        VectorOperation::Add => [ADD, ADDS],
        VectorOperation::FusedMultiplyAdd => [FUSED, FUSEDS],
    })
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) fn instructions(_: Simd, operation: VectorOperation, shape: Shape) -> String {
    let one = match operation {
        VectorOperation::Add => "fadd v.2d, same, v.2d",
        VectorOperation::FusedMultiplyAdd => "fmla v.2d, v.2d, v.2d",
    };
    match shape {
        Shape::Latency => one.to_owned(),
        Shape::Throughput => format!("12 of ({one})"),
    }
}
