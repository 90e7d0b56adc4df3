//! Loads of what was stored just before.

use syscost_params::Value;

use super::machine::forward as code;
use super::{Checksum, Kernel};

/// Where the load is, relative to the store before it.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forward {
    /// The same eight bytes, within a cache line.
    Same,
    /// The lower four of the eight bytes stored.
    Narrower,
    /// Eight bytes, of which the store wrote the lower four.
    Wider,
    /// Eight bytes, written by two stores of four.
    Halves,
    /// The same eight bytes, four on one cache line and four on the next.
    AcrossLines,
}

impl Forward {
    /// The part of the final value that does not count operations, which shows which kernel ran.
    /// Its upper half is 1 if it comes from the initial value, 2 from memory, and 3 from the second
    /// of two stores. Bit 40 is what the store left on the next line.
    pub const fn arrives(self) -> u64 {
        match self {
            Self::Same => 1 << 32,
            Self::Narrower => 0,
            Self::Wider => 2 << 32,
            Self::Halves => 3 << 32,
            Self::AcrossLines => (1 << 32) + (1 << 40),
        }
    }
}

/// The kernel of a chain through memory: store a value, load it, add one. One operation is all three.
pub fn forward(forward: Forward) -> Kernel {
    let code = match forward {
        Forward::Same => code::SAME,
        Forward::Narrower => code::NARROWER,
        Forward::Wider => code::WIDER,
        Forward::Halves => code::HALVES,
        Forward::AcrossLines => code::ACROSS_LINES,
    };
    // The addition alone takes one cycle; a core that renames memory adds nothing to it.
    let floor_cycles = 0.8;
    let checksum = Checksum::Begun {
        once: forward.arrives(),
        per_iteration: code.operations(),
    };
    Kernel::new(code, &[], checksum, floor_cycles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_one_kernel_is_no_other_kernels() {
        for ran in Forward::ALL {
            for named in Forward::ALL.into_iter().filter(|named| *named != ran) {
                let (ran, named) = (forward(ran), forward(named));
                assert_ne!(ran.run(7), named.expected(7), "{}", ran.instructions());
            }
        }
    }
}
