//! Writing a mapped file back.
//!
//! ## Measures
//! One msync of one page of a shared mapping of a file in the temporary folder. `async`: the page is dirty and stays so. `sync`: the page
//! is clean, or was written before each call, untimed.
//! ## Does not measure
//! The fault of the first write to a clean page. The device itself: what its host takes for written may be in memory yet.
//! ## Reading it
//! `async` does nothing since Linux 2.6.19: the kernel writes dirty pages back by itself. `sync` returns when the device says that it has
//! the page for good; most file systems make it flush its own cache even where nothing was dirty.
//! ## Source
//! msync(2).

use std::cell::Cell;

use rustix::mm::MsyncFlags;
use syscost_harness::prelude::*;
use syscost_sys::counters::IoReader;

use super::space::file::FilePages;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.msync",
    title: "msync",
    cases: Cases::List(&[
        CaseSpec {
            params: &[(FLAG, "async"), (PAGE, "dirty")],
            expect: &[],
        },
        CaseSpec {
            params: &[(FLAG, "sync"), (PAGE, "clean")],
            expect: &[WAITS, exactly(Counter::Reported(DIRTIED), 0.0)],
        },
        CaseSpec {
            params: &[(FLAG, "sync"), (PAGE, "dirty")],
            expect: &[WAITS],
        },
    ]),
    expect: &[calls(Sysno::MSYNC)],
    quick: |_| false,
    run,
    source: include_str!("msync.rs"),
    ..Benchmark::DEFAULT
};

const FLAG: &str = "flag";
const PAGE: &str = "page";

/// The journal, the page and the device's cache may each be waited for.
const WAITS: Expect = at_most(Counter::VoluntarySwitches, 20.0);

const DIRTIED: &str = "bytes made dirty before it";

/// Pages of the file.
const PAGES: usize = 16;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let file = FilePages::make(PAGES)?;
    let page = file.page_bytes();
    if b.case().get(FLAG) == "async" {
        file.write(0, 1);
        return b.try_iter(|| file.sync(page, MsyncFlags::ASYNC));
    }
    let device = file.device()?;
    let io = IoReader::of_thread()?;
    let is_dirty = b.case().get(PAGE) == "dirty";
    file.sync(page, MsyncFlags::SYNC)?;
    let written_before = device.moved()?.written;
    if is_dirty {
        b.expect(at_least(Counter::Reported(DIRTIED), page as f64));
    }
    // The preparation is called twice before a timed call: the first is for the timer's own cost.
    let (value, pending, dirtied) = (Cell::new(0_u8), Cell::new(0), Cell::new(0));
    b.single(
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
    )?;
    b.report(DIRTIED, dirtied.get() as f64);
    if is_dirty {
        let written = device.moved()?.written - written_before;
        let per_call = written as f64 / b.operations() as f64;
        b.claim(
            "bytes that the device was given per operation",
            format!("at least {page}"),
            per_call,
            &device.source(),
            per_call >= page as f64,
        );
        b.detail(
            "made_dirty_bytes",
            dirtied.get() as f64 / b.operations() as f64,
        );
    }
    Ok(())
}
