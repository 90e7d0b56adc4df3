//! Rows that depend on the host's scheduler. They are counted separately, since checks of a core do
//! not show what it adds.

use syscost_results::row_name;

/// Benchmarks that sleep, wake another CPU, observe what others do, or report the frequency that
/// the host grants, in any case.
const IDS: [&str; 5] = [
    "timing.noise",
    "timing.core_frequency",
    "timing.sleep",
    "switch.wakeup",
    "memory.core_to_core",
];

/// Whether the row with this name depends on the host's scheduler: it sleeps, interrupts another
/// CPU, or its tasks wait for each other on several CPUs.
pub(crate) fn is_of_the_host(name: &str) -> bool {
    let id = row_name::id(name);
    let is_other = |parameter: &str, alone: &str| {
        row_name::parameters(name).any(|(name, value)| name == parameter && value != alone)
    };
    // A shootdown interrupts the CPUs of the other threads.
    let is_interrupting = id == "memory.tlb_shootdown" && is_other("threads", "0");
    IDS.contains(&id) || is_interrupting || is_other("cpus", "same")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_sleep_or_wait_for_another_cpu_are_of_the_host() {
        for (name, is_of_host) in [
            ("syscall.null{call=getppid}", false),
            ("switch.pipe{between=processes,cpus=same}", false),
            ("switch.pipe{between=processes,cpus=same_cache}", true),
            ("sync.futex_wake{cpus=other,waiters=1}", true),
            ("timing.sleep{via=clock_nanosleep,delay=50us}", true),
            ("timing.noise", true),
            ("memory.tlb_shootdown{via=munmap,threads=0}", false),
            ("memory.tlb_shootdown{via=munmap,threads=1}", true),
        ] {
            assert_eq!(is_of_the_host(name), is_of_host, "{name}");
        }
    }
}
