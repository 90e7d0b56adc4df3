//! Shared: reads of a file block by block, each of which is counted and checked.

use std::fs::File;
use std::time::Instant;

use rustix::io::{Errno, pread};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::files::Buffer;

use super::access::{Access, Blocks, OFFSET};
use super::named::{claim_size, claim_whole};
use super::source::Source;
use super::space::{ALIGNMENT, Stamped};
use super::tail::expect_waits;
use crate::implied::{Implied, Shares};

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
    next: usize,
    reads: u64,
    /// Whether content is checked: not in the timed pass.
    compares: bool,
}

impl<'f> Reader<'f> {
    /// A reader of these blocks; claims the arguments of its calls. To be called before the measurement.
    pub(super) fn of(b: &mut Bencher, source: &'f Source, blocks: Blocks) -> Self {
        let offsets = blocks.offsets(b.random());
        let buffer = Buffer::new(blocks.size.get(), ALIGNMENT);
        blocks.expect(b, Sysno::PREAD64, "length");
        if blocks.access == Access::Random {
            if offsets.len() > AUDITED {
                b.expect_argument(Sysno::PREAD64, OFFSET, ArgumentValue::Different);
            }
            claim_whole(b, blocks.all, blocks.size.0, offsets.len());
        }
        let length = buffer.len() as u64;
        claim_size(b, blocks.size, length, "length of each pread64");
        Self {
            written: source.written(),
            file: source.file(),
            buffer,
            offsets,
            next: 0,
            reads: 0,
            compares: !b.is_timed(),
        }
    }

    /// Reads the next block.
    #[inline(always)]
    pub(super) fn read(&mut self) -> Result<(), Failure> {
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
        if self.compares {
            self.written.check(&self.buffer, offset)?;
        }
        Ok(())
    }

    /// Reads each block once, the first one first.
    pub(super) fn read_all(&mut self) -> Result<(), Failure> {
        self.next = 0;
        (0..self.offsets.len()).try_for_each(|_| self.read())
    }

    /// Observes the rate at which all blocks are read, each time after `prepare` and before `look`, neither of
    /// which is timed. Returns how many bytes the rates are of.
    pub(super) fn observe(
        &mut self,
        b: &mut Bencher,
        prepare: impl Fn() -> Result<(), Failure>,
        mut look: impl FnMut() -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let calls = Counter::Syscall(Sysno::PREAD64);
        b.expect(exactly(calls, self.blocks() as f64));
        expect_waits(b, self.blocks() * self.size() / page_size() as u64);
        let (clock, mut rated, mut implied) = (*b.clock(), 0, Implied::default());
        b.observe(|| {
            prepare()?;
            let (begun, before) = (Instant::now(), self.bytes());
            let ns = clocked(&clock, || self.read_all())?;
            let bytes = self.bytes() - before;
            let rate = bytes as f64 * 1e9 / ns;
            rated += bytes;
            implied.note(bytes as f64 * 1e9 / rate, begun);
            look()?;
            Ok(rate)
        })?;
        implied.claim(b, Shares::WHOLE);
        Ok(rated)
    }

    /// Length of a block, in bytes.
    pub(super) fn size(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// Number of bytes read so far, in this process.
    pub(super) fn bytes(&self) -> u64 {
        self.reads * self.size()
    }

    #[cold]
    fn cut_short(&self, offset: u64, count: usize) -> Failure {
        let wanted = self.buffer.len();
        Failure::Failed(format!("pread of {wanted} bytes at {offset} gave {count}"))
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
    use syscost_harness::bencher::{Findings, Pass};
    use syscost_harness::directory::DEFAULT;
    use syscost_results::Verdict;

    use super::*;
    use crate::fs::source::State;
    use crate::fs::space::Space;
    use crate::testing::{claims, findings};

    /// The findings of reading a file of 1 MiB in blocks of this size, with a reader as `falsify` makes it:
    /// another file has these many bytes.
    fn read(
        pass: Pass,
        size: Bytes,
        other_bytes: u64,
        falsify: for<'f> fn(&mut Reader<'f>, &'f File),
    ) -> Result<Findings, Failure> {
        findings(pass, &[calls(Sysno::PREAD64)], |b| {
            let source = Source::open(b, DEFAULT, 1 << 20, State::Warm, size)?;
            let other = Space::in_directory(b, DEFAULT)?;
            let other = other.file("other", other_bytes, 1)?.open()?;
            let blocks = Blocks {
                access: Access::Sequential,
                size,
                all: 1 << 20,
            };
            let mut reader = Reader::of(b, &source, blocks);
            falsify(&mut reader, &other);
            b.try_iter(|| reader.read())
        })
    }

    #[test]
    fn reads_of_half_the_size_are_refuted() {
        let halve = |reader: &mut Reader<'_>, _: &_| reader.buffer = Buffer::new(2048, ALIGNMENT);
        let findings = read(Pass::Evidence, Bytes::kib(4), 0, halve).unwrap();
        let claim = "share of pread64 calls whose length is 4096";
        let is_confirmed = claims(&findings, Verdict::Confirmed).contains(&claim);
        let judged = [Verdict::Refuted, Verdict::Unverified];
        let is_judged = |verdict| claims(&findings, verdict).contains(&claim);
        assert!(!is_confirmed && judged.into_iter().any(is_judged));
    }

    #[test]
    fn content_of_another_file_is_refuted() {
        let refused = read(Pass::Evidence, Bytes::kib(4), 1 << 20, |reader, other| {
            reader.file = other;
        });
        match refused {
            Err(Failure::Refuted(_) | Failure::Failed(_)) => {}
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_that_is_too_short_fails() {
        let refused = read(Pass::Timed, Bytes::kib(64), 100_000, |reader, other| {
            reader.file = other;
        });
        let reason = refused.unwrap_err().to_string();
        assert!(reason.contains("gave 34464"), "{reason}");
    }
}
