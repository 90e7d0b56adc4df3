//! What a process has in memory.

use std::fs::File;
use std::io::Read;

use crate::{SystemError, Unsupported};

const PATH: &str = "/proc/self/smaps_rollup";

/// Bytes of this process's anonymous memory that are resident now, by its page tables: exact, where
/// /proc/self/statm may lag by some pages. Pages of the program's file are not included: the kernel
/// reclaims them and maps them again, sixteen at a time. Does not allocate, which might add some.
///
/// # Errors
/// Where the kernel does not report it (before Linux 4.14).
pub fn resident_anonymous_bytes() -> Result<u64, Unsupported> {
    let mut text = [0; 4096];
    let length = File::open(PATH)
        .and_then(|mut file| file.read(&mut text))
        .map_err(|cause| SystemError::new("read", PATH, cause))?;
    str::from_utf8(&text[..length])
        .ok()
        .and_then(of)
        .ok_or_else(|| Unsupported::new(format!("{PATH} does not report resident memory")))
}

fn of(rollup: &str) -> Option<u64> {
    let line = rollup
        .lines()
        .find_map(|line| line.strip_prefix("Anonymous:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_resident() {
        assert_eq!(
            of(
                "1000-2000 ---p [rollup]\nRss:  20 kB\nPss: 3 kB\nAnonymous:  12 kB\nAnonHugePages: 0 kB\n"
            ),
            Some(12 << 10)
        );
        assert_eq!(of("Pss: 3 kB\n"), None);
        // Other tests of this process allocate and free memory meanwhile, so two readings cannot be compared.
        let written = std::hint::black_box(vec![1_u8; 32 << 20]);
        match resident_anonymous_bytes() {
            Ok(bytes) => assert!(bytes >= 32 << 20),
            Err(reason) => println!("skipped: {reason}"),
        }
        drop(written);
    }
}
