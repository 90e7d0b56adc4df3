//! A value that one task leaves for others.
#![allow(unsafe_code)] // a value written once, read by others

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, Ordering};

/// Room for one value, written once. In memory that tasks share ([`Shared`](super::Shared)) it
/// passes a partner's result to its creator.
///
/// The value must mean the same in every process: numbers and arrays of them, nothing that points
/// at memory of the partner's own.
#[derive(Debug)]
pub struct Slot<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// States of a slot: empty, being filled, full.
const EMPTY: u8 = 0;
const TAKEN: u8 = 1;
const FULL: u8 = 2;

// SAFETY: written by the task that takes it first and read only after that, so there are no
// concurrent accesses; values are copied from task to task, as Send allows.
unsafe impl<T: Send> Sync for Slot<T> {}

impl<T> Default for Slot<T> {
    /// An empty slot.
    fn default() -> Self {
        Self {
            state: AtomicU8::new(EMPTY),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }
}

impl<T: Copy> Slot<T> {
    /// Stores a value, unless there is one already.
    pub fn put(&self, value: T) {
        let taken = self
            .state
            .compare_exchange(EMPTY, TAKEN, Ordering::Relaxed, Ordering::Relaxed);
        if taken.is_ok() {
            // SAFETY: only one caller takes it, and nothing reads it before it is full.
            unsafe { (*self.value.get()).write(value) };
            self.state.store(FULL, Ordering::Release);
        }
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<T> {
        let is_full = self.state.load(Ordering::Acquire) == FULL;
        // SAFETY: full, so it was written before, and nothing writes to it again.
        is_full.then(|| unsafe { (*self.value.get()).assume_init() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os;
    use crate::partner::Shared;

    #[test]
    fn what_a_forked_process_puts_down_is_there_and_stays() {
        let slot = or_skip!(Shared::new(Slot::default()), "no shared memory here");
        assert_eq!(slot.get(), None);
        let child = os::fork(&mut || {
            slot.put([7_u64, 8]);
            0
        })
        .unwrap();
        assert_eq!(os::wait_for(child).unwrap(), 0);
        slot.put([0, 0]);
        assert_eq!(slot.get(), Some([7, 8]));
    }
}
