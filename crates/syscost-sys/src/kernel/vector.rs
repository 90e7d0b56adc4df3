//! Vector operations on 64-bit floating numbers.

use super::{Checksum, Kernel, Shape, machine};
use crate::Unsupported;

/// A set of vector instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simd {
    /// x86-64, 128 bits; the fused operation is of FMA3.
    Sse2,
    /// x86-64, 256 bits.
    Avx2,
    /// x86-64, 512 bits (AVX-512F).
    Avx512,
    /// aarch64, 128 bits.
    Neon,
}

/// A vector operation; one operation is one instruction, whatever its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorOperation {
    /// Addition in every lane.
    Add,
    /// Fused multiply and add in every lane.
    FusedMultiplyAdd,
}

impl Simd {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sse2, Self::Avx2, Self::Avx512, Self::Neon];

    /// A word for ids and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// 64-bit lanes of a register.
    pub const fn lanes(self) -> u64 {
        match self {
            Self::Sse2 | Self::Neon => 2,
            Self::Avx2 => 4,
            Self::Avx512 => 8,
        }
    }
}

impl VectorOperation {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Add, Self::FusedMultiplyAdd];

    /// A word for ids and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::FusedMultiplyAdd => "fused_multiply_add",
        }
    }
}

/// The kernel of a vector operation on 64-bit floating numbers.
///
/// # Errors
/// This processor has not these instructions (found out while running).
pub fn vector(simd: Simd, operation: VectorOperation, shape: Shape) -> Result<Kernel, Unsupported> {
    let code = machine::vector(simd, operation, shape)?;
    let one = 1_f64.to_bits();
    let floor_cycles = match shape {
        Shape::Latency => 1.5,
        Shape::Throughput => 0.12,
    };
    // Every lane counts the operations; exact until 2^53.
    let checksum = Checksum::PerTurn(code.operations * simd.lanes());
    Ok(Kernel::new(code, &[0, one, one], checksum, floor_cycles))
}
