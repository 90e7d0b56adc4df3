//! Creating, finding, renaming and removing files and directories.
//!
//! ## Measures
//! One operation by its system call, on a name in a directory of up to 128 entries, given relative
//! to the open directory. `create`: openat of a new, empty file and close. `open`: the same for one
//! that exists. `stat`: newfstatat. `chmod`: fchmodat. `rename`: renameat to another name in the
//! same directory, which is free. `link`: an additional name of one file (linkat). `symlink`, `unlink`
//! (of empty files), `mkdir`, `rmdir`. All names and inodes are in the kernel's caches.
//!
//! `sync=none`: the change is in memory when the call returns. `sync=fsync`: fsync of the directory
//! follows each call, and is part of the operation; each is timed individually.
//! ## Does not measure
//! Names that are only on the device; large directories (`fs.readdir`); the content of files
//! (`fs.small_file`).
//! ## Interpretation
//! Compare `open` and `stat` with `syscall.open_close` and `syscall.stat`, which are on the
//! program's own file system. With `sync=fsync` the device and its journal are
//! measured: compare with `fs.sync`. On a network file system each change is a request to the
//! server. Some wait even without fsync, as the voluntary switches in the evidence show:
//! ext4 with the mount option `discard` and no journal makes `rmdir` wait until the device has
//! discarded the directory's block. Without a journal ext4 checks, for each new inode, all those
//! before it in its group that were removed in the last minutes, which takes up to a hundred times
//! as long as the rest. So what `create`, `symlink` and `mkdir` make is not removed but moved away
//! until the row has been measured, and their directory is one that ext4 places in a group of its
//! own; the evidence says how many inodes were passed over all the same. A program that creates
//! and removes files all the time pays for these, too.
//! ## Source
//! lmbench `lat_fs`, whose files are created and removed, divided into its calls; libMicro.

use syscost_harness::prelude::*;

use self::changing::Changing;
use self::op::Made;
use super::durable::Sync;
use super::labels;
use super::pool::{self, Effect};
use super::space::Space;
use crate::witness::files::DIRECTORY;

mod changing;
mod keeping;
mod op;

pub(super) use op::{Kept, Op};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "File metadata: create, open, stat, rename, link, unlink",
    tags: &[
        "inode",
        "directory entry",
        "dentry",
        "mkdir",
        "rmdir",
        "symlink",
        "chmod",
        "lat_fs",
        "mdtest",
    ],
    revision: 2,
    ..Benchmark::of::<Row>()
};

#[derive(Params, Clone)]
pub(super) struct Row {
    /// The directory's label.
    pub(super) dir: String,
    pub(super) op: Op,
    pub(super) sync: Sync,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            dir: labels(here),
            op: Op::ALL,
            sync: op.syncs().iter().copied()
        })
    }

    fn profile(&self, _: &Here) -> Profile {
        let is_alike = matches!(
            self.op,
            Op::Make(Made::Link | Made::Symlink) | Op::Keep(Kept::Chmod)
        );
        match (self.op == Op::CREATE, self.sync) {
            (true, Sync::None) => Profile::Quick,
            (false, Sync::Fsync) => Profile::Full,
            (false, Sync::None) if is_alike => Profile::Full,
            (true, Sync::Fsync) | (false, Sync::None) => Profile::Standard,
        }
    }

    fn support(&self, here: &Here) -> Result<(), Unsupported> {
        self.sync.support(here, &self.dir)
    }

    fn ignores_interference(&self) -> bool {
        self.sync.is_of_the_device()
    }

    fn proofs(&self) -> RowProofs<Proof> {
        RowProofs {
            dir: DIRECTORY.sees(&*self.dir),
            op: self.op.proof(),
            sync: self.sync.proof(),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let Self { dir, op, sync } = self;
        let space = &Space::in_directory(&mut plan, &dir)?;
        match op {
            Op::Make(made) => {
                let adding = Changing::new(space, op, Effect::Adds, made)?;
                pool::measure(plan, space, adding, sync)
            }
            Op::Remove(removed) => {
                let removing = Changing::new(space, op, Effect::Removes, removed.kind())?;
                pool::measure(plan, space, removing, sync)
            }
            Op::Keep(kept) => keeping::measure(plan, space, kept, sync),
        }
    }
}
