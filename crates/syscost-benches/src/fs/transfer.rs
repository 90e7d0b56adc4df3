//! Shared: the blocks of a file that are transferred one after another: measured in three ways,
//! with the evidence of where they came from.
//!
//! A benchmark says which blocks of which file ([`Source`]), in which state, and what transfers
//! them ([`Transfer`]): calls, a mapping, a ring.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::io::{Errno, pread};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Alignment, Buffer};

use super::blocks::see_blocks;
use super::space::{ALIGNMENT, Cache, Resident, Space, Stamped, Storage, all_fetched, unfetched};
use crate::implied::{Implied, Shares};
use crate::witness::files::{direct, see_direct, see_directory};

/// Maximum total time of individually timed operations, as a multiple of the time for a round's
/// samples of a case.
const TIME: f64 = 3.0;

/// Additional waits of an observation besides those for what is read: for pages that have to leave
/// the page cache, once a millisecond.
const FURTHER_WAITS: u64 = 256;

/// The source of numbers of pages.
pub(super) const PAGES: &str = "mincore and cachestat";

/// Pages of the file in the page cache before each transfer; of several counts the largest.
pub(super) static BEFORE: Witness = Witness::of(
    "pages of the file in the page cache before a transfer",
    PAGES,
);

/// The same after the last one.
pub(super) static AFTER: Witness = Witness::of(
    "pages of the file in the page cache after a transfer",
    PAGES,
);

/// What transfers the blocks of a file.
pub(super) trait Transfer {
    /// Transfers the next block, and checks that it was the right one, and all of it.
    fn next(&mut self) -> Result<(), Failure>;

    /// Transfers each block once, the first one first.
    fn lap(&mut self) -> Result<(), Failure>;

    /// What it transfers, and how much so far, in this process.
    fn tally(&self) -> Tally;

    /// Checks what the last transfer left in memory, if it does: the timed pass does not check each.
    ///
    /// # Errors
    /// When it is not what was to be transferred.
    fn check_last(&self) -> Result<(), Failure> {
        Ok(())
    }
}

/// Blocks that are transferred in turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    /// How many different ones there are.
    pub(super) blocks: u64,
    /// Length of a block, in bytes.
    pub(super) size: u64,
    pub(super) transfers: u64,
}

impl Tally {
    pub(super) fn bytes(self) -> u64 {
        self.transfers * self.size
    }
}

/// What a value is, in which laps are observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Observes {
    /// Bytes per second.
    Rate,
    /// Nanoseconds per block.
    Time,
}

impl Observes {
    /// The value of this many blocks of this size that took this long, and the time that it implies.
    fn value(self, blocks: u64, size: u64, ns: f64) -> (f64, f64) {
        let (bytes, blocks) = ((blocks * size) as f64, blocks as f64);
        match self {
            Self::Rate => {
                let rate = bytes * 1e9 / ns;
                (rate, bytes * 1e9 / rate)
            }
            Self::Time => {
                let each = ns / blocks;
                (each, each * blocks)
            }
        }
    }
}

/// Where reads find a file.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// All of its pages are in the page cache.
    Warm,
    /// None of them is.
    Cold,
    /// None of them is, and it is read by O_DIRECT, bypassing the page cache.
    Direct,
}

impl State {
    /// Proof of where reads find a file of this many bytes; a cold one leaves this many pages in
    /// the cache.
    pub(super) fn proof(self, bytes: u64, left: u64) -> Proof {
        let found = match self {
            State::Warm => BEFORE.expects(pages(bytes)).and(unfetched()),
            State::Cold => self.uncached().and(AFTER.expects(left)),
            State::Direct => self.uncached().and(AFTER.expects(0_u64)),
        };
        found.and(direct(self == State::Direct))
    }

    fn uncached(self) -> Proof {
        BEFORE.expects(0_u64).and(all_fetched())
    }
}

pub(super) fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(page_size() as u64)
}

/// A file that is never changed, and the folder that it is in.
struct Kept {
    space: Space,
    file: Stamped,
}

thread_local! {
    /// The files with the labels of their directories: the rows of one worker share them, as a
    /// device should not be written to more often than needed. They are removed when the worker
    /// ends, by it or by the process that waits for it.
    static ALL: RefCell<Vec<(String, Rc<Kept>)>> = const { RefCell::new(Vec::new()) };
}

fn kept(b: &mut Bencher, dir: &str, bytes: u64) -> Result<Rc<Kept>, Failure> {
    let known = ALL.with_borrow(|all| {
        let fits = |(of, kept): &&(String, Rc<Kept>)| of == dir && kept.file.bytes() == bytes;
        Some(Rc::clone(&all.iter().find(fits)?.1))
    });
    if let Some(known) = known {
        see_directory(b, known.space.folder().file());
        return Ok(known);
    }
    let seed = b.random().u64(..);
    let space = Space::in_directory(b, dir)?;
    let file = space.file("content", bytes, seed)?;
    let kept = Rc::new(Kept { space, file });
    ALL.with_borrow_mut(|all| all.push((dir.to_owned(), Rc::clone(&kept))));
    Ok(kept)
}

/// A file in the state in which it is read.
pub(super) struct Source {
    kept: Rc<Kept>,
    state: State,
    /// Its pages in the page cache, and a descriptor through that.
    cache: Cache,
    /// The descriptor for direct I/O, if it is read so.
    direct: Option<File>,
    /// The largest number of its pages in the cache before transfers.
    before: Cell<Resident>,
    /// Whether the cache is checked each time. Emptying it includes a check; where reads are timed
    /// another check would only reduce their number.
    looks: bool,
}

impl Source {
    /// The file of this many bytes in the directory of this label, to be read `size` bytes at a
    /// time, at multiples of them. A warm one is brought into the page cache in the usual way, by
    /// reading it in order.
    ///
    /// # Errors
    /// Unsupported where it has to be in storage and exists only in memory, or its file system
    /// refuses such direct reads.
    pub(super) fn open(
        b: &mut Bencher,
        dir: &str,
        bytes: u64,
        state: State,
        size: Bytes,
    ) -> Result<Self, Failure> {
        let kept = kept(b, dir, bytes)?;
        let has_storage = kept.space.has_storage();
        if state != State::Warm {
            has_storage.clone()?;
        }
        let direct = (state == State::Direct)
            .then(|| kept.file.open_direct())
            .transpose()?;
        if let Some(file) = &direct {
            allowed_direct(file, size.0)?;
        }
        let cache = Cache::of(kept.file.open()?)?;
        if has_storage.is_ok() {
            cache.empty()?;
        }
        if state == State::Warm {
            cache.fill(&kept.file)?;
        }
        Ok(Self {
            before: Cell::new(cache.resident()?),
            kept,
            state,
            cache,
            direct,
            looks: !b.is_timed(),
        })
    }

    pub(super) fn written(&self) -> &Stamped {
        &self.kept.file
    }

    pub(super) fn file(&self) -> &File {
        self.direct.as_ref().unwrap_or(self.cache.file())
    }

    pub(super) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Brings it into its state again, before a read.
    ///
    /// # Errors
    /// Refuted where pages stay in the cache.
    pub(super) fn prepare(&self) -> Result<(), Failure> {
        match self.state {
            State::Warm => return Ok(()),
            State::Cold => self.cache.empty()?,
            State::Direct => {}
        }
        if self.looks {
            let largest = self.before.get().max(self.cache.resident()?);
            self.before.set(largest);
        }
        Ok(())
    }

    pub(super) fn cached<'p>(
        &self,
        plan: Plan<'p>,
        by: &mut impl Transfer,
    ) -> Result<Outcome<'p>, Failure> {
        let storage = Storage::watch(self.file());
        let mut outcome = plan.measure(Loop::each(|| by.next()))?;
        by.check_last()?;
        self.see(&mut outcome, &storage, by.tally())?;
        Ok(outcome)
    }

    /// Measures transfers that wait for storage at most this often, each individually, after
    /// `forget`.
    pub(super) fn each<'p>(
        &self,
        mut plan: Plan<'p>,
        by: &mut impl Transfer,
        waits: f64,
        forget: impl Fn() -> Result<(), Failure>,
    ) -> Result<Outcome<'p>, Failure> {
        plan.expect(at_most(Counter::VoluntarySwitches, waits));
        let prepare = || {
            forget()?;
            self.prepare()
        };
        let storage = Storage::watch(self.file());
        let mut outcome = measure_each(plan, prepare, || by.next())?;
        prepare()?;
        by.next()?;
        by.check_last()?;
        self.see(&mut outcome, &storage, by.tally())?;
        Ok(outcome)
    }

    /// Observes laps through all blocks, each after `forget` and before `look`, none of which is
    /// timed.
    pub(super) fn laps<'p>(
        &self,
        mut plan: Plan<'p>,
        by: &mut impl Transfer,
        value: Observes,
        forget: impl Fn() -> Result<(), Failure>,
        mut look: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Outcome<'p>, Failure> {
        let first = by.tally();
        expect_waits(&mut plan, pages(first.blocks * first.size));
        let (clock, mut implied) = (*plan.clock(), Implied::default());
        let storage = Storage::watch(self.file());
        let mut outcome = plan.measure(Observed::of(|| {
            forget()?;
            self.prepare()?;
            let (begun, before) = (Instant::now(), by.tally());
            let ns = clocked(&clock, || by.lap())?;
            let blocks = by.tally().transfers - before.transfers;
            let (value, implied_ns) = value.value(blocks, before.size, ns);
            implied.note(implied_ns, begun);
            look()?;
            Ok(value)
        }))?;
        implied.claim(&mut outcome, Shares::WHOLE);
        by.check_last()?;
        let mut read = by.tally();
        read.transfers -= first.transfers;
        self.see(&mut outcome, &storage, read)?;
        Ok(outcome)
    }

    /// Reports where these transfers found the file, what they left, and what storage delivered for
    /// them. To be called right after a transfer.
    pub(super) fn see(
        &self,
        b: &mut Bencher,
        storage: &Storage,
        read: Tally,
    ) -> Result<(), Failure> {
        b.observe(&BEFORE, self.before.get().fact());
        b.observe(&AFTER, self.cache.resident()?.fact());
        see_direct(b, self.file())?;
        see_blocks(b, read.blocks, read.size);
        storage.see(b, read.bytes());
        if self.state != State::Warm {
            storage.claim_delivered(b, read.bytes());
        }
        if self.state == State::Direct {
            self.claim_alignment(b);
        }
        Ok(())
    }

    /// Claims that the file system has direct I/O of this file, and does not only accept its flag.
    fn claim_alignment(&self, b: &mut Bencher) {
        let unknown = "the kernel does not say that this file system has direct I/O";
        let alignment = files::direct_alignment(self.file());
        let alignment = alignment.and_then(|known| known.ok_or_else(|| Unsupported::new(unknown)));
        let offset = alignment.map(|alignment| alignment.offset as f64);
        let claim = "alignment of direct I/O, in bytes";
        let open = "the file system chooses it";
        b.claim_at_least(claim, 1.0, offset, "statx STATX_DIOALIGN", open);
    }
}

/// Expects that the task waits for a device when values are observed, at most this often each
/// time, so that giving up the CPU does not count as a disturbance.
pub(super) fn expect_waits(plan: &mut Plan, most: u64) {
    let most = (most + FURTHER_WAITS) as f64;
    plan.expect(at_most(Counter::VoluntarySwitches, most));
}

/// Measures operations individually, each after an untimed preparation: samples, and then further
/// ones into the row's histogram, as rounds have too few samples for the tail of the distribution.
pub(super) fn measure_each(
    plan: Plan<'_>,
    mut prepare: impl FnMut() -> Result<(), Failure>,
    mut operate: impl FnMut() -> Result<(), Failure>,
) -> Result<Outcome<'_>, Failure> {
    let mut outcome = plan.measure(Single::of(&mut prepare, &mut operate))?;
    if !outcome.is_timed() {
        return Ok(outcome);
    }
    let (clock, timer_ns) = (*outcome.clock(), outcome.clock_cost().read_ns);
    let limit = Duration::from_nanos((TIME * outcome.case_ns()) as u64);
    let begun = Instant::now();
    // No operation is cut short by the limit, or those that take long would be missing.
    while begun.elapsed() < limit {
        prepare()?;
        let ns = clocked(&clock, &mut operate)?;
        outcome.record_single(ns - timer_ns);
    }
    Ok(outcome)
}

/// Checks that direct I/O of this many bytes, at multiples of them, is possible with a file that
/// is open for it and is several times as long. Returns the required alignment, where the kernel
/// reports it; where it does not, one read is tried, which may leave pages in the page cache.
///
/// # Errors
/// Unsupported where it is not possible.
pub(super) fn allowed_direct(file: &File, size: u64) -> Result<Option<Alignment>, Failure> {
    let alignment = files::direct_alignment(file).ok().flatten();
    let least = alignment.map(|alignment| alignment.offset as u64);
    match least {
        Some(least) if size.is_multiple_of(least) => Ok(alignment),
        Some(least) => Err(Failure::Unsupported(format!(
            "direct I/O takes multiples of {least} bytes here"
        ))),
        None => try_direct(file, size).map(|()| None),
    }
}

/// Reads the second block of this size.
fn try_direct(file: &File, size: u64) -> Result<(), Failure> {
    let mut buffer = Buffer::new(size as usize, ALIGNMENT);
    match pread(file, &mut buffer[..], size) {
        Ok(_) => Ok(()),
        Err(cause @ Errno::INVAL) => Err(Failure::Unsupported(format!(
            "direct I/O takes no {size} bytes at multiples of them here: {cause}"
        ))),
        Err(cause) => Err(Failure::of(
            &format!("pread of {size} bytes, directly"),
            cause,
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::space::tests::on_disk;

    #[test]
    fn a_read_decides_where_the_kernel_does_not_say() {
        let space = or_skip!(on_disk().ok_or("no disk"));
        let written = space.file("tried", 1 << 20, 1).expect("a file");
        let file = or_skip!(written.open_direct(), "no direct I/O here");
        try_direct(&file, 64 << 10).expect("a multiple of any block");
        allowed_direct(&file, 64 << 10).expect("a multiple of any block");
        // No device has blocks this short; a file system that reads through its cache accepts them.
        if let Ok(Some(_)) = files::direct_alignment(&file) {
            for refused in [try_direct(&file, 100), allowed_direct(&file, 100).map(drop)] {
                let is_unsupported = matches!(refused, Err(Failure::Unsupported(_)));
                assert!(is_unsupported, "{refused:?}");
            }
        }
    }
}
