//! Access to memory by how much of it is used, as the whole-system experiment timed it.
//!
//! ## Measures
//! A loop that follows a chain of pointers through `size` bytes, in an order shuffled by the Fisher-Yates
//! algorithm: 20 000 accesses between CPUID and RDTSC before and RDTSCP and CPUID after, per access;
//! the mean of 10 such trials, each of which continues where the one before ended. The loop is a model of
//! code compiled without optimisation: its counter and the pointer itself are kept in memory. How long the
//! elements are is not published: here each takes a line of 64 bytes; nor is whether pages were huge: here
//! they are those of an ordinary allocation. A trial had 1 000 000 accesses.
//! ## Does not measure
//! The load alone: the pointer just loaded is stored to the stack and loaded from there before it is
//! followed. The detail `in_register_ns` is the same chain followed with the pointer in a register,
//! `spill_percent` the share of the difference, both from the shortest trials.
//! ## Interpretation
//! Compare with `memory.latency` in small pages and random order, whose sizes are a little different.
//! ## Source
//! The whole-system experiment, memory (docs/studies/whole-system.md).
#![allow(unsafe_code)] // pointers along a chain

use std::hint::black_box;
use std::ptr;

use fastrand::Rng;
use syscost_harness::prelude::*;

use super::super::unoptimised::{InMemory, repeat};
use super::{TRIALS, Trials};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.whole_system.memory_access",
    title: "Memory access latency, as published",
    tags: &["load latency", "pointer chasing"],
    cases: Cases::Here(cases),
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    run,
    source: include_str!("memory_access.rs"),
    ..Benchmark::DEFAULT
};

/// Accesses of a trial.
const ACCESSES: u64 = 20_000;

/// The sizes, 2^14 to 2^28 bytes, of the 21 that were published.
const SIZES: [&str; 8] = ["16K", "32K", "256K", "1M", "4M", "16M", "64M", "256M"];

/// From this size in bytes on the set-up takes long, at this rate in bytes per second.
const EXPENSIVE: u64 = 64 << 20;
const BYTES_PER_SECOND: f64 = 1e9;

/// Maximum number of lines of a chain that is walked to check that it leads through all of them.
const WALKED: usize = 1 << 16;

fn cases() -> Vec<Case> {
    let case = |size| {
        let case = Case::new([("size", size)]);
        match case.number("size") {
            bytes if bytes < EXPENSIVE => case,
            bytes => case.expensive(bytes as f64 / BYTES_PER_SECOND),
        }
    };
    SIZES.map(case).into()
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let lines = b.case().number("size") as usize / size_of::<Line>();
    let mut trials = Trials::new(b)?;
    let chain = Chain::new(lines, b.random());
    let mut place = InMemory::new(chain.first());
    b.as_published(TRIALS * ACCESSES, || {
        trials.per_operation(ACCESSES, || {
            // SAFETY: each line's pointer leads to a line of the chain, which lives as long.
            repeat(ACCESSES, || place.set(unsafe { (*place.get()).next }));
            Ok(())
        })
    })?;
    trials.detail(b);
    let mut place = place.get();
    let mut in_register = trials.beside();
    in_register.per_operation(ACCESSES, || {
        for _ in 0..ACCESSES {
            // SAFETY: as above.
            place = unsafe { (*place).next };
        }
        Ok(black_box(place))
    })?;
    b.detail("in_register_ns", in_register.min);
    let spilled = (trials.min - in_register.min).max(0.0);
    b.detail("spill_percent", 100.0 * spilled / trials.min);
    match lines <= WALKED {
        true => {
            let round = chain.lines_of_one_round(lines);
            b.claim_equal("lines of one round of the chain", lines, round, "walk");
        }
        false => {
            let leading = chain.lines_that_lead_on();
            b.claim_equal("lines that lead to another", lines, leading, "memory");
        }
    }
    Ok(())
}

/// A line of memory that holds the address of another.
#[derive(Clone)]
#[repr(C, align(64))]
struct Line {
    next: *const Line,
}

/// Lines, each of which leads to another in a shuffled order, the last one to the first.
struct Chain {
    lines: Vec<Line>,
    first: usize,
}

impl Chain {
    fn new(lines: usize, random: &mut Rng) -> Self {
        let mut order: Vec<u32> = (0..lines as u32).collect();
        // Fisher-Yates: every order is equally likely.
        random.shuffle(&mut order);
        let mut lines = vec![Line { next: ptr::null() }; lines];
        let start = lines.as_ptr();
        for (at, one) in order.iter().enumerate() {
            let next = order[(at + 1) % order.len()];
            lines[*one as usize].next = start.wrapping_add(next as usize);
        }
        let first = order[0] as usize;
        Self { lines, first }
    }

    fn first(&self) -> *const Line {
        &raw const self.lines[self.first]
    }

    /// The number of lines that hold the address of a line of this memory.
    fn lines_that_lead_on(&self) -> usize {
        let all = self.lines.as_ptr_range();
        let leading = self.lines.iter().filter(|line| all.contains(&line.next));
        leading.count()
    }

    /// The number of steps that lead back to the first line; the walk ends after more than `most`.
    fn lines_of_one_round(&self, most: usize) -> usize {
        let (mut place, mut steps) = (self.first(), 0);
        loop {
            // SAFETY: each line's pointer leads to a line of the chain.
            place = unsafe { (*place).next };
            steps += 1;
            if place == self.first() || steps > most {
                return steps;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_chain_leads_through_every_line_once() {
        for lines in [2, 3, 64, 1000] {
            let chain = Chain::new(lines, &mut Rng::with_seed(7));
            assert_eq!(chain.lines_of_one_round(lines), lines);
            assert_eq!(chain.lines_that_lead_on(), lines);
        }
    }
}
