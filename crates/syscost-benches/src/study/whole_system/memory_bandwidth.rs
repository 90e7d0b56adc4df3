//! Reading and writing memory by two threads, as the whole-system experiment timed it.
//!
//! ## Measures
//! Two threads, each of which goes once through a separate array, word by word: bytes per second of both
//! together, between CPUID and RDTSC before and RDTSCP and CPUID after; the mean of 10 such trials.
//! `op=read` adds the words up, `op=write` stores a constant. The loop is a model of code compiled without
//! optimisation: the counter and the sum are kept in memory. Published are 1 GB and no loop: that each thread
//! has a separate array is our interpretation, and here both arrays are 64 MiB together.
//! `cpus=one`: the program is pinned to one CPU, as the text says; `cpus=all`: it is not.
//! ## Does not measure
//! What the memory delivers: the loop, not the memory, is the limit where every word costs several
//! instructions. The detail `on_one_cpu_percent` shows how often both threads were on one CPU, where they
//! only take turns.
//! ## Interpretation
//! Compare with `memory.bandwidth`, whose loops are unrolled and read as much per instruction as
//! the processor can.
//! ## Source
//! The whole-system experiment, memory (docs/studies/whole-system.md).
#![allow(unsafe_code)] // elements by a counter in memory

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use syscost_harness::prelude::*;
use syscost_sys::cpu;

use crate::implied::{Implied, Shares};

use super::super::procedure::{OneCpu, Unpinned};
use super::super::unoptimised::InMemory;
use super::{TRIALS, Timer, Trials};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.whole_system.memory_bandwidth",
    title: "Memory bandwidth of two threads, as published",
    tags: &["read bandwidth", "write bandwidth"],
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    cases: Cases::Here(cases),
    expect: &[at_least(Counter::Reported(WORDS), 1.0)],
    run,
    source: include_str!("memory_bandwidth.rs"),
    ..Benchmark::DEFAULT
};

const WORDS: &str = "words that the threads went through";

/// Words of a thread's array.
const LENGTH: usize = (32 << 20) / size_of::<u64>();

/// The value of a word.
const VALUE: u64 = 3;

/// For the pinned program one of the two operations is enough to see the effect.
fn cases() -> Vec<Case> {
    let case = |(op, cpus)| Case::new([("op", op), ("cpus", cpus)]);
    [("read", "all"), ("write", "all"), ("read", "one")]
        .map(case)
        .into()
}

/// The work of one thread on its array; returns the number of words, by the sum of what it read or by
/// what it stored.
type Stream = fn(&mut [u64]) -> u64;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let stream: Stream = match b.case().get("op") {
        "read" => read,
        "write" => write,
        _ => return Err(b.case().unknown("op")),
    };
    let unpinned = match b.case().get("cpus") {
        "all" => Some(Unpinned::new(b)?),
        "one" => None,
        _ => return Err(b.case().unknown("cpus")),
    };
    let mut trials = Trials::new(b)?;
    // Filled, so that every page is present.
    let mut arrays = [vec![VALUE; LENGTH], vec![VALUE; LENGTH]];
    let (mut words, mut on_one_cpu) = (0, OneCpu::default());
    let mut implied = Implied::default();
    b.as_published(TRIALS, || {
        let (since, before) = (Instant::now(), words);
        let rate =
            trials.mean(|timer| trial(timer, stream, &mut arrays, &mut words, &mut on_one_cpu))?;
        let bytes = (words - before) * size_of::<u64>() as u64;
        implied.note(bytes as f64 * 1e9 / rate, since);
        Ok(rate)
    })?;
    implied.claim(b, Shares::WHOLE);
    drop(unpinned);
    b.report(WORDS, words as f64);
    b.detail("trials_stddev_bytes_per_s", trials.deviation());
    b.detail("on_one_cpu_percent", on_one_cpu.percent());
    Ok(())
}

/// Bytes per second of both threads together.
fn trial(
    timer: &Timer<'_>,
    stream: Stream,
    arrays: &mut [Vec<u64>; 2],
    words: &mut u64,
    on_one_cpu: &mut OneCpu,
) -> Result<f64, Failure> {
    let (ends, ns) = timer.time(|| {
        thread::scope(|scope| {
            let run = |array: &mut Vec<u64>| (stream(array), cpu::current());
            let threads = arrays
                .each_mut()
                .map(|array| scope.spawn(move || run(array)));
            threads.map(thread::ScopedJoinHandle::join)
        })
    });
    let (mut cpus, before) = (Vec::new(), *words);
    for end in ends {
        let (went_through, cpu) =
            end.map_err(|_| Failure::Failed("a thread of the stream panicked".into()))?;
        if went_through != LENGTH as u64 {
            let what = format!("a thread went through {went_through} words, not {LENGTH}");
            return Err(Failure::Refuted(what));
        }
        *words += went_through;
        cpus.extend(cpu.ok());
    }
    if let [one, other] = cpus[..] {
        on_one_cpu.note(one, other);
    }
    let bytes = (*words - before) * size_of::<u64>() as u64;
    Ok(bytes as f64 * 1e9 / ns)
}

/// Adds up the words of an array.
#[inline(never)]
fn read(array: &mut [u64]) -> u64 {
    let (mut number, mut sum) = (InMemory::new(0_usize), InMemory::new(0_u64));
    while number.get() < array.len() {
        // SAFETY: the number is less than the array's length.
        sum.set(sum.get() + unsafe { *array.get_unchecked(number.get()) });
        number.set(number.get() + 1);
    }
    sum.get() / VALUE
}

/// Stores to every word of an array.
#[inline(never)]
fn write(array: &mut [u64]) -> u64 {
    let mut number = InMemory::new(0_usize);
    while number.get() < array.len() {
        // SAFETY: the number is less than the array's length.
        unsafe { *array.get_unchecked_mut(number.get()) = VALUE };
        number.set(number.get() + 1);
    }
    black_box(array.as_ptr());
    number.get() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_go_through_every_word() {
        let mut array = vec![0; 1000];
        assert_eq!(write(&mut array), 1000);
        assert!(array.iter().all(|word| *word == VALUE));
        assert_eq!(read(&mut array), 1000);
        array[500] = 0;
        assert_eq!(read(&mut array), 999, "what was read is added up");
    }
}
