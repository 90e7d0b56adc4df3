//! Two ring buffers in memory that both tasks share, and two methods of waiting for the other task.
#![allow(unsafe_code)] // bytes in shared memory, handed over by counts

use std::cell::UnsafeCell;

use rustix::mm::{Advice, madvise};
use syscost_harness::prelude::*;

use super::gate::{self, Gate};
use super::mechanism::{ALL, LINE, Mechanism, Rows};
use super::{Channel, Ends, crossed};
use crate::ipc::message::Message;
use crate::syscall::Bad;

const FUTEX: Counter = Counter::Syscall(gate::CALL);

/// Of the ring whose sides sleep.
pub(super) const SLEEPING: Mechanism = Mechanism {
    // A task that wakes the other just before it sleeps saves both calls.
    calls: |of| {
        let most = 4.2 * of.messages * of.parts;
        vec![within(FUTEX, of.sleeps / 4.0, most)]
    },
    round_trips: Rows {
        is_read_apart: true,
        ..Rows::ALL_ROUND_TRIPS
    },
    bandwidths: Rows::LONG_BANDWIDTHS,
    ..Mechanism::PLAIN
};

/// Of the ring whose sides poll: on one CPU they would wait for each other's time slices.
pub(super) const POLLING: Mechanism = Mechanism {
    calls: |_| vec![within(FUTEX, 0.0, 0.1)],
    sleeps: false,
    round_trips: Rows {
        other: ALL,
        far: &[LINE],
        profile: Profile::Quick,
        is_read_apart: true,
        ..Rows::ROUND_TRIPS
    },
    bandwidths: Rows {
        other: Rows::LONG_BANDWIDTHS.other,
        profile: Profile::Quick,
        ..Rows::BANDWIDTHS
    },
    ..Mechanism::PLAIN
};

/// Size of a ring, in bytes: that of a pipe.
const ROOM: usize = 64 << 10;

/// Bytes copied before the other side may access them: a page, as in a pipe. A sleeping side is
/// woken at the end of a message, or before this side sleeps itself.
const PART: usize = 4096;

/// One direction. Both counters are in bytes and wrap around.
struct Lane {
    put: Gate,
    taken: Gate,
    bytes: Bytes,
}

#[repr(align(4096))]
struct Bytes(UnsafeCell<[u8; ROOM]>);

// SAFETY: the bytes from `taken` to `put` are the receiver's, the others the sender's; the counts
// hand them over.
unsafe impl Sync for Bytes {}

/// One end, which waits for the other by polling if it `SPINS`, else in a futex, where the other side
/// wakes it only then. It keeps its own counters, and reads the other's only when necessary.
pub(super) struct Ring<const SPINS: bool> {
    from: Shared<Lane>,
    to: Shared<Lane>,
    put: u32,
    taken: u32,
    put_by_other: u32,
    taken_by_other: u32,
}

pub(super) fn open<const SPINS: bool>(_: usize) -> Result<Ends<Ring<SPINS>>, Failure> {
    let lane = || {
        let lane = Shared::new(Lane {
            put: Gate::default(),
            taken: Gate::default(),
            bytes: Bytes(UnsafeCell::new([0; ROOM])),
        });
        let lane = lane.tried("make a ring")?;
        Ok((lane.clone(), lane))
    };
    crossed(lane, |from, to| Ring {
        from,
        to,
        put: 0,
        taken: 0,
        put_by_other: 0,
        taken_by_other: 0,
    })
}

impl<const SPINS: bool> Ring<SPINS> {
    #[inline(always)]
    fn move_to(gate: &Gate, count: u32) {
        match SPINS {
            true => gate.move_for_spinner(count),
            false => gate.move_to(count),
        }
    }

    #[inline(always)]
    fn wake(gate: &Gate) {
        if !SPINS {
            gate.wake();
        }
    }

    #[inline(always)]
    fn past(gate: &Gate, seen: u32) -> Result<u32, Bad> {
        match SPINS {
            true => gate.spin_past(seen),
            false => gate.past(seen),
        }
    }
}

impl<const SPINS: bool> Channel for Ring<SPINS> {
    const SLEEPS: bool = !SPINS;

    fn begin(&mut self) {
        for lane in [&self.from, &self.to] {
            // A forked process has the memory, but takes a fault for each page. If this fails, it
            // takes these faults. SAFETY: the lane's own memory, whose contents stay.
            let _ = unsafe { madvise(lane.bytes.0.get().cast(), ROOM, Advice::LinuxPopulateWrite) };
        }
    }

    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        let lane = &*self.to;
        let mut rest = message.bytes();
        while !rest.is_empty() {
            let free = ROOM - self.put.wrapping_sub(self.taken_by_other) as usize;
            if free == 0 {
                Self::wake(&lane.put);
                self.taken_by_other = Self::past(&lane.taken, self.taken_by_other)?;
                continue;
            }
            let at = self.put as usize % ROOM;
            let count = rest.len().min(free).min(PART).min(ROOM - at);
            // SAFETY: within the ring, and ours: not published yet, and its old content has been taken.
            unsafe {
                let place = lane.bytes.0.get().cast::<u8>().add(at);
                place.copy_from_nonoverlapping(rest.as_ptr(), count);
            }
            rest = &rest[count..];
            self.put = self.put.wrapping_add(count as u32);
            Self::move_to(&lane.put, self.put);
        }
        Self::wake(&lane.put);
        Ok(message.bytes().len())
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        let lane = &*self.from;
        let mut rest = message.bytes_mut();
        while !rest.is_empty() {
            let there = self.put_by_other.wrapping_sub(self.taken) as usize;
            if there == 0 {
                Self::wake(&lane.taken);
                self.put_by_other = Self::past(&lane.put, self.put_by_other)?;
                continue;
            }
            let at = self.taken as usize % ROOM;
            let count = rest.len().min(there).min(PART).min(ROOM - at);
            let (now, later) = rest.split_at_mut(count);
            // SAFETY: within the ring, and ours: published, and not taken yet.
            unsafe {
                let place = lane.bytes.0.get().cast::<u8>().add(at);
                place.copy_to_nonoverlapping(now.as_mut_ptr(), count);
            }
            rest = later;
            self.taken = self.taken.wrapping_add(count as u32);
            Self::move_to(&lane.taken, self.taken);
        }
        Self::wake(&lane.taken);
        Ok(message.bytes().len())
    }

    fn wake_waiters(&mut self) {
        self.to.put.close();
        self.from.taken.close();
    }
}
