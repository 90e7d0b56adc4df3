//! Creating a thread or a process, as the whole-system experiment timed it.
//!
//! ## Measures
//! `task=thread`: 20 times pthread_create and pthread_join; `task=process`: 5 times fork, a child that exits
//! immediately, and waitpid; between CPUID and RDTSC before and RDTSCP and CPUID after, per task; the mean of
//! 10 such trials. That the text's kernel task is a thread is our interpretation. Whether the
//! published time ends with the task's own end is not stated: here it does, so that every task has
//! run. A trial had 1 000 000 of them.
//! ## Does not measure
//! The creation of the task alone: its start, its end and the switches to it and back are included. A process
//! copies the page tables of its parent's memory, which is small here.
//! ## Interpretation
//! Compare with `task.pthread{until=reaped}` and `task.fork{until=reaped}`.
//! ## Source
//! The whole-system experiment, CPU (docs/studies/whole-system.md).
#![allow(unsafe_code)] // threads and processes of our own

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::{TRIALS, Trials};
use crate::task::child::fork;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.whole_system.task_creation",
    title: "Process and thread creation, as published",
    tags: &["fork", "clone", "pthread_create"],
    cases: Cases::Grid(&[("task", &["thread", "process"])]),
    expect: &[at_least(Counter::Reported(RAN), 1.0)],
    run,
    source: include_str!("task_creation.rs"),
    ..Benchmark::DEFAULT
};

const RAN: &str = "tasks that ran";

/// Tasks of a trial.
const THREADS: u64 = 20;
const PROCESSES: u64 = 5;

static RUNS: AtomicU64 = AtomicU64::new(0);

fn run(b: &mut Bencher) -> Result<(), Failure> {
    match b.case().get("task") {
        "thread" => measure(b, THREADS, thread),
        "process" => measure(b, PROCESSES, process),
        _ => Err(b.case().unknown("task")),
    }
}

fn measure(
    b: &mut Bencher,
    tasks: u64,
    create: impl Fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut trials = Trials::new(b)?;
    let (ran, before) = (RUNS.load(SeqCst), Usage::thread()?);
    let mut made = 0;
    b.as_published(TRIALS * tasks, || {
        made += TRIALS * tasks;
        trials.per_operation(tasks, || (0..tasks).try_for_each(|_| create()))
    })?;
    trials.detail(b);
    let switches = (Usage::thread()? - before).voluntary_switches;
    b.report(RAN, (RUNS.load(SeqCst) - ran) as f64);
    let name = "voluntary_switches_per_task_count";
    b.detail(name, switches as f64 / made as f64);
    Ok(())
}

extern "C" fn begin(_: *mut c_void) -> *mut c_void {
    RUNS.fetch_add(1, SeqCst);
    ptr::null_mut()
}

fn thread() -> Result<(), Failure> {
    let failed = |call, error| Failure::of(call, std::io::Error::from_raw_os_error(error));
    let mut thread = MaybeUninit::uninit();
    // SAFETY: `thread` has room for a handle; the thread's function takes nothing and touches one static.
    match unsafe { libc::pthread_create(thread.as_mut_ptr(), ptr::null(), begin, ptr::null_mut()) }
    {
        0 => {}
        error => return Err(failed("pthread_create", error)),
    }
    // SAFETY: the thread was created, so its handle was written, and it is joined once.
    match unsafe { libc::pthread_join(thread.assume_init(), ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(failed("pthread_join", error)),
    }
}

fn process() -> Result<(), Failure> {
    /// The exit status of a child.
    const STATUS: i32 = 7;
    fork(|| STATUS)?.ends_with(STATUS)?;
    RUNS.fetch_add(1, SeqCst);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_run_and_are_counted() {
        let before = RUNS.load(SeqCst);
        thread().expect("a thread");
        assert!(RUNS.load(SeqCst) > before);
    }
}
