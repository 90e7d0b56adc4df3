//! Two tasks that wake each other through condition variables.
//!
//! ## Measures
//! A round trip: the measuring task notes under a mutex that it is its partner's turn, frees the
//! mutex, signals the partner's condition (pthread_cond_signal), and waits for its own
//! (pthread_cond_wait), asleep; the partner wakes and does the same. Two switches. The detail
//! `switch_ns` is half of it.
//! ## Does not measure
//! Contended mutexes: the condition is signalled only when the mutex is free again, so that the
//! woken task finds it free.
//! ## Interpretation
//! What portable programs sleep and wake with. In addition to the two sleeps and two wakes of
//! `switch.futex` it takes and frees the mutex four times. After a wait glibc retakes the mutex as
//! if there were other waiters, and so calls the kernel once more to free it: six futex calls. A
//! library that need not do so makes four: any number between is accepted. For `cpus` and `between`
//! see `switch.pipe`.
//! ## Source
//! pthread_cond_signal(3).
#![allow(unsafe_code)] // the C library's mutexes and condition variables

use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use libc::{c_int, pthread_cond_t, pthread_mutex_t};
use syscost_harness::prelude::*;

use super::ping_pong::{self, Mechanism, Pair, Side, Tasks, Wake, share};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Context switch: condition variable ping-pong, round trip",
    tags: "context switch latency, wakeup latency, task switch, time per switch, \
        pthread_cond_signal, pthread_cond_wait",
    revision: 3,
    expect: &[
        // A partner on another CPU may give the turn back before this task has gone to sleep.
        within(Counter::Switches, 1.7, 2.1),
        // A task that finds that it has the turn before it sleeps makes no call, which is frequent
        // under an audit on a busy machine.
        within(Counter::Syscall(Sysno::FUTEX), 1.9, 8.4),
    ],
    ..Benchmark::by::<Tasks, Turns>()
};

impl Mechanism for Turns {
    fn measure(tasks: Tasks, plan: Plan) -> Result<Outcome, Failure> {
        ping_pong::measure(plan, tasks, Turns::new)
    }
}

/// Whose turn it is, guarded by a mutex.
struct Turns(Shared<Table>);

struct Table {
    mutex: UnsafeCell<pthread_mutex_t>,
    sides: Pair<SideState>,
}

/// The condition on which a side sleeps.
struct SideState {
    condition: UnsafeCell<pthread_cond_t>,
    /// Read and written only under the mutex.
    has_turn: AtomicBool,
}

// SAFETY: mutexes and condition variables are made for use by several tasks simultaneously.
unsafe impl Sync for Table {}

impl Turns {
    fn new(between: Between) -> Result<Self, Failure> {
        let state = || {
            Ok::<_, Failure>(SideState {
                condition: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
                has_turn: AtomicBool::new(false),
            })
        };
        let table = share(Table {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            sides: Pair::make(state)?,
        })?;
        if between == Between::Processes {
            open_to_processes(&table).tried("share a mutex")?;
        }
        Ok(Self(table))
    }
}

/// Reinitialises the mutex and the conditions for several processes. They own nothing but their
/// memory, so they need not be destroyed.
fn open_to_processes(table: &Table) -> io::Result<()> {
    const SHARED: c_int = libc::PTHREAD_PROCESS_SHARED;
    let mut of_mutex = MaybeUninit::uninit();
    let mut of_condition = MaybeUninit::uninit();
    // SAFETY: the attributes are initialised before they are used; what is initialised with them is
    // at its final address, and not in use yet.
    unsafe {
        ok(libc::pthread_mutexattr_init(of_mutex.as_mut_ptr()))?;
        ok(libc::pthread_mutexattr_setpshared(
            of_mutex.as_mut_ptr(),
            SHARED,
        ))?;
        ok(libc::pthread_mutex_init(
            table.mutex.get(),
            of_mutex.as_ptr(),
        ))?;
        ok(libc::pthread_condattr_init(of_condition.as_mut_ptr()))?;
        ok(libc::pthread_condattr_setpshared(
            of_condition.as_mut_ptr(),
            SHARED,
        ))?;
        for side in Side::BOTH {
            let condition = table.sides.of(side).condition.get();
            ok(libc::pthread_cond_init(condition, of_condition.as_ptr()))?;
        }
    }
    Ok(())
}

impl Wake for Turns {
    type Error = io::Error;

    fn wake(&self, side: Side) -> io::Result<()> {
        let state = self.0.sides.of(side);
        // SAFETY: both were initialised by `new`, and the mutex is this task's when it gives it back.
        unsafe {
            ok(libc::pthread_mutex_lock(self.0.mutex.get()))?;
            state.has_turn.store(true, Relaxed);
            ok(libc::pthread_mutex_unlock(self.0.mutex.get()))?;
            ok(libc::pthread_cond_signal(state.condition.get()))
        }
    }

    fn sleep(&self, side: Side) -> io::Result<()> {
        let state = self.0.sides.of(side);
        let mutex = self.0.mutex.get();
        // SAFETY: as above.
        unsafe {
            ok(libc::pthread_mutex_lock(mutex))?;
            while !state.has_turn.swap(false, Relaxed) {
                ok(libc::pthread_cond_wait(state.condition.get(), mutex))?;
            }
            ok(libc::pthread_mutex_unlock(mutex))
        }
    }
}

/// Converts the result of a pthread function: 0, or the error number.
fn ok(answer: c_int) -> io::Result<()> {
    match answer {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
