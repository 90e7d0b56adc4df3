//! The processor's constant-rate time counter, one facade per architecture.
//!
//! | | x86-64 | aarch64 |
//! |---|---|---|
//! | unfenced | `rdtsc` | `mrs cntvct_el0` |
//! | fenced | `lfence; rdtsc; lfence` | `isb; mrs cntvct_el0; isb` |
//! | `rdtscp` | `rdtscp` | 0 |
//!
//! The counter counts ticks of a fixed frequency, not the core's clock cycles. Ask [`rdtscp`] once,
//! outside the measured loop; the readers themselves check nothing and return 0 where the
//! instruction does not exist.

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod machine;

pub(crate) use machine::{
    COUNTER, add_chain, counter_is_invariant, independent, multiply_chain, start, stop,
};
pub use machine::{
    FENCED, RDTSCP, UNFENCED, cycle_counter_fenced, cycle_counter_rdtscp, cycle_counter_unfenced,
    rdtscp, reads_by,
};

/// One iteration of a chain of dependent instructions, for [`frequency`](crate::frequency): a known
/// number of operations in a row, each of a known number of core cycles.
#[derive(Clone, Copy)]
pub(crate) struct Chain {
    /// Runs the chain this many times.
    pub(crate) run: fn(iterations: u32),
    /// Core cycles of one iteration.
    pub(crate) cycles_per_iteration: u32,
}

/// Instructions of one iteration of [`independent`]. Many, since what the branch at an iteration's end
/// costs depends on where the loop and its caller lie in memory: with 240, the ratio of half of the
/// probes of an idle core lay elsewhere than that of the others, and 6 % apart in two builds of one
/// program; with 1200, nine of ten lie within 1.5 % in any of twelve layouts (Sapphire Rapids,
/// 2026-11-27). A tenth of the first-level instruction cache of a common core.
pub(crate) const INDEPENDENT: u32 = 1200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_goes_forward() {
        let first = cycle_counter_fenced();
        std::thread::sleep(std::time::Duration::from_millis(1));
        let second = cycle_counter_fenced();
        assert!(second > first);
        assert!(cycle_counter_unfenced() >= second);
    }

    #[test]
    fn the_bytes_of_a_function_show_how_it_reads_the_counter() {
        assert_eq!(reads_by(cycle_counter_unfenced), UNFENCED);
        assert_eq!(reads_by(cycle_counter_fenced), FENCED);
        assert_eq!(reads_by(cycle_counter_rdtscp), RDTSCP);
        assert_eq!(reads_by(|| 1), "");
    }

    #[test]
    fn rdtscp_goes_on_from_rdtsc() {
        or_skip!(rdtscp());
        let before = cycle_counter_fenced();
        assert!(cycle_counter_rdtscp() >= before);
    }
}
