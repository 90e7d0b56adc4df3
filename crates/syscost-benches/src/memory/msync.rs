//! Writing a mapped file back.
//!
//! ## Measures
//! One msync of one page of a shared mapping of a file in the temporary folder. `async`: the page
//! is dirty and stays so. `sync`: the page is clean, or was written before each call, untimed.
//! ## Does not measure
//! The fault of the first write to a clean page. The device itself: its host may report data as
//! written that is still in memory.
//! ## Interpretation
//! `async` does nothing since Linux 2.6.19: the kernel writes dirty pages back by itself. `sync`
//! returns when the device reports that the page is durable; most file systems make it flush its
//! own cache even where nothing was dirty.
//! ## Source
//! msync(2).

use std::cell::Cell;

use rustix::mm::MsyncFlags;
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::counters::IoReader;

use super::space::LENGTH;
use super::space::file::FilePages;
use crate::fs::{MAX_JOURNAL, claim_device_moved};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "msync",
    tags: "mapped file, writeback, dirty page, flush",
    expect: &[calls(Sysno::MSYNC)],
    ..Benchmark::of::<Msync>()
};

const FLAGS: Argument = Argument::at(2, "flags");

/// Maximum number of waits: the journal, the page and the device's cache may each be waited for.
const WAITS: Expect = at_most(Counter::VoluntarySwitches, 20.0);

static LEFT_DIRTY: Witness = Witness::of("bytes that are dirty after the calls", "smaps");

const DIRTIED: &str = "bytes made dirty before it";

/// Pages of the file.
const PAGES: usize = 16;

/// Whether the call waits until the page is written.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Async,
    Sync,
}

/// Whether the page was written to since it was last written back.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Clean,
    Dirty,
}

#[derive(Params, Clone)]
struct Msync {
    op: Op,
    state: State,
}

impl Measured for Msync {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        [
            rows!(Msync {
                op: [Op::Async],
                state: [State::Dirty]
            }),
            rows!(Msync {
                op: [Op::Sync],
                state: State::ALL
            }),
        ]
        .concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.state {
            State::Clean => Profile::Full,
            State::Dirty => Profile::Standard,
        }
    }

    fn proofs(&self) -> MsyncProofs<Proof> {
        let given = match self.op {
            Op::Async => MsyncFlags::ASYNC,
            Op::Sync => MsyncFlags::SYNC,
        };
        let flags = ArgumentValue::Always(given.bits().into());
        let page = page_size() as f64;
        MsyncProofs {
            op: Proof::argument(Sysno::MSYNC, FLAGS, flags).and(Proof::counted(match self.op {
                Op::Async => vec![],
                Op::Sync => vec![WAITS],
            })),
            state: match (self.op, self.state) {
                (Op::Async, State::Dirty | State::Clean) => LEFT_DIRTY.expects(page),
                (Op::Sync, State::Clean) => {
                    Proof::counted([exactly(Counter::Reported(DIRTIED), 0.0)])
                }
                (Op::Sync, State::Dirty) => Proof::counted([at_least(
                    Counter::Reported(DIRTIED),
                    page,
                    "a file system may change pages of its own",
                )]),
            },
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let file = FilePages::make(PAGES)?;
        let page = file.page_bytes() as u64;
        plan.expect_argument(Sysno::MSYNC, LENGTH, ArgumentValue::Always(page));
        match self.op {
            Op::Async => on_a_dirty_page(plan, &file),
            Op::Sync => to_the_device(plan, &file, self.state == State::Dirty),
        }
    }
}

fn to_the_device<'p>(
    plan: Plan<'p>,
    file: &FilePages,
    is_dirty: bool,
) -> Result<Outcome<'p>, Failure> {
    let page = file.page_bytes();
    let device = file.device()?;
    let io = IoReader::of_thread()?;
    file.sync(page, MsyncFlags::SYNC)?;
    let written_before = device.moved()?.written;
    // The preparation is called twice before each timed call: the first time for the timer's own cost.
    let (value, pending, dirtied) = (Cell::new(0_u8), Cell::new(0), Cell::new(0));
    let single = Single::of(
        || {
            let before = io.read()?.write_bytes;
            if is_dirty {
                value.set(value.get().wrapping_add(1));
                file.write(0, value.get());
            }
            pending.set(pending.get() + io.read()?.write_bytes - before);
            Ok(())
        },
        || {
            dirtied.set(dirtied.get() + pending.replace(0));
            file.sync(page, MsyncFlags::SYNC)
        },
    );
    let mut outcome = plan.measure(single)?;
    outcome.report(DIRTIED, dirtied.get() as f64);
    if is_dirty {
        let written = device.moved()?.written - written_before;
        let per_call = written as f64 / outcome.operations() as f64;
        let what = Claim::by_most("bytes that the device was given per operation");
        let page = page as f64;
        claim_device_moved(
            &mut outcome,
            what,
            (page, page + MAX_JOURNAL),
            Ok(per_call),
            &device.source(),
        );
        let each = dirtied.get() as f64 / outcome.operations() as f64;
        outcome.detail("made_dirty_bytes", each);
    }
    Ok(outcome)
}

/// `async` must find a dirty page, and leave it dirty, which smaps shows.
fn on_a_dirty_page<'p>(plan: Plan<'p>, file: &FilePages) -> Result<Outcome<'p>, Failure> {
    let page = file.page_bytes();
    file.write(0, 1);
    let before = file.dirty_bytes();
    let mut outcome = plan.measure(Loop::each(|| file.sync(page, MsyncFlags::ASYNC)))?;
    match (before, file.dirty_bytes()) {
        (Ok(before), Ok(after)) => {
            // The kernel itself writes back pages that have been dirty for long.
            let is_written_back = before == page && after < page;
            let doubt = "the kernel has written the page back meanwhile";
            outcome.observe_unless(&LEFT_DIRTY, after, is_written_back.then_some(doubt));
        }
        (Err(reason), _) | (_, Err(reason)) => outcome.unobserved(&LEFT_DIRTY, reason),
    }
    Ok(outcome)
}
