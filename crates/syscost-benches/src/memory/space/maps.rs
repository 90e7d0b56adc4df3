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

fn read() -> Result<String, Failure> {
    fs::read_to_string("/proc/self/maps")
        .map_err(|cause| Failure::Unsupported(format!("reading /proc/self/maps: {cause}")))
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
}
