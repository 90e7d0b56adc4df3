//! Shared: operations each of which adds an entry to a directory or removes one.
//!
//! They use up entries, which are restored between batches, untimed; each time, what a batch left is
//! compared with what it must have left. No inode is removed while the making of others is measured
//! (see [`inodes`]): what was made is moved to another directory until the end.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, openat};
use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::audit::uncounted;

use super::entries;
use super::inodes::{self, Aside};
use super::space::Space;
use super::waits::{DELIVERED, MAX_SLEEPS, Sync, Waits, settle};
use crate::syscall::Bad;

/// Number of entries where batches are timed, and operations per batch.
pub(super) const MAX_ENTRIES: usize = 128;

/// Numbers of entries where each operation is timed individually: when timed, they are restored in
/// small parts; for the audit they suffice without being restored between operations.
const SINGLES_TIMED: usize = 16;
const SINGLES_COUNTED: usize = 64;

/// Operations whose result is checked in the end.
const LOOKED_AT: usize = 8;

/// A directory is searched for each new name, in some file systems linearly: twice
/// as many entries may take more than twice as long.
const SEARCHED: Expect = within(Counter::TimeScaling, 1.5, 3.0);

/// The effect of operations on their directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Adds,
    Removes,
}

/// One operation on the entry of one name.
pub(super) trait Operation {
    /// What it does to the directory.
    fn effect(&self) -> Effect;

    /// Adds the entry of this name: the operation, or what undoes it, untimed.
    fn add(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad>;

    /// Removes it: the same.
    fn remove(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad>;

    /// Whether it makes an inode, which is then not removed while more are measured, but set aside.
    fn makes_inodes(&self) -> bool;

    /// Whether it waits for the device itself, if that is waited for; otherwise it is followed by
    /// an fsync of the directory.
    fn waits_itself(&self) -> bool {
        false
    }

    /// Makes what is set aside small, untimed.
    fn shrink(&self, _directory: &OwnedFd, _name: &CStr) -> Result<(), Bad> {
        Ok(())
    }

    /// Claims the state of these names: what operations added, or what they will remove.
    fn claim(
        &self,
        _b: &mut Bencher,
        _directory: &OwnedFd,
        _names: &[CString],
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// The failure for an error of the operation, if that means more than that it failed.
    fn refused(&self, bad: Bad) -> Failure {
        bad.into()
    }
}

/// A directory, and names for the operations.
pub(super) struct Pool<O> {
    operation: O,
    /// What follows each operation.
    sync: Sync,
    directory: OwnedFd,
    /// Where inodes that were made stay until the end, if there is room for them.
    aside: Option<Aside>,
    names: Vec<CString>,
    /// Operations made since the entries were restored.
    done: Cell<usize>,
    /// The process whose operations are counted: its audited copies work in the same directory.
    owner: u32,
    found: RefCell<Found>,
}

/// The content of the directory. Kept, so that looking into it does not allocate: that would
/// occasionally be a system call, in an audit.
struct Found {
    buffer: Vec<MaybeUninit<u8>>,
    is_there: Vec<bool>,
}

impl<O: Operation> Pool<O> {
    /// A pool of `count` names in a new directory of this space, with its entries ready.
    pub(super) fn new(
        space: &Space,
        operation: O,
        sync: Sync,
        count: usize,
    ) -> Result<Self, Failure> {
        let parent = entries::open_directory(space.folder())?;
        let aside = match operation.makes_inodes() {
            true => Aside::within(&parent)?,
            false => None,
        };
        let pool = Self {
            operation,
            sync,
            directory: inodes::make_first(space, &parent)?,
            aside,
            names: (0..count).map(entries::name).collect(),
            done: Cell::new(0),
            owner: std::process::id(),
            found: RefCell::new(Found {
                buffer: entries::buffer(),
                is_there: vec![false; count],
            }),
        };
        pool.bring_back()?;
        Ok(pool)
    }

    /// Whether the entry of a name exists before an operation on it.
    fn is_there_before(&self) -> bool {
        self.operation.effect() == Effect::Removes
    }

    fn must_be_there(&self, number: usize) -> bool {
        (number < self.done.get()) != self.is_there_before()
    }

    /// Reads the directory and returns how many of the entries exist.
    fn look(&self) -> Result<usize, Failure> {
        let Found { buffer, is_there } = &mut *self.found.borrow_mut();
        is_there.fill(false);
        let note = |name: &CStr, _| {
            let seen = entries::number(name).and_then(|number| is_there.get_mut(number));
            seen.map(|seen| *seen = true).ok_or(Errno::EXIST)
        };
        // Opened anew: not every file system lets a directory be read from its beginning again.
        openat(&self.directory, c".", entries::DIRECTORY, Mode::empty())
            .and_then(|again| entries::visit(&again, buffer, note))
            .tried("read the directory")?;
        Ok(is_there.iter().filter(|is_there| **is_there).count())
    }

    fn expected(&self) -> usize {
        let numbers = 0..self.names.len();
        numbers.filter(|number| self.must_be_there(*number)).count()
    }

    fn is_as_expected(&self) -> bool {
        let found = &self.found.borrow().is_there;
        let mut found = found.iter().enumerate();
        found.all(|(number, is_there)| *is_there == self.must_be_there(number))
    }

    /// Compares what the last operations left with what they must have left, and undoes them.
    fn renew(&self) -> Result<(), Failure> {
        let found = self.look()?;
        if std::process::id() == self.owner && !self.is_as_expected() {
            let (done, expected) = (self.done.get(), self.expected());
            return Err(Failure::Refuted(format!(
                "{done} operations left {found} entries, not those {expected} that they must leave"
            )));
        }
        self.take_back()
    }

    /// Undoes the last operations without a comparison.
    fn bring_back(&self) -> Result<(), Failure> {
        self.look()?;
        self.take_back()
    }

    fn take_back(&self) -> Result<(), Failure> {
        let is_there_before = self.is_there_before();
        for (name, is_there) in self.names.iter().zip(&self.found.borrow().is_there) {
            if *is_there != is_there_before {
                match (&self.aside, self.operation.effect()) {
                    (Some(aside), _) => self.set_aside(aside, name),
                    (None, Effect::Adds) => self.operation.remove(&self.directory, name),
                    (None, Effect::Removes) => self.operation.add(&self.directory, name),
                }
                .tried("prepare an operation")?;
            }
        }
        self.done.set(0);
        Ok(())
    }

    fn set_aside(&self, aside: &Aside, name: &CStr) -> Result<(), Bad> {
        // Where calls are counted, what earlier operations left is there only once.
        if std::process::id() == self.owner {
            self.operation.shrink(&self.directory, name)?;
        }
        Ok(aside.take(&self.directory, name)?)
    }

    #[inline(always)]
    fn perform(&self, count: usize) -> Result<(), Failure> {
        let first = self.done.get();
        for name in &self.names[first..first + count] {
            let performed = self.perform_on(name);
            performed.map_err(|bad| self.operation.refused(bad))?;
        }
        self.done.set(first + count);
        Ok(())
    }

    #[inline(always)]
    fn perform_on(&self, name: &CStr) -> Result<(), Bad> {
        match self.operation.effect() {
            Effect::Adds => self.operation.add(&self.directory, name)?,
            Effect::Removes => self.operation.remove(&self.directory, name)?,
        }
        match self.operation.waits_itself() {
            true => Ok(()),
            false => Ok(self.sync.wait(&self.directory)?),
        }
    }
}

/// Measures an operation in a new directory of this space: in batches, or individually if each waits for
/// the device.
pub(super) fn measure<'p, O: Operation>(
    mut plan: Plan<'p>,
    space: &Space,
    operation: O,
    sync: Sync,
) -> Result<Outcome<'p>, Failure> {
    plan.expect(MAX_SLEEPS);
    let count = match sync {
        Sync::None => MAX_ENTRIES,
        Sync::Fsync if plan.looks() => SINGLES_COUNTED,
        Sync::Fsync => SINGLES_TIMED,
    };
    let pool = Pool::new(space, operation, sync, count)?;
    let synced = match pool.operation.waits_itself() {
        // What it makes may be empty, and have no page that could show whether it was synced.
        true => ArgumentValue::Never,
        false => ArgumentValue::Always,
    };
    sync.expect_synced(&mut plan, synced, &pool.directory);
    let mut outcome = match sync {
        Sync::None => {
            plan.expect(SEARCHED);
            let batches = Loop::batches(1, |iterations| pool.perform(iterations as usize));
            plan.measure(batches.prepared(count as u64, |_| pool.renew()))?
        }
        Sync::Fsync => {
            settle(&pool.directory)?;
            let waits = Waits::begin(space.folder().file());
            let prepare = |waits: &Waits| match pool.done.get() == count {
                // Of no operation: how many are made before it depends on the samples.
                true => uncounted(|| {
                    waits.leave_out(|| {
                        pool.renew()?;
                        settle(&pool.directory)
                    })
                }),
                false => Ok(()),
            };
            let operate = || pool.perform(1);
            waits.measure(plan, false, DELIVERED, prepare, operate)?.0
        }
    };
    claim_left(&mut outcome, &pool)?;
    if pool.operation.makes_inodes() {
        let newest = &pool.names[..LOOKED_AT];
        inodes::claim_no_search(
            &mut outcome,
            space,
            &pool.directory,
            newest,
            pool.aside.as_ref(),
        );
    }
    Ok(outcome)
}

/// Claims what a few more operations leave. Those of the audited copies left entries of
/// which this process knows nothing.
fn claim_left<O: Operation>(b: &mut Bencher, pool: &Pool<O>) -> Result<(), Failure> {
    pool.bring_back()?;
    pool.perform(LOOKED_AT)?;
    let found = pool.look()?;
    let what = format!("entries of the directory after {LOOKED_AT} operations");
    let expected = pool.expected();
    let holds = pool.is_as_expected();
    b.claim(&what, expected, found, "getdents64", holds);
    // The existing entries: those added, or those that are still to be removed.
    let (added, remaining) = pool.names.split_at(LOOKED_AT);
    let there = match pool.operation.effect() {
        Effect::Adds => added,
        Effect::Removes => &remaining[..LOOKED_AT],
    };
    pool.operation.claim(b, &pool.directory, there)
}

#[cfg(test)]
pub(super) mod tests;
