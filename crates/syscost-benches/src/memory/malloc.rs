//! A block of memory from the C library, and back.
//!
//! ## Measures
//! One malloc and one free of the same block. `from=heap`: the block freed last is given out again, small ones by the thread's own cache,
//! where there is one. `from=mmap`: the block is a mapping of its own, as all are beyond a threshold (128 KiB at first in the GNU C
//! library, which raises it by itself; here it is set). `touched=yes` writes to each page.
//! ## Does not measure
//! Blocks of many sizes that live for long, or threads that free each other's: that is what allocators differ by.
//! ## Reading it
//! From the heap no system call is made, which is counted. A mapping costs two, and a fault for each page touched, every time: for large
//! buffers that come and go, keeping them (or a higher M_MMAP_THRESHOLD) saves all of it.
//! ## Source
//! malloc(3), mallopt(3).
#![allow(unsafe_code)] // malloc and free

use std::hint::black_box;

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;
use syscost_sys::memory::{enough_for, map_blocks_from};

use super::space::no_huge::NoHugePages;
use super::space::{SIZE, TOUCHED, is_touched};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.malloc",
    title: "malloc and free",
    cases: Cases::List(&[
        spec(&[(SIZE, "16"), (FROM, "heap"), (TOUCHED, "no")]),
        spec(&[(SIZE, "64"), (FROM, "heap"), (TOUCHED, "no")]),
        spec(&[(SIZE, "1K"), (FROM, "heap"), (TOUCHED, "no")]),
        spec(&[(SIZE, "256K"), (FROM, "heap"), (TOUCHED, "no")]),
        spec(&[(SIZE, "1M"), (FROM, "heap"), (TOUCHED, "yes")]),
        mapped(&[(SIZE, "256K"), (FROM, "mmap"), (TOUCHED, "no")]),
        mapped(&[(SIZE, "1M"), (FROM, "mmap"), (TOUCHED, "no")]),
        mapped(&[(SIZE, "1M"), (FROM, "mmap"), (TOUCHED, "yes")]),
    ]),
    quick: |case| case.get(SIZE) == "64",
    run,
    source: include_str!("malloc.rs"),
    ..Benchmark::DEFAULT
};

const FROM: &str = "from";

const fn spec(params: &'static [(&'static str, &'static str)]) -> CaseSpec {
    CaseSpec {
        params,
        expect: &[],
    }
}

const TWO_CALLS: [Expect; 2] = [calls(Sysno::MMAP), calls(Sysno::MUNMAP)];

const fn mapped(params: &'static [(&'static str, &'static str)]) -> CaseSpec {
    CaseSpec {
        params,
        expect: &TWO_CALLS,
    }
}

/// Blocks smaller than this come from the heap whatever the setting.
const SMALL: usize = 64 << 10;

/// Thresholds below and above all blocks here, in bytes.
const LOW: usize = 128 << 10;
const HIGH: usize = 32 << 20;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let bytes = b.case().number(SIZE) as usize;
    let (is_mapped, is_touched) = (b.case().get(FROM) == "mmap", is_touched(b.case()));
    enough_for(bytes)?;
    match is_mapped {
        // A C library without the setting has a low threshold of its own; the calls are counted.
        true => map_blocks_from(LOW).unwrap_or(()),
        false if bytes >= SMALL => map_blocks_from(HIGH)?,
        false => {}
    }
    // The allocator's own words before a mapped block are in its first page.
    let pages = match (is_mapped, is_touched) {
        (true, true) => bytes / page_size(),
        (true, false) => 1,
        (false, _) => 0,
    } as f64;
    if is_mapped {
        b.expect(within(Counter::MinorFaults, 0.99 * pages, 1.01 * pages));
    }
    let _small = NoHugePages::in_this_process();
    let step = page_size();
    let once = || {
        // SAFETY: malloc takes any number.
        let block = black_box(unsafe { libc::malloc(bytes) }).cast::<u8>();
        if block.is_null() {
            return Err("malloc gave nothing");
        }
        if is_touched {
            for offset in (0..bytes).step_by(step) {
                // SAFETY: within the block.
                unsafe { block.add(offset).write_volatile(1) };
            }
        }
        // SAFETY: the block is ours, and not used any more.
        unsafe { libc::free(block.cast()) };
        Ok(())
    };
    once().map_err(|cause| Failure::Failed(cause.into()))?;
    let before = Usage::thread();
    b.try_iter(once)?;
    if let (true, Ok(before), Ok(after)) = (b.is_timed(), before, Usage::thread()) {
        // Where blocks come from depends on what this process did before, so the timed calls are looked at as well.
        let each = (after - before).minor_faults as f64 / b.operations() as f64;
        let (least, most) = (0.9 * pages, 1.2 * pages + 0.1);
        let expected = format!("{least} to {most}");
        let holds = (least..=most).contains(&each);
        b.claim(
            "minor page faults per timed operation",
            expected,
            each,
            "getrusage",
            holds,
        );
    }
    Ok(())
}
