//! Creating and removing small files, as programs that unpack or build do.
//!
//! ## Measures
//! `op=create`: openat of a new file, one write of `size` bytes (none of 0), close; no file is
//! removed meanwhile, as for `fs.metadata`. `op=unlink`: unlinkat of such a file, which has just
//! been written. The directory holds up to 128 of them.
//!
//! `sync=none`: everything stays in the page cache. `sync=fsync`: a file is synced before it is
//! closed; after a removal the directory is synced, and the files had been synced before. Each of
//! these operations is timed individually.
//! ## Does not measure
//! Reading them (`fs.read`). Files in a tree of directories.
//! ## Interpretation
//! `size=0` is `fs.metadata{op=create}`; larger ones add the cost of a write and of blocks,
//! which many file systems choose only when they write back. With `sync=fsync` the device is
//! measured: compare with `fs.sync`.
//! ## Source
//! lmbench `lat_fs`, which has the same sizes, and counts files per second.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::{Errno, read, write};
use syscost_harness::prelude::*;
use syscost_sys::files::stamp;

use super::entries::{CREATE, PRIVATE, close};
use super::labels;
use super::pool::{self, Effect, Operation};
use super::space::Space;
use super::waits::{Sync, unwritten_pages};
use crate::syscall::{Bad, must};
use crate::witness::files::{DIRECTORY, MOVED, see_alike};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Small file: create and unlink",
    tags: "file creation, file deletion, inode, lat_fs",
    revision: 2,
    ..Benchmark::of::<SmallFile>()
};

/// The sizes of lmbench's files.
const SIZES: [Bytes; 4] = [EMPTY, Bytes::kib(1), Bytes::kib(4), LARGEST];
const EMPTY: Bytes = Bytes(0);
const LARGEST: Bytes = Bytes::kib(10);

#[derive(Params, Clone)]
struct SmallFile {
    /// The directory's label.
    dir: String,
    op: Op,
    /// Bytes of a file.
    size: Bytes,
    sync: Sync,
}

impl Measured for SmallFile {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(SmallFile {
            dir: labels(here),
            sync: Sync::ALL,
            op: Op::ALL,
            size: SIZES
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.sync, self.size) {
            (Sync::None | Sync::Fsync, LARGEST) | (Sync::None, EMPTY) => Profile::Standard,
            (Sync::None, _) | (Sync::Fsync, EMPTY) => Profile::Full,
            (Sync::Fsync, _) => Profile::Careful,
        }
    }

    fn support(&self, here: &Testbed) -> Result<(), Unsupported> {
        self.sync.support(here, &self.dir)
    }

    fn ignores_interference(&self) -> bool {
        self.sync.is_of_the_device()
    }

    fn proofs(&self) -> SmallFileProofs<Proof> {
        let is_written = self.op == Op::Create && self.size != EMPTY;
        let (made, named) = match self.op {
            Op::Create => (
                vec![calls(Sysno::OPENAT), calls(Sysno::CLOSE)],
                Sysno::OPENAT,
            ),
            Op::Unlink => (vec![calls(Sysno::UNLINKAT)], Sysno::UNLINKAT),
        };
        let written = is_written.then(|| {
            let size = ArgumentValue::Always(self.size.0);
            let length = Proof::argument(Sysno::WRITE, Argument::at(2, "length"), size);
            Proof::counted([calls(Sysno::WRITE)]).and(length)
        });
        let name = Proof::argument(named, Argument::at(1, "name"), ArgumentValue::Different);
        SmallFileProofs {
            dir: DIRECTORY.expects(&*self.dir),
            op: Proof::counted(made).and(name),
            size: MOVED.expects(self.size.0).and(written.unwrap_or_default()),
            sync: self.sync.proof(),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let space = Space::in_directory(&mut plan, &self.dir)?;
        space.room_for(pool::MAX_ENTRIES as u64 * self.size.0)?;
        let files = Files::new(plan.random().u64(..), self.size.get(), self.op, self.sync);
        pool::measure(plan, &space, files, self.sync)
    }
}

/// The operation on a file.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Create,
    Unlink,
}

/// Files with the same content.
struct Files {
    /// The content, which shows where in a file each part belongs.
    content: Vec<u8>,
    seed: u64,
    op: Op,
    sync: Sync,
}

impl Files {
    fn new(seed: u64, size: usize, op: Op, sync: Sync) -> Self {
        let mut content = vec![0; size];
        stamp::fill(&mut content, 0, seed);
        Self {
            content,
            seed,
            op,
            sync,
        }
    }

    /// The file, its size, and whether its content is right.
    fn look(&self, directory: &OwnedFd, name: &CStr) -> Result<(File, u64, bool), Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(directory, name, flags, Mode::empty())?;
        let size = fstat(&file)?.st_size as u64;
        let mut content = vec![0; size as usize];
        let is_right = read(&file, &mut content)? == content.len()
            && stamp::check(&content, 0, self.seed).is_ok();
        Ok((file.into(), size, is_right))
    }
}

impl Operation for Files {
    fn effect(&self) -> Effect {
        match self.op {
            Op::Create => Effect::Adds,
            Op::Unlink => Effect::Removes,
        }
    }

    #[inline(always)]
    fn add(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        let file = openat(directory, name, CREATE, PRIVATE)?;
        if !self.content.is_empty() {
            // A full disk, or a limit, may truncate a write.
            must(write(&file, &self.content)? == self.content.len())?;
        }
        self.sync.wait(&file)?;
        close(file)
    }

    #[inline(always)]
    fn remove(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        Ok(unlinkat(directory, name, AtFlags::empty())?)
    }

    fn waits_itself(&self) -> bool {
        self.op == Op::Create
    }

    fn makes_inodes(&self) -> bool {
        self.op == Op::Create
    }

    fn shrink(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        if self.content.is_empty() {
            return Ok(());
        }
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC;
        close(openat(directory, name, flags, Mode::empty())?)
    }

    fn claim(
        &self,
        b: &mut Bencher,
        directory: &OwnedFd,
        names: &[CString],
    ) -> Result<(), Failure> {
        let (mut right, mut sizes) = (0, Vec::new());
        // What was synced is the files themselves and not, for example, their directory, if none of
        // their content is left to be written back.
        let mut unwritten = Ok::<u64, Unsupported>(0);
        for name in names {
            let (file, size, is_right) = self.look(directory, name).tried("read a file")?;
            right += usize::from(is_right);
            sizes.push(size);
            unwritten = unwritten.and_then(|sum| Ok(sum + unwritten_pages(&file)?));
        }
        let what = "files of these that have their content";
        b.claim_equal(what, names.len(), right, "read");
        see_alike(b, &MOVED, sizes);
        if (self.op, self.sync) == (Op::Create, Sync::Fsync) {
            let what = "pages of these files that are not written back";
            let unwritten = unwritten.map(|pages| pages as f64);
            b.claim_known(what, Bound::Exactly(0.0), unwritten, "cachestat");
        }
        Ok(())
    }

    fn refused(&self, bad: Bad) -> Failure {
        Failure::of(self.op.name(), bad)
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Resource, Rlimit, setrlimit};
    use syscost_sys::partner::Partner;
    use syscost_sys::process;

    use super::*;
    use crate::fs::space::tests::on_disk;

    #[test]
    fn a_file_cut_short_by_a_limit_is_no_small_file() {
        let space = or_skip!(on_disk().ok_or("the build lies in memory"));
        let folder = space.folder().clone();
        let limited = move || -> Result<(), Failure> {
            process::survive_failed_writes();
            let limit = Some(4 << 10);
            let limit = Rlimit {
                current: limit,
                maximum: limit,
            };
            setrlimit(Resource::Fsize, limit).tried("setrlimit")?;
            let directory = super::super::entries::open_directory(&folder)?;
            let files = Files::new(7, 10 << 10, Op::Create, Sync::None);
            let made = files.add(&directory, c"long");
            match made.map_err(|bad| files.refused(bad)) {
                Err(Failure::Failed(_)) => Ok(()),
                other => Err(Failure::Broken(format!("comes to {other:?}"))),
            }
        };
        let cpus = syscost_sys::cpu::allowed().expect("some");
        let partner = Partner::start(Between::Processes, &cpus, limited).unwrap();
        partner.join().unwrap();
        let made = space.folder().open("long").unwrap();
        assert_eq!(made.metadata().unwrap().len(), 4 << 10);
    }
}
