//! Copying a file, or sharing its blocks with another one.
//!
//! ## Measures
//! A whole file's content into an empty one, in as many calls as necessary; both are open, the
//! source is in the page cache. Emptying the target is not timed.
//!
//! - `read_write`: 128 KiB at a time through this program's memory.
//! - `copy_file_range`, `sendfile`, `splice`: the kernel copies by itself; `splice` through a
//!   pipe of 1 MiB, in two calls each time.
//! - `reflink`: FICLONE makes the target share the source's blocks until one of them is written to.
//!   Nothing is copied.
//! ## Does not measure
//! Writing the target back: a copy is in the page cache when the time is taken (`fs.sync` shows
//! what making it durable costs). Reading the source from its device (`fs.read`). Opening and creating
//! files (`fs.metadata`).
//! ## Interpretation
//! `copy_file_range` may choose its method: on btrfs, XFS and some others it makes a reflink. The
//! detail `shared_percent` says how much of the target consists of blocks of the source: 0 for a
//! copy, 100 for a reflink, whatever the row is called. A reflink's cost does not depend on the
//! file's size, but on its number of extents. `dirtied_percent` is how much of it the kernel has
//! yet to write back.
//! ## Source
//! `cp --reflink=never` and `xfs_io -c reflink`; fio has no such job.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{SeekFrom, copy_file_range, ftruncate, ioctl_ficlone, seek, sendfile};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use syscost_harness::prelude::*;
use syscost_results::Fact;
use syscost_sys::files;

use super::space::{Cache, Space, Stamped, Storage};
use super::transfer::PAGES;
use super::waits::MAX_SLEEPS;
use super::{facts, labels};
use crate::witness::files::{DIRECTORY, MOVED};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "File copy",
    tags: "copy_file_range, sendfile, splice, reflink, clone, cp",
    // A file system that has much to write makes a task that adds to it wait.
    expect: &[MAX_SLEEPS],
    ..Benchmark::of::<FsCopy>()
};

/// From this share on it counts as all of the content, and up to the remainder as none of it: the
/// file system's own blocks are counted, too.
const MIN_ALL: f64 = 0.95;

/// Bytes per read: as `cp` does.
const PART: usize = 128 << 10;

/// Capacity of the pipe of `splice`, in bytes: the maximum for an unprivileged process.
const PIPE: usize = 1 << 20;

const TARGET: &str = "target";

#[derive(Params, Clone)]
struct FsCopy {
    /// The directory's label.
    dir: String,
    via: By,
    /// Bytes of the file.
    size: Bytes,
}

impl Measured for FsCopy {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(FsCopy {
            dir: labels(here),
            via: By::ALL,
            size: [Bytes::mib(4)]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.via {
            By::Splice => Profile::Full,
            By::ReadWrite | By::CopyFileRange | By::Sendfile | By::Reflink => Profile::Standard,
        }
    }

    fn proofs(&self) -> FsCopyProofs<Proof> {
        FsCopyProofs {
            dir: DIRECTORY.expects(&*self.dir),
            via: Proof::counted(self.via.calls(self.size.0)).and(self.via.became()),
            size: MOVED.expects(self.size.0),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let space = Space::in_directory(&mut plan, &self.dir)?;
        let copier = Copier::new(&mut plan, &space, self.via, self.size)?;
        measure(plan, &space, copier)
    }
}

fn measure<'p>(mut plan: Plan<'p>, space: &Space, copier: Copier) -> Result<Outcome<'p>, Failure> {
    let bytes = copier.source.bytes();
    let cached = Cache::of(copier.source.open()?)?;
    cached.fill(&copier.source)?;
    let (all, seen) = (Fact::from(cached.pages()), cached.resident()?.fact());
    plan.claim_equal("pages of the source in the page cache", all, seen, PAGES);
    let storage = Storage::watch(&copier.target);
    let copies = Cell::new(0_u64);
    let judged = Cell::new(0);
    let copier = RefCell::new(copier);
    let mut prepare = || {
        let mut copier = copier.borrow_mut();
        let length = facts(&copier.target)?.len();
        if copies.get() > judged.replace(copies.get()) && length != bytes {
            return Err(Failure::Refuted(format!(
                "after an operation the target has {length} of {bytes} bytes"
            )));
        }
        copier.begin_anew()
    };
    let mut copy = || {
        copies.set(copies.get() + 1);
        copier.borrow_mut().copy()
    };
    let mut outcome = plan.measure(Single::of(&mut prepare, &mut copy))?;
    // The last content may be that of an audited child.
    prepare()?;
    copy()?;
    let copier = copier.into_inner();
    outcome.observe(&MOVED, facts(&copier.target)?.len());
    let all = (copies.get() * bytes) as f64;
    let dirtied = storage.charged().map(|dirtied| dirtied as f64 / all);
    see_content(&mut outcome, space, &copier, dirtied)?;
    if !outcome.is_timed() {
        let (content, read) = space.read_back(TARGET)?;
        let is_right = content.len() as u64 == bytes && copier.source.check(&content, 0).is_ok();
        let what = "content of the target";
        let found = if is_right { "the source's" } else { "other" };
        outcome.claim_equal(what, "the source's", found, read);
    }
    Ok(outcome)
}

/// What a method of filling the target did with the content, according to the kernel's account of the files
/// afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Became {
    Copied,
    /// The target has the source's blocks: a reflink.
    Shared,
    /// The known facts contradict each other, or cover only a part of the file.
    Unclear,
}

impl Became {
    /// Judges by the share of the content that lies in the source's own blocks and by the share that this
    /// thread dirtied; `None` where neither is known. Nothing is known of what a server did by
    /// itself, nor of files in memory.
    fn of(shared: Option<f64>, dirtied: Option<f64>) -> Option<Self> {
        let (all, none) = (MIN_ALL..=1.0 / MIN_ALL, 0.0..=1.0 - MIN_ALL);
        match (shared, dirtied) {
            (None, None) => None,
            (None, Some(dirtied)) if none.contains(&dirtied) => None,
            (shared, Some(dirtied)) if all.contains(&dirtied) => match shared {
                Some(shared) if !none.contains(&shared) => Some(Self::Unclear),
                _ => Some(Self::Copied),
            },
            (Some(shared), dirtied)
                if all.contains(&shared) && dirtied.is_none_or(|share| none.contains(&share)) =>
            {
                Some(Self::Shared)
            }
            (Some(shared), None) if none.contains(&shared) => Some(Self::Copied),
            _ => Some(Self::Unclear),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Copied => "copied",
            Self::Shared => "not copied: the target shares the source's blocks (a reflink)",
            Self::Unclear => "unclear: a part of it was copied, or shared",
        }
    }
}

const ACCOUNT: &str = "FIEMAP and /proc/thread-self/io, or fstat in memory";

static CONTENT: Witness = Witness::of("what became of the content", ACCOUNT);

static WHOLE: Witness = Witness::of("all of the content copied, or all of it shared", ACCOUNT);

/// Reports what happened to the content: a reflink is not a copy, whichever call made it.
fn see_content(
    b: &mut Bencher,
    space: &Space,
    copier: &Copier,
    dirtied: Result<f64, Unsupported>,
) -> Result<(), Failure> {
    let extents = files::extents(&copier.target);
    let bytes = copier.source.bytes() as f64;
    let shared = extents.map(|found| found.shared as f64 / bytes).ok();
    // In memory nothing is written back, but a copy has pages of its own.
    let dirtied = match space.filesystem().is_in_memory() {
        true => Some(512.0 * facts(&copier.target)?.blocks() as f64 / bytes),
        false => dirtied.ok(),
    };
    for (name, share) in [("shared_percent", shared), ("dirtied_percent", dirtied)] {
        if let Some(share) = share {
            b.detail(name, 100.0 * share);
        }
    }
    match Became::of(shared, dirtied) {
        Some(became) => {
            let is_clear = became != Became::Unclear;
            b.observe(&CONTENT, became.name());
            b.observe(&WHOLE, if is_clear { "yes" } else { "no" });
        }
        None => {
            let kind = &space.filesystem().kind;
            let reason = format!("{kind} does not say where a file's blocks are");
            b.unobserved(&CONTENT, &reason);
            b.unobserved(&WHOLE, reason);
        }
    }
    Ok(())
}

/// How the content gets into the target.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum By {
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

    /// The calls that the method takes. The kernel may do less than requested, down to a page at a
    /// time.
    fn calls(self, bytes: u64) -> Vec<Expect> {
        let parts = |part: usize| bytes as f64 / part as f64;
        let up_from = |call, least| vec![within(Counter::Syscall(call), least, 16.0 * least)];
        match self {
            Self::ReadWrite => [Sysno::READ, Sysno::WRITE]
                .map(|call| exactly(Counter::Syscall(call), parts(PART)))
                .to_vec(),
            Self::CopyFileRange => up_from(Sysno::COPY_FILE_RANGE, 1.0),
            Self::Sendfile => up_from(Sysno::SENDFILE, 1.0),
            Self::Splice => up_from(Sysno::SPLICE, 2.0 * parts(PIPE)),
            Self::Reflink => vec![calls(Sysno::IOCTL)],
        }
    }

    fn became(self) -> Proof {
        match self {
            Self::ReadWrite | Self::Sendfile | Self::Splice => {
                CONTENT.expects(Became::Copied.name())
            }
            Self::Reflink => CONTENT.expects(Became::Shared.name()),
            Self::CopyFileRange => WHOLE.expects("yes"),
        }
    }
}

/// Two files, and what is needed to fill the second.
struct Copier {
    by: By,
    source: Stamped,
    from: File,
    target: File,
    part: Vec<u8>,
    pipe: (OwnedFd, OwnedFd),
}

impl Copier {
    /// A copier from a file of this size to a new one. It is tried once: afterwards the target's
    /// pages are allocated.
    fn new(b: &mut Bencher, space: &Space, by: By, size: Bytes) -> Result<Self, Failure> {
        let seed = b.random().u64(..);
        let source = space.file("source", size.0, seed)?;
        space.room_for(size.0)?;
        let pipe = pipe_with(PipeFlags::CLOEXEC).tried("pipe")?;
        if by == By::Splice {
            fcntl_setpipe_size(&pipe.1, PIPE).tried("make the pipe larger")?;
        }
        let mut copier = Self {
            by,
            from: source.open()?,
            source,
            target: space.folder().create(TARGET)?,
            part: vec![1; PART],
            pipe,
        };
        copier.begin_anew()?;
        let (kind, call) = (&space.filesystem().kind, by.call());
        let filled = copier.fill();
        filled.map_err(|cause| match REFUSALS.contains(&cause) {
            true => Failure::Unsupported(format!("{kind} refuses {call}: {cause}")),
            false => Failure::of(call, cause),
        })?;
        Ok(copier)
    }

    /// Empties the target.
    fn begin_anew(&mut self) -> Result<(), Failure> {
        ftruncate(&self.target, 0).tried("empty the target")?;
        for file in [&self.from, &self.target] {
            seek(file, SeekFrom::Start(0)).tried("lseek")?;
        }
        Ok(())
    }

    /// Fills the target.
    #[inline(always)]
    fn copy(&mut self) -> Result<(), Failure> {
        self.fill().tried(self.by.call())
    }

    #[inline(always)]
    fn fill(&mut self) -> Result<(), Errno> {
        match self.by {
            By::ReadWrite => self.in_parts(Self::read_and_write),
            By::CopyFileRange => self.in_parts(|this, mut from, left| {
                let mut to = from;
                let (source, target) = (&this.from, &this.target);
                copy_file_range(source, Some(&mut from), target, Some(&mut to), left)
            }),
            By::Sendfile => self.in_parts(|this, mut from, left| {
                sendfile(&this.target, &this.from, Some(&mut from), left)
            }),
            By::Splice => self.in_parts(Self::splice),
            By::Reflink => ioctl_ficlone(&self.target, &self.from),
        }
    }

    /// Repeats a call from each position on, with what is left, until the content is complete.
    #[inline(always)]
    fn in_parts(
        &mut self,
        mut part: impl FnMut(&mut Self, u64, usize) -> Result<usize, Errno>,
    ) -> Result<(), Errno> {
        let (mut at, bytes) = (0, self.source.bytes());
        while at < bytes {
            match part(self, at, (bytes - at) as usize)? {
                0 => return Err(Errno::NODATA),
                copied => at += copied as u64,
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn read_and_write(&mut self, _: u64, _: usize) -> Result<usize, Errno> {
        let length = read(&self.from, &mut *self.part)?;
        match write(&self.target, &self.part[..length])? {
            written if written == length => Ok(length),
            _ => Err(Errno::NOSPC),
        }
    }

    #[inline(always)]
    fn splice(&mut self, mut from: u64, _: usize) -> Result<usize, Errno> {
        let (mut to, flags) = (from, SpliceFlags::MOVE);
        let (source, (out, into)) = (&self.from, &self.pipe);
        let length = splice(source, Some(&mut from), into, None, PIPE, flags)?;
        let mut left = length;
        while left > 0 {
            match splice(out, None, &self.target, Some(&mut to), left, flags)? {
                0 => return Err(Errno::NODATA),
                moved => left -= moved,
            }
        }
        Ok(length)
    }
}

/// The errors by which a file system says that it cannot do it at all.
const REFUSALS: [Errno; 5] = [
    Errno::OPNOTSUPP,
    Errno::NOTTY,
    Errno::NOSYS,
    Errno::INVAL,
    Errno::XDEV,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reflink_is_distinguished_from_a_copy() {
        let of = Became::of;
        assert_eq!(of(Some(0.0), Some(1.001)), Some(Became::Copied));
        assert_eq!(of(None, Some(1.0)), Some(Became::Copied));
        assert_eq!(of(Some(1.0), Some(0.0)), Some(Became::Shared));
        assert_eq!(of(Some(1.0), None), Some(Became::Shared));
        assert_eq!(of(Some(1.0), Some(1.0)), Some(Became::Unclear));
        assert_eq!(of(Some(0.5), Some(0.5)), Some(Became::Unclear));
        assert_eq!(of(Some(0.0), Some(0.0)), Some(Became::Unclear));
        assert_eq!(of(None, Some(0.0)), None, "a server may have done it");
        assert_eq!(of(None, None), None);
    }
}
