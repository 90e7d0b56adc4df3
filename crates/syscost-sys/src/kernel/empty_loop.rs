//! Loops that do nothing, in the shapes that compilers give them.

use syscost_params::Value;

use super::machine::empty_loop as code;
use super::{Checksum, Kernel};

/// How the loop counts.
///
/// The operation is one iteration, and here alone nothing is unrolled.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopShape {
    /// A register counts down to zero.
    CountDown,
    /// A register counts up and is compared with the limit.
    CountUp,
    /// As [`LoopShape::CountDown`], with one instruction that does nothing.
    Nop,
    /// The counter and the limit are on the stack, as compilers leave them without optimisation.
    Memory,
}

impl LoopShape {
    /// The instructions that its name stands for here, as [`Kernel::instructions`] lists them.
    pub const fn instructions(self) -> &'static str {
        code::instructions(self)
    }
}

/// Returns the kernel of an empty loop.
pub fn empty_loop(shape: LoopShape) -> Kernel {
    let code = match shape {
        LoopShape::CountDown => code::COUNT_DOWN,
        LoopShape::CountUp => code::COUNT_UP,
        LoopShape::Nop => code::NOP,
        LoopShape::Memory => code::MEMORY,
    };
    // A register's count is a chain of one addition per cycle; a counter in memory can be renamed to that.
    Kernel::new(code, &[], Checksum::PerTurn(1), 0.4)
}
