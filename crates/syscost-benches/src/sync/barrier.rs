//! Two threads that wait for each other at a barrier: pthread_barrier_wait.
//!
//! ## Measures
//! Two meetings: the partner sleeps at the barrier until the measuring thread comes, then the measuring thread sleeps there
//! until the partner comes. Both call pthread_barrier_wait twice. The detail `meeting_ns` is half of it.
//! ## Does not measure
//! Barriers for more threads, which wake all that sleep; barriers that spin.
//! ## Reading it
//! Two sleeps and two wake-ups, as a round trip of `switch.futex`. On two CPUs it is dominated by waking the other CPU. Work
//! between two meetings comes on top, and the slowest thread's decides.
//! ## Source
//! The barrier of the EPCC microbenchmarks, with the C library's own.
#![allow(unsafe_code)] // the C library's interface

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use syscost_harness::prelude::*;
use syscost_sys::partner::{Between, Partner};

use super::{Padded, hand_over};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "sync.barrier",
    title: "Barrier of two threads",
    cases: Cases::Here(|| {
        let placements = hand_over::placements();
        placements
            .map(|placement| Case::new([(Placement::KEY, placement.name())]))
            .collect()
    }),
    expect: &[
        // Who comes last does not sleep, unless the woken preempts it.
        within(Counter::Switches, 1.9, 4.2),
        // Two waits and two wakes; who wakes too early waits again.
        within(Counter::Syscall(Sysno::FUTEX), 3.8, 12.0),
    ],
    quick: |_| false,
    run,
    source: include_str!("barrier.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    b.together(Placement::of(b.case())?, |cpus| {
        let place = Arc::new(Place::new()?);
        let theirs = Arc::clone(&place);
        let partner = Partner::start(Between::Threads, cpus, move || {
            let mut met = 0;
            while met < theirs.last.load(Ordering::Acquire) {
                met += 1;
                theirs.meet(1, met)?;
            }
            Ok::<(), String>(())
        })
        .map_err(|error| Failure::Failed(error.to_string()))?;
        let own = Arc::clone(&place);
        let turns = move |turns| {
            for _ in 0..2 * turns {
                let met = own.arrived[0].0.load(Ordering::Relaxed) + 1;
                own.meet(0, met).map_err(Failure::Refuted)?;
            }
            Ok(())
        };
        Ok(Team::new(vec![partner], turns, move || {
            let met = place.arrived[0].0.load(Ordering::Relaxed) + 1;
            place.last.store(met, Ordering::Release);
            place.meet(0, met).map_err(Failure::Refuted)
        }))
    })?;
    if let Some(two) = b.median() {
        b.detail("meeting_ns", two / 2.0);
    }
    Ok(())
}

/// The barrier, and how often each thread has come to it.
struct Place {
    barrier: UnsafeCell<libc::pthread_barrier_t>,
    arrived: [Padded<AtomicU64>; 2],
    /// The last meeting.
    last: AtomicU64,
}

// SAFETY: a barrier is made to be used by several threads; it stays where it is, in an Arc's memory, from its first use.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

impl Place {
    fn new() -> Result<Self, Failure> {
        let mut barrier = MaybeUninit::uninit();
        // SAFETY: memory for a barrier, which holds no reference to itself and may be moved until it is used.
        match unsafe { libc::pthread_barrier_init(barrier.as_mut_ptr(), ptr::null(), 2) } {
            0 => Ok(Self {
                // SAFETY: initialised above.
                barrier: UnsafeCell::new(unsafe { barrier.assume_init() }),
                arrived: Default::default(),
                last: AtomicU64::new(u64::MAX),
            }),
            code => {
                let error = std::io::Error::from_raw_os_error(code);
                Err(Failure::of("make a barrier", error))
            }
        }
    }

    /// Comes to a meeting as thread `own`. The other must then have come, too, to this one or already to the next.
    fn meet(&self, own: usize, meeting: u64) -> Result<(), String> {
        self.arrived[own].0.store(meeting, Ordering::Release);
        // SAFETY: initialised, and both threads hold it as long as they use it.
        if super::lie() == 20 {
            return Ok(());
        }
        if super::lie() == 22 {
            while self.arrived[1 - own].0.load(Ordering::Acquire) < meeting {
                std::hint::spin_loop()
            }
            return Ok(());
        }
        match if super::lie() == 21 {
            0
        } else {
            unsafe { libc::pthread_barrier_wait(self.barrier.get()) }
        } {
            0 | libc::PTHREAD_BARRIER_SERIAL_THREAD => {}
            code => return Err(std::io::Error::from_raw_os_error(code).to_string()),
        }
        let other = self.arrived[1 - own].0.load(Ordering::Acquire);
        if other == meeting || other == meeting + 1 {
            return Ok(());
        }
        Err(format!(
            "the barrier let one pass alone: at meeting {meeting} the other was at {other}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_passes_alone_is_found_out() {
        let place = Arc::new(Place::new().unwrap());
        let theirs = Arc::clone(&place);
        let other = std::thread::spawn(move || theirs.meet(1, 1));
        assert_eq!(place.meet(0, 1), Ok(()));
        assert_eq!(other.join().unwrap(), Ok(()));
        // The other thread skips a meeting.
        let theirs = Arc::clone(&place);
        let other = std::thread::spawn(move || theirs.meet(1, 5));
        assert!(place.meet(0, 2).unwrap_err().contains("alone"));
        assert!(other.join().unwrap().is_err());
    }
}
