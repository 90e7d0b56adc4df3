//! The device a file is on, and what the kernel counts for it.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;

use syscost_harness::prelude::*;

/// A sector of these counters, in bytes, whatever the device's own are.
const SECTOR: u64 = 512;

/// The block device of a file.
pub(crate) struct Device {
    numbers: String,
    name: String,
}

/// What a device did so far, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl Device {
    /// That of this file.
    pub(crate) fn of(file: &File) -> Result<Self, Unsupported> {
        let facts = file
            .metadata()
            .map_err(|cause| Unsupported::new(format!("fstat: {cause}")))?;
        let (major, minor) = (libc::major(facts.dev()), libc::minor(facts.dev()));
        let numbers = format!("{major}:{minor}");
        let link = fs::read_link(format!("/sys/dev/block/{numbers}")).map_err(|_| {
            Unsupported::new(format!(
                "the temporary folder is on a file system without a device of its own ({numbers}: in memory, or \
                 layered); set TMPDIR to a folder on a disk"
            ))
        })?;
        let name = link.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            name: name.into_owned(),
            numbers,
        })
    }

    /// Who counts, with the device's name.
    pub(crate) fn source(&self) -> String {
        format!("/sys/dev/block/{}/stat ({})", self.numbers, self.name)
    }

    /// What was read and written so far, for everybody.
    pub(crate) fn moved(&self) -> Result<Moved, Unsupported> {
        let path = format!("/sys/dev/block/{}/stat", self.numbers);
        let text = fs::read_to_string(&path)
            .map_err(|cause| Unsupported::new(format!("reading {path}: {cause}")))?;
        parse(&text).ok_or_else(|| Unsupported::new(format!("{path} is not as documented")))
    }
}

fn parse(text: &str) -> Option<Moved> {
    let field = |number: usize| -> Option<u64> {
        Some(
            text.split_ascii_whitespace()
                .nth(number)?
                .parse::<u64>()
                .ok()?
                * SECTOR,
        )
    };
    Some(Moved {
        read: field(2)?,
        written: field(6)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_told_in_bytes() {
        let text = "  21  1  40  5  7  0  8  9  0  30  31";
        let moved = Moved {
            read: 40 * 512,
            written: 8 * 512,
        };
        assert_eq!(parse(text), Some(moved));
        assert_eq!(parse("1 2 3"), None);
    }

    #[test]
    fn a_file_in_memory_has_no_device() {
        let Ok(file) = File::open("/proc/self/stat") else {
            return println!("skipped: no /proc");
        };
        assert!(Device::of(&file).is_err());
    }
}
