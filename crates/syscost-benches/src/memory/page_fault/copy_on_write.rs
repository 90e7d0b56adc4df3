//! Writes to pages that are shared with a child.
#![allow(unsafe_code)] // a child that stops itself, and waitpid

use std::process;
use std::ptr;
use std::thread::sleep;
use std::time::Duration;

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::process::{die_with_parent, proc_of};

use super::minor_faults;
use crate::memory::space::area::Area;
use crate::memory::space::pagemap;
use crate::task::child::{Child, fork};

/// Maximum number of pages per batch: no more than the kernel keeps at hand for this CPU after the
/// last child released them. Each further one would cost more, up to twice as much if it is no
/// longer in any cache.
const MAX_PAGES: usize = 128;

/// How long to wait for the end of a child, in ms.
const PATIENCE_MS: usize = 100;

const SHARED: &str = "pages that the child had as well before it";
const KEPT: &str = "pages that the child still has after it";
const OWN: &str = "pages of this process alone after it";

pub(super) const EXPECT: [Expect; 4] = [
    minor_faults(1.0),
    exactly(Counter::Reported(SHARED), 1.0),
    exactly(Counter::Reported(OWN), 1.0),
    exactly(Counter::Reported(KEPT), 1.0),
];

pub(super) fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let mut pages = Shared::fill()?;
    let sharing = std::cell::RefCell::new(&mut pages);
    let written = Loop::batches(1, |pages| {
        sharing.borrow().area.write(0..pages as usize);
        Ok(())
    });
    let prepared = written.prepared(MAX_PAGES as u64, |pages| {
        let mut sharing = sharing.borrow_mut();
        sharing.judge()?;
        sharing.share(pages as usize)
    });
    let mut outcome = plan.measure(prepared)?;
    pages.judge()?;
    outcome.report(SHARED, pages.shared as f64);
    outcome.report(OWN, pages.own as f64);
    outcome.report(KEPT, pages.kept as f64);
    Ok(outcome)
}

/// Memory that is to be shared with a child.
struct Shared {
    area: Area,
    child: Option<Sleeper>,
    /// Pages of the batch that is to be judged.
    batch: usize,
    shared: usize,
    own: usize,
    kept: usize,
}

impl Shared {
    /// Pages that each hold their own number after the byte that is written.
    fn fill() -> Result<Self, Failure> {
        let mut memory = Memory::fill(MAX_PAGES * page_size(), Pages::Small)?;
        let words = memory.words();
        let per_page = words.len() / MAX_PAGES;
        for number in 0..MAX_PAGES {
            words[number * per_page + 1] = number as u64;
        }
        Ok(Self {
            area: Area::from(memory),
            child: None,
            batch: 0,
            shared: 0,
            own: 0,
            kept: 0,
        })
    }

    /// Creates another child, which shares all pages as they are now.
    fn share(&mut self, pages: usize) -> Result<(), Failure> {
        self.child = None;
        self.child = Some(Sleeper::fork()?);
        let seen = self.area.look(0..pages)?;
        self.shared += seen.present - seen.exclusive;
        self.batch = pages;
        Ok(())
    }

    /// Checks what the last batch left: the child still exists, and pages are copies.
    fn judge(&mut self) -> Result<(), Failure> {
        let Some(child) = &self.child else {
            return Ok(());
        };
        child.is_there()?;
        let own = || Ok::<_, Failure>(self.area.look(0..self.batch)?.exclusive);
        // An audited copy of this process keeps sharing its pages with this one. This process
        // waits: the child of such a copy is killed when the copy ends, which takes a moment.
        let mut tries = if child.is_ours() { PATIENCE_MS } else { 0 };
        while tries > 0 && own()? < self.batch {
            sleep(Duration::from_millis(1));
            tries -= 1;
        }
        self.own += own()?;
        // If the child had released them, nothing would have been copied.
        self.kept += child.pages(self.area.page(0), self.batch)?;
        for number in 0..self.batch {
            // SAFETY: the second word of a page of our own.
            let word = unsafe { self.area.page(number).cast::<u64>().add(1).read_volatile() };
            if word != number as u64 {
                return Err(Failure::Refuted(format!(
                    "page {number} holds {word} after it was written to: it is no copy"
                )));
            }
        }
        self.batch = 0;
        Ok(())
    }
}

/// A child that is stopped.
pub(crate) struct Sleeper {
    /// Taken if it belongs to another process: in a process that was forked from its creator.
    child: Option<Child>,
    maker: u32,
}

impl Sleeper {
    /// Returns once the child is stopped, so that the calls of both are always the same.
    fn fork() -> Result<Self, Failure> {
        Self::after(|| ())
    }

    /// The same of a child that has done this before it stopped.
    pub(crate) fn after(work: impl FnOnce()) -> Result<Self, Failure> {
        let maker = process::id();
        let child = fork(|| {
            if die_with_parent(maker).is_err() {
                return 1;
            }
            work();
            // SAFETY: stops this child, permanently.
            unsafe { libc::raise(libc::SIGSTOP) };
            2
        })?;
        let mut status = 0;
        // SAFETY: `status` is one int, writable.
        let seen = unsafe { libc::waitpid(child.id(), &raw mut status, libc::WUNTRACED) };
        if seen != child.id() || !libc::WIFSTOPPED(status) {
            return Err(Failure::Failed(format!(
                "the child did not stop: waitpid gave {seen}, status {status:#x}"
            )));
        }
        Ok(Self {
            child: Some(child),
            maker,
        })
    }

    /// The child itself, for whoever ends it.
    pub(crate) fn into_child(mut self) -> Option<Child> {
        self.child.take()
    }

    /// Whether this process created it, and not one from which this one was forked.
    fn is_ours(&self) -> bool {
        self.maker == process::id()
    }

    /// How many of these pages the child has.
    pub(crate) fn pages(&self, start: *const u8, count: usize) -> Result<usize, Failure> {
        match (&self.child, self.is_ours()) {
            (Some(child), true) => {
                let folder = proc_of(child.id().cast_unsigned())?;
                Ok(pagemap::look_in(&folder, start, count * page_size())?.present)
            }
            _ => Ok(0),
        }
    }

    /// Checks that the child is still stopped.
    fn is_there(&self) -> Result<(), Failure> {
        let id = self.child.as_ref().map_or(0, Child::id);
        if !self.is_ours() {
            return Ok(());
        }
        // SAFETY: only queries the state, and writes nothing.
        match unsafe { libc::waitpid(id, ptr::null_mut(), libc::WNOHANG) } {
            0 => Ok(()),
            _ => Err(Failure::Refuted(
                "the child that shares the pages is gone".into(),
            )),
        }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        if !self.is_ours() {
            std::mem::forget(self.child.take());
        }
    }
}
