//! Branches whose outcome the predictor either knows or cannot know.

use super::machine::branch as code;
use super::table::{TABLE_BYTES, memory_with, random_words};
use super::{Checksum, Code, Kernel, Targets};

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
    /// A conditional branch on the next byte of a table, which is loaded for it, with an addition
    /// that a taken branch skips. As with `OnBit`, what a wrong prediction costs is a difference:
    /// here it includes the load, which has to be done before the branch can be checked.
    OnLoad(Directions),
    /// A branch through a register that always leads to the same place.
    Indirect,
    /// A branch through a register to one of
    /// [`TARGETS`](super::TARGETS) places, chosen by a table, and a direct branch back. A wrong prediction costs `(time
    /// with Random - time with Same) / (15/16)`.
    IndirectByTable(Targets),
}

impl Branch {
    /// The instructions that its name stands for here, as [`Kernel::instructions`] lists them.
    pub const fn instructions(self) -> &'static str {
        code::instructions(self)
    }
}

/// The bits or bytes of a table of directions: on a one the branch falls through, on a zero it
/// jumps.
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
    /// One bit for each branch.
    fn bits(self) -> Vec<u64> {
        let word = match self {
            Self::Taken => 0,
            Self::NotTaken => u64::MAX,
            Self::Alternating => 0xAAAA_AAAA_AAAA_AAAA,
            Self::Random(seed) => return random_words(seed).collect(),
        };
        vec![word; TABLE_BYTES / 8]
    }

    /// One byte, 0 or 1, for each branch.
    fn bytes(self) -> impl Iterator<Item = u8> {
        let bits = self.bits();
        (0..TABLE_BYTES).map(move |at| (bits[at / 64] >> (at % 64)) as u8 & 1)
    }
}

/// Returns the kernel of a branch; one operation is one branch with what [`Branch`] says it needs.
pub fn branch(branch: Branch) -> Kernel {
    let code = match branch {
        Branch::Taken => code::TAKEN,
        Branch::NotTaken => code::NOT_TAKEN,
        Branch::OnBit(_) => code::ON_BIT,
        Branch::OnLoad(_) => code::ON_LOAD,
        Branch::Indirect => code::INDIRECT,
        Branch::IndirectByTable(_) => code::INDIRECT_BY_TABLE,
    };
    // A core executes at most two taken branches per cycle and a few more that are not taken.
    let floor_cycles = 0.2;
    match branch {
        Branch::Taken | Branch::NotTaken | Branch::Indirect => {
            Kernel::new(code, &[], Checksum::PerTurn(1), floor_cycles)
        }
        Branch::OnBit(directions) => {
            let table = directions.bits();
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
        Branch::OnLoad(directions) => {
            let table: Vec<u8> = directions.bytes().collect();
            let ones = sums(&table, code.operations(), u64::from);
            Kernel::new(
                code,
                &memory_with(words(&table)),
                Checksum::Table(ones),
                floor_cycles,
            )
        }
        Branch::IndirectByTable(targets) => by_table(code, targets, floor_cycles),
    }
}

/// Returns a kernel that chooses among targets: target `k` adds `k + 1` to the checksum.
pub(super) fn by_table(code: Code, targets: Targets, floor_cycles: f64) -> Kernel {
    let table = targets.table();
    let sums = sums(&table, code.operations(), |target| u64::from(target) + 1);
    Kernel::new(
        code,
        &memory_with(words(&table)),
        Checksum::Table(sums),
        floor_cycles,
    )
}

/// What each iteration of this many operations adds up to, where each byte adds `value`.
fn sums(table: &[u8], operations: u64, value: impl Fn(u8) -> u64) -> Box<[u64]> {
    table
        .chunks_exact(operations as usize)
        .map(|iteration| iteration.iter().map(|&byte| value(byte)).sum())
        .collect()
}

/// The bytes as words of memory.
fn words(table: &[u8]) -> impl Iterator<Item = u64> {
    let words = table.as_chunks::<8>().0.iter();
    words.map(|&bytes| u64::from_ne_bytes(bytes))
}
