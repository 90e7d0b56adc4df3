//! Facts about addresses from /proc/self/maps and similar files.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;

use rustix::param::page_size;
use syscost_harness::prelude::*;

pub(crate) fn mappings() -> Result<usize, Failure> {
    Ok(read()?.lines().count())
}

/// Size of this process's address space, in bytes. Reads it without allocating, which might map more.
pub(crate) fn mapped_bytes() -> Result<usize, Failure> {
    let path = "/proc/self/statm";
    let mut text = [0; 128];
    let length = File::open(path)
        .and_then(|mut file| file.read(&mut text))
        .map_err(|cause| Failure::Unsupported(format!("reading {path}: {cause}")))?;
    let first = text[..length].split(|byte| *byte == b' ').next();
    first
        .and_then(|pages| str::from_utf8(pages).ok()?.parse::<usize>().ok())
        .map(|pages| pages * page_size())
        .ok_or_else(|| Failure::Unsupported(format!("{path} does not report the address space")))
}

/// How many bytes at these addresses are mapped with this protection: `rw-` or `r--`.
pub(crate) fn bytes_with(rights: &str, within: Range<usize>) -> Result<usize, Failure> {
    Ok(of(&read()?, rights, within))
}

/// How many bytes of the mapping that begins here are clean: nothing is lost if the kernel takes them.
pub(crate) fn clean_bytes(start: usize) -> Result<usize, Failure> {
    smaps_bytes(start, "Private_Clean:")
}

/// How many bytes of the mapping that begins here are dirty: their content exists nowhere else yet.
pub(crate) fn dirty_bytes(start: usize) -> Result<usize, Failure> {
    Ok(smaps_bytes(start, "Private_Dirty:")? + smaps_bytes(start, "Shared_Dirty:")?)
}

fn smaps_bytes(start: usize, what: &str) -> Result<usize, Failure> {
    let smaps = text("/proc/self/smaps")?;
    bytes_of(&smaps, start, what)
        .ok_or_else(|| Failure::Unsupported("/proc/self/smaps does not list the mapping".into()))
}

fn read() -> Result<String, Failure> {
    text("/proc/self/maps")
}

fn text(path: &str) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|cause| Failure::Unsupported(format!("reading {path}: {cause}")))
}

fn bytes_of(smaps: &str, start: usize, what: &str) -> Option<usize> {
    let head = format!("{start:x}-");
    let mut lines = smaps.lines().skip_while(|line| !line.starts_with(&head));
    let bytes = lines.find_map(|line| line.strip_prefix(what))?;
    let kib: usize = bytes.trim().strip_suffix(" kB")?.parse().ok()?;
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
    fn smaps_are_read_of_the_right_mapping() {
        let clean_of = |smaps, start| bytes_of(smaps, start, "Private_Clean:");
        let smaps =
            "1000-3000 rw-p 0\nPrivate_Clean:  4 kB\n3000-4000 r--p 0\nPrivate_Clean:  8 kB\n";
        assert_eq!(clean_of(smaps, 0x1000), Some(4096));
        assert_eq!(clean_of(smaps, 0x3000), Some(8192));
        assert_eq!(clean_of(smaps, 0x2000), None);
    }
}
