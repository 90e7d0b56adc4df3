//! How much memory is resident, according to the kernel.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;

use super::Pages;
use crate::{SystemError, Unsupported};

/// How much of a piece of memory is resident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resident {
    /// Resident memory, in bytes.
    pub bytes: usize,
    /// Resident memory in pages of the requested kind, in bytes.
    pub in_pages_bytes: usize,
}

/// Bytes per read: about the length of one mapping's entry. The kernel walks all pages of every
/// mapping that is read.
const AT_ONCE: usize = 1 << 10;

/// How much is resident of the mappings that begin within these addresses, by /proc/self/smaps. One
/// [`Memory`](super::Memory) may consist of several of them.
pub(super) fn resident(within: Range<usize>, pages: Pages) -> Result<Resident, Unsupported> {
    let by_pages = by_pages(within)?;
    Ok(Resident {
        bytes: by_pages.iter().map(|(_, bytes)| bytes).sum(),
        in_pages_bytes: by_pages
            .iter()
            .filter(|(kind, _)| *kind == pages)
            .map(|(_, bytes)| bytes)
            .sum(),
    })
}

/// How many of these mappings' bytes are resident in each kind of pages.
pub(super) fn by_pages(within: Range<usize>) -> Result<[(Pages, usize); 3], Unsupported> {
    let path = "/proc/self/smaps";
    let resident =
        File::open(path).and_then(|file| of(BufReader::with_capacity(AT_ONCE, file), within));
    Ok(resident.map_err(|cause| SystemError::new("read", path, cause))?)
}

/// Parses this text, which lists mappings by ascending address and is read no further than necessary.
fn of(smaps: impl BufRead, within: Range<usize>) -> io::Result<[(Pages, usize); 3]> {
    let (mut small, mut transparent, mut set_aside, mut is_ours) = (0, 0, 0, false);
    for line in smaps.lines() {
        let line = line?;
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let kib = value
            .trim()
            .strip_suffix(" kB")
            .and_then(|number| number.parse::<usize>().ok());
        match (key, kib) {
            // Resident memory includes transparent huge pages, but not those that were set aside.
            ("Rss", Some(kib)) if is_ours => small += kib << 10,
            ("AnonHugePages", Some(kib)) if is_ours => transparent += kib << 10,
            ("Private_Hugetlb", Some(kib)) if is_ours => set_aside += kib << 10,
            (_, Some(_)) => {}
            // A line that begins a mapping: `from-to rwxp offset major:minor inode`.
            (_, None) => {
                let address = key.split_once('-').map(|(from, _)| from);
                if let Some(Ok(from)) = address.map(|from| usize::from_str_radix(from, 16)) {
                    is_ours = within.contains(&from);
                    if from >= within.end {
                        break;
                    }
                }
            }
        }
    }
    Ok([
        (Pages::Small, small - transparent.min(small)),
        (Pages::Huge, transparent),
        (Pages::Gigantic, set_aside),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
Size:               4096 kB
Rss:                4096 kB
AnonHugePages:      2048 kB
Private_Hugetlb:       0 kB
7f0000400000-7f0000600000 rw-p 00000000 00:00 0
Rss:                 100 kB
AnonHugePages:         0 kB
VmFlags: rd wr mr mw me ac sd
7f0040000000-7f0080000000 rw-p 00000000 00:0f 77 /anon_hugepage (deleted)
Rss:                   0 kB
Private_Hugetlb: 1048576 kB
";

    #[test]
    fn mappings_within_are_added_up() {
        let of = |within| {
            of(SMAPS.as_bytes(), within)
                .unwrap()
                .map(|(_, bytes)| bytes)
        };
        let within = 0x7f00_0000_0000..0x7f00_0060_0000;
        assert_eq!(of(within), [2148 << 10, 2 << 20, 0]);
        let set_aside = 0x7f00_4000_0000..0x7f00_8000_0000;
        assert_eq!(of(set_aside), [0, 0, 1 << 30]);
        assert_eq!(of(0..1), [0; 3]);
    }
}
