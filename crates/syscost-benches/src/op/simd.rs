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
use syscost_sys::kernel::{Shape, VectorOperation};

use super::Bits;
use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "SIMD instruction, latency and throughput",
    tags: "vector instruction, sse2, avx2, avx-512, neon, fma, fused multiply-add",
    ..Benchmark::of::<Simd>()
};

#[derive(Params, Clone)]
struct Simd {
    bits: Bits,
    op: VectorOperation,
    shape: Shape,
}

impl Measured for Simd {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Simd {
            bits: [Bits::B128, Bits::B256, Bits::B512],
            op: VectorOperation::ALL,
            shape: Shape::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.op {
            VectorOperation::Add => Profile::Full,
            VectorOperation::FusedMultiplyAdd => Profile::Standard,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        self.bits.kernel(self.op, self.shape).map(drop)
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let (kernel, _) = self.bits.kernel(self.op, self.shape)?;
        code::measure(plan, &kernel)
    }

    fn proofs(&self) -> SimdProofs<Proof> {
        let instructions = code::consists_of(self.bits.instructions(self.op, self.shape));
        SimdProofs {
            bits: instructions.clone(),
            op: instructions.clone(),
            shape: instructions,
        }
    }
}
