//! Operations that keep a directory's only file: open, stat, chmod, rename.

use std::cell::Cell;
use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, Stat, chmodat, fstat, openat, renameat, statat};
use rustix::io::Errno;
use syscost_harness::prelude::*;

use super::op::{Kept, MODES, OPEN, Op};
use crate::fs::durable::{DELIVERED, Sync, expect_answers, settle};
use crate::fs::entries::{self, CREATE, PRIVATE, close};
use crate::fs::space::Space;
use crate::fs::waits::{MAX_SLEEPS, Waits};
use crate::syscall::{Bad, must};

const STAT: &str = "newfstatat";

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
            .map_err(|cause| Failure::of("create", cause))?;
        Ok(Self {
            directory,
            names,
            inode,
        })
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

pub(super) fn measure<'p>(
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
            plan.measure(Loop::each(|| close(object.open()?)))
        }
        (Kept::Stat, _) => {
            expect_answers(&mut plan, space.filesystem());
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
        let synced = Sync::Fsync.wait(&object.directory);
        synced.map_err(|cause| Failure::of("fsync", cause))
    };
    let (mut outcome, _) = waits.measure(plan, false, DELIVERED, |_| Ok(()), rename)?;
    // The audited copies of this process made an even number of renames.
    claim_renamed(&mut outcome, object, done.get())?;
    Ok(outcome)
}

fn claim_opened(b: &mut Bencher, object: &Object) -> Result<(), Failure> {
    let opened = object.open().and_then(fstat);
    let opened = opened.map_err(|cause| Failure::of("open", cause))?;
    let what = "inode of the file that is opened";
    b.claim_equal(what, object.inode, opened.st_ino, "fstat");
    Ok(())
}

fn claim_modes(b: &mut Bencher, object: &Object) -> Result<(), Failure> {
    for (number, mode) in MODES.into_iter().enumerate() {
        let set = object.chmod(number).and_then(|()| object.look_up(0));
        let set = set.map_err(|cause| Failure::of("chmod", cause))?;
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
            let renamed = object.rename(done);
            renamed.map_err(|cause| Failure::of("rename", cause))?;
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
