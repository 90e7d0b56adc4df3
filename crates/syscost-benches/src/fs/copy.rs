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

mod copier;

use std::cell::{Cell, RefCell};

use syscost_harness::prelude::*;
use syscost_sys::files::{self, stamp};

use super::labels;
use super::named::claim_size;
use super::space::{Cache, Space};
use super::waits::{Charged, MAX_SLEEPS};
use copier::{By, Copier};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "File copy",
    tags: &[
        "copy_file_range",
        "sendfile",
        "splice",
        "reflink",
        "clone",
        "cp",
    ],
    // A file system that has much to write makes a task that adds to it wait.
    expect: &[MAX_SLEEPS],
    ..Benchmark::of::<Row>()
};

/// From this share on it counts as all of the content, and up to the remainder as none of it: the
/// file system's own blocks are counted, too.
const MIN_ALL: f64 = 0.95;

/// Name of the file that is copied to.
const TARGET: &str = "target";

#[derive(Params, Clone)]
struct Row {
    /// The directory's label.
    dir: String,
    via: By,
    /// Bytes of the file.
    size: Bytes,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            dir: labels(here),
            via: By::ALL,
            size: [Bytes::mib(4)]
        })
    }

    fn profile(&self, _: &Here) -> Profile {
        match self.via {
            By::Splice => Profile::Full,
            By::ReadWrite | By::CopyFileRange | By::Sendfile | By::Reflink => Profile::Standard,
        }
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        let space = Space::in_directory(b, &self.dir)?;
        measure(b, &space, self.via, self.size)
    }
}

fn measure(b: &mut Bencher, space: &Space, by: By, size: Bytes) -> Result<(), Failure> {
    let bytes = size.0;
    let seed = b.random().u64(..);
    let source = space.file("source", bytes, seed)?;
    space.room_for(bytes)?;
    let target = space.folder().create(TARGET)?;
    let mut copier = Copier::new(by, source.open()?, target, bytes)?;
    copier.probe(&space.filesystem().kind)?;
    claim_size(
        b,
        size,
        copier.target_length()?,
        "source and target of each copy",
    );
    Cache::of(space, source.open()?)?.fill(b, &source)?;
    by.expect(b, bytes);
    let charged = Charged::begin();
    let copies = Cell::new(0_u64);
    let judged = Cell::new(0);
    let copier = RefCell::new(copier);
    let mut prepare = || {
        let mut copier = copier.borrow_mut();
        let length = copier.target_length()?;
        if copies.get() > judged.replace(copies.get()) && length != bytes {
            return Err(Failure::Refuted(format!(
                "after an operation the target has {length} of {bytes} bytes"
            )));
        }
        copier.begin_anew()?;
        match copier.target_length()? {
            0 => Ok(()),
            left => Err(Failure::Refuted(format!(
                "before an operation the target still has {left} bytes"
            ))),
        }
    };
    let mut copy = || {
        copies.set(copies.get() + 1);
        copier.borrow_mut().copy()
    };
    b.single(&mut prepare, &mut copy)?;
    // The last content may be that of an audited child.
    prepare()?;
    copy()?;
    let copier = copier.into_inner();
    let dirtied = charged
        .bytes()
        .map(|dirtied| dirtied as f64 / (copies.get() * bytes) as f64);
    claim_outcome(b, space, &copier, dirtied)?;
    if b.is_timed() {
        return Ok(());
    }
    let (content, source) = space.read_back(TARGET)?;
    let is_right = content.len() as u64 == bytes && stamp::check(&content, 0, seed).is_ok();
    let what = "content of the target";
    let found = if is_right { "the source's" } else { "other" };
    b.claim_equal(what, "the source's", found, source);
    Ok(())
}

/// What a method of filling the target did with the content, according to the kernel's account of the files
/// afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Copied,
    /// The target has the source's blocks: a reflink.
    Shared,
    /// The known facts contradict each other, or cover only a part of the file.
    Unclear,
}

impl Outcome {
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

    fn name(self) -> &'static str {
        match self {
            Self::Copied => "copied",
            Self::Shared => "not copied: the target shares the source's blocks (a reflink)",
            Self::Unclear => "unclear: a part of it was copied, or shared",
        }
    }
}

/// Claims what happened to the content: a reflink is not a copy, whichever call made it.
fn claim_outcome(
    b: &mut Bencher,
    space: &Space,
    copier: &Copier,
    dirtied: Result<f64, Unsupported>,
) -> Result<(), Failure> {
    const WHAT: &str = "what became of the content";
    let extents = files::extents(&copier.target);
    let bytes = copier.bytes as f64;
    let shared = extents.map(|found| found.shared as f64 / bytes).ok();
    // In memory nothing is written back, but a copy has pages of its own.
    let (dirtied, source) = match space.filesystem().is_in_memory() {
        true => (Some(copier.target_blocks()? as f64 / bytes), "fstat"),
        false => (dirtied.ok(), "FIEMAP and /proc/thread-self/io"),
    };
    for (name, share) in [("shared_percent", shared), ("dirtied_percent", dirtied)] {
        if let Some(share) = share {
            b.detail(name, 100.0 * share);
        }
    }
    let (expected, allowed) = match copier.by {
        By::ReadWrite | By::Sendfile | By::Splice => ("copied", &[Outcome::Copied][..]),
        By::Reflink => ("shared", &[Outcome::Shared][..]),
        By::CopyFileRange => ("copied or shared", &[Outcome::Copied, Outcome::Shared][..]),
    };
    match Outcome::of(shared, dirtied) {
        Some(outcome) => {
            let holds = allowed.contains(&outcome);
            b.claim(WHAT, expected, outcome.name(), source, holds);
        }
        None => {
            let kind = &space.filesystem().kind;
            let reason = format!("{kind} does not say where a file's blocks are");
            b.claim_unobserved(WHAT, expected, source, reason);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::space::tests::{on_disk, refuted};

    #[test]
    fn a_reflink_is_distinguished_from_a_copy() {
        let of = Outcome::of;
        assert_eq!(of(Some(0.0), Some(1.001)), Some(Outcome::Copied));
        assert_eq!(of(None, Some(1.0)), Some(Outcome::Copied));
        assert_eq!(of(Some(1.0), Some(0.0)), Some(Outcome::Shared));
        assert_eq!(of(Some(1.0), None), Some(Outcome::Shared));
        assert_eq!(of(Some(1.0), Some(1.0)), Some(Outcome::Unclear));
        assert_eq!(of(Some(0.5), Some(0.5)), Some(Outcome::Unclear));
        assert_eq!(of(Some(0.0), Some(0.0)), Some(Outcome::Unclear));
        assert_eq!(of(None, Some(0.0)), None, "a server may have done it");
        assert_eq!(of(None, None), None);
    }

    #[test]
    fn copies_stand_and_what_is_no_copy_does_not() {
        for by in By::ALL {
            let Some(space) = on_disk() else {
                return println!("skipped: no disk");
            };
            match refuted(&[MAX_SLEEPS], |b| measure(b, &space, by, Bytes::mib(1))) {
                Err(Failure::Unsupported(reason)) => println!("skipped: {reason}"),
                found => assert_eq!(found, Ok(Vec::new()), "{by:?}"),
            }
        }
    }
}
