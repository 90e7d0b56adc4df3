//! Code of any size that is executed from its beginning to its end.

use syscost_params::Value;

use super::written::{Iteration, Written};
use super::{Work, machine};
use crate::Unsupported;
use crate::memory::Memory;

/// What most of the code consists of.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filler {
    /// Instructions that do nothing, of 8 bytes where the processor has such long ones (x86-64) and
    /// of 4 elsewhere.
    Nop,
    /// Additions of one, of 4 bytes each, to seven registers in rotation.
    Add,
}

impl Filler {
    /// Number of additions of one in a block.
    pub const fn additions(self) -> u64 {
        match self {
            Self::Nop => 0,
            Self::Add => ((Fetch::BLOCK - Fetch::HEAD) / ADDITION) as u64,
        }
    }

    /// Bytes of one filler instruction.
    pub const fn instruction_bytes(self) -> usize {
        match self {
            Self::Nop => machine::written::NOP_BYTES,
            Self::Add => ADDITION,
        }
    }
}

/// Bytes of an addition of one.
const ADDITION: usize = 4;

/// This many bytes of code without a branch, in blocks of [`Fetch::BLOCK`] bytes, written at run
/// time. One operation is one block.
///
/// What proves the blocks: each adds its number, from 1 on, so that a few blocks executed
/// repeatedly do not give the same sum as many. The additions of one are included in the sum.
#[derive(Debug)]
pub struct Fetch {
    code: Written,
    filler: Filler,
    blocks: u64,
}

impl Fetch {
    /// Bytes per block.
    pub const BLOCK: usize = 1024;

    /// Bytes at the beginning of a block that add its number.
    pub const HEAD: usize = 8;

    /// Largest size in bytes: on aarch64 a branch back reaches no farther than twice this.
    pub const MAX_BYTES: usize = 64 << 20;

    /// Writes the code.
    ///
    /// # Errors
    /// When `bytes` is not a multiple of a block or exceeds [`Fetch::MAX_BYTES`], the processor is
    /// not supported, or the system does not permit writing code or has no room for it.
    pub fn write(filler: Filler, bytes: usize) -> Result<Self, Unsupported> {
        if !(1..=Self::MAX_BYTES).contains(&bytes) || !bytes.is_multiple_of(Self::BLOCK) {
            return Err(Unsupported::new(format!(
                "{bytes} bytes of code: choose a multiple of {}, at most {}",
                Self::BLOCK,
                Self::MAX_BYTES
            )));
        }
        let blocks = bytes / Self::BLOCK;
        Ok(Self {
            code: Written::new(&machine::written::fetch(filler, blocks))?,
            filler,
            blocks: blocks as u64,
        })
    }

    /// The sum that one iteration over this many blocks returns.
    pub const fn sum(filler: Filler, blocks: u64) -> u64 {
        blocks * (blocks + 1) / 2 + blocks * filler.additions()
    }

    /// The memory that the code lies in: a little longer than its blocks, in small pages.
    pub fn memory(&self) -> &Memory {
        self.code.memory()
    }

    /// What one iteration executes, decoded from the bytes that are run.
    ///
    /// # Errors
    /// When the code contains an instruction that is not expected there.
    pub fn iteration(&self) -> Result<Iteration, Unsupported> {
        self.code.iteration()
    }
}

impl Work for Fetch {
    fn operations_per_iteration(&self) -> u64 {
        self.blocks
    }

    fn floor_cycles(&self) -> f64 {
        // No core executes more than sixteen instructions per cycle.
        Self::BLOCK as f64 / (16 * self.filler.instruction_bytes()) as f64
    }

    fn bytes_per_operation(&self) -> Option<u64> {
        Some(Self::BLOCK as u64)
    }

    #[inline]
    fn run(&self, iterations: u64) -> u64 {
        // SAFETY: `fetch` writes a kernel that touches no memory.
        unsafe { (self.code.entry())(iterations, std::ptr::null_mut(), 0) }
    }

    fn expected(&self, iterations: u64) -> u64 {
        iterations.wrapping_mul(Self::sum(self.filler, self.blocks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_adds_its_number_and_its_additions_once_an_iteration() {
        for filler in Filler::ALL {
            // Also beyond what a conditional branch of aarch64 reaches, and beyond what one of its
            // additions holds.
            for blocks in [1, 2, 100, 5000] {
                let fetch = or_skip!(Fetch::write(filler, blocks * Fetch::BLOCK));
                let numbers: u64 = (1..=blocks as u64).sum();
                let additions = match filler {
                    Filler::Nop => 0,
                    Filler::Add => 254 * blocks as u64,
                };
                for iterations in [0, 1, 7] {
                    let sum = iterations * (numbers + additions);
                    assert_eq!(
                        fetch.run(iterations),
                        sum,
                        "{filler:?} {blocks} {iterations}"
                    );
                    assert_eq!(
                        fetch.expected(iterations),
                        sum,
                        "{filler:?} {blocks} {iterations}"
                    );
                }
            }
        }
    }

    #[test]
    fn all_of_the_code_is_resident_and_little_more_than_its_blocks() {
        let bytes = 1 << 20;
        let fetch = or_skip!(Fetch::write(Filler::Nop, bytes));
        let page = fetch.memory().pages().bytes().expect("there are pages");
        assert_eq!(fetch.memory().bytes(), (bytes + 1).next_multiple_of(page));
        let resident = or_skip!(fetch.memory().resident());
        assert_eq!(resident.bytes, fetch.memory().bytes());
    }

    #[test]
    fn few_blocks_gone_through_more_often_are_not_many() {
        for filler in Filler::ALL {
            assert_ne!(32 * Fetch::sum(filler, 16), Fetch::sum(filler, 512));
        }
    }

    #[test]
    fn the_bytes_show_what_a_iteration_consists_of() {
        for filler in Filler::ALL {
            for blocks in [1, 2, 100, 5000] {
                let fetch = or_skip!(Fetch::write(filler, blocks * Fetch::BLOCK));
                let iteration = fetch.iteration().unwrap();
                let bytes = blocks * Fetch::BLOCK;
                assert_eq!(
                    (iteration.bytes, iteration.span, iteration.jumps),
                    (bytes, bytes, 0)
                );
                assert_eq!((iteration.numbers, iteration.loads), (blocks, 0));
                let others = blocks * (Fetch::BLOCK - Fetch::HEAD) / filler.instruction_bytes();
                let expected = match filler {
                    Filler::Nop => (others, 0),
                    Filler::Add => (0, others),
                };
                assert_eq!(
                    (iteration.nops, iteration.additions),
                    expected,
                    "{filler:?} {blocks}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_whole_number_of_blocks_is_refused() {
        for bytes in [0, 1, Fetch::BLOCK + 4, Fetch::MAX_BYTES + Fetch::BLOCK] {
            let reason = Fetch::write(Filler::Nop, bytes)
                .expect_err("refused")
                .to_string();
            assert!(reason.contains("choose a multiple of"), "{reason}");
        }
    }
}
