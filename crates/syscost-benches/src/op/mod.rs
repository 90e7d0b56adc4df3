//! Operations of the core itself: arithmetic, vectors, branches and atomic operations.
//!
//! What single operations of a core cost, in its registers and first-level cache: arithmetic,
//! vectors, branches, atomic operations, and how far it looks ahead. No system call is made and
//! hardly any memory touched, so the numbers belong to the processor, not to the kernel.
//!
//! ## First look
//! - `op.integer{op=multiply,type=i64,shape=latency}`: three or four cycles on most cores.
//! - `op.flops{bits=64,threads=1}`: floating-point operations a second; with more bits, of
//!   vectors.
//! - `op.branch_miss{branch=conditional}`: what a wrongly predicted branch costs.
//! - `op.atomic{op=fetch_add}`: an atomic operation that nobody else contends for.
//!
//! ## Benchmarks
//! `integer`, `float` and `simd` have a latency (each operation waits for the one before) and a
//! throughput (none waits); `flops` is the most that all threads do together. `branch`,
//! `branch_miss`, `branch_targets` and `indirect` are about prediction, `store_forwarding` and
//! `reorder_buffer` about what is in flight, `ramp_up` about a core that was idle.
//!
//! ## Disturbances
//! The core's frequency, which wide vectors may lower, and a neighbour on the same core (SMT),
//! which takes part of its throughput but not of its latencies.

mod atomic;
mod branch;
mod branch_miss;
mod branch_targets;
mod float;
mod flops;
mod indirect;
mod integer;
mod ramp_up;
mod reorder_buffer;
mod reorder_buffer_size;
mod simd;
mod store_forwarding;

use syscost_harness::prelude::*;
use syscost_sys::kernel::{
    self, OperandType, Operation, Shape, Simd, VectorOperation, arithmetic, vector,
};

pub(crate) const GROUP: Group = group! {
    op: "operations of the core",
    integer,
    float,
    simd,
    flops,
    branch,
    branch_miss,
    branch_targets,
    indirect,
    atomic,
    store_forwarding,
    reorder_buffer,
    reorder_buffer_size,
    ramp_up,
};

/// Bits of a vector register.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Bits {
    #[value("64")]
    B64,
    #[value("128")]
    B128,
    #[value("256")]
    B256,
    #[value("512")]
    B512,
}

impl Bits {
    /// The kernel of an operation on 64-bit floating-point numbers in registers of this width, and the
    /// vector extension of these registers.
    fn kernel(
        self,
        operation: VectorOperation,
        shape: Shape,
    ) -> Result<(kernel::Kernel, Option<Simd>), Unsupported> {
        let of = |simd| Ok((vector(simd, operation, shape)?, Some(simd)));
        match self {
            Bits::B64 => Ok((
                arithmetic(scalar(operation), OperandType::F64, shape)?,
                None,
            )),
            // Every processor has at most one of these two.
            Bits::B128 => of(Simd::Neon).or_else(|_| of(Simd::Sse2)),
            Bits::B256 => of(Simd::Avx2),
            Bits::B512 => of(Simd::Avx512),
        }
    }

    /// The instructions that such an operation consists of.
    fn instructions(self, operation: VectorOperation, shape: Shape) -> String {
        match self {
            Bits::B64 => scalar(operation).instructions(OperandType::F64, shape),
            Bits::B128 => operation.instructions(Simd::Sse2, shape),
            Bits::B256 => operation.instructions(Simd::Avx2, shape),
            Bits::B512 => operation.instructions(Simd::Avx512, shape),
        }
    }
}

/// The operation on one number.
const fn scalar(operation: VectorOperation) -> Operation {
    match operation {
        VectorOperation::Add => Operation::Add,
        VectorOperation::FusedMultiplyAdd => Operation::FusedMultiplyAdd,
    }
}
