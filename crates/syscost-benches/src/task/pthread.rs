//! Creating a thread by the C library.
//!
//! ## Measures
//! pthread_create with default attributes of a thread that counts itself and returns.
//! `until=created`: the call alone; the thread runs only afterwards. `until=reaped`: its end and
//! pthread_join as well. All on one CPU, one thread at a time.
//! ## Does not measure
//! The threads of a language's library, which add a little to these.
//! ## Interpretation
//! The library keeps the stacks of ended threads, so only the first one pays for memory: this
//! measures a process that has had threads before. The excess over `task.clone_thread` is the
//! library's: signal masks, lists to register, giving the stack's memory back.
//! ## Source
//! LEBench thread creation; libMicro `pthread_create`; osbench `create_threads`.
#![allow(unsafe_code)] // the C library's threads

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use syscost_harness::prelude::*;

use super::until::{self, Creation, TaskCreation, Until};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Thread creation: pthread_create",
    tags: "pthread_join, thread spawn, thread start, osbench",
    expect: &[
        // None where the thread has exited already.
        within(Counter::Syscall(Sysno::FUTEX), 0.0, 1.1),
        // The C library's own calls: clone3 (or clone, where that is refused), signal masks, lists,
        // the stack's memory.
        within(Counter::OtherSyscalls, 1.0, 16.0),
        at_most(Counter::VoluntarySwitches, 1.5),
        exactly(Counter::Reported(RAN), 1.0),
    ],
    roles: roles!(TaskCreation { until: Until::Reaped } => Role::Thread),
    ..Benchmark::by::<TaskCreation, Pthread>()
};

const RAN: &str = "threads that ran";

static RUNS: AtomicU64 = AtomicU64::new(0);

struct Pthread;

impl Creation for Pthread {
    const PROFILES: [Profile; 2] = [Profile::Standard, Profile::Quick];

    fn measure(until: Until, plan: Plan) -> Result<Outcome, Failure> {
        let before = RUNS.load(SeqCst);
        let mut outcome = until::measure(plan, until, create, join)?;
        outcome.report(RAN, (RUNS.load(SeqCst) - before) as f64);
        Ok(outcome)
    }

    fn proof(until: Until) -> Proof {
        until::proof_of_threads(until, Sysno::EXIT)
    }
}

#[inline(always)]
fn create() -> Result<libc::pthread_t, Failure> {
    let mut thread = MaybeUninit::uninit();
    // SAFETY: `thread` has room for a handle; the thread's function takes nothing and touches one static.
    match unsafe { libc::pthread_create(thread.as_mut_ptr(), ptr::null(), begin, ptr::null_mut()) }
    {
        // SAFETY: the thread was created, so its handle was written.
        0 => Ok(unsafe { thread.assume_init() }),
        error => Err(failed("pthread_create", error)),
    }
}

extern "C" fn begin(_: *mut c_void) -> *mut c_void {
    RUNS.fetch_add(1, SeqCst);
    ptr::null_mut()
}

#[inline(always)]
fn join(thread: libc::pthread_t) -> Result<(), Failure> {
    // SAFETY: a thread that was created above, and is joined once.
    match unsafe { libc::pthread_join(thread, ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(failed("pthread_join", error)),
    }
}

fn failed(call: &str, error: i32) -> Failure {
    Failure::of(call, std::io::Error::from_raw_os_error(error))
}
