//! Two tasks that wake each other through POSIX semaphores.
//!
//! ## Measures
//! A round trip: the measuring task posts its partner's semaphore (sem_post) and waits for its own
//! (sem_wait), asleep; the partner wakes and does the same. Two switches, and the futex calls of
//! the C library: four. The detail `switch_ns` is half of it.
//! ## Does not measure
//! A semaphore that need not be waited for: it is counted in memory without a call.
//! ## Interpretation
//! `switch.futex` and the C library's counting around it. The library calls the kernel only to
//! sleep, and to wake sleepers. Timed, each post wakes a sleeper and each wait sleeps: the switches
//! prove it. While its calls are audited, each takes so long that the other side has often posted
//! before this one would sleep, and two calls are saved: any number from two to four is accepted.
//! For `cpus` and `between` see `switch.pipe`.
//! ## Source
//! lmbench `lat_sem` (there with System V semaphores, here `switch.sysv_semaphore`).
#![allow(unsafe_code)] // the C library's semaphores

use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;

use libc::sem_t;
use syscost_harness::prelude::*;

use super::ping_pong::{self, Mechanism, Pair, Side, Tasks, Wake, share};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Context switch: POSIX semaphore ping-pong, round trip",
    tags: "context switch latency, wakeup latency, task switch, time per switch, sem_post, \
        sem_wait, lat_sem",
    revision: 3,
    expect: &[
        switches(2.0),
        within(Counter::Syscall(Sysno::FUTEX), 1.9, 4.2),
    ],
    ..Benchmark::by::<Tasks, Semaphores>()
};

impl Mechanism for Semaphores {
    fn measure(tasks: Tasks, plan: Plan) -> Result<Outcome, Failure> {
        ping_pong::measure(plan, tasks, Semaphores::new)
    }
}

/// The semaphore that each side sleeps on.
pub(crate) struct Semaphores(Shared<Pair<Semaphore>>);

/// It owns nothing but its memory, so it need not be destroyed.
struct Semaphore(UnsafeCell<sem_t>);

// SAFETY: semaphores are made for use by several tasks simultaneously.
unsafe impl Sync for Semaphore {}

impl Semaphores {
    pub(crate) fn new(between: Between) -> Result<Self, Failure> {
        let both = share(Pair::make(|| {
            // SAFETY: a sem_t is plain memory until sem_init makes it a semaphore, below.
            let memory = unsafe { MaybeUninit::<sem_t>::zeroed().assume_init() };
            Ok::<_, Failure>(Semaphore(UnsafeCell::new(memory)))
        })?)?;
        let of_processes = i32::from(between == Between::Processes);
        for side in Side::BOTH {
            // SAFETY: it is at its final address, and not shared yet.
            match unsafe { libc::sem_init(both.of(side).0.get(), of_processes, 0) } {
                0 => {}
                _ => return Err(Failure::last_os_error("make a semaphore")),
            }
        }
        Ok(Self(both))
    }
}

impl Wake for Semaphores {
    type Error = io::Error;

    fn wake(&self, side: Side) -> io::Result<()> {
        // SAFETY: `new` has made it a semaphore.
        match unsafe { libc::sem_post(self.0.of(side).0.get()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn sleep(&self, side: Side) -> io::Result<()> {
        // SAFETY: as above.
        while unsafe { libc::sem_wait(self.0.of(side).0.get()) } != 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(())
    }
}
