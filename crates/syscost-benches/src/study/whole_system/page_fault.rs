//! Page faults of a mapped file, as the whole-system experiment timed them.
//!
//! ## Measures
//! 20 pages of a mapped file that are read for the first time, in an order shuffled by the Fisher-Yates
//! algorithm, with MADV_RANDOM and after the file was dropped from the page cache (DONTNEED), between CPUID
//! and RDTSC before and RDTSCP and CPUID after, per page; the mean of 10 such trials. The file's length is
//! not published: here it has 1024 pages; a trial touched more.
//! ## Does not measure
//! The kernel's cost of a fault: the page is not in memory, so the time is mostly that of reading it
//! from the storage. The details count it: `major_faults_percent` of the pages touched,
//! `not_cached_percent` of the file's pages before, by mincore, and `pages_read_per_fault_count`
//! afterwards.
//! ## Interpretation
//! Compare with `memory.page_fault{kind=file_cold}`, which is the same under its proper name, and with
//! `file_warm_alone`, a fault without the device.
//! ## Source
//! The whole-system experiment, memory (docs/studies/whole-system.md).

use std::hint::black_box;

use rustix::mm::Advice;
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::super::unoptimised::InMemory;
use super::{TRIALS, Trials};
use crate::memory::space::file::FilePages;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.whole_system.page_fault",
    title: "Major page fault of a mapped file, as published",
    tags: &["major fault", "mmap"],
    expect: &[
        within(Counter::MajorFaults, 0.9, 1.1),
        at_most(Counter::VoluntarySwitches, 2.0),
    ],
    disregards_neighbours: |_| true,
    run,
    source: include_str!("page_fault.rs"),
    ..Benchmark::DEFAULT
};

/// Pages of the file, and those of a trial.
const PAGES: usize = 1024;
const TOUCHED: usize = 20;

/// What was observed in the trials.
#[derive(Default)]
struct Seen {
    touched: u64,
    major_faults: u64,
    /// Pages of the file that were checked, before each result.
    looked_at: u64,
    not_cached: u64,
    /// Pages in the page cache after the trials.
    cached_after: u64,
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let mut trials = Trials::new(b)?;
    let file = FilePages::make(PAGES)?;
    // On a file system in memory there is no device to read a page from.
    file.device()?;
    file.advise(Advice::Random)?;
    let mut order: Vec<usize> = (0..PAGES).collect();
    let mut random = b.random().fork();
    let mut seen = Seen::default();
    b.as_published(TRIALS * TOUCHED as u64, || {
        random.shuffle(&mut order);
        file.drop_cache()?;
        one_result(&mut trials, &file, &order, &mut seen)
    })?;
    trials.detail(b);
    let percent = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
    let major = percent(seen.major_faults, seen.touched);
    b.detail("major_faults_percent", major);
    b.detail(
        "not_cached_percent",
        percent(seen.not_cached, seen.looked_at),
    );
    b.detail(
        "pages_read_per_fault_count",
        seen.cached_after as f64 / seen.touched.max(1) as f64,
    );
    Ok(())
}

/// Ten trials, each with pages of its own, in ns per page.
fn one_result(
    trials: &mut Trials,
    file: &FilePages,
    order: &[usize],
    seen: &mut Seen,
) -> Result<f64, Failure> {
    seen.looked_at += PAGES as u64;
    seen.not_cached += (PAGES - file.cached()?) as u64;
    let before = Usage::thread()?;
    let mut next = InMemory::new(0_usize);
    let ns = trials.per_operation(TOUCHED as u64, || {
        for _ in 0..TOUCHED {
            black_box(file.read(order[next.get()]));
            next.set(next.get() + 1);
        }
        Ok(())
    })?;
    seen.major_faults += (Usage::thread()? - before).major_faults;
    seen.touched += next.get() as u64;
    seen.cached_after += file.cached()? as u64;
    Ok(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_touches_pages_of_its_own_in_each_trial() {
        assert!(TRIALS as usize * TOUCHED <= PAGES);
    }
}
