//! Switches by pipes, as the whole-system experiment timed them.
//!
//! ## Measures
//! 500 round trips of two tasks that wake each other by two pipes, on one CPU, between CPUID and RDTSC
//! before and RDTSCP and CPUID after, per switch, of which a round trip has two; the mean of 10 such
//! trials. `between=threads` stands for what the text calls kernel, `between=processes` for what it calls
//! user; that, and that a round trip is halved, is our interpretation. A trial had 1 000 000 of them.
//! ## Does not measure
//! A switch without the write and the read that cause it.
//! ## Interpretation
//! Compare with `switch.pipe`, half of whose round trip is a switch.
//! ## Source
//! The whole-system experiment, CPU (docs/studies/whole-system.md).

use std::thread;

use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::{TRIALS, Trials};
use crate::switch::ping_pong::{Side, Wake};
use crate::switch::pipe::Pipes;
use crate::task::child::fork;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.whole_system.switch",
    title: "Context switch by pipes, as published",
    tags: &["ping-pong", "process switch", "thread switch"],
    cases: Cases::Grid(&[("between", &["threads", "processes"])]),
    expect: &[at_least(Counter::Reported(TRIPS), 1.0)],
    run,
    source: include_str!("switch.rs"),
    ..Benchmark::DEFAULT
};

const TRIPS: &str = "round trips that the other task answered";

/// Round trips of a trial.
const ROUND_TRIPS: u64 = 500;

/// What was observed in the trials.
#[derive(Default)]
struct Seen {
    round_trips: u64,
    switches: u64,
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let is_of_threads = b.case().is("between", "threads", "processes")?;
    let (mut trials, mut seen) = (Trials::new(b)?, Seen::default());
    b.as_published(TRIALS * ROUND_TRIPS, || match is_of_threads {
        true => between_threads(&mut trials, &mut seen),
        false => between_processes(&mut trials, &mut seen),
    })?;
    trials.detail(b);
    b.report(TRIPS, seen.round_trips as f64);
    b.detail(
        "switches_per_round_trip_count",
        seen.switches as f64 / seen.round_trips as f64,
    );
    Ok(())
}

/// Switches of both kinds: a task is switched away from when it waits, or as soon as its write has woken
/// the other one.
fn all(used: Usage) -> u64 {
    used.voluntary_switches + used.involuntary_switches
}

fn failed(cause: rustix::io::Errno) -> Failure {
    Failure::of("use a pipe", cause)
}

/// The other task: answers all round trips.
fn answer(pipes: &Pipes) -> Result<(), rustix::io::Errno> {
    for _ in 0..TRIALS * ROUND_TRIPS {
        pipes.sleep(Side::Partner)?;
        pipes.wake(Side::Own)?;
    }
    Ok(())
}

/// Ten trials, in ns per switch.
fn ask(trials: &mut Trials, pipes: &Pipes) -> Result<f64, Failure> {
    trials.per_operation(2 * ROUND_TRIPS, || {
        for _ in 0..ROUND_TRIPS {
            pipes.wake(Side::Partner).map_err(failed)?;
            pipes.sleep(Side::Own).map_err(failed)?;
        }
        Ok(())
    })
}

fn between_threads(trials: &mut Trials, seen: &mut Seen) -> Result<f64, Failure> {
    let pipes = Pipes::open()?;
    let before = Usage::process()?;
    let ns = thread::scope(|scope| {
        let other = scope.spawn(|| answer(&pipes));
        let ns = ask(trials, &pipes)?;
        let other = other.join();
        let other = other.map_err(|_| Failure::Failed("the other thread panicked".into()))?;
        other.map_err(failed)?;
        Ok::<_, Failure>(ns)
    })?;
    seen.round_trips += TRIALS * ROUND_TRIPS;
    seen.switches += all(Usage::process()? - before);
    Ok(ns)
}

fn between_processes(trials: &mut Trials, seen: &mut Seen) -> Result<f64, Failure> {
    let pipes = Pipes::open()?;
    let used = || Ok::<_, Failure>((Usage::thread()?, Usage::children()?));
    let (own, children) = used()?;
    let child = fork(|| i32::from(answer(&pipes).is_err()))?;
    let ns = ask(trials, &pipes)?;
    child.ends_with(0)?;
    let (own_after, children_after) = used()?;
    seen.round_trips += TRIALS * ROUND_TRIPS;
    seen.switches += all(own_after - own) + all(children_after - children);
    Ok(ns)
}
