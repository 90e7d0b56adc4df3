//! Shared: a labelled model of getpid in a C library that remembers its answer, as glibc's did from 2.3.4
//! to 2.24: the first call asks the kernel, all others read a variable.
#![allow(unsafe_code)] // the first call

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use syscost_sys::raw::{Sysno, syscall0};

/// The kernel's answer; 0 before it was asked.
static KNOWN: AtomicI32 = AtomicI32::new(0);

/// Resets the model to the state of a program that has just started.
pub(super) fn forget() {
    KNOWN.store(0, Relaxed);
}

/// The process id.
#[inline(never)]
pub(super) extern "C" fn getpid() -> i32 {
    match KNOWN.load(Relaxed) {
        0 => ask(),
        known => known,
    }
}

#[cold]
#[inline(never)]
fn ask() -> i32 {
    // SAFETY: getpid takes nothing and touches no memory.
    let answer = unsafe { syscall0(Sysno::GETPID) } as i32;
    KNOWN.store(answer, Relaxed);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_is_the_kernels_and_stays() {
        forget();
        let own = std::process::id() as i32;
        assert_eq!((getpid(), getpid()), (own, own));
        assert_eq!(KNOWN.load(Relaxed), own);
    }
}
