//! Vector operations on 64-bit floating-point numbers.

use syscost_params::Value;

use super::{Checksum, Kernel, Shape, machine};
use crate::Unsupported;

/// A set of vector instructions.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
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

/// The vector operation: one instruction, whatever its width.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorOperation {
    /// Addition in every lane.
    Add,
    /// Fused multiply-add in every lane.
    FusedMultiplyAdd,
}

impl Simd {
    /// The name of its registers in the text of a kernel's instructions.
    pub(super) const fn register(self) -> &'static str {
        match self {
            Self::Sse2 => "xmm",
            Self::Avx2 => "ymm",
            Self::Avx512 => "zmm",
            Self::Neon => "q",
        }
    }

    /// Returns the set whose registers these instructions name.
    pub(super) fn of(instructions: &str) -> Option<Self> {
        let names = |simd: &Self| {
            let mut words = instructions.split([' ', ',', ';']);
            words.any(|word| word == simd.register())
        };
        Self::ALL.into_iter().find(names)
    }

    /// 64-bit lanes per register.
    pub const fn lanes(self) -> u64 {
        match self {
            Self::Sse2 | Self::Neon => 2,
            Self::Avx2 => 4,
            Self::Avx512 => 8,
        }
    }
}

impl VectorOperation {
    /// The instructions that its name stands for here, as [`Kernel::instructions`] lists them.
    pub fn instructions(self, simd: Simd, shape: Shape) -> String {
        machine::vector::instructions(simd, self, shape)
    }
}

/// Returns the kernel of a vector operation on 64-bit floating-point numbers.
///
/// # Errors
/// This processor lacks these instructions (detected at run time).
pub fn vector(simd: Simd, operation: VectorOperation, shape: Shape) -> Result<Kernel, Unsupported> {
    let [latency, throughput] = machine::vector::vector(simd, operation)?;
    let one = 1_f64.to_bits();
    let (code, floor_cycles) = match shape {
        Shape::Latency => (latency, 1.5),
        Shape::Throughput => (throughput, 0.12),
    };
    // Every lane counts the operations; exact until 2^53.
    let checksum = Checksum::PerTurn(code.operations() * simd.lanes());
    Ok(Kernel::new(code, &[0, one, one], checksum, floor_cycles))
}

/// Independent chains of a kernel of [`Shape::Throughput`].
const CHAINS: u64 = 12;

impl Kernel {
    /// The result of one iteration of twelve chains of fused operations with a factor of 2 and an
    /// addend of 3: as expected, and as these very instructions compute it. The timed factor of 1,
    /// which makes them count, could not reveal a missing product. `simd` is `None` for scalars.
    pub fn products(&self, simd: Option<Simd>) -> [u64; 2] {
        let steps = self.operations_per_iteration / CHAINS;
        let lane = match simd {
            // The chain goes through the sum: each step adds the product of the operands.
            Some(Simd::Neon) => 6 * steps,
            // The chain goes through the product: each step doubles it and adds 3.
            _ => 3 * ((1 << steps) - 1),
        };
        let expected = CHAINS * simd.map_or(1, Simd::lanes) * lane;
        let operands = &self.data[0].0[1..3];
        let timed = [&operands[0], &operands[1]].map(|word| word.get());
        operands[0].set(2_f64.to_bits());
        operands[1].set(3_f64.to_bits());
        let observed = self.run(1);
        operands[0].set(timed[0]);
        operands[1].set(timed[1]);
        [expected, observed]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{OperandType, Operation, arithmetic};

    #[test]
    fn products_are_made_by_fused_operations_and_by_no_others() {
        for fused in [false, true] {
            let (operation, scalar) = match fused {
                true => (
                    VectorOperation::FusedMultiplyAdd,
                    Operation::FusedMultiplyAdd,
                ),
                false => (VectorOperation::Add, Operation::Add),
            };
            let scalar = arithmetic(scalar, OperandType::F64, Shape::Throughput);
            let vectors =
                Simd::ALL.map(|simd| (Some(simd), vector(simd, operation, Shape::Throughput)));
            for (simd, kernel) in [(None, scalar)].into_iter().chain(vectors) {
                let Ok(kernel) = kernel else { continue };
                let [expected, observed] = kernel.products(simd);
                assert_eq!(
                    expected == observed,
                    fused,
                    "{}: {observed}",
                    kernel.instructions()
                );
                assert_eq!(
                    kernel.run(5),
                    kernel.expected(5),
                    "{}",
                    kernel.instructions()
                );
            }
        }
    }
}
