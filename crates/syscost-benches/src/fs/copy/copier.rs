//! The methods of filling a file with another's content.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{SeekFrom, copy_file_range, ftruncate, ioctl_ficlone, seek, sendfile};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use syscost_harness::prelude::*;

/// Bytes per read: as `cp` does.
const PART: usize = 128 << 10;

/// Capacity of the pipe of `splice`, in bytes: the maximum for an unprivileged process.
const PIPE: usize = 1 << 20;

/// How the content gets into the target.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    ReadWrite,
    CopyFileRange,
    Sendfile,
    Splice,
    Reflink,
}

impl By {
    /// The call that fails if this method fails.
    fn call(self) -> &'static str {
        match self {
            Self::ReadWrite => "read and write",
            Self::Reflink => "ioctl FICLONE",
            Self::CopyFileRange | Self::Sendfile | Self::Splice => self.name(),
        }
    }

    /// Expects the calls that the method takes. The kernel may do less than requested, down to a page
    /// at a time.
    pub(super) fn expect(self, b: &mut Bencher, bytes: u64) {
        let parts = |part: usize| bytes as f64 / part as f64;
        let up_from = |call, least| within(Counter::Syscall(call), least, 16.0 * least);
        match self {
            Self::ReadWrite => {
                b.expect(exactly(Counter::Syscall(Sysno::READ), parts(PART)));
                b.expect(exactly(Counter::Syscall(Sysno::WRITE), parts(PART)));
            }
            Self::CopyFileRange => b.expect(up_from(Sysno::COPY_FILE_RANGE, 1.0)),
            Self::Sendfile => b.expect(up_from(Sysno::SENDFILE, 1.0)),
            Self::Splice => b.expect(up_from(Sysno::SPLICE, 2.0 * parts(PIPE))),
            Self::Reflink => b.expect(calls(Sysno::IOCTL)),
        }
    }
}

/// Two files, and what is needed to fill the second.
pub(super) struct Copier {
    pub(super) by: By,
    source: File,
    pub(super) target: File,
    /// Size of the source.
    pub(super) bytes: u64,
    part: Vec<u8>,
    pipe: (OwnedFd, OwnedFd),
}

impl Copier {
    /// A copier from a file of this many bytes to a new one.
    pub(super) fn new(by: By, source: File, target: File, bytes: u64) -> Result<Self, Failure> {
        let pipe = pipe_with(PipeFlags::CLOEXEC).map_err(|cause| Failure::of("pipe", cause))?;
        if by == By::Splice {
            fcntl_setpipe_size(&pipe.1, PIPE)
                .map_err(|cause| Failure::of("make the pipe larger", cause))?;
        }
        Ok(Self {
            by,
            source,
            target,
            bytes,
            part: vec![1; PART],
            pipe,
        })
    }

    /// Size of the target, in bytes.
    pub(super) fn target_length(&self) -> Result<u64, Failure> {
        let facts = self.target.metadata();
        Ok(facts.map_err(|cause| Failure::of("fstat", cause))?.len())
    }

    /// Bytes in the target's blocks, or in its pages if it is in memory.
    pub(super) fn target_blocks(&self) -> Result<u64, Failure> {
        let facts = self.target.metadata();
        let facts = facts.map_err(|cause| Failure::of("fstat", cause))?;
        Ok(512 * facts.blocks())
    }

    /// Empties the target.
    pub(super) fn begin_anew(&mut self) -> Result<(), Failure> {
        ftruncate(&self.target, 0).map_err(|cause| Failure::of("empty the target", cause))?;
        for file in [&self.source, &self.target] {
            seek(file, SeekFrom::Start(0)).map_err(|cause| Failure::of("lseek", cause))?;
        }
        Ok(())
    }

    /// Tries the method once. Afterwards the source is in the page cache, and its pages are allocated.
    pub(super) fn probe(&mut self, filesystem: &str) -> Result<(), Failure> {
        self.begin_anew()?;
        match self.fill() {
            Err(cause) if is_refused(cause) => Err(Failure::Unsupported(format!(
                "{filesystem} refuses {}: {cause}",
                self.by.call()
            ))),
            done => done.map_err(|cause| Failure::of(self.by.call(), cause)),
        }
    }

    /// Fills the target.
    #[inline(always)]
    pub(super) fn copy(&mut self) -> Result<(), Failure> {
        self.fill()
            .map_err(|cause| Failure::of(self.by.call(), cause))
    }

    #[inline(always)]
    fn fill(&mut self) -> Result<(), Errno> {
        match self.by {
            By::ReadWrite => self.in_parts(Self::read_and_write),
            By::CopyFileRange => self.in_parts(|this, at| {
                let (mut from, mut to) = (at, at);
                let left = (this.bytes - at) as usize;
                copy_file_range(
                    &this.source,
                    Some(&mut from),
                    &this.target,
                    Some(&mut to),
                    left,
                )
            }),
            By::Sendfile => self.in_parts(|this, at| {
                let mut from = at;
                sendfile(
                    &this.target,
                    &this.source,
                    Some(&mut from),
                    (this.bytes - at) as usize,
                )
            }),
            By::Splice => self.in_parts(Self::splice),
            By::Reflink => ioctl_ficlone(&self.target, &self.source),
        }
    }

    /// Repeats a call from each position on until the content is complete.
    #[inline(always)]
    fn in_parts(
        &mut self,
        mut part: impl FnMut(&mut Self, u64) -> Result<usize, Errno>,
    ) -> Result<(), Errno> {
        let mut at = 0;
        while at < self.bytes {
            match part(self, at)? {
                0 => return Err(Errno::NODATA),
                copied => at += copied as u64,
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn read_and_write(&mut self, _at: u64) -> Result<usize, Errno> {
        let length = read(&self.source, &mut *self.part)?;
        match write(&self.target, &self.part[..length])? {
            written if written == length => Ok(length),
            _ => Err(Errno::NOSPC),
        }
    }

    #[inline(always)]
    fn splice(&mut self, at: u64) -> Result<usize, Errno> {
        let (mut from, mut to) = (at, at);
        let flags = SpliceFlags::MOVE;
        let length = splice(
            &self.source,
            Some(&mut from),
            &self.pipe.1,
            None,
            PIPE,
            flags,
        )?;
        let mut left = length;
        while left > 0 {
            match splice(&self.pipe.0, None, &self.target, Some(&mut to), left, flags)? {
                0 => return Err(Errno::NODATA),
                moved => left -= moved,
            }
        }
        Ok(length)
    }
}

/// Whether this error means that a file system cannot do it at all.
fn is_refused(cause: Errno) -> bool {
    let refusals = [
        Errno::OPNOTSUPP,
        Errno::NOTTY,
        Errno::NOSYS,
        Errno::INVAL,
        Errno::XDEV,
    ];
    refusals.contains(&cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::space::tests::on_disk;

    #[test]
    fn each_way_copies_all_of_it_each_time() {
        let Some(space) = on_disk() else {
            return println!("skipped: no disk");
        };
        let bytes = (1 << 20) + 4096;
        let source = space.file("source", bytes, 5).unwrap();
        let content = space.read_back(source.name()).unwrap().0;
        for by in By::ALL {
            let target = space.folder().create(by.name()).unwrap();
            let mut copier = Copier::new(by, source.open().unwrap(), target, bytes).unwrap();
            match copier.probe("it") {
                Err(Failure::Unsupported(reason)) => println!("skipped: {reason}"),
                probed => {
                    probed.unwrap();
                    copier.begin_anew().unwrap();
                    assert_eq!(copier.target_length(), Ok(0));
                    copier.copy().unwrap();
                    let copy = space.read_back(by.name()).unwrap().0;
                    assert!(copy[..] == content[..], "{}", by.name());
                }
            }
        }
    }
}
