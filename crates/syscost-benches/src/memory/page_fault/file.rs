//! Pages of a mapped file, in the page cache or not.

use std::cell::Cell;
use std::hint::black_box;
use std::ops::RangeInclusive;

use rustix::mm::Advice;
use syscost_harness::prelude::*;
use syscost_sys::counters::{IoReader, Usage};

use super::minor_faults;
use crate::fs::{MAX_MOVED, claim_device_moved};
use crate::memory::space::file::{FilePages, Mapped};

/// Pages of the file.
const PAGES: usize = 1024;

/// Maximum number of mappings of it per batch.
const MAPPINGS: usize = 16;

/// Pages that a fault maps by default, 64 KiB, where the page cache holds them individually.
const AROUND: usize = 16;

/// How often to read a file until all of it is in the page cache: a kernel that gives memory back
/// to its host may have taken some of it.
const TRIES: u32 = 5;

const READ: &str = "bytes fetched from storage per operation";
const MAJOR: &str = "major page faults of timed operations";

pub(super) const COLD: [Expect; 3] = [
    within(Counter::MajorFaults, 0.99, 1.01),
    // It sleeps until the device has delivered the page.
    at_most(Counter::VoluntarySwitches, 2.0),
    // A page of the program itself may have been evicted meanwhile, too.
    within(Counter::Reported(MAJOR), 1.0, 1.1),
];

static MAPPED: Witness = Witness::of("pages of the file that are mapped in the end", "pagemap");

/// What proves that all pages are gone through, so that those around a fault are wanted, too.
pub(super) fn proof_of_around() -> Proof {
    MAPPED.expects(PAGES)
}

/// What proves that a fault maps one page, and no other beside it.
pub(super) fn proof_of_alone() -> Proof {
    MAPPED
        .expects(PAGES / 2)
        .and(Proof::counted([minor_faults(1.0)]))
}

/// Measures a file in the page cache, whose faults map surrounding pages.
pub(super) fn around(mut plan: Plan) -> Result<Outcome, Failure> {
    let file = warm(&mut plan)?;
    // Each iteration goes through another mapping.
    let mappings: Vec<Mapped> = (0..MAPPINGS)
        .map(|_| file.map())
        .collect::<Result<_, _>>()?;
    let unmap_pages = || mappings.iter().try_for_each(Mapped::unmap_pages);
    // In order within the pieces that a fault maps by default, at random from one such piece to the next.
    let mut firsts: Vec<usize> = (0..PAGES).step_by(AROUND).collect();
    plan.random().shuffle(&mut firsts);
    let go_through = |mapping: &Mapped| -> u64 {
        let mut sum = 0;
        for first in &firsts {
            for number in *first..first + AROUND {
                sum += u64::from(mapping.read(number));
            }
        }
        sum
    };
    let sum = mappings[0].sum();
    for mapping in &mappings {
        go_through(mapping);
    }
    unmap_pages()?;
    let left: usize = mappings.iter().map(Mapped::mapped).sum::<Result<_, _>>()?;
    let faults = {
        let before = Usage::thread()?;
        go_through(&mappings[0]);
        (Usage::thread()? - before).minor_faults
    };
    let what = "pages mapped before a turn";
    plan.claim_equal(what, 0, left, "pagemap");
    let possible = faults_of_an_iteration(file.page_bytes());
    plan.claim(
        "minor page faults of a turn",
        format!("{} to {}", possible.start(), possible.end()),
        faults,
        "getrusage",
        possible.contains(&faults),
    );
    let around = PAGES as f64 / faults.max(1) as f64;
    plan.expect(minor_faults(1.0 / around));
    let read = Loop::batches(PAGES as u64, |iterations| {
        let seen: u64 = mappings[..iterations as usize].iter().map(go_through).sum();
        match seen == iterations * sum {
            true => Ok(()),
            false => Err(Failure::Refuted(
                "not every page of the file was read".into(),
            )),
        }
    });
    let mut outcome = plan.measure(read.prepared(MAPPINGS as u64, |_| unmap_pages()))?;
    unmap_pages()?;
    go_through(&mappings[0]);
    outcome.observe(&MAPPED, mappings[0].mapped()?);
    outcome.detail("pages_per_fault", around);
    outcome.detail_times("fault_ns", around);
    Ok(outcome)
}

/// Range of the number of faults that map all pages: at most one per page, at least one per page
/// table, with 64 bits for each of its entries.
fn faults_of_an_iteration(page_bytes: usize) -> RangeInclusive<u64> {
    PAGES.div_ceil(page_bytes / 8) as u64..=PAGES as u64
}

/// Measures a file in the page cache where no page has a mapped neighbour.
pub(super) fn alone(mut plan: Plan) -> Result<Outcome, Failure> {
    let file = warm(&mut plan)?;
    file.part()?;
    let mut order: Vec<usize> = (0..PAGES).step_by(2).collect();
    plan.random().shuffle(&mut order);
    let touched = Loop::batches(1, |faults| {
        let order = &order[..faults as usize];
        order.iter().for_each(|number| touch(&file, *number));
        Ok(())
    });
    let prepared = touched.prepared(order.len() as u64, |_| file.unmap_pages());
    let mut outcome = plan.measure(prepared)?;
    file.unmap_pages()?;
    order.iter().for_each(|number| touch(&file, *number));
    outcome.observe(&MAPPED, file.mapped()?);
    Ok(outcome)
}

/// Claims that a fault fetched a page. More means that pages of the program itself had been
/// evicted: the kernel reads far ahead of those. What a fault brings in around the page is shown by
/// the pages of the file themselves.
fn claim_read(b: &mut Bencher, page: f64, read: f64) {
    /// Maximum number of pages read per fault, where one is meant: of more, some are of something else.
    const STRAY: f64 = 1.25;
    let pages = read / page;
    let verdict = match pages {
        1.0..=STRAY => Verdict::Confirmed,
        STRAY.. => Verdict::Unverified,
        _ => Verdict::Refuted,
    };
    let reason = "something else of this process was fetched, too";
    b.claim_verdict(
        Claim::by_most(READ),
        format!("{page} to {}", STRAY * page),
        read,
        "/proc/thread-self/io",
        verdict,
        (verdict == Verdict::Unverified).then_some(reason),
    );
}

/// Measures a file that is not in the page cache.
pub(super) fn cold(mut plan: Plan) -> Result<Outcome, Failure> {
    let file = FilePages::make(PAGES)?;
    let device = file.device()?;
    let page = file.page_bytes() as f64;
    let io = IoReader::of_thread();
    file.advise(Advice::Random)?;
    file.drop_cache()?;
    let before = (device.moved()?, read_so_far(&io)?, Usage::thread()?);
    let touch = touching(&mut plan, &file);
    let mut most = 0;
    let drop_cache = || {
        most = most.max(file.cached()?);
        file.drop_cache()
    };
    let mut outcome = plan.measure(Single::of(drop_cache, touch))?;
    most = most.max(file.cached()?);
    let what = "pages of the file in the page cache after a fault, at most";
    outcome.claim_equal(what, 1, most, "mincore");
    let count = outcome.operations() as f64;
    let major = (Usage::thread()? - before.2).major_faults;
    outcome.report(MAJOR, major as f64);
    match &io {
        Ok(_) => claim_read(
            &mut outcome,
            page,
            (read_so_far(&io)? - before.1) as f64 / count,
        ),
        Err(reason) => outcome.claim_unobserved(READ, page, "/proc/thread-self/io", reason),
    }
    let delivered = (device.moved()?.read - before.0.read) as f64 / count;
    let what = Claim::by_most("bytes that the device delivered per operation");
    claim_device_moved(
        &mut outcome,
        what,
        (page, MAX_MOVED * page),
        Ok(delivered),
        &device.source(),
    );
    Ok(outcome)
}

#[inline(always)]
fn touch(file: &FilePages, number: usize) {
    black_box(file.read(number));
}

/// Touches one page after another, at random.
pub(crate) fn touching<'f>(
    b: &mut Bencher,
    file: &'f FilePages,
) -> impl FnMut() -> Result<(), Failure> + use<'f> {
    let mut order: Vec<usize> = (0..file.pages()).collect();
    b.random().shuffle(&mut order);
    let next = Cell::new(0);
    move || {
        touch(file, order[next.get()]);
        next.set((next.get() + 1) % order.len());
        Ok(())
    }
}

fn read_so_far(io: &Result<IoReader, Unsupported>) -> Result<u64, Unsupported> {
    match io {
        Ok(io) => Ok(io.read()?.read_bytes),
        Err(_) => Ok(0),
    }
}

/// A file whose pages are all in the page cache.
fn warm(b: &mut Bencher) -> Result<FilePages, Failure> {
    let file = FilePages::make(PAGES)?;
    let mut cached = 0;
    for _ in 0..TRIES {
        file.sum();
        cached = file.cached()?;
        if cached == PAGES {
            break;
        }
    }
    b.claim_equal("pages in the page cache", PAGES, cached, "mincore");
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_by_one_fault_at_least() {
        assert_eq!(faults_of_an_iteration(4 << 10), 2..=1024);
        assert_eq!(faults_of_an_iteration(64 << 10), 1..=1024);
    }
}
