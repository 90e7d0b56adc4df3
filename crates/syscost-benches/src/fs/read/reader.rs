//! Reads of a file block by block, each of which is counted and checked.

use std::fs::File;

use rustix::io::{Errno, pread};
use syscost_harness::prelude::*;
use syscost_sys::files::Buffer;

use super::SIZE;
use crate::fs::access::Access;
use crate::fs::named::{claim_size, claim_whole};
use crate::fs::space::{ALIGNMENT, Kept, Stamped};

/// Bytes per read where a file is only brought into the page cache.
const THROUGH: usize = 64 << 10;

/// Maximum number of audited calls: with more blocks than this, none is read twice.
const AUDITED: usize = 32;

/// Arguments of pread64.
const LENGTH: Argument = Argument {
    position: 2,
    name: "length",
};
const OFFSET: Argument = Argument {
    position: 3,
    name: "offset",
};

/// Reads the blocks of a stamped file, whose length is the case's `size`.
pub(in crate::fs) struct Reader<'f> {
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
    /// A reader of `file`, however it was opened; claims the arguments of its calls.
    /// To be called before the measurement.
    pub(in crate::fs) fn of(
        b: &mut Bencher,
        kept: &'f Kept,
        file: &'f File,
        access: Access,
    ) -> Result<Self, Failure> {
        Self::of_part(b, kept, file, access, kept.file.bytes())
    }

    /// A reader of only the first `bytes` bytes of the file.
    pub(in crate::fs) fn of_part(
        b: &mut Bencher,
        kept: &'f Kept,
        file: &'f File,
        access: Access,
        bytes: u64,
    ) -> Result<Self, Failure> {
        let size = b.case().number(SIZE);
        if size == 0 || !bytes.is_multiple_of(size) {
            return Err(Failure::Broken(format!("reads {size} bytes of {bytes}")));
        }
        let blocks = access.order(bytes / size, b.random());
        b.expect_argument(Sysno::PREAD64, LENGTH, Given::Always(size));
        match access {
            Access::Random => {
                b.expect_argument(Sysno::PREAD64, OFFSET, Given::Apart(2 * size));
                if blocks.len() > AUDITED {
                    b.expect_argument(Sysno::PREAD64, OFFSET, Given::Different);
                }
                claim_whole(b, bytes, size, blocks.len());
            }
            Access::Sequential => {
                let given = Given::InOrder {
                    step: size,
                    end: bytes,
                };
                b.expect_argument(Sysno::PREAD64, OFFSET, given);
            }
        }
        claim_size(b, size, "length of each pread64");
        Ok(Self {
            written: &kept.file,
            file,
            buffer: Buffer::new(size as usize, ALIGNMENT),
            offsets: blocks.into_iter().map(|block| block * size).collect(),
            next: 0,
            reads: 0,
            compares: !b.is_timed(),
        })
    }

    /// Reads the next block.
    #[inline(always)]
    pub(in crate::fs) fn read(&mut self) -> Result<(), Failure> {
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
    pub(in crate::fs) fn read_all(&mut self) -> Result<(), Failure> {
        self.next = 0;
        (0..self.offsets.len()).try_for_each(|_| self.read())
    }

    /// Length of a block, in bytes.
    pub(in crate::fs) fn size(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Number of blocks.
    pub(in crate::fs) fn blocks(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// Number of bytes read so far, in this process.
    pub(in crate::fs) fn bytes(&self) -> u64 {
        self.reads * self.size()
    }

    #[cold]
    fn cut_short(&self, offset: u64, count: usize) -> Failure {
        let wanted = self.buffer.len();
        Failure::Failed(format!("pread of {wanted} bytes at {offset} gave {count}"))
    }
}

/// Reads and checks all of a file in order.
pub(in crate::fs) fn read_through(written: &Stamped, file: &File) -> Result<(), Failure> {
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
    use super::*;

    #[test]
    fn reads_of_half_the_size_are_refuted() {
        use syscost_harness::bencher::Pass;
        use syscost_harness::directory::{DEFAULT, KEY};
        use syscost_results::Verdict;

        let case = Case::new([(KEY, DEFAULT), (SIZE, "4K")]);
        let pass = Pass::Evidence;
        let findings = crate::testing::findings_of(&case, pass, &[calls(Sysno::PREAD64)], |b| {
            let kept = crate::fs::space::kept(b, 1 << 20)?;
            let file = kept.file.open()?;
            let mut reader = Reader::of(b, &kept, &file, Access::Random)?;
            reader.buffer = Buffer::new(2048, ALIGNMENT);
            b.try_iter(|| reader.read())
        });
        let findings = findings.unwrap();
        let refuted = crate::testing::claims(&findings, Verdict::Refuted);
        assert!(
            refuted.contains(&"share of pread64 calls whose length is 4096")
                || findings
                    .evidence
                    .iter()
                    .any(|one| one.verdict == Verdict::Unverified),
            "{refuted:?}"
        );
    }
}
