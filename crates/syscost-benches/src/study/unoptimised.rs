//! Shared: a labelled model of C compiled without optimisation (`gcc` without `-O`), which syscost's own
//! code is not.
//!
//! Such code keeps each variable in memory: a loop reads its counter from the stack, adds one and writes it
//! back every turn, and a callee first stores its arguments to its frame, though they are never read.
//! Volatile accesses to variables on the stack do the same here, and nothing is inlined. The model
//! omits the callee's two instructions for a frame pointer.
#![allow(unsafe_code)] // volatile accesses

use std::mem::MaybeUninit;
use std::ptr;

/// A variable that is never kept in a register.
#[derive(Debug)]
pub(super) struct InMemory<T>(T);

impl<T: Copy> InMemory<T> {
    /// A variable with this value.
    #[inline(always)]
    pub(super) fn new(value: T) -> Self {
        let mut variable = Self(value);
        variable.set(value);
        variable
    }

    /// Loads the value.
    #[inline(always)]
    pub(super) fn get(&self) -> T {
        // SAFETY: a reference is valid, aligned and initialised.
        unsafe { ptr::read_volatile(&raw const self.0) }
    }

    /// Stores the value.
    #[inline(always)]
    pub(super) fn set(&mut self, value: T) {
        // SAFETY: a reference is valid and aligned, and the type is Copy, so nothing is dropped.
        unsafe { ptr::write_volatile(&raw mut self.0, value) };
    }
}

/// Runs `turn` this many times with the counter in memory; returns the number of turns by the counter.
#[inline(always)]
pub(super) fn repeat(turns: u64, mut turn: impl FnMut()) -> u64 {
    let mut number = InMemory::new(0_u64);
    while number.get() < turns {
        turn();
        number.set(number.get() + 1);
    }
    number.get()
}

/// Functions of these arguments that store them to their frame and do nothing else.
macro_rules! callees {
    ($($(#[$doc:meta])* $name:ident($($argument:ident),*);)*) => {$(
        $(#[$doc])*
        #[inline(never)]
        pub(super) extern "C" fn $name($($argument: i32),*) {
            $(
                let mut place = MaybeUninit::<i32>::uninit();
                // SAFETY: a variable of the frame is valid and aligned. Each lasts to the end: none shares
                // its place.
                unsafe { ptr::write_volatile(place.as_mut_ptr(), $argument) };
            )*
            body();
        }
    )*};
}

/// The only statement of a callee: no instruction, but one that no compiler may remove.
#[inline(always)]
fn body() {
    // SAFETY: there is no instruction in it.
    unsafe { std::arch::asm!("", options(nomem, nostack, preserves_flags)) };
}

callees! {
    /// No argument.
    none();
    /// One integer.
    one(a);
    /// Two integers.
    two(a, b);
    /// Three integers.
    three(a, b, c);
    /// Four integers.
    four(a, b, c, d);
    /// Five integers.
    five(a, b, c, d, e);
    /// Six integers: as many as x86-64 passes in registers.
    six(a, b, c, d, e, f);
    /// Seven integers, one of which is passed on the stack on x86-64.
    seven(a, b, c, d, e, f, g);
}

/// What to do with a call of one of the callees. A trait because each callee must be called directly, as
/// in a program that names it, and not through a pointer.
pub(super) trait WithCall {
    /// The result.
    type Output;

    /// Does it with `call`, which calls the callee once.
    fn run(self, call: impl Fn()) -> Self::Output;
}

/// Runs `with` with a call of the callee that takes this many arguments; `None` where there is no such callee
/// (more than 7).
pub(super) fn with_call<W: WithCall>(arguments: u64, with: W) -> Option<W::Output> {
    Some(match arguments {
        0 => with.run(|| none()),
        1 => with.run(|| one(1)),
        2 => with.run(|| two(1, 2)),
        3 => with.run(|| three(1, 2, 3)),
        4 => with.run(|| four(1, 2, 3, 4)),
        5 => with.run(|| five(1, 2, 3, 4, 5)),
        6 => with.run(|| six(1, 2, 3, 4, 5, 6)),
        7 => with.run(|| seven(1, 2, 3, 4, 5, 6, 7)),
        8.. => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_makes_every_turn() {
        let mut made = 0;
        assert_eq!((repeat(1000, || made += 1), repeat(0, || ())), (1000, 0));
        assert_eq!(made, 1000);
    }

    #[test]
    fn there_is_a_call_of_up_to_seven_arguments() {
        struct Calls;
        impl WithCall for Calls {
            type Output = u64;
            fn run(self, call: impl Fn()) -> u64 {
                repeat(3, call)
            }
        }
        let made: Vec<_> = (0..9)
            .map(|arguments| with_call(arguments, Calls))
            .collect();
        assert_eq!(made, [[Some(3); 8].as_slice(), &[None]].concat());
    }
}
