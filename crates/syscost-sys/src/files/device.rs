//! The device a file is on, and what the kernel counts for it.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::filesystem::{device_number, mount_of};
use crate::{Unsupported, os};

/// Bytes of a sector as these counters count them, whatever the device's own sector size is.
const SECTOR: u64 = 512;

/// The block device of a file.
#[derive(Debug, Clone)]
pub struct Device {
    numbers: String,
    name: String,
}

/// What a device has done so far, for all programs: /sys/dev/block/*/stat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Time in which the device was busy, in ms.
    pub busy_ms: u64,
    /// Time that requests were in flight, summed over all requests, in ms.
    pub in_hand_ms: u64,
    /// Requests to flush the device's own cache; `None` where the kernel does not
    /// count them, or has not counted one since the machine started.
    pub flushes: Option<u64>,
}

impl Device {
    /// The device that this file is on.
    ///
    /// # Errors
    /// When the file system has none, or spreads files over several.
    pub fn of(file: &File) -> Result<Self, Unsupported> {
        let facts = file
            .metadata()
            .map_err(|cause| Unsupported::new(format!("fstat: {cause}")))?;
        let number = device_number(facts.dev(), || mount_of(file)).ok_or_else(|| {
            let own = numbers(facts.dev());
            Unsupported::new(format!(
                "the file is on a file system without a device of its own ({own}: in memory, layered, or on several)"
            ))
        })?;
        let numbers = numbers(number);
        let name = name_of(number).ok_or_else(|| {
            Unsupported::new(format!(
                "/sys/dev/block does not name the file's device {numbers}; a container may hide it, or the file system is layered"
            ))
        })?;
        Ok(Self { numbers, name })
    }

    /// The device's name, e.g. `vda`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file that counts, and the device's name: the source of evidence.
    pub fn source(&self) -> String {
        format!("/sys/dev/block/{}/stat ({})", self.numbers, self.name)
    }

    /// What the device has done so far, for all programs.
    ///
    /// # Errors
    /// When the kernel does not say, or its accounting is switched off, so that the counts never change.
    pub fn moved(&self) -> Result<Moved, Unsupported> {
        let read = |folder: String| {
            let path = format!("{folder}/stat");
            let text = fs::read_to_string(&path)
                .map_err(|cause| Unsupported::new(format!("reading {path}: {cause}")))?;
            parse(&text).ok_or_else(|| Unsupported::new(format!("{path} is not as documented")))
        };
        let (own, disk) = (self.folder(), self.disk().unwrap_or_else(|| self.folder()));
        let switch = format!("{disk}/queue/iostats");
        if fs::read_to_string(&switch).is_ok_and(|text| is_off(&text)) {
            let reason = format!("I/O accounting is switched off: {switch} is 0");
            return Err(Unsupported::new(reason));
        }
        let mut moved = read(own)?;
        // Requests to flush are counted for the whole disk only, and only in its queue of requests:
        // device mapper, software RAID and others without one hand them on uncounted.
        let has_requests = Path::new(&disk).join("mq").exists();
        moved.flushes = match has_requests {
            true => read(disk)?.flushes,
            false => None,
        };
        Ok(moved)
    }

    /// Whether data written to the device may stay in a volatile cache, lost with the power, until it
    /// is flushed; `None` where the kernel does not say, or the device hands its requests
    /// on to others, whose caches these are.
    pub fn has_volatile_cache(&self) -> Option<bool> {
        let disk = self.disk().unwrap_or_else(|| self.folder());
        let mut below = fs::read_dir(format!("{disk}/slaves")).ok()?;
        if below.next().is_some() {
            return None;
        }
        let text = fs::read_to_string(format!("{disk}/queue/write_cache")).ok()?;
        match text.trim() {
            "write back" => Some(true),
            "write through" => Some(false),
            _ => None,
        }
    }

    fn folder(&self) -> String {
        format!("/sys/dev/block/{}", self.numbers)
    }

    /// The folder in /sys of the disk that this is a partition of.
    fn disk(&self) -> Option<String> {
        let folder = self.folder();
        let is_partition = Path::new(&folder).join("partition").exists();
        is_partition.then(|| format!("{folder}/.."))
    }
}

fn numbers(device: u64) -> String {
    let (major, minor) = os::device_numbers(device);
    format!("{major}:{minor}")
}

/// The name of the block device of this number; `None` if there is none.
pub(super) fn name_of(device: u64) -> Option<String> {
    let link = fs::read_link(format!("/sys/dev/block/{}", numbers(device))).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// Whether this text of a file in /sys means off.
fn is_off(text: &str) -> bool {
    text.trim() == "0"
}

fn parse(text: &str) -> Option<Moved> {
    let field =
        |number: usize| -> Option<u64> { text.split_ascii_whitespace().nth(number)?.parse().ok() };
    Some(Moved {
        read: field(2)? * SECTOR,
        written: field(6)? * SECTOR,
        busy_ms: field(9)?,
        in_hand_ms: field(10)?,
        // Since Linux 5.5. None at all, since the machine started, is more likely a driver that does
        // not count them.
        flushes: field(15).filter(|count| *count > 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_counted_in_bytes() {
        let text = "  21  1  40  5  7  0  8  9  0  30  31 0 0 0 0 6 2";
        let moved = Moved {
            read: 40 * 512,
            written: 8 * 512,
            busy_ms: 30,
            in_hand_ms: 31,
            flushes: Some(6),
        };
        assert_eq!(parse(text), Some(moved));
        for uncounted in [
            "21 1 40 5 7 0 8 9 0 30 31 0 0 0 0 0 0",
            "21 1 40 5 7 0 8 9 0 30 31",
        ] {
            let flushes = parse(uncounted).map(|moved| moved.flushes);
            assert_eq!(flushes, Some(None), "{uncounted}");
        }
        assert_eq!(parse("1 2 3"), None);
    }

    #[test]
    fn accounting_is_off_where_its_switch_is_zero() {
        assert!(is_off("0\n"));
        assert!(!is_off("1\n"));
    }

    #[test]
    fn a_file_in_memory_has_no_device() {
        let file = or_skip!(File::open("/proc/self/stat"), "no /proc");
        assert!(Device::of(&file).is_err());
    }
}
