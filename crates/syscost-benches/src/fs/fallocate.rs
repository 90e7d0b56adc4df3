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

use super::space::Space;
use super::waits::MAX_SLEEPS;
use super::{facts, labels};
use crate::witness::files::{DIRECTORY, MOVED};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "File space: fallocate, punch hole, truncate",
    tags: "preallocation, allocation, ftruncate, sparse file, stress-ng",
    expect: &[MAX_SLEEPS],
    ..Benchmark::of::<Fallocate>()
};

/// Maximum bytes that a file system may add to the blocks of a file for its own metadata.
const MAX_OWN: f64 = 65536.0;

/// How many times the size may have been freed without being free yet: some file systems wait for their
/// journal.
const MAX_FREED: u64 = 64;

const GAINED: &str = "bytes of blocks that the file has more after it";

#[derive(Params, Clone)]
struct Fallocate {
    /// The directory's label.
    dir: String,
    op: Op,
    /// Bytes that are allocated or freed.
    size: Bytes,
}

impl Measured for Fallocate {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(Fallocate {
            dir: labels(here),
            op: Op::ALL,
            size: [Bytes::mib(1)]
        })
    }

    fn proofs(&self) -> FallocateProofs<Proof> {
        let (call, mode, length) = match self.op {
            // The preparation of the other two makes such calls as well, with other arguments.
            Op::Allocate => (Sysno::FALLOCATE, Some(0), Some((3, self.size.0))),
            Op::PunchHole => (Sysno::FALLOCATE, None, None),
            Op::Truncate => (Sysno::FTRUNCATE, None, Some((1, 0))),
        };
        let argument = |position, name, value| {
            Proof::argument(
                call,
                Argument::at(position, name),
                ArgumentValue::Always(value),
            )
        };
        let mode = mode.map(|mode| argument(1, "mode", mode));
        let length = length.map(|(position, length)| argument(position, "length", length));
        FallocateProofs {
            dir: DIRECTORY.expects(&*self.dir),
            op: Proof::counted([calls(call), self.op.gained(self.size.0)])
                .and(mode.unwrap_or_default())
                .and(length.unwrap_or_default()),
            size: MOVED.expects(self.size.0),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let Self { dir, op, size } = self;
        let space = Space::in_directory(&mut plan, &dir)?;
        measure(plan, &space, op, size.0, |file| op.perform(file, size.0))
    }
}

/// The operation on a file.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Allocate,
    PunchHole,
    Truncate,
}

impl Op {
    /// The blocks that an operation of this size gains, or loses.
    fn gained(self, bytes: u64) -> Expect {
        let size = bytes as f64;
        match self {
            Self::Allocate => within(Counter::Reported(GAINED), size, size + MAX_OWN),
            Self::PunchHole | Self::Truncate => {
                within(Counter::Reported(GAINED), -size - MAX_OWN, -size)
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

/// A file's length and the size of its blocks, in bytes.
fn look(file: &File) -> Result<(u64, u64), Failure> {
    let facts = facts(file)?;
    Ok((facts.len(), 512 * facts.blocks()))
}

fn measure<'p>(
    plan: Plan<'p>,
    space: &Space,
    op: Op,
    bytes: u64,
    mut perform: impl FnMut(&File) -> Result<(), Errno>,
) -> Result<Outcome<'p>, Failure> {
    space.room_for(MAX_FREED * bytes)?;
    let file = space.folder().create("blocks")?;
    let refused = |cause| match cause {
        Errno::OPNOTSUPP | Errno::NOSYS => {
            let (kind, call) = (&space.filesystem().kind, op.name());
            Failure::Unsupported(format!("{kind} cannot do it ({call}): {cause}"))
        }
        cause => Failure::of(op.name(), cause),
    };
    op.undo(&file, bytes).map_err(refused)?;
    let undone = look(&file)?;
    op.perform(&file, bytes).map_err(refused)?;
    let longest = undone.0.max(look(&file)?.0);
    let failed = |cause| Failure::of(op.name(), cause);
    // The preparation of the next operation judges the one before.
    let (before, is_done) = (Cell::new(undone), Cell::new(false));
    let gained = Cell::new(0.0);
    let mut prepare = || {
        let (length, blocks) = look(&file)?;
        if is_done.replace(false) {
            gained.set(gained.get() + blocks as f64 - before.get().1 as f64);
            let wanted = op.length(bytes);
            if length != wanted {
                let what = format!("the file has {length} bytes after it, not {wanted}");
                return Err(Failure::Refuted(what));
            }
        }
        op.undo(&file, bytes).map_err(failed)?;
        before.set(look(&file)?);
        Ok(())
    };
    let operate = || {
        is_done.set(true);
        perform(&file).map_err(failed)
    };
    let mut outcome = plan.measure(Single::of(&mut prepare, operate))?;
    prepare()?;
    outcome.report(GAINED, gained.get());
    outcome.observe(&MOVED, longest);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::space::tests::{on_disk, refuted};

    const BYTES: u64 = 1 << 20;

    #[test]
    fn half_of_the_blocks_and_a_longer_file_without_any_are_refuted() {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let lie = |op, file: &File| match op {
            Op::PunchHole => fallocate(file, hole, 0, BYTES / 2),
            Op::Allocate | Op::Truncate => ftruncate(file, BYTES),
        };
        for op in [Op::PunchHole, Op::Allocate] {
            let space = or_skip!(on_disk().ok_or("no disk"));
            let expect = [MAX_SLEEPS, op.gained(BYTES)];
            let found = refuted(&expect, |plan| {
                measure(plan, &space, op, BYTES, |file| lie(op, file))
            });
            if let Err(Failure::Unsupported(reason)) = found {
                return println!("skipped: {reason}");
            }
            let found = found.expect("it can be done");
            let of_blocks = found.iter().any(|claim| claim.starts_with(GAINED));
            assert!(of_blocks, "{found:?}");
        }
    }
}
