//! Any other target: no counter that a program may read directly.

use super::Chain;
use crate::Unsupported;
use crate::clock::Source;

pub(super) const COUNTER: Option<Source> = None;

/// Whether a time counter can be read directly.
///
/// # Errors
/// Always on this target.
pub fn cycle_counter() -> Result<(), Unsupported> {
    Err(Unsupported::new(
        "no processor counter is read directly on this target; clock_gettime is used",
    ))
}

/// `rdtscp` is an instruction of x86.
///
/// # Errors
/// Always on this target.
pub fn rdtscp() -> Result<(), Unsupported> {
    Err(Unsupported::new(
        "rdtscp is an instruction of x86-64 processors",
    ))
}

pub(crate) fn counter_is_invariant() -> Option<bool> {
    None
}

/// Returns 0 on this target; see [`cycle_counter`].
#[inline(always)]
pub fn cycle_counter_unfenced() -> u64 {
    0
}

/// Returns 0 on this target; see [`cycle_counter`].
#[inline(always)]
pub fn cycle_counter_fenced() -> u64 {
    0
}

/// Returns 0 on this target; see [`rdtscp`].
#[inline(always)]
pub fn cycle_counter_rdtscp() -> u64 {
    0
}

/// Does nothing on this target; see [`rdtscp`].
#[inline(always)]
pub fn serialize() {}

/// Returns 0 on this target; see [`rdtscp`].
#[inline(always)]
pub fn serialized_start() -> u64 {
    0
}

/// Returns 0 on this target; see [`rdtscp`].
#[inline(always)]
pub fn serialized_stop() -> u64 {
    0
}

#[inline(always)]
pub(crate) fn start() -> u64 {
    0
}

#[inline(always)]
pub(crate) fn stop() -> (u64, Option<u32>) {
    (0, None)
}

pub(crate) fn add_chain() -> Option<Chain> {
    None
}

pub(crate) fn multiply_chain() -> Option<Chain> {
    None
}

pub(crate) fn independent() -> Option<fn(u32)> {
    None
}
