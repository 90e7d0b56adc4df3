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
use syscost_sys::kernel::{OperandType, Operation, Shape, arithmetic};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Floating-point operation, latency and throughput",
    tags: "instruction latency, fpu, arithmetic, add, multiply, divide, square root, fma, \
        fused multiply-add, lat_ops, par_ops",
    ..Benchmark::of::<Float>()
};

#[derive(Params, Clone)]
struct Float {
    op: Operation,
    r#type: OperandType,
    shape: Shape,
}

impl Measured for Float {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        use Operation::{Add, Divide, FusedMultiplyAdd, Multiply, SquareRoot};
        rows!(Float {
            op: [Add, Multiply, FusedMultiplyAdd, Divide, SquareRoot],
            r#type: [OperandType::F32, OperandType::F64],
            shape: Shape::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        if self.r#type != OperandType::F64 || self.op == Operation::Multiply {
            return Profile::Full;
        }
        match self.shape {
            Shape::Latency => Profile::Quick,
            Shape::Throughput => Profile::Standard,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        arithmetic(self.op, self.r#type, self.shape).map(drop)
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        code::measure(plan, &arithmetic(self.op, self.r#type, self.shape)?)
    }

    fn proofs(&self) -> FloatProofs<Proof> {
        let instructions = self.op.instructions(self.r#type, self.shape);
        let instructions = code::consists_of(instructions);
        FloatProofs {
            op: instructions.clone(),
            r#type: instructions.clone(),
            shape: instructions,
        }
    }
}
