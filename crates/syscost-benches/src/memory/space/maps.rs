//! What /proc/self/maps says of addresses.

use std::fs;
use std::ops::Range;

use syscost_harness::prelude::*;

/// How many mappings this process has.
pub(crate) fn mappings() -> Result<usize, Failure> {
    Ok(read()?.lines().count())
}

/// How many bytes at these addresses are mapped with these rights: `rw-` or `r--`.
pub(crate) fn bytes_with(rights: &str, within: Range<usize>) -> Result<usize, Failure> {
    Ok(of(&read()?, rights, within))
}

/// How many bytes of the mapping that begins here are clean: nothing is lost if the kernel takes them.
pub(crate) fn clean_bytes(start: usize) -> Result<usize, Failure> {
    let smaps = text("/proc/self/smaps")?;
    clean_of(&smaps, start)
        .ok_or_else(|| Failure::Unsupported("/proc/self/smaps does not tell of the mapping".into()))
}

fn read() -> Result<String, Failure> {
    text("/proc/self/maps")
}

fn text(path: &str) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|cause| Failure::Unsupported(format!("reading {path}: {cause}")))
}

fn clean_of(smaps: &str, start: usize) -> Option<usize> {
    let head = format!("{start:x}-");
    let mut lines = smaps.lines().skip_while(|line| !line.starts_with(&head));
    let clean = lines.find_map(|line| line.strip_prefix("Private_Clean:"))?;
    let kib: usize = clean.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

fn of(maps: &str, rights: &str, within: Range<usize>) -> usize {
    let overlap = |line: &str| -> Option<usize> {
        let (addresses, rest) = line.split_once(' ')?;
        let (from, to) = addresses.split_once('-')?;
        let from = usize::from_str_radix(from, 16).ok()?.max(within.start);
        let to = usize::from_str_radix(to, 16).ok()?.min(within.end);
        rest.starts_with(rights).then(|| to.saturating_sub(from))
    };
    maps.lines().filter_map(overlap).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_within_counts() {
        let maps =
            "1000-3000 rw-p 0 00:00 0\n3000-4000 r--p 0 00:00 0\n5000-9000 rw-p 0 00:00 0 [heap]\n";
        assert_eq!(of(maps, "rw-", 0x2000..0x6000), 0x2000);
        assert_eq!(of(maps, "r--", 0..0x9000), 0x1000);
        assert_eq!(of(maps, "rw-", 0x3000..0x5000), 0);
    }

    #[test]
    fn what_is_clean_is_told_of_the_right_mapping() {
        let smaps =
            "1000-3000 rw-p 0\nPrivate_Clean:  4 kB\n3000-4000 r--p 0\nPrivate_Clean:  8 kB\n";
        assert_eq!(clean_of(smaps, 0x1000), Some(4096));
        assert_eq!(clean_of(smaps, 0x3000), Some(8192));
        assert_eq!(clean_of(smaps, 0x2000), None);
    }
}
