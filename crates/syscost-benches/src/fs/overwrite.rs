//! Shared: blocks of a file that are overwritten one after another, with content that says where
//! it belongs and how often its block has been written.

use std::fs::File;

use rustix::fs::OFlags;
use rustix::io::pwrite;
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::files::{Buffer, stamp};

use super::access::Access;
use super::content::read_back;
use super::named::claim_whole;
use super::space::{ALIGNMENT, Space, Stamped};

const SIZE: Argument = Argument {
    position: 2,
    name: "size",
};
const OFFSET: Argument = Argument {
    position: 3,
    name: "offset",
};

/// Upper bound for the operations of an audited child. What it writes is in the file, but its count is
/// lost with it.
const MAX_AUDITED: usize = 128;

/// The blocks of a file and their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocks {
    /// Bytes of the file.
    pub(super) file: u64,
    /// Bytes of a block.
    pub(super) block: u64,
    pub(super) access: Access,
}

impl Blocks {
    /// Claims that every write has the size of one block, and that they come in this order.
    pub(super) fn expect(self, b: &mut Bencher) {
        b.expect_argument(Sysno::PWRITE64, SIZE, Given::Always(self.block));
        let offsets = match self.access {
            Access::Sequential => Given::InOrder {
                step: self.block,
                end: self.file,
            },
            Access::Random => Given::Apart(2 * self.block),
        };
        b.expect_argument(Sysno::PWRITE64, OFFSET, offsets);
    }

    /// Offsets of the blocks, in the order in which they are written, repeatedly. In random order one
    /// or two may be missing.
    fn offsets(self, random: &mut fastrand::Rng) -> Vec<u64> {
        let numbers = self.access.order(self.file / self.block, random);
        numbers
            .into_iter()
            .map(|number| number * self.block)
            .collect()
    }
}

/// Overwrites a file's blocks, each time with other content.
pub(super) struct Overwriter {
    file: File,
    buffer: Buffer,
    offsets: Vec<u64>,
    /// The original file with its seed.
    stamped: Stamped,
    seed: u64,
    /// Index of the next offset.
    next: usize,
    /// How often all of them have been written.
    laps: u64,
}

impl Overwriter {
    /// An overwriter of a new file with these blocks, opened with these flags, e.g. O_DIRECT.
    pub(super) fn new(
        b: &mut Bencher,
        space: &Space,
        blocks: Blocks,
        flags: OFlags,
    ) -> Result<Self, Failure> {
        let seed = b.random().u64(..);
        let stamped = space.file("written_over", blocks.file, seed)?;
        let folder = space.folder();
        let file = folder.open_to_write(stamped.name(), flags.bits() as i32)?;
        let mut writer = Self {
            file,
            buffer: Buffer::new(blocks.block as usize, ALIGNMENT),
            offsets: blocks.offsets(b.random()),
            stamped,
            seed,
            next: 0,
            laps: 0,
        };
        claim_whole(b, blocks.file, blocks.block, writer.offsets.len());
        writer.stage_whole();
        Ok(writer)
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.offsets.len()
    }

    /// Number of pages that these blocks occupy.
    pub(super) fn pages(&self) -> u64 {
        (self.blocks() * self.buffer.len() / page_size()) as u64
    }

    /// Number of blocks written.
    pub(super) fn written(&self) -> u64 {
        self.laps * self.offsets.len() as u64 + self.next as u64
    }

    /// Stamps the first `bytes` bytes of the next block.
    #[inline(always)]
    pub(super) fn stage(&mut self, bytes: usize) {
        let seed = seed(self.seed, self.laps + 1);
        stamp::fill(&mut self.buffer[..bytes], self.offsets[self.next], seed);
    }

    /// Stamps all of the next block.
    pub(super) fn stage_whole(&mut self) {
        self.stage(self.buffer.len());
    }

    /// Writes the next block, by one call.
    #[inline(always)]
    pub(super) fn write(&mut self) -> Result<(), Failure> {
        let written = pwrite(&self.file, &self.buffer, self.offsets[self.next])
            .map_err(|cause| Failure::of("pwrite", cause))?;
        if written != self.buffer.len() {
            let length = self.buffer.len();
            return Err(Failure::Failed(format!(
                "pwrite wrote {written} of {length} bytes"
            )));
        }
        self.next += 1;
        if self.next == self.offsets.len() {
            self.next = 0;
            self.laps += 1;
        }
        Ok(())
    }

    /// Claims, in the evidence pass, that each block of the file holds what was last written there.
    /// All blocks must have been stamped.
    pub(super) fn claim_content(&self, b: &mut Bencher, space: &Space) -> Result<(), Failure> {
        if b.is_timed() {
            return Ok(());
        }
        let content = read_back(space, self.stamped.name())?;
        let right = (0..self.blocks())
            .filter(|index| self.is_right(*index, &content.bytes))
            .count();
        b.claim_equal(
            "blocks of the file that hold what was written there last",
            self.blocks(),
            right,
            content.source,
        );
        Ok(())
    }

    /// Whether the file's content includes what was last written into one of the blocks: by this
    /// process, or by an audited child after it.
    fn is_right(&self, index: usize, content: &[u8]) -> bool {
        let times = self.laps + u64::from(index < self.next);
        let ahead = MAX_AUDITED.div_ceil(self.blocks()) as u64;
        let (offset, length) = (self.offsets[index], self.buffer.len());
        let Some(block) = content.get(offset as usize..offset as usize + length) else {
            return false;
        };
        (times..=times + ahead)
            .any(|times| stamp::check(block, offset, seed(self.seed, times)).is_ok())
    }
}

/// The seed of what is written into a block the `times`th time; the original content has the file's
/// own seed. Seeds differ in their high bits, which positions do not use.
fn seed(first: u64, times: u64) -> u64 {
    first ^ times.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lap_has_content_of_its_own() {
        let mut block = [0; 4096];
        stamp::fill(&mut block, 8192, seed(7, 1));
        assert!(stamp::check(&block, 8192, seed(7, 1)).is_ok());
        for times in [0, 2, 3] {
            assert!(stamp::check(&block, 8192, seed(7, times)).is_err());
        }
    }
}
