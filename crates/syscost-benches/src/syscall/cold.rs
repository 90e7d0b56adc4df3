//! A system call when nothing is warm, against one when everything is.
//!
//! ## Measures
//! One getppid, timed individually. `first`: the first one a newly forked process makes, all user
//! pages touched before. `displaced`: after this process wrote a buffer of four times the core's
//! second-level cache. `warm`: after another getppid. The timer's own cost, measured the same way
//! around nothing, is subtracted.
//! ## Does not measure
//! Loading the program's code from disk or faulting it in, which is most of what a process's first
//! call costs when its page is fresh (`call.first`).
//! ## Interpretation
//! Single calls read higher than `syscall.null`, whose calls overlap at their ends. `displaced`
//! shows what the kernel's entry path costs when its code and data come from the last-level cache
//! or memory. Expect a wide spread.
//! ## Source
//! The three-costs experiment, which found its first call slower than the others.
#![allow(unsafe_code)] // raw system calls, and a fork

use std::hint::black_box;

use rustix::io::{read, write};
use rustix::process::{Pid, WaitOptions, getpid, waitpid};
use syscost_harness::prelude::*;
use syscost_sys::arch;
use syscost_sys::clock::Clock;
use syscost_sys::kernel::LINE;
use syscost_sys::raw::syscall0;
use syscost_sys::topology::Topology;

use super::{checked, subject};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Null system call, cold",
    tags: "cold cache, cache miss, kernel entry, syscall overhead, getppid",
    expect: &[calls(Sysno::GETPPID)],
    ..Benchmark::of::<Cold>()
};

static DISPLACED: Witness = Witness::of(
    "second-level caches written through before each call",
    "the lines written",
);

const CHILDREN: &str = "children that reported to their parent";

/// Size of the core's second-level cache, in bytes: the larger of what the system and the processor report, or a large assumed size.
fn core_cache(cpu: u32) -> u64 {
    /// Bytes assumed where nothing is reported.
    const ASSUMED: u64 = 4 << 20;
    let caches = Topology::here().cpu(cpu).map_or(&[][..], |cpu| &cpu.caches);
    let second = caches.iter().filter(|cache| cache.level == 2);
    let sizes = second.filter_map(|cache| cache.size_bytes);
    let largest = sizes.chain(arch::data_cache_bytes(2)).max();
    largest.unwrap_or(ASSUMED)
}

/// What the call finds in the caches.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    First,
    Displaced,
    Warm,
}

#[derive(Params, Clone)]
struct Cold {
    state: State,
}

impl Measured for Cold {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Cold { state: State::ALL })
    }

    fn proofs(&self) -> ColdProofs<Proof> {
        let (children, displaced) = match self.state {
            State::First => (1.0, Bound::Exactly(0.0)),
            State::Displaced => (0.0, Bound::AtLeast(2.0)),
            State::Warm => (0.0, Bound::Exactly(0.0)),
        };
        let children = Proof::counted([exactly(Counter::Reported(CHILDREN), children)]);
        ColdProofs {
            state: children.and(DISPLACED.within(displaced)),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        match self.state {
            State::First => first(plan),
            State::Displaced => {
                let cache = core_cache(plan.cpu());
                let mut buffer = vec![1_u8; 4 * cache as usize];
                plan.detail("displaced_bytes", buffer.len() as f64);
                let (mut lines, mut times) = (0_u64, 0_u64);
                let mut outcome = plan.measure(Single::of(
                    || {
                        for byte in buffer.iter_mut().step_by(LINE) {
                            *byte = byte.wrapping_add(1);
                            lines += 1;
                        }
                        times += 1;
                        black_box(&mut buffer);
                        Ok(())
                    },
                    call,
                ))?;
                let bytes = lines as f64 * LINE as f64 / times.max(1) as f64;
                // What the processor says itself, where it does: the size above is what was to be
                // displaced.
                let second = arch::data_cache_bytes(2).unwrap_or(cache);
                outcome.observe(&DISPLACED, bytes / second as f64);
                outcome.report(CHILDREN, 0.0);
                Ok(outcome)
            }
            State::Warm => {
                let mut outcome = plan.measure(Single::of(call, call))?;
                outcome.observe(&DISPLACED, 0.0);
                outcome.report(CHILDREN, 0.0);
                Ok(outcome)
            }
        }
    }
}

#[inline(always)]
fn call() -> Result<(), Failure> {
    // SAFETY: the call takes nothing and touches no memory.
    match checked(unsafe { syscall0(Sysno::GETPPID) }) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::of("getppid", error)),
    }
}

/// Each sample is a child, whose first getppid is timed and must return its parent.
fn first(plan: Plan) -> Result<Outcome, Failure> {
    let clock = *plan.clock();
    let (reader, writer) = subject::pipe()?;
    let mut reported: u64 = 0;
    let mut outcome = plan.measure(Observed::of(|| {
        let parent = getpid();
        // SAFETY: the child continues in a copy of this thread, allocates nothing and exits by _exit.
        let child = match unsafe { libc::fork() } {
            -1 => return Err(Failure::last_os_error("fork")),
            0 => {
                let (ns, answer) = timed_first_call(&clock);
                let named = answer == parent.as_raw_nonzero().get() as isize;
                let sent = write(&writer, &ns.to_ne_bytes());
                // SAFETY: ends the child without running what the parent has at exit.
                unsafe { libc::_exit(if named && sent == Ok(8) { 0 } else { 1 }) }
            }
            child => Pid::from_raw(child),
        };
        let ended = waitpid(child, WaitOptions::empty()).tried("wait for the child")?;
        if ended.and_then(|(_, status)| status.exit_status()) != Some(0) {
            return Err(Failure::of("the first getppid", "did not name the parent"));
        }
        let mut ns = [0; 8];
        read(&reader, &mut ns).tried("read from the child")?;
        reported += 1;
        Ok(f64::from_ne_bytes(ns))
    }))?;
    outcome.observe(&DISPLACED, 0.0);
    outcome.report(CHILDREN, reported as f64);
    Ok(outcome)
}

/// The time of this process's first getppid in ns, minus the timer's own, and its result.
#[inline(never)]
fn timed_first_call(clock: &Clock) -> (f64, isize) {
    // SAFETY: the call takes nothing and touches no memory.
    OnceTimer::new(clock).time(|| unsafe { syscall0(Sysno::GETPPID) })
}
