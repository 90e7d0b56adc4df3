//! Lies about memory and files.

#![allow(unsafe_code)] // mapping memory has no safe form

use std::fs::File;

use rustix::io::pread;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Buffer};
use syscost_sys::kernel::{Chase, LINE, Order, Route};
use syscost_sys::scratch;

use super::FILE_BYTES;
use crate::fs::claim_flag;
use crate::memory::chases;
use crate::memory::page_fault::{file, huge};
use crate::memory::space::area::Area;
use crate::memory::space::file::FilePages;

pub(super) const FAULTS: Benchmark = Benchmark {
    title: "Page faults sold as stores",
    expect: &[calls(Sysno::MMAP), calls(Sysno::MUNMAP)],
    measure: faults,
    ..Benchmark::DEFAULT
};

fn faults(plan: Plan) -> Result<Outcome, Failure> {
    plan.measure(Loop::each(|| {
        // SAFETY: a fresh mapping of one page, written once and given back; nothing else refers to it.
        unsafe {
            let page = mmap_anonymous(
                std::ptr::null_mut(),
                4096,
                ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?;
            page.cast::<u8>().write_volatile(1);
            munmap(page, 4096)
        }
    }))
}

pub(super) const NOT_HUGE: Benchmark = Benchmark {
    title: "Small pages sold as huge",
    measure: not_huge,
    ..Benchmark::DEFAULT
};

/// The usual size of huge pages, since the lie needs none.
const LENGTH: usize = 2 << 20;

fn not_huge(mut plan: Plan) -> Result<Outcome, Failure> {
    for expect in huge::expected(LENGTH) {
        plan.expect(expect);
    }
    let area = Area::reserve(huge::MAX_PAGES * LENGTH, Pages::Small)?;
    huge::measure(plan, &area, LENGTH)
}

pub(super) const WARM_FILE: Benchmark = Benchmark {
    title: "Cached file sold as a cold one",
    expect: &[
        within(Counter::MajorFaults, 0.99, 1.01),
        at_most(Counter::MinorFaults, 1.0),
        at_most(Counter::VoluntarySwitches, 2.0),
    ],
    measure: |mut plan| {
        let file = FilePages::make(FILE_BYTES as usize / page_size())?;
        let touch = file::touching(&mut plan, &file);
        plan.measure(Single::of(|| file.unmap_pages(), touch))
    },
    ..Benchmark::DEFAULT
};

/// Bytes per read.
const BLOCK: usize = 4 << 10;

pub(super) const BUFFERED_FILE: Benchmark = Benchmark {
    title: "Buffered reads sold as direct ones",
    expect: &[
        calls(Sysno::PREAD64),
        at_most(Counter::VoluntarySwitches, 3.0),
    ],
    measure: buffered_file,
    ..Benchmark::DEFAULT
};

fn buffered_file(plan: Plan) -> Result<Outcome, Failure> {
    let scratch = scratch::filled("direct", FILE_BYTES).map_err(Unsupported::from)?;
    let file = File::open(scratch.path()).tried("open the scratch file")?;
    files::drop_clean_pages(&file)?;
    let (mut buffer, mut offset) = (Buffer::new(BLOCK, BLOCK), 0);
    let mut outcome = plan.measure(Single::of(
        || Ok(()),
        || {
            let count = pread(&file, &mut buffer[..], offset).tried("pread")?;
            offset = (offset + BLOCK as u64) % FILE_BYTES;
            match count == BLOCK {
                true => Ok(()),
                false => Err(Failure::Failed(format!("pread gave {count} bytes"))),
            }
        },
    ))?;
    claim_flag(&mut outcome, &file)?;
    Ok(outcome)
}

/// Bytes of memory that it claims to go through.
const BYTES: usize = 8 << 20;

pub(super) const SKIPS_LINES: Benchmark = Benchmark {
    title: "Pointer chase that skips lines",
    measure: skips_lines,
    ..Benchmark::DEFAULT
};

fn skips_lines(mut plan: Plan) -> Result<Outcome, Failure> {
    let half = Route::dense(BYTES / 2, Order::Random(plan.random().u64(..)));
    let chase = Chase::new(Memory::fill(BYTES, Pages::Small)?, half, 1)?;
    plan.claim_resident(chase.memory())?;
    chases::claim_lines(&mut plan, &chase, BYTES / LINE, LINE);
    plan.measure(Kernel::of(&chase))
}

/// Words per 4 KiB page.
const PAGE: usize = 512;

pub(super) const UNTOUCHED: Benchmark = Benchmark {
    title: "Untouched memory sold as resident",
    measure: untouched,
    ..Benchmark::DEFAULT
};

fn untouched(mut plan: Plan) -> Result<Outcome, Failure> {
    let mut memory = Memory::reserve(1 << 20, Pages::Small)?;
    let sum = |memory: &mut Memory| -> u64 { memory.words().iter().step_by(PAGE).sum() };
    // So that its page faults do not give it away.
    std::hint::black_box(sum(&mut memory));
    plan.claim_resident(&memory)?;
    plan.measure(Loop::infallible(|| sum(&mut memory)))
}
