//! Reading a whole directory.
//!
//! ## Measures
//! openat of a directory with this many entries, getdents64 into 32 KiB until it returns nothing
//! more, close. `per_entry=none`: names and kinds are taken from the directory, as `ls`
//! does; on a local file system the entries are names of one file (hard links), of which nothing
//! but names is read. `per_entry=stat`: newfstatat of each name as well, as `ls -l` does; each is a
//! separate file, as on the file system of another machine, whose answer may include the attributes of
//! each. The detail `per_entry_ns` is the time divided by the number of entries.
//! ## Does not measure
//! Directories and inodes that are only on the device.
//! ## Interpretation
//! `entries=1` is the cost of opening, reading twice and closing. What `stat` adds is a lookup by
//! name for each entry.
//! ## Source
//! getdents(2); lmbench has no counterpart.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, RawDir, linkat, openat, statat};
use rustix::io::Errno;
use syscost_harness::prelude::*;

use super::entries::{self, BUFFER_BYTES, close};
use super::labels;
use super::space::Space;
use super::waits;
use crate::syscall::{Bad, must};
use crate::witness::files::DIRECTORY;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Directory read (readdir)",
    tags: "getdents, directory listing, directory scan, ls",
    expect: &[calls(Sysno::OPENAT), calls(Sysno::CLOSE)],
    ..Benchmark::of::<Readdir>()
};

/// Bytes that a file system may need for an empty file, including its name.
const BYTES_OF_AN_INODE: usize = 1 << 10;

/// The directory that people look at first, and the largest.
const USUAL: usize = 100;
const LARGEST: usize = 10_000;

/// How expensive it is to create and remove as many entries as the largest directory has.
const EXPENSIVE: Setup = Setup::Expensive { seconds: 0.25 };

#[derive(Params, Clone)]
struct Readdir {
    /// The directory's label.
    dir: String,
    /// Entries of the directory.
    entries: usize,
    per_entry: Each,
}

/// What is done with each entry.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Each {
    None,
    Stat,
}

impl Measured for Readdir {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(Readdir {
            dir: labels(here),
            per_entry: Each::ALL,
            entries: [1, USUAL, LARGEST]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.entries, self.per_entry) {
            (USUAL, Each::None | Each::Stat) => Profile::Standard,
            (LARGEST, Each::Stat) => Profile::Careful,
            (_, Each::None | Each::Stat) => Profile::Full,
        }
    }

    fn setup(&self) -> Option<Setup> {
        (self.entries == LARGEST).then_some(EXPENSIVE)
    }

    fn proofs(&self) -> ReaddirProofs<Proof> {
        let (each, stat) = (self.entries as f64, Counter::Syscall(Sysno::NEWFSTATAT));
        let each = (self.per_entry == Each::Stat).then(|| exactly(stat, each));
        // Each name lies where getdents64 put it, so no two successive ones are at the same
        // address.
        let names = (self.per_entry == Each::Stat && self.entries > 1).then(|| {
            Proof::argument(
                Sysno::NEWFSTATAT,
                Argument::at(1, "name"),
                ArgumentValue::Apart(1),
            )
        });
        ReaddirProofs {
            dir: DIRECTORY.expects(&*self.dir),
            entries: ENTRIES.expects(self.entries),
            per_entry: Proof::counted(each).and(names.unwrap_or_default()),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let space = Space::in_directory(&mut plan, &self.dir)?;
        waits::expect_answers(&mut plan, space.filesystem());
        let filled = Filled::new(&space, self.entries, self.per_entry)?;
        let seen = filled.look()?;
        plan.observe(&ENTRIES, seen.once);
        claim_kinds(&mut plan, &seen);
        let reads = seen.reads as f64;
        plan.expect(exactly(Counter::Syscall(Sysno::GETDENTS64), reads));
        let given = ArgumentValue::Always(BUFFER_BYTES as u64);
        plan.expect_argument(Sysno::GETDENTS64, Argument::at(2, "length"), given);
        let mut buffer = entries::buffer();
        let mut outcome = match self.per_entry {
            Each::None => plan.measure(Loop::each(|| filled.read(&mut buffer, |_, _| Ok(()))))?,
            Each::Stat => plan.measure(Loop::each(|| filled.read(&mut buffer, must_be_file)))?,
        };
        outcome.detail_each("per_entry_ns", &ENTRIES)?;
        Ok(outcome)
    }
}

const GETDENTS: &str = "getdents64";

static ENTRIES: Witness = Witness::of("entries that are seen exactly once", GETDENTS);

#[inline(always)]
fn must_be_file(directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    must(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

/// Whether entries are files according to their kind, which some file systems do not keep in a directory.
fn claim_kinds(b: &mut Bencher, seen: &Listing) {
    let (what, count) = ("entries that are files by their kind", seen.once);
    let evidence = Evidence::new(
        what,
        count,
        seen.files,
        GETDENTS,
        Verdict::of(count == seen.files),
    );
    let reason = "this file system leaves kinds open";
    b.add_evidence(evidence.unless((seen.unknown > 0).then_some(reason)));
}

/// A directory with the names of empty files.
struct Filled {
    parent: OwnedFd,
    count: usize,
}

/// The result of reading a directory once.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listing {
    /// Entries that were created, and seen exactly once.
    once: usize,
    /// Entries that are files according to their kind.
    files: usize,
    unknown: usize,
    /// Calls of getdents64, the last of which returned nothing.
    reads: usize,
}

impl Filled {
    const NAME: &CStr = c"filled";

    fn new(space: &Space, count: usize, each: Each) -> Result<Self, Failure> {
        space.room_for((count * BYTES_OF_AN_INODE) as u64)?;
        let parent = entries::open_directory(space.folder())?;
        let directory = entries::make_directory(&parent, Self::NAME)?;
        // For rows that only read names, they are names of the first file, if that is possible: what
        // thousands of removed files leave behind slows down the next measurement in some file
        // systems. A server may be asked for names and attributes together (READDIRPLUS).
        let is_of_one_file = each == Each::None && !space.filesystem().is_remote();
        let first = entries::name(0);
        for number in 0..count {
            let name = entries::name(number);
            let link = || linkat(&directory, &*first, &directory, &*name, AtFlags::empty());
            if !(is_of_one_file && number > 0 && link().is_ok()) {
                entries::create(&directory, &name).tried("create")?;
            }
        }
        Ok(Self { parent, count })
    }

    fn open(&self) -> Result<OwnedFd, Errno> {
        openat(&self.parent, Self::NAME, entries::DIRECTORY, Mode::empty())
    }

    /// Reads the whole directory once, and checks each entry.
    fn look(&self) -> Result<Listing, Failure> {
        let failed = |cause| Failure::of("read a directory", cause);
        let (mut seen, mut buffer) = (Listing::default(), entries::buffer());
        let mut times = vec![0; self.count];
        let directory = self.open().map_err(failed)?;
        let mut entries = RawDir::new(&directory, &mut buffer);
        loop {
            seen.reads += usize::from(entries.is_buffer_empty());
            let Some(entry) = entries.next() else { break };
            let entry = entry.map_err(failed)?;
            if let Some(number) = entries::number(entry.file_name()) {
                *times.get_mut(number).unwrap_or(&mut 0) += 1;
                seen.files += usize::from(entry.file_type() == FileType::RegularFile);
                seen.unknown += usize::from(entry.file_type() == FileType::Unknown);
            }
        }
        seen.once = times.iter().filter(|times| **times == 1).count();
        Ok(seen)
    }

    /// Opens the directory, reads all of it, and closes it. Every entry must be there.
    #[inline(always)]
    fn read(
        &self,
        buffer: &mut [MaybeUninit<u8>],
        each: impl Fn(&OwnedFd, &CStr) -> Result<(), Bad>,
    ) -> Result<(), Bad> {
        let directory = self.open()?;
        let mut count = 0;
        entries::visit(&directory, buffer, |name, _| -> Result<(), Bad> {
            count += 1;
            each(&directory, name)
        })?;
        must(count == self.count)?;
        close(directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::space::tests::on_disk;

    #[test]
    fn an_entry_too_few_is_noticed() {
        let space = or_skip!(on_disk().ok_or("the build lies in memory"));
        let filled = Filled::new(&space, 3, Each::Stat).unwrap();
        let entry = "filled/entry00001";
        rustix::fs::unlinkat(space.folder().file(), entry, rustix::fs::AtFlags::empty()).unwrap();
        let mut buffer = entries::buffer();
        assert!(filled.read(&mut buffer, |_, _| Ok(())).is_err());
        assert_eq!(filled.look().unwrap().once, 2);
    }
}
