//! Allocating a file's blocks and freeing them.
//!
//! ## Measures
//! One system call on a file of 1 MiB, or that makes it one, without content: `allocate` is fallocate for
//! a file that is empty, `punch_hole` fallocate with FALLOC_FL_PUNCH_HOLE of all that was
//! allocated, which leaves the file's length, `truncate` is ftruncate to nothing. Undoing it in
//! between is not timed.
//! ## Does not measure
//! Blocks that were written: these are only reserved, and none of them is in the page
//! cache. Making it durable (`fs.sync`): the file system records it in its journal, in memory at first.
//! ## Interpretation
//! Mostly work of the core: the file system searches its free space and changes its metadata. In
//! memory (tmpfs) it finds and frees pages. A file system with a journal waits now
//! and then until there is space in it.
//! ## Source
//! fallocate(2), ftruncate(2); stress-ng `fallocate`, `fpunch`.

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::io::Errno;
use syscost_harness::prelude::*;

use super::labels;
use super::named::claim_size;
use super::space::Space;
use super::waits::MAX_SLEEPS;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "File space: fallocate, punch hole, truncate",
    tags: &[
        "preallocation",
        "allocation",
        "ftruncate",
        "sparse file",
        "stress-ng",
    ],
    expect: &[MAX_SLEEPS],
    ..Benchmark::of::<Row>()
};

/// Maximum bytes that a file system may add to the blocks of a file for its own metadata.
const MAX_OWN: f64 = 65536.0;

/// How many times the size may have been freed without being free yet: some file systems wait for their
/// journal.
const MAX_FREED: u64 = 64;

const GAINED: &str = "bytes of blocks that the file has more after it";

const MODE: Argument = Argument {
    position: 1,
    name: "mode",
};
const LENGTH: Argument = Argument {
    position: 3,
    name: "length",
};
const NEW_LENGTH: Argument = Argument {
    position: 1,
    name: "length",
};

#[derive(Params, Clone)]
struct Row {
    /// The directory's label.
    dir: String,
    op: Op,
    /// Bytes that are allocated or freed.
    size: Bytes,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            dir: labels(here),
            op: Op::ALL,
            size: [Bytes::mib(1)]
        })
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        let Self { dir, op, size } = self;
        let space = Space::in_directory(b, &dir)?;
        measure(b, &space, op, size, |file| op.perform(file, size.0))
    }
}

/// The operation on a file.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Allocate,
    PunchHole,
    Truncate,
}

/// A file's length and the size of its blocks, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Facts {
    length: u64,
    blocks: u64,
}

impl Op {
    fn expect(self, b: &mut Bencher, bytes: u64) {
        let size = bytes as f64;
        b.expect(match self {
            Self::Allocate => within(Counter::Reported(GAINED), size, size + MAX_OWN),
            Self::PunchHole | Self::Truncate => {
                within(Counter::Reported(GAINED), -size - MAX_OWN, -size)
            }
        });
        // The preparation of the other two makes such calls as well, with other arguments.
        match self {
            Self::Allocate => {
                b.expect(calls(Sysno::FALLOCATE));
                b.expect_argument(Sysno::FALLOCATE, MODE, ArgumentValue::Always(0));
                b.expect_argument(Sysno::FALLOCATE, LENGTH, ArgumentValue::Always(bytes));
            }
            Self::PunchHole => b.expect(calls(Sysno::FALLOCATE)),
            Self::Truncate => {
                b.expect(calls(Sysno::FTRUNCATE));
                b.expect_argument(Sysno::FTRUNCATE, NEW_LENGTH, ArgumentValue::Always(0));
            }
        }
    }

    /// Restores the file to the state that the operation expects.
    fn undo(self, file: &File, bytes: u64) -> Result<(), Errno> {
        match self {
            Self::Allocate => ftruncate(file, 0),
            Self::PunchHole | Self::Truncate => fallocate(file, FallocateFlags::empty(), 0, bytes),
        }
    }

    #[inline(always)]
    fn perform(self, file: &File, bytes: u64) -> Result<(), Errno> {
        let punch_hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match self {
            Self::Allocate => fallocate(file, FallocateFlags::empty(), 0, bytes),
            Self::PunchHole => fallocate(file, punch_hole, 0, bytes),
            Self::Truncate => ftruncate(file, 0),
        }
    }

    /// Length of the file afterwards, in bytes.
    fn length(self, bytes: u64) -> u64 {
        match self {
            Self::Allocate | Self::PunchHole => bytes,
            Self::Truncate => 0,
        }
    }
}

impl Facts {
    fn of(file: &File) -> Result<Self, Failure> {
        let facts = file.metadata();
        let facts = facts.map_err(|cause| Failure::of("fstat", cause))?;
        Ok(Self {
            length: facts.len(),
            blocks: 512 * facts.blocks(),
        })
    }
}

fn measure(
    b: &mut Bencher,
    space: &Space,
    op: Op,
    size: Bytes,
    mut perform: impl FnMut(&File) -> Result<(), Errno>,
) -> Result<(), Failure> {
    let bytes = size.0;
    space.room_for(MAX_FREED * bytes)?;
    let file = space.folder().create("blocks")?;
    op.expect(b, bytes);
    let refused = |cause| refused(cause, op, &space.filesystem().kind);
    op.undo(&file, bytes).map_err(refused)?;
    let undone = Facts::of(&file)?;
    op.perform(&file, bytes).map_err(refused)?;
    let longest = undone.length.max(Facts::of(&file)?.length);
    claim_size(b, size, longest, "blocks and length of the file");
    let failed = |cause| Failure::of(op.name(), cause);
    // The preparation of the next operation judges the one before.
    let before = Cell::new(None::<Facts>);
    let gained = Cell::new(0.0);
    let is_done = Cell::new(false);
    let mut prepare = || {
        let after = Facts::of(&file)?;
        if let (Some(before), true) = (before.get(), is_done.replace(false)) {
            gained.set(gained.get() + after.blocks as f64 - before.blocks as f64);
            if after.length != op.length(bytes) {
                let (length, wanted) = (after.length, op.length(bytes));
                let what = format!("the file has {length} bytes after it, not {wanted}");
                return Err(Failure::Refuted(what));
            }
        }
        op.undo(&file, bytes).map_err(failed)?;
        before.set(Some(Facts::of(&file)?));
        Ok(())
    };
    b.single(&mut prepare, || {
        is_done.set(true);
        perform(&file).map_err(failed)
    })?;
    prepare()?;
    b.report(GAINED, gained.get());
    Ok(())
}

fn refused(cause: Errno, op: Op, filesystem: &str) -> Failure {
    match cause {
        Errno::OPNOTSUPP | Errno::NOSYS => {
            let call = op.name();
            Failure::Unsupported(format!("{filesystem} cannot do it ({call}): {cause}"))
        }
        cause => Failure::of(op.name(), cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::space::tests::{on_disk, refuted};

    const SIZE: Bytes = Bytes::mib(1);
    const BYTES: u64 = SIZE.0;

    /// The refuted claims of an operation that does this.
    fn refuted_of(
        op: Op,
        perform: impl FnMut(&File) -> Result<(), Errno>,
    ) -> Result<Vec<String>, Failure> {
        let Some(space) = on_disk() else {
            return Err(Failure::Unsupported("no disk".into()));
        };
        refuted(&[MAX_SLEEPS], |b| measure(b, &space, op, SIZE, perform))
    }

    #[test]
    fn blocks_come_and_go() {
        for op in Op::ALL {
            match refuted_of(op, |file| op.perform(file, BYTES)) {
                Err(Failure::Unsupported(reason)) => println!("skipped: {reason}"),
                found => assert_eq!(found, Ok(Vec::new()), "{op:?}"),
            }
        }
    }

    #[test]
    fn half_of_the_blocks_are_not_all_of_them() {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match refuted_of(Op::PunchHole, |file| fallocate(file, hole, 0, BYTES / 2)) {
            Err(Failure::Unsupported(reason)) => println!("skipped: {reason}"),
            found => assert_eq!(found, Ok(vec![format!("{GAINED} per operation")])),
        }
    }

    #[test]
    fn a_longer_file_is_not_one_with_blocks() {
        match refuted_of(Op::Allocate, |file| ftruncate(file, BYTES)) {
            Err(Failure::Unsupported(reason)) => println!("skipped: {reason}"),
            found => {
                let found = found.expect("it can be done");
                let of_blocks = found.iter().any(|claim| claim.starts_with(GAINED));
                assert!(of_blocks, "{found:?}");
            }
        }
    }
}
