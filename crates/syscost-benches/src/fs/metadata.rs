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

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, chmodat, fstat, linkat, mkdirat, openat, readlinkat,
    renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use syscost_harness::prelude::*;

use super::entries::{self, CREATE, PRIVATE, close, create};
use super::labels;
use super::pool::{self, Effect, Operation};
use super::space::Space;
use super::waits::{DELIVERED, MAX_SLEEPS, Sync, Waits, expect_answers, settle};
use crate::syscall::{Bad, must};
use crate::witness::files::DIRECTORY;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "File metadata: create, open, stat, rename, link, unlink",
    tags: "inode, directory entry, dentry, mkdir, rmdir, symlink, chmod, lat_fs, mdtest",
    revision: 2,
    ..Benchmark::of::<Metadata>()
};

#[derive(Params, Clone)]
pub(super) struct Metadata {
    /// The directory's label.
    pub(super) dir: String,
    pub(super) op: Op,
    pub(super) sync: Sync,
}

impl Measured for Metadata {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(Metadata {
            dir: labels(here),
            op: Op::ALL,
            sync: op.syncs().iter().copied()
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        let is_alike = matches!(
            self.op,
            Op::Make(Created::Link | Created::Symlink) | Op::Keep(Kept::Chmod)
        );
        match (self.op == Op::CREATE, self.sync) {
            (true, Sync::None) => Profile::Quick,
            (false, Sync::Fsync) => Profile::Full,
            (false, Sync::None) if is_alike => Profile::Full,
            (true, Sync::Fsync) | (false, Sync::None) => Profile::Standard,
        }
    }

    fn support(&self, here: &Testbed) -> Result<(), Unsupported> {
        self.sync.support(here, &self.dir)
    }

    fn ignores_interference(&self) -> bool {
        self.sync.is_of_the_device()
    }

    fn proofs(&self) -> MetadataProofs<Proof> {
        MetadataProofs {
            dir: DIRECTORY.expects(&*self.dir),
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
            Op::Keep(kept) => measure_kept(plan, space, kept, sync),
        }
    }
}

const STAT: &str = "newfstatat";

/// How an existing file is opened.
const OPEN: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);

/// The modes that chmod sets alternately: owner only, or readable by the group as well.
const MODES: [Mode; 2] = [PRIVATE, PRIVATE.union(Mode::RGRP)];

const _: () = assert!(
    MODES[0].bits() != MODES[1].bits(),
    "chmod is to change something"
);

/// An operation on a name, by what it does to the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Make(Created),
    Remove(Removed),
    /// Leaves the only file, perhaps under another name.
    Keep(Kept),
}

/// What an operation makes.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Created {
    #[value("create")]
    File,
    Link,
    Symlink,
    #[value("mkdir")]
    Directory,
}

/// What an operation removes.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Removed {
    #[value("unlink")]
    File,
    #[value("rmdir")]
    Directory,
}

impl Removed {
    /// What it removes.
    const fn kind(self) -> Created {
        match self {
            Removed::File => Created::File,
            Removed::Directory => Created::Directory,
        }
    }
}

/// What is done with the file that stays.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Open,
    Stat,
    Chmod,
    Rename,
}

impl Op {
    const ALL: [Op; 10] = [
        Op::Make(Created::File),
        Op::Keep(Kept::Open),
        Op::Keep(Kept::Stat),
        Op::Keep(Kept::Chmod),
        Op::Keep(Kept::Rename),
        Op::Make(Created::Link),
        Op::Make(Created::Symlink),
        Op::Remove(Removed::File),
        Op::Make(Created::Directory),
        Op::Remove(Removed::Directory),
    ];

    /// The operation that people look at first.
    pub(super) const CREATE: Op = Op::Make(Created::File);

    const fn name(self) -> &'static str {
        match self {
            Op::Make(made) => made.name(),
            Op::Remove(removed) => removed.name(),
            Op::Keep(kept) => kept.name(),
        }
    }

    /// What may follow it: there is something to sync if it changes its directory.
    const fn syncs(self) -> &'static [Sync] {
        match self {
            Op::Make(_) | Op::Remove(_) | Op::Keep(Kept::Rename) => &Sync::ALL,
            Op::Keep(Kept::Open | Kept::Stat | Kept::Chmod) => &[Sync::None],
        }
    }

    const fn calls(self) -> &'static [Sysno] {
        match self {
            Op::Make(Created::File) | Op::Keep(Kept::Open) => &[Sysno::OPENAT, Sysno::CLOSE],
            Op::Make(Created::Link) => &[Sysno::LINKAT],
            Op::Make(Created::Symlink) => &[Sysno::SYMLINKAT],
            Op::Make(Created::Directory) => &[Sysno::MKDIRAT],
            Op::Remove(_) => &[Sysno::UNLINKAT],
            Op::Keep(Kept::Stat) => &[Sysno::NEWFSTATAT],
            Op::Keep(Kept::Chmod) => &[Sysno::FCHMODAT],
            Op::Keep(Kept::Rename) => &[Sysno::RENAMEAT],
        }
    }

    /// Proof by its calls, and by the arguments of the first one that make it this operation.
    fn proof(self) -> Proof {
        let is = |position, name, value| (position, name, ArgumentValue::Always(value));
        let is_new = |position| (position, "name", ArgumentValue::Different);
        let [private, shared] = MODES.map(|mode| u64::from(mode.bits()));
        let expected = match self {
            Op::Make(Created::File) => vec![is_new(1), is(2, "flags", opened(CREATE))],
            Op::Make(Created::Link) => vec![is_new(3), is(4, "flags", 0)],
            Op::Make(Created::Symlink) => vec![is_new(2)],
            Op::Make(Created::Directory) => vec![is_new(1)],
            Op::Remove(Removed::File) => vec![is_new(1), is(2, "flags", 0)],
            Op::Remove(Removed::Directory) => {
                let flag = AtFlags::REMOVEDIR.bits().into();
                vec![is_new(1), is(2, "flags", flag)]
            }
            Op::Keep(Kept::Open) => vec![is(2, "flags", opened(OPEN))],
            Op::Keep(Kept::Stat) => vec![is(3, "flags", 0)],
            Op::Keep(Kept::Chmod) => vec![(2, "mode", ArgumentValue::InTurn(private, shared))],
            // The new name in one call is the old one in the next.
            Op::Keep(Kept::Rename) => vec![
                (1, "old name", ArgumentValue::Apart(1)),
                (3, "new name", ArgumentValue::Apart(1)),
            ],
        };
        let counted = Proof::counted(self.calls().iter().map(|call| calls(*call)));
        let argument = |(position, name, given)| {
            Proof::argument(self.calls()[0], Argument::at(position, name), given)
        };
        expected.into_iter().map(argument).fold(counted, Proof::and)
    }

    /// The failure for one of its errors. Not every file system has links and modes.
    fn refused(self, bad: Bad) -> Failure {
        let missing = match self {
            Op::Make(Created::Link) => "hard links",
            Op::Make(Created::Symlink) => "symbolic links",
            Op::Keep(Kept::Chmod) => "modes of files",
            Op::Make(Created::File | Created::Directory)
            | Op::Remove(_)
            | Op::Keep(Kept::Open | Kept::Stat | Kept::Rename) => {
                return Failure::of(self.name(), bad);
            }
        };
        match bad {
            Bad::Refused(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {
                Failure::Unsupported(format!("this file system has no {missing}: {bad}"))
            }
            Bad::Refused(_) | Bad::Answer => Failure::of(self.name(), bad),
        }
    }
}

impl Value for Op {
    const MEANING: &'static str = "The operation on a name, by what it does to the directory.";

    fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(self.name())
    }

    fn read(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == text)
    }
}

/// Flags of openat as the kernel receives them.
fn opened(flags: OFlags) -> u64 {
    (flags | OFlags::LARGEFILE).bits().into()
}

/// The target of links.
const TARGET: &CStr = c"target";

/// Adds the entry of a name, or removes it.
struct Changing {
    op: Op,
    effect: Effect,
    made: Created,
    /// The directory that holds the target of links.
    parent: OwnedFd,
}

impl Changing {
    /// What this operation does: entries of this kind are added, or removed.
    fn new(space: &Space, op: Op, effect: Effect, made: Created) -> Result<Self, Failure> {
        let parent = entries::open_directory(space.folder())?;
        create(&parent, TARGET).tried("create")?;
        Ok(Self {
            op,
            effect,
            made,
            parent,
        })
    }

    /// Whether an entry is what the operation should have made.
    fn is_right(&self, directory: &OwnedFd, name: &CStr, target: &Stat) -> Result<bool, Errno> {
        let entry = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = FileType::from_raw_mode(entry.st_mode);
        Ok(match self.made {
            Created::File => kind == FileType::RegularFile && entry.st_size == 0,
            Created::Link => kind == FileType::RegularFile && entry.st_ino == target.st_ino,
            Created::Symlink => {
                kind == FileType::Symlink && *readlinkat(directory, name, Vec::new())? == *TARGET
            }
            Created::Directory => kind == FileType::Directory,
        })
    }
}

impl Operation for Changing {
    fn effect(&self) -> Effect {
        self.effect
    }

    #[inline(always)]
    fn add(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        match self.made {
            Created::File => create(directory, name)?,
            Created::Link => linkat(&self.parent, TARGET, directory, name, AtFlags::empty())?,
            Created::Symlink => symlinkat(TARGET, directory, name)?,
            Created::Directory => mkdirat(directory, name, Mode::RWXU)?,
        }
        Ok(())
    }

    #[inline(always)]
    fn remove(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        let flags = match self.made {
            Created::Directory => AtFlags::REMOVEDIR,
            Created::File | Created::Link | Created::Symlink => AtFlags::empty(),
        };
        Ok(unlinkat(directory, name, flags)?)
    }

    fn makes_inodes(&self) -> bool {
        self.effect == Effect::Adds && self.made != Created::Link
    }

    fn refused(&self, bad: Bad) -> Failure {
        self.op.refused(bad)
    }

    fn claim(
        &self,
        b: &mut Bencher,
        directory: &OwnedFd,
        names: &[CString],
    ) -> Result<(), Failure> {
        if self.effect == Effect::Removes {
            return Ok(());
        }
        let failed = |cause| Failure::of("stat of an entry", cause);
        let target = statat(&self.parent, TARGET, AtFlags::empty()).map_err(failed)?;
        let mut right = 0;
        for name in names {
            let is_right = self.is_right(directory, name, &target).map_err(failed)?;
            right += usize::from(is_right);
        }
        let what = match self.made {
            Created::File => "of these that are empty files",
            Created::Link => "of these that are the target itself",
            Created::Symlink => "of these that are links to the target",
            Created::Directory => "of these that are directories",
        };
        b.claim_equal(what, names.len(), right, STAT);
        if self.made == Created::Link {
            let (expected, found) = (1 + names.len(), target.st_nlink as usize);
            b.claim_equal("names of the target", expected, found, STAT);
        }
        Ok(())
    }
}

/// A file in a directory of its own.
struct Object {
    directory: OwnedFd,
    /// Its name, and the other one that renames use.
    names: [CString; 2],
    inode: u64,
}

impl Object {
    fn new(space: &Space) -> Result<Self, Failure> {
        let parent = entries::open_directory(space.folder())?;
        let directory = entries::make_directory(&parent, c"object")?;
        let names = [0, 1].map(entries::name);
        let inode = openat(&directory, &*names[0], CREATE, PRIVATE)
            .and_then(|file| Ok(fstat(file)?.st_ino))
            .tried("create")?;
        Ok(Self {
            directory,
            names,
            inode,
        })
    }

    /// Expects that every such call is given the object's first name.
    fn expect_named(&self, plan: &mut Plan, call: Sysno) {
        const NAME: Argument = Argument::at(1, "address of the name");
        let address = self.names[0].as_ptr().addr() as u64;
        plan.expect_argument(call, NAME, ArgumentValue::Always(address));
    }

    fn look_up(&self, name: usize) -> Result<Stat, Errno> {
        statat(&self.directory, &*self.names[name], AtFlags::empty())
    }

    #[inline(always)]
    fn open(&self) -> Result<OwnedFd, Errno> {
        openat(&self.directory, &*self.names[0], OPEN, Mode::empty())
    }

    #[inline(always)]
    fn stat(&self) -> Result<(), Bad> {
        must(self.look_up(0)?.st_ino == self.inode)
    }

    #[inline(always)]
    fn chmod(&self, number: usize) -> Result<(), Errno> {
        let mode = MODES[number % 2];
        chmodat(&self.directory, &*self.names[0], mode, AtFlags::empty())
    }

    /// Renames it to the other name and, with the next number, back.
    #[inline(always)]
    fn rename(&self, number: usize) -> Result<(), Errno> {
        let (old, new) = (&*self.names[number % 2], &*self.names[1 - number % 2]);
        renameat(&self.directory, old, &self.directory, new)
    }
}

fn measure_kept<'p>(
    mut plan: Plan<'p>,
    space: &Space,
    kept: Kept,
    sync: Sync,
) -> Result<Outcome<'p>, Failure> {
    let object = Object::new(space)?;
    match (kept, sync) {
        (Kept::Open, _) => {
            expect_answers(&mut plan, space.filesystem());
            claim_opened(&mut plan, &object)?;
            object.expect_named(&mut plan, Sysno::OPENAT);
            plan.measure(Loop::each(|| close(object.open()?)))
        }
        (Kept::Stat, _) => {
            expect_answers(&mut plan, space.filesystem());
            object.expect_named(&mut plan, Sysno::NEWFSTATAT);
            plan.measure(Loop::each(|| object.stat()))
        }
        (Kept::Chmod, _) => {
            let mut outcome = in_turn(plan, kept, |number| object.chmod(number))?;
            claim_modes(&mut outcome, &object)?;
            Ok(outcome)
        }
        (Kept::Rename, Sync::None) => {
            let mut outcome = in_turn(plan, kept, |number| object.rename(number))?;
            claim_renamed(&mut outcome, &object, 0)?;
            Ok(outcome)
        }
        (Kept::Rename, Sync::Fsync) => rename_and_sync(plan, space, &object),
    }
}

/// Batches of an even number of operations, so that each batch begins where the last one did.
#[inline(always)]
fn in_turn(
    mut plan: Plan,
    kept: Kept,
    op: impl Fn(usize) -> Result<(), Errno>,
) -> Result<Outcome, Failure> {
    plan.expect(MAX_SLEEPS);
    plan.measure(Loop::batches(2, |iterations| {
        for number in 0..2 * iterations as usize {
            op(number).map_err(|cause| Op::Keep(kept).refused(cause.into()))?;
        }
        Ok(())
    }))
}

fn rename_and_sync<'p>(
    mut plan: Plan<'p>,
    space: &Space,
    object: &Object,
) -> Result<Outcome<'p>, Failure> {
    plan.expect(MAX_SLEEPS);
    Sync::Fsync.expect_synced(&mut plan, ArgumentValue::Always, &object.directory);
    settle(&object.directory)?;
    let (waits, done) = (Waits::begin(space.folder().file()), Cell::new(0_usize));
    let rename = || {
        let renamed = object.rename(done.get());
        renamed.map_err(|cause| Op::Keep(Kept::Rename).refused(cause.into()))?;
        done.set(done.get() + 1);
        Sync::Fsync.wait(&object.directory).tried("fsync")
    };
    let (mut outcome, _) = waits.measure(plan, false, DELIVERED, |_| Ok(()), rename)?;
    // The audited copies of this process made an even number of renames.
    claim_renamed(&mut outcome, object, done.get())?;
    Ok(outcome)
}

fn claim_opened(b: &mut Bencher, object: &Object) -> Result<(), Failure> {
    let opened = object.open().and_then(fstat).tried("open")?;
    let what = "inode of the file that is opened";
    b.claim_equal(what, object.inode, opened.st_ino, "fstat");
    Ok(())
}

fn claim_modes(b: &mut Bencher, object: &Object) -> Result<(), Failure> {
    for (number, mode) in MODES.into_iter().enumerate() {
        let set = object
            .chmod(number)
            .and_then(|()| object.look_up(0))
            .tried("chmod")?;
        let seen = Mode::from_raw_mode(set.st_mode);
        let name = |mode: Mode| format!("{:04o}", mode.bits());
        let what = "mode that a call sets";
        b.claim_equal(what, name(mode), name(seen), STAT);
    }
    Ok(())
}

/// Claims that the file has the name that `done` renames give it, and after one more the other name.
fn claim_renamed(b: &mut Bencher, object: &Object, done: usize) -> Result<(), Failure> {
    for number in [done, done + 1] {
        if number > done {
            object.rename(done).tried("rename")?;
        }
        let [new, old] = [number % 2, 1 - number % 2].map(|name| object.look_up(name));
        let is_there = new.is_ok_and(|stat| stat.st_ino == object.inode);
        let is_gone = old.is_err_and(|cause| cause == Errno::NOENT);
        let parity = ["even", "odd"][number % 2];
        let found = match (is_there, is_gone) {
            (true, true) => "the new one alone",
            (true, false) => "both",
            (false, true) => "neither",
            (false, false) => "the old one alone",
        };
        let what = format!("names of the file after an {parity} number of renames");
        b.claim_equal(what, "the new one alone", found, STAT);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_system_lacks_is_unsupported_and_what_it_refuses_is_not() {
        let refused = |op: Op, errno| op.refused(Bad::Refused(errno));
        let none = refused(Op::Make(Created::Link), Errno::PERM);
        assert!(matches!(none, Failure::Unsupported(_)), "{none:?}");
        for errno in [
            Errno::NOSPC,
            Errno::DQUOT,
            Errno::ROFS,
            Errno::MFILE,
            Errno::IO,
        ] {
            let failure = refused(Op::CREATE, errno);
            assert!(matches!(failure, Failure::Failed(_)), "{failure:?}");
            assert!(failure.to_string().starts_with("create: "), "{failure}");
        }
    }
}
