//! Shared: blocks of a file that are overwritten one after another, with content that says where
//! it belongs and how often its block has been written.

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::AsRawFd;

use rustix::fs::OFlags;
use rustix::io::pwrite;
use syscost_harness::prelude::*;
use syscost_sys::files::{Buffer, stamp};

use super::blocks::{Blocks, see_blocks};
use super::space::{ALIGNMENT, Space, Stamped};
use super::waits::{MAX_MOVED, PerOperation, Waits};
use crate::witness::files::see_direct;

/// Maximum number of operations of an audited child. What it writes is in the file, but its count is
/// lost with it.
const MAX_AUDITED: usize = 128;

/// Overwrites a file's blocks, each time with other content.
pub(super) struct Overwriter {
    file: File,
    buffer: Buffer,
    offsets: Vec<u64>,
    /// The original file with its seed.
    stamped: Stamped,
    seed: u64,
    next: usize,
    /// How often all of them have been written.
    laps: u64,
}

impl Overwriter {
    /// An overwriter of a new file with these blocks, opened with these flags, e.g. O_DIRECT.
    /// Reports how it is open, and claims that it is this file that is written to. To be called
    /// before the measurement.
    pub(super) fn new(
        plan: &mut Plan,
        space: &Space,
        blocks: Blocks,
        flags: OFlags,
    ) -> Result<Self, Failure> {
        let seed = plan.random().u64(..);
        let stamped = space.file("written_over", blocks.all, seed)?;
        let folder = space.folder();
        let file = folder.open_to_write(stamped.name(), flags.bits() as i32)?;
        see_direct(plan, &file)?;
        let own = ArgumentValue::Always(file.as_raw_fd() as u64);
        plan.expect_argument(Sysno::PWRITE64, Argument::at(0, "descriptor"), own);
        let mut writer = Self {
            file,
            buffer: Buffer::new(blocks.size.get(), ALIGNMENT),
            offsets: blocks.offsets(plan.random()),
            stamped,
            seed,
            next: 0,
            laps: 0,
        };
        writer.stamp_whole();
        Ok(writer)
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn blocks(&self) -> usize {
        self.offsets.len()
    }

    pub(super) fn written(&self) -> u64 {
        self.laps * self.offsets.len() as u64 + self.next as u64
    }

    /// Stamps the next block: a single stamp makes it different; where contents are compared, each
    /// of its bytes shows where it belongs.
    #[inline(always)]
    pub(super) fn stage(&mut self, compares: Compares) {
        self.stamp(match compares.all() {
            false => stamp::BYTES,
            true => self.buffer.len(),
        });
    }

    #[inline(always)]
    fn stamp(&mut self, bytes: usize) {
        let seed = seed(self.seed, self.laps + 1);
        stamp::fill(&mut self.buffer[..bytes], self.offsets[self.next], seed);
    }

    fn stamp_whole(&mut self) {
        self.stamp(self.buffer.len());
    }

    /// Writes the next block, by one call.
    #[inline(always)]
    pub(super) fn write(&mut self) -> Result<(), Failure> {
        let written = pwrite(&self.file, &self.buffer, self.offsets[self.next]).tried("pwrite")?;
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

    /// Measures writes that wait for the device, each individually; `look` is called before each of
    /// them, untimed, and after the last, and `finish` completes a write. Claims that the device
    /// received what was written, and at most this many bytes `more`.
    pub(super) fn measure(
        self,
        plan: Plan<'_>,
        more: f64,
        mut look: impl FnMut(&File),
        finish: impl Fn(&File) -> Result<(), Failure>,
    ) -> Result<(Outcome<'_>, Self, Result<PerOperation, Unsupported>), Failure> {
        let (waits, size) = (Waits::begin(&self.file), self.buffer.len() as f64);
        let writer = RefCell::new(self);
        let prepare = |_: &Waits| {
            let mut writer = writer.borrow_mut();
            look(&writer.file);
            writer.stamp_whole();
            Ok(())
        };
        let write = || {
            let mut writer = writer.borrow_mut();
            writer.write()?;
            finish(&writer.file)
        };
        let bytes = (size, MAX_MOVED * size + more);
        let (outcome, moved) = waits.measure(plan, true, bytes, prepare, write)?;
        Ok((outcome, writer.into_inner(), moved))
    }

    /// Reports which blocks were written, and claims, in the evidence pass, that each holds what
    /// was last written there. All blocks must have been stamped.
    pub(super) fn claim_content(&self, b: &mut Bencher, space: &Space) -> Result<(), Failure> {
        see_blocks(b, self.blocks() as u64, self.buffer.len() as u64);
        if b.is_timed() {
            return Ok(());
        }
        let (content, source) = space.read_back(self.stamped.name())?;
        let right = (0..self.blocks())
            .filter(|index| self.is_right(*index, &content))
            .count();
        b.claim_equal(
            "blocks of the file that hold what was written there last",
            self.blocks(),
            right,
            source,
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
