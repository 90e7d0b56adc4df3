//! Names of details and claims that reports look up in a document: benchmarks write them.

/// One switch, of a row that is several of them.
pub const SWITCH: &str = "switch_ns";

/// The size of a cache according to the system.
pub const TOLD_BYTES: &str = "told_bytes";

/// The claim whose observation names the law that was chosen.
pub const CHOSEN_LAW: &str = "law nearest to the rows";

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
}
