//! Many branches at different places, each taken to the next.

use syscost_params::Value;

use super::written::{Iteration, Written};
use super::{Work, machine};
use crate::Unsupported;

/// What each block of code does.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// Counts, then jumps to the next block; the bytes in between would trap.
    Jumps,
    /// Counts, then executes no-ops until the next block begins: the same length without a branch.
    Straight,
}

/// This many blocks of [`Jumps::SPACING`] bytes each, written at run time. One operation is one
/// block, which counts itself.
#[derive(Debug)]
pub struct Jumps {
    code: Written,
    path: Path,
    blocks: u64,
}

impl Jumps {
    /// Bytes from one block to the next.
    pub const SPACING: usize = 16;

    /// Largest number of blocks.
    pub const MAX_BLOCKS: usize = 1 << 15;

    /// Writes the code.
    ///
    /// # Errors
    /// When there are no blocks or more than [`Jumps::MAX_BLOCKS`], the processor is not supported,
    /// or the system does not permit writing code.
    pub fn write(path: Path, blocks: usize) -> Result<Self, Unsupported> {
        if !(1..=Self::MAX_BLOCKS).contains(&blocks) {
            let reason = format!("{blocks} blocks of code: choose 1 to {}", Self::MAX_BLOCKS);
            return Err(Unsupported::new(reason));
        }
        Ok(Self {
            code: Written::new(&machine::written::jumps(path, blocks))?,
            path,
            blocks: blocks as u64,
        })
    }

    /// What one iteration executes, decoded from the bytes that are run.
    ///
    /// # Errors
    /// When the code contains an instruction that is not expected there.
    pub fn iteration(&self) -> Result<Iteration, Unsupported> {
        self.code.iteration()
    }
}

impl Work for Jumps {
    fn operations_per_iteration(&self) -> u64 {
        self.blocks
    }

    fn floor_cycles(&self) -> f64 {
        match self.path {
            // No core takes more than two branches per cycle.
            Path::Jumps => 0.4,
            // A block has three or four instructions.
            Path::Straight => 0.2,
        }
    }

    #[inline]
    fn run(&self, iterations: u64) -> u64 {
        // SAFETY: `jumps` writes a kernel that touches no memory.
        unsafe { (self.code.entry())(iterations, std::ptr::null_mut(), 0) }
    }

    fn expected(&self, iterations: u64) -> u64 {
        iterations * self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_counts_once_an_iteration() {
        for path in Path::ALL {
            for blocks in [1, 2, 100, 16_384] {
                let jumps = or_skip!(Jumps::write(path, blocks));
                for iterations in [0, 1, 7] {
                    assert_eq!(
                        jumps.run(iterations),
                        iterations * blocks as u64,
                        "{path:?} {blocks}"
                    );
                }
                let iteration = jumps.iteration().unwrap();
                let expected = if path == Path::Jumps { blocks } else { 0 };
                assert_eq!(iteration.jumps, expected, "{blocks}");
                assert_eq!(iteration.span, blocks * Jumps::SPACING, "{path:?}");
                assert_eq!(
                    (iteration.additions, iteration.nops == 0),
                    (blocks, path == Path::Jumps)
                );
                assert_eq!(iteration.bytes == iteration.span, path == Path::Straight);
            }
        }
    }

    #[test]
    fn too_many_or_none_are_refused() {
        for blocks in [0, Jumps::MAX_BLOCKS + 1] {
            let reason = Jumps::write(Path::Jumps, blocks)
                .expect_err("refused")
                .to_string();
            assert!(reason.contains("choose 1 to"), "{reason}");
        }
    }
}
