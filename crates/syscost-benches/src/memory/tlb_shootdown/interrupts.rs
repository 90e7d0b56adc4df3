//! How often CPUs were interrupted to forget pages.

use std::fs;

use syscost_harness::prelude::*;

/// The count so far, on all CPUs, for all programs.
pub(super) fn interrupts() -> Result<u64, Unsupported> {
    let path = "/proc/interrupts";
    let text = fs::read_to_string(path)
        .map_err(|cause| Unsupported::new(format!("reading {path}: {cause}")))?;
    of(&text).ok_or_else(|| Unsupported::new("this kernel counts no such interrupts"))
}

fn of(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("TLB:"))?;
    let counts = line.split_ascii_whitespace();
    Some(counts.map_while(|count| count.parse::<u64>().ok()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cpus_are_added_up() {
        let text = "      CPU0  CPU1\n  0:  7  0  IO-APIC\nTLB:  40  2  TLB shootdowns\n";
        assert_eq!(of(text), Some(42));
        assert_eq!(of("IPI0:  1  2  Rescheduling interrupts\n"), None);
    }
}
