//! Shared: functions that do nothing, for the experiments that timed calls.
//!
//! They are compiled with optimisation, but neither inlined nor removed: they consist of an empty assembly
//! statement, which a compiler must execute each time.
#![allow(unsafe_code)] // assembly without an instruction

use std::arch::asm;
use std::hint::black_box;

/// Passed and returned by value: 64 bytes, too large for registers.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Record {
    pub(super) words: [u64; 8],
}

/// The only statement of a callee: no instruction, but one that no compiler may remove.
#[inline(always)]
fn body() {
    // SAFETY: there is no instruction in it.
    unsafe { asm!("", options(nomem, nostack, preserves_flags)) };
}

/// Functions of these argument types that ignore them.
macro_rules! callees {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        #[inline(never)]
        pub(super) extern "C" fn $name($($argument: $type),*) {
            $(let _ = $argument;)*
            body();
        }
    )*};
}

callees! {
    /// No argument.
    none();
    /// One integer.
    integer(a: i32);
    /// Two integers.
    two_integers(a: i32, b: i32);
    /// One floating-point number.
    double(a: f64);
    /// Eight integers, two of which are passed on the stack on x86-64.
    eight_integers(a: i32, b: i32, c: i32, d: i32, e: i32, f: i32, g: i32, h: i32);
    /// A record, which is copied to the stack.
    record(a: Record);
}

/// A record, through a hidden pointer.
#[inline(never)]
pub(super) extern "C" fn returns_record() -> Record {
    body();
    Record {
        words: [1, 2, 3, 4, 5, 6, 7, 8],
    }
}

/// A value that the compiler does not know.
pub(super) fn unknown<T>(value: T) -> T {
    black_box(value)
}

/// Runs `turn` this many times, adding the turn's number to a sum that a compiler must keep: the loop of an
/// experiment.
#[inline(always)]
pub(super) fn repeat(turns: u64, mut turn: impl FnMut()) -> u64 {
    let mut sum = 0_u64;
    for number in 0..turns {
        turn();
        sum = sum.wrapping_add(number);
        // SAFETY: there is no instruction in it; it only keeps the sum in a register each time.
        unsafe { asm!("/* {0} */", inout(reg) sum, options(nomem, nostack, preserves_flags)) };
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_makes_every_turn() {
        let mut made = 0;
        let sum = repeat(1000, || made += 1);
        assert_eq!((made, sum), (1000, 999 * 1000 / 2));
    }

    #[test]
    fn a_record_comes_back_whole() {
        assert_eq!(returns_record().words, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
