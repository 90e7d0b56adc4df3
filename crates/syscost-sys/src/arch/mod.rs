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
    COUNTER, MULTIPLY_CYCLES, PROBE_CHAIN_CYCLES, add_chain, counter_is_invariant, float_chain,
    multiply_chain, start, stop,
};
pub use machine::{
    FENCED, RDTSCP, UNFENCED, cycle_counter_fenced, cycle_counter_rdtscp, cycle_counter_unfenced,
    data_cache_bytes, rdtscp, reads_by,
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

/// A loop of a probe of the core, written in assembly. Safe to call with at least one iteration: it changes registers
/// that a called function may change, and nothing else.
pub(crate) type ProbeLoop = unsafe extern "C" fn(iterations: u32);

/// The loops of a probe of the core.
#[allow(unsafe_code)] // they are written in assembly
pub(crate) mod probe_loops {
    use super::ProbeLoop;

    unsafe extern "C" {
        fn syscost_probe_chain(iterations: u32);
        fn syscost_probe_burst_30(iterations: u32);
        fn syscost_probe_burst_60(iterations: u32);
        fn syscost_probe_burst_120(iterations: u32);
        fn syscost_probe_burst_300(iterations: u32);
        fn syscost_probe_burst_1200(iterations: u32);
    }

    /// Dependent instructions.
    pub(crate) const CHAIN: ProbeLoop = syscost_probe_chain;

    /// Independent instructions: how many there are in one iteration, and the loop.
    pub(crate) const BURSTS: [(u32, ProbeLoop); 5] = [
        (60, syscost_probe_burst_60),
        (120, syscost_probe_burst_120),
        (30, syscost_probe_burst_30),
        (300, syscost_probe_burst_300),
        (1200, syscost_probe_burst_1200),
    ];
}

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
