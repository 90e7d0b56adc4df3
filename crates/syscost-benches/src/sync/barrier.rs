//! Two threads that wait for each other at a barrier: pthread_barrier_wait.
//!
//! ## Measures
//! Two meetings: the partner sleeps at the barrier until the measuring thread comes, then the
//! measuring thread sleeps there until the partner comes. Both call pthread_barrier_wait twice. The
//! detail `meeting_ns` is half of it.
//! ## Does not measure
//! Barriers for more threads, which wake all that sleep; barriers that spin.
//! ## Interpretation
//! Two sleeps and two wake-ups, as a round trip of `switch.futex`. On two CPUs it is dominated by
//! waking the other CPU. Work between two meetings adds to that, and the slowest thread's decides.
//! ## Source
//! The barrier of the EPCC microbenchmarks, with the C library's own.
#![allow(unsafe_code)] // the C library's interface

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use syscost_harness::prelude::*;

use super::{Padded, hand_over};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Thread barrier, two threads",
    tags: "pthread_barrier_wait, barrier synchronization, rendezvous, epcc",
    expect: &[
        // The last one to come does not sleep, unless the woken thread preempts it.
        within(Counter::Switches, 1.9, 4.2),
        // Two waits and two wakes; a thread that is woken too early waits again.
        within(Counter::Syscall(Sysno::FUTEX), 3.8, 12.0),
    ],
    revision: 2,
    ..Benchmark::of::<Barrier>()
};

#[derive(Params, Clone)]
struct Barrier {
    cpus: Placement,
}

impl Measured for Barrier {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(Barrier {
            cpus: hand_over::placements(here)
        })
    }

    fn proofs(&self) -> BarrierProofs<Proof> {
        BarrierProofs {
            cpus: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let make = |cpus: &[u32]| {
            let (responder, leading) = both(cpus)?;
            Ok(responder.driven_by(leading))
        };
        let (mut outcome, _) = plan.measure(Together::of(self.cpus, make))?.split();
        outcome.detail_each_turn("meeting_ns");
        Ok(outcome)
    }
}

/// Both threads, with the partner already running.
fn both(cpus: &[u32]) -> Result<(Responder, Leading), Failure> {
    let place = Arc::new(Place::new()?);
    let theirs = Arc::clone(&place);
    // The measuring thread may sleep at the barrier. If it has left, too, this one sleeps there
    // until the process ends.
    let wake_waiters = |place: &mut Arc<Place>| drop(place.wait());
    let follow = |place: &mut Arc<Place>, _: &Stop| place.follow();
    let responder = Responder::start(Between::Threads, cpus, || Ok(theirs), follow, wake_waiters)?;
    let stop = responder.stop();
    Ok((responder, Leading { place, stop }))
}

/// The measuring thread.
struct Leading {
    place: Arc<Place>,
    stop: Shared<Stop>,
}

impl Driver for Leading {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..2 * iterations {
            let met = self.place.lead();
            self.stop.check().and(met)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        let met = self.place.arrived[0].0.load(Ordering::Relaxed) + 1;
        self.place.last.store(met, Ordering::Release);
        self.place.lead()
    }
}

/// The barrier, and how often each thread has come to it.
struct Place {
    barrier: UnsafeCell<libc::pthread_barrier_t>,
    arrived: [Padded<AtomicU64>; 2],
    /// The number of the last meeting.
    last: AtomicU64,
}

// SAFETY: a barrier is made for use by several threads; it stays at its address, in an Arc's
// memory, from its first use.
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

    /// Comes to the next meeting as the measuring thread.
    fn lead(&self) -> Result<(), Failure> {
        let met = self.arrived[0].0.load(Ordering::Relaxed) + 1;
        self.meet(0, met)
    }

    /// Comes to all meetings as the partner.
    fn follow(&self) -> Result<(), Failure> {
        let mut met = 0;
        while met < self.last.load(Ordering::Acquire) {
            met += 1;
            self.meet(1, met)?;
        }
        Ok(())
    }

    /// Comes to a meeting as thread `own`. Afterwards the other must have come, too, to this
    /// meeting or already to the next.
    fn meet(&self, own: usize, meeting: u64) -> Result<(), Failure> {
        self.arrived[own].0.store(meeting, Ordering::Release);
        self.wait()?;
        let other = self.arrived[1 - own].0.load(Ordering::Acquire);
        if other == meeting || other == meeting + 1 {
            return Ok(());
        }
        Err(Failure::Refuted(format!(
            "the barrier let one pass alone: at meeting {meeting} the other was at {other}"
        )))
    }

    fn wait(&self) -> Result<(), Failure> {
        // SAFETY: initialised, and both threads hold it as long as they use it.
        match unsafe { libc::pthread_barrier_wait(self.barrier.get()) } {
            0 | libc::PTHREAD_BARRIER_SERIAL_THREAD => Ok(()),
            code => {
                let error = std::io::Error::from_raw_os_error(code);
                Err(Failure::of("wait at the barrier", error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_passes_alone_is_detected() {
        let place = Arc::new(Place::new().unwrap());
        let theirs = Arc::clone(&place);
        let other = std::thread::spawn(move || theirs.meet(1, 1));
        assert_eq!(place.meet(0, 1), Ok(()));
        assert_eq!(other.join().unwrap(), Ok(()));
        // The other thread skips a meeting.
        let theirs = Arc::clone(&place);
        let other = std::thread::spawn(move || theirs.meet(1, 5));
        let failure = place.meet(0, 2).unwrap_err();
        assert!(failure.to_string().contains("alone"), "{failure}");
        assert!(other.join().unwrap().is_err());
    }

    #[test]
    fn what_the_partner_finds_out_ends_the_measurement_too() {
        let cpus = or_skip!(syscost_sys::cpu::allowed(), "no affinity here");
        let (responder, mut leading) = both(&cpus).unwrap();
        let iterations = move |_| {
            leading.run(2)?;
            // A thread that comes without announcing it lets the partner pass alone.
            leading.place.wait()?;
            while !leading.stop.is_set() {
                std::thread::yield_now();
            }
            leading.run(1)
        };
        let failure = responder
            .driven_by(iterations)
            .perform([1])
            .map(drop)
            .unwrap_err();
        assert!(matches!(failure, Failure::Refuted(_)), "{failure}");
        assert!(failure.to_string().contains("alone"), "{failure}");
    }
}
