//! Names of details and claims that reports look up in a document: benchmarks write them.

/// One switch, of a row that is several of them.
pub const SWITCH: &str = "switch_ns";

/// The size of a cache according to the system.
pub const TOLD_BYTES: &str = "told_bytes";

/// Maximum factor between a reported size and a measured one that agree: the measured sizes are a
/// fifth apart, and not every cache can be filled.
const ALIKE: f64 = 1.5;

/// The claim that a size found is the one that the system reports, which holds if they [`agree`].
pub const REPORTED_SIZE: &str = "size of the cache as the system tells it";

/// Whether a cache size that the system reports agrees with the one that was measured.
pub fn agree(reported: f64, measured: f64) -> bool {
    (1.0 / ALIKE..=ALIKE).contains(&(reported / measured))
}

/// What precedes and follows the size of a file, and a number of processes, in a detail's name.
const REREAD: (&str, &str) = ("read_", "_bytes_per_s");
const FITTED: (&str, &str) = ("fitted_", "_per_s");

/// The detail with the rate at which a file of this size was re-read: `read_64M_bytes_per_s`.
pub fn reread_detail(size: &str) -> String {
    named(REREAD, size)
}

/// The size in such a detail's name: `64M`.
pub fn reread_size(detail: &str) -> Option<&str> {
    between(REREAD, detail)
}

/// The detail with a law's rate for this many processes: `fitted_8_per_s`.
pub fn fitted_detail(processes: f64) -> String {
    named(FITTED, &processes.to_string())
}

/// The number of processes in such a detail's name: `8`.
pub fn fitted_processes(detail: &str) -> Option<&str> {
    between(FITTED, detail)
}

fn named((before, behind): (&str, &str), what: &str) -> String {
    format!("{before}{what}{behind}")
}

fn between<'d>((before, behind): (&str, &str), detail: &'d str) -> Option<&'d str> {
    detail.strip_prefix(before)?.strip_suffix(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found_again() {
        assert_eq!(reread_detail("64M"), "read_64M_bytes_per_s");
        assert_eq!(reread_size(&reread_detail("64M")), Some("64M"));
        assert_eq!(fitted_detail(8.0), "fitted_8_per_s");
        assert_eq!(fitted_processes(&fitted_detail(8.0)), Some("8"));
        for other in ["memory_limit_bytes", "fitted_", "read_bytes_per_s"] {
            assert_eq!((reread_size(other), fitted_processes(other)), (None, None));
        }
    }

    #[test]
    fn sizes_agree_within_a_half() {
        assert!(agree(2e6, 2e6) && agree(2e6, 2.9e6) && agree(2.9e6, 2e6));
        assert!(!agree(260e6, 24e6) && !agree(24e6, 260e6) && !agree(1.0, f64::NAN));
    }
}
