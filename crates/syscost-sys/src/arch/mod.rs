//! The processor's constant-rate time counter, one facade per architecture.
//!
//! | | x86-64 | aarch64 Linux | elsewhere |
//! |---|---|---|---|
//! | unfenced | `rdtsc` | `mrs cntvct_el0` | 0 |
//! | fenced | `lfence; rdtsc; lfence` | `isb; mrs cntvct_el0; isb` | 0 |
//! | `rdtscp` | `rdtscp` | 0 | 0 |
//! | serialized | `cpuid; rdtsc` and `rdtscp; cpuid` | 0 | 0 |
//!
//! The counter counts ticks of a fixed frequency, not the core's clock cycles. Ask
//! [`cycle_counter`] or [`rdtscp`] once, outside the measured loop; the readers themselves check
//! nothing and return 0 where the instruction does not exist.

use crate::clock::Source;

#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
mod aarch64;
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_os = "linux")
)))]
mod other;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
use aarch64 as imp;
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_os = "linux")
)))]
use other as imp;
#[cfg(target_arch = "x86_64")]
use x86_64 as imp;

pub(crate) use imp::{add_chain, counter_is_invariant, independent, multiply_chain, start, stop};
pub use imp::{
    cycle_counter, cycle_counter_fenced, cycle_counter_rdtscp, cycle_counter_unfenced, rdtscp,
    serialize, serialized_start, serialized_stop,
};

/// The counter of this target, if it has one: the preferred source of a [`Clock`](crate::clock::Clock).
pub const COUNTER: Option<Source> = imp::COUNTER;

/// One turn of a chain of dependent instructions, for [`frequency`](crate::frequency): a known
/// number of operations in a row, each of a known number of core cycles.
#[derive(Clone, Copy)]
pub(crate) struct Chain {
    /// Runs the chain this many times.
    pub(crate) run: fn(turns: u32),
    /// Core cycles of one turn.
    pub(crate) cycles_per_turn: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_exists_goes_forward() {
        if let Err(reason) = cycle_counter() {
            println!("skipped: {reason}");
            assert_eq!(cycle_counter_fenced(), 0);
            return;
        }
        let first = cycle_counter_fenced();
        std::thread::sleep(std::time::Duration::from_millis(1));
        let second = cycle_counter_fenced();
        assert!(second > first);
        assert!(cycle_counter_unfenced() >= second);
    }

    #[test]
    fn rdtscp_goes_on_from_rdtsc() {
        if let Err(reason) = rdtscp() {
            println!("skipped: {reason}");
            return;
        }
        let before = cycle_counter_fenced();
        assert!(cycle_counter_rdtscp() >= before);
        let begun = serialized_start();
        serialize();
        let ended = serialized_stop();
        assert!(before <= begun && begun < ended && ended <= cycle_counter_fenced());
    }
}
