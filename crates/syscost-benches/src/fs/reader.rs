//! Shared: reads of a file block by block by pread, each of which is counted and checked.

use std::fs::File;
use std::os::fd::AsRawFd;

use rustix::io::{Errno, pread};
use syscost_harness::prelude::*;
use syscost_sys::files::Buffer;

use super::blocks::{Access, Blocks};
use super::space::{ALIGNMENT, Stamped};
use super::transfer::{Source, Tally, Transfer};

/// Bytes per read where a file is only brought into the page cache.
const THROUGH: usize = 64 << 10;

/// Maximum number of audited calls: with more blocks than this, none is read twice.
const AUDITED: usize = 32;

/// Reads the blocks of a stamped file.
pub(super) struct Reader<'f> {
    written: &'f Stamped,
    file: &'f File,
    buffer: Buffer,
    /// Offsets of the blocks, in the order in which they are read.
    offsets: Vec<u64>,
    /// The place in that order of the next block.
    next: usize,
    reads: u64,
    /// Whether content is checked: not in the timed pass.
    compares: Compares,
}

impl<'f> Reader<'f> {
    /// A reader of these blocks; claims that it reads that file.
    pub(super) fn of(plan: &mut Plan, source: &'f Source, blocks: Blocks) -> Self {
        let own = ArgumentValue::Always(source.file().as_raw_fd() as u64);
        plan.expect_argument(Sysno::PREAD64, Argument::at(0, "descriptor"), own);
        let offsets = blocks.offsets(plan.random());
        let buffer = Buffer::new(blocks.size.get(), ALIGNMENT);
        if blocks.access == Access::Random && offsets.len() > AUDITED {
            plan.expect_argument(
                Sysno::PREAD64,
                Argument::at(3, "block"),
                ArgumentValue::Different,
            );
        }
        Self {
            written: source.written(),
            file: source.file(),
            buffer,
            offsets,
            next: 0,
            reads: 0,
            compares: plan.compares(),
        }
    }

    #[cold]
    fn cut_short(&self, offset: u64, count: usize) -> Failure {
        let wanted = self.buffer.len();
        Failure::Failed(format!("pread of {wanted} bytes at {offset} gave {count}"))
    }
}

impl Transfer for Reader<'_> {
    #[inline(always)]
    fn next(&mut self) -> Result<(), Failure> {
        let offset = self.offsets[self.next];
        self.next += 1;
        if self.next == self.offsets.len() {
            self.next = 0;
        }
        match pread(self.file, &mut self.buffer[..], offset) {
            Ok(count) if count == self.buffer.len() => self.reads += 1,
            Ok(count) => return Err(self.cut_short(offset, count)),
            Err(cause) => return Err(refused(self.written, cause)),
        }
        if self.compares.all() {
            self.written.check(&self.buffer, offset)?;
        }
        Ok(())
    }

    fn lap(&mut self) -> Result<(), Failure> {
        (0..self.offsets.len()).try_for_each(|_| self.next())
    }

    fn check_last(&self) -> Result<(), Failure> {
        // By how many were read, not by the place that the reads went by.
        let last = (self.reads as usize - 1) % self.offsets.len();
        self.written.check(&self.buffer, self.offsets[last])
    }

    fn tally(&self) -> Tally {
        Tally {
            blocks: self.offsets.len() as u64,
            size: self.buffer.len() as u64,
            transfers: self.reads,
        }
    }
}

/// Reads and checks all of a file in order.
pub(super) fn read_through(written: &Stamped, file: &File) -> Result<(), Failure> {
    let mut part = vec![0; THROUGH];
    let mut offset = 0;
    while offset < written.bytes() {
        let count = pread(file, &mut part[..], offset).map_err(|cause| refused(written, cause))?;
        if count == 0 {
            return Err(Failure::Failed(format!("the file ends at byte {offset}")));
        }
        written.check(&part[..count], offset)?;
        offset += count as u64;
    }
    Ok(())
}

#[cold]
fn refused(written: &Stamped, cause: Errno) -> Failure {
    Failure::of(&format!("pread of {}", written.name()), cause)
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Findings;
    use syscost_harness::directory::DEFAULT;

    use super::*;
    use crate::fs::space::Space;
    use crate::fs::transfer::State;
    use crate::testing::findings_by;

    /// The findings of reading a file of 1 MiB in blocks of this size, while another one, which has
    /// these many bytes, is read instead.
    fn read_another(pass: Pass, size: Bytes, bytes: u64) -> Result<Findings, Failure> {
        findings_by(
            &Case::default(),
            pass,
            &[calls(Sysno::PREAD64)],
            |mut plan| {
                let source = Source::open(&mut plan, DEFAULT, 1 << 20, State::Warm, size)?;
                let other = Space::in_directory(&mut plan, DEFAULT)?;
                let other = other.file("other", bytes, 1)?.open()?;
                let blocks = Blocks {
                    access: Access::Sequential,
                    size,
                    all: 1 << 20,
                };
                let mut reader = Reader::of(&mut plan, &source, blocks);
                reader.file = &other;
                source.cached(plan, &mut reader)
            },
        )
    }

    #[test]
    fn another_file_is_refuted_by_its_content_and_one_too_short_fails() {
        match read_another(Pass::Evidence, Bytes::kib(4), 1 << 20) {
            Err(Failure::Refuted(_) | Failure::Failed(_)) => {}
            other => panic!("{other:?}"),
        }
        let refused = read_another(Pass::Timed, Bytes::kib(64), 100_000);
        let reason = refused.unwrap_err().to_string();
        assert!(reason.contains("gave 34464"), "{reason}");
    }
}
