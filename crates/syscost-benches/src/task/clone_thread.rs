//! Creating a thread by the clone system call, without a thread library.
//!
//! ## Measures
//! clone with the flags of a thread (memory, files, handlers and process shared), whose stack
//! already exists; the thread counts itself and exits. `until=created`: the call alone; the thread
//! runs only afterwards. `until=reaped`: its exit as well, which the kernel signals by clearing a
//! word and waking the futex on it, where the creator waits.
//! ## Does not measure
//! The additions of a thread library: a stack, thread-local storage, signal masks (`task.pthread`).
//! ## Interpretation
//! The floor of any thread: a task structure, a kernel stack, a place in the run queue, and two
//! switches of the CPU.
//! ## Source
//! osbench `create_threads`, without the library; clone(2).
#![allow(unsafe_code)] // a thread of our own

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::SeqCst};

use syscost_harness::prelude::*;
use syscost_sys::raw::{syscall1, syscall4};

use super::child::Stack;
use super::ids::{DISTINCT, Ids};
use super::until::{self, Creation, TaskCreation, Until};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Thread creation: clone",
    tags: "thread spawn, osbench",
    expect: &[
        calls(Sysno::CLONE),
        // None where the thread has exited already.
        within(Counter::Syscall(Sysno::FUTEX), 0.0, 1.1),
        at_most(Counter::OtherSyscalls, 0.0),
        at_most(Counter::VoluntarySwitches, 1.5),
        exactly(Counter::Reported(DISTINCT), 1.0),
        exactly(Counter::Reported(RAN), 1.0),
    ],
    ..Benchmark::by::<TaskCreation, CloneThread>()
};

const RAN: &str = "threads that ran";

static RUNS: AtomicU64 = AtomicU64::new(0);

/// The thread's id while it exists. Written by the kernel.
static THREAD: AtomicI32 = AtomicI32::new(0);

struct CloneThread;

impl Creation for CloneThread {
    fn measure(until: Until, plan: Plan) -> Result<Outcome, Failure> {
        let (mut stack, mut ids) = (Stack::new(), Ids::default());
        let before = RUNS.load(SeqCst);
        // Dropped before the stack.
        let joined = Joined;
        let create = || create(&mut stack).map(|id| ids.note(id));
        let mut outcome = until::measure(plan, until, create, |()| {
            join();
            Ok(())
        })?;
        drop(joined);
        outcome.report(DISTINCT, ids.distinct());
        outcome.report(RAN, (RUNS.load(SeqCst) - before) as f64);
        Ok(outcome)
    }

    fn proof(until: Until) -> Proof {
        until::proof_of_threads(until, Sysno::EXIT)
    }
}

/// Creates a thread on this stack, which must not be in use by another one.
#[inline(always)]
pub(crate) fn create(stack: &mut Stack) -> Result<c_int, Failure> {
    const FLAGS: c_int = libc::CLONE_VM
        | libc::CLONE_FS
        | libc::CLONE_FILES
        | libc::CLONE_SIGHAND
        | libc::CLONE_THREAD
        | libc::CLONE_SYSVSEM
        | libc::CLONE_PARENT_SETTID
        | libc::CLONE_CHILD_CLEARTID;
    let (word, none) = (THREAD.as_ptr(), ptr::null_mut::<c_void>());
    // SAFETY: the stack belongs to the thread alone until `THREAD` is 0 again; the thread has its
    // creator's thread-local storage, and touches none of it. The kernel writes to a static word.
    match unsafe { libc::clone(begin, stack.top(), FLAGS, none, word, none, word) } {
        -1 => Err(Failure::last_os_error("clone of a thread")),
        id => Ok(id),
    }
}

extern "C" fn begin(_: *mut c_void) -> c_int {
    RUNS.fetch_add(1, SeqCst);
    loop {
        // SAFETY: ends this thread, which owns nothing.
        unsafe { syscall1(Sysno::EXIT, 0) };
    }
}

/// Waits on drop, so that no thread is left on a stack that is freed.
struct Joined;

impl Drop for Joined {
    fn drop(&mut self) {
        join();
    }
}

/// Waits until the thread has left its stack.
#[inline(always)]
pub(crate) fn join() {
    loop {
        let id = THREAD.load(SeqCst);
        if id == 0 {
            return;
        }
        let (word, wait) = (THREAD.as_ptr().addr(), libc::FUTEX_WAIT as usize);
        // SAFETY: sleeps as long as the static word holds this id, without a time limit.
        unsafe { syscall4(Sysno::FUTEX, word, wait, id as usize, 0) };
    }
}
