//! Branches whose outcome the predictor either knows or cannot know.

use super::table::{TABLE_BYTES, memory_with, random_words};
use super::{Checksum, Code, Kernel, Targets, machine};
use crate::Unsupported;

/// A kind of branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branch {
    /// A conditional branch that is always taken, each 16 bytes apart.
    Taken,
    /// A conditional branch that is never taken.
    NotTaken,
    /// A conditional branch on the next bit of a table, with one shift to get the bit and an addition that
    /// a taken branch skips. The instructions are the same whatever the table holds, so what a
    /// wrong prediction costs is `(time with Random - time with Alternating) / 0.5`.
    OnBit(Directions),
    /// A branch through a register that always leads to the same place.
    Indirect,
    /// A branch through a register to one of
    /// [`TARGETS`](super::TARGETS) places, chosen by a table, and a direct branch back. A wrong prediction costs `(time
    /// with Random - time with Same) / (15/16)`.
    IndirectByTable(Targets),
}

/// The bits of a table of directions: on a one the branch falls through, on a zero it jumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directions {
    /// Every branch is taken.
    Taken,
    /// No branch is taken.
    NotTaken,
    /// Every second branch is taken: predictable, and as many are taken as with random directions.
    Alternating,
    /// Random, from this seed: predicted correctly half of the time.
    Random(u64),
}

impl Directions {
    fn table(self) -> Vec<u64> {
        let word = match self {
            Self::Taken => 0,
            Self::NotTaken => u64::MAX,
            Self::Alternating => 0xAAAA_AAAA_AAAA_AAAA,
            Self::Random(seed) => return random_words(seed).collect(),
        };
        vec![word; TABLE_BYTES / 8]
    }
}

/// Returns the kernel of a branch; one operation is one branch with what [`Branch`] says it needs.
///
/// # Errors
/// No kernel has been written for this processor.
pub fn branch(branch: Branch) -> Result<Kernel, Unsupported> {
    let code = machine::branch(branch)?;
    // A core executes at most two taken branches per cycle and a few more that are not taken.
    let floor_cycles = 0.2;
    Ok(match branch {
        Branch::Taken | Branch::NotTaken | Branch::Indirect => {
            Kernel::new(code, &[], Checksum::PerTurn(1), floor_cycles)
        }
        Branch::OnBit(directions) => {
            let table = directions.table();
            let ones = table
                .iter()
                .map(|word| u64::from(word.count_ones()))
                .collect();
            Kernel::new(
                code,
                &memory_with(table),
                Checksum::Table(ones),
                floor_cycles,
            )
        }
        Branch::IndirectByTable(targets) => by_table(code, targets, floor_cycles),
    })
}

/// Returns a kernel that chooses among targets: target `k` adds `k + 1` to the checksum.
pub(super) fn by_table(code: Code, targets: Targets, floor_cycles: f64) -> Kernel {
    let table = targets.table();
    let sums = table
        .chunks_exact(code.operations as usize)
        .map(|turn| turn.iter().map(|&target| u64::from(target) + 1).sum())
        .collect();
    let words = table
        .as_chunks::<8>()
        .0
        .iter()
        .map(|&bytes| u64::from_ne_bytes(bytes));
    Kernel::new(
        code,
        &memory_with(words),
        Checksum::Table(sums),
        floor_cycles,
    )
}
