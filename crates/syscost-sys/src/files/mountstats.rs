//! What the kernel's NFS client has done for a mount: /proc/self/mountstats.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::filesystem::{is_nfs_kind, mount_option, unescaped_path};
use crate::Unsupported;
use crate::counters::difference;

const MOUNTSTATS: &str = "/proc/self/mountstats";

/// A mounted export, and the operations that were asked of its server since it was mounted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NfsMount {
    /// What is mounted, e.g. `server:/export`.
    pub source: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// The options in effect, separated by commas, including those that the client and the server negotiated.
    pub options: String,
    /// The operations by their names in the protocol, e.g. `READ`.
    pub operations: BTreeMap<String, OperationCounts>,
}

/// How often an operation was requested, by any program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperationCounts {
    /// Number of calls.
    pub calls: u64,
    /// How often they were sent; more than `calls` if the server was late.
    pub transmissions: u64,
    /// Calls that timed out.
    pub timeouts: u64,
    /// Bytes sent, including RPC headers.
    pub sent_bytes: u64,
    /// Bytes received, including RPC headers.
    pub received_bytes: u64,
    /// Total time before the calls were sent, in ms.
    pub queued_ms: u64,
    /// Total time between sending and the reply, in ms.
    pub round_trip_ms: u64,
    /// Total time from call to completion, in ms.
    pub total_ms: u64,
}

// Nothing where a new mount counts from 0 again.
difference! {
    OperationCounts {
        calls, transmissions, timeouts, sent_bytes, received_bytes, queued_ms, round_trip_ms, total_ms
    }
}

impl NfsMount {
    /// The NFS mount at this place.
    ///
    /// # Errors
    /// When no NFS file system is mounted there, or the kernel does not report it.
    pub fn at(mount_point: &Path) -> Result<Self, Unsupported> {
        let text = fs::read_to_string(MOUNTSTATS)
            .map_err(|cause| Unsupported::new(format!("reading {MOUNTSTATS}: {cause}")))?;
        parse(&text, mount_point).ok_or_else(|| {
            let place = mount_point.display();
            Unsupported::new(format!("{MOUNTSTATS} has no NFS mount at {place}"))
        })
    }

    /// Version of the protocol, e.g. `4.2`; empty if the options do not say.
    pub fn version(&self) -> &str {
        mount_option(&self.options, "vers").unwrap_or_default()
    }

    /// Name or number of the server, as it was mounted.
    pub fn server(&self) -> &str {
        self.source
            .rsplit_once(":/")
            .map_or(self.source.as_str(), |(server, _)| server)
    }

    /// The counts of an operation so far.
    pub fn operation(&self, name: &str) -> OperationCounts {
        self.operations.get(name).copied().unwrap_or_default()
    }
}

/// Finds the last mount at this place, which hides those before it.
fn parse(text: &str, mount_point: &Path) -> Option<NfsMount> {
    let mut found = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(mut mount) = headed(line) else {
            continue;
        };
        let mut is_table = false;
        while let Some(line) = lines.next_if(|line| !line.starts_with("device ")) {
            let line = line.trim();
            if let Some(options) = line.strip_prefix("opts:") {
                options.trim().clone_into(&mut mount.options);
            } else if line == "per-op statistics" {
                is_table = true;
            } else if let Some((name, operation)) = counted(line).filter(|_| is_table) {
                mount.operations.insert(name.to_owned(), operation);
            }
        }
        if mount.mount_point == mount_point {
            found = Some(mount);
        }
    }
    found
}

/// Parses a header line: `device server:/export mounted on /mnt with fstype nfs4 statvers=1.1`.
fn headed(line: &str) -> Option<NfsMount> {
    let (source, rest) = line.strip_prefix("device ")?.split_once(" mounted on ")?;
    let (mount_point, kind) = rest.split_once(" with fstype ")?;
    let kind = kind.split_ascii_whitespace().next()?;
    is_nfs_kind(kind).then(|| NfsMount {
        source: unescaped_path(source).display().to_string(),
        mount_point: unescaped_path(mount_point),
        ..NfsMount::default()
    })
}

/// Parses a line of counts, `READ: 3 4 1 480 12684 0 3 3 0`. Older kernels lack the last, the
/// number of errors.
fn counted(line: &str) -> Option<(&str, OperationCounts)> {
    let (name, numbers) = line.split_once(':')?;
    let mut numbers = numbers.split_ascii_whitespace();
    let mut next = || numbers.next()?.parse().ok();
    let operation = OperationCounts {
        calls: next()?,
        transmissions: next()?,
        timeouts: next()?,
        sent_bytes: next()?,
        received_bytes: next()?,
        queued_ms: next()?,
        round_trip_ms: next()?,
        total_ms: next()?,
    };
    Some((name, operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> String {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/mountstats/two-mounts"
        );
        fs::read_to_string(path).expect("a fixture")
    }

    #[test]
    fn the_mount_that_hides_the_other_is_found() {
        let mount = parse(&fixture(), Path::new("/mnt/n")).expect("it is there");
        assert_eq!((mount.version(), mount.server()), ("4.2", "db1"));
        assert_eq!(mount.source, "db1:/srv/a b");
        assert!(mount.options.starts_with("ro,vers=4.2,rsize=262144"));
        let read = mount.operation("READ");
        assert_eq!(
            (read.calls, read.transmissions, read.timeouts),
            (512, 512, 0)
        );
        assert_eq!((read.received_bytes, read.total_ms), (67_174_400, 1189));
        assert_eq!(mount.operation("CLOSE").calls, 2);
        assert_eq!(mount.operation("WRITE"), OperationCounts::default());
    }

    #[test]
    fn calls_that_were_sent_twice_are_counted() {
        let text = fixture();
        // Without the mount that hides it.
        let end = text.find("device db1:/srv/a").expect("it is there");
        let mount = parse(&text[..end], Path::new("/mnt/n")).expect("it is there");
        assert_eq!((mount.version(), mount.server()), ("3", "db1"));
        let read = mount.operation("READ");
        assert_eq!((read.calls, read.transmissions, read.timeouts), (3, 4, 1));
        assert_eq!(mount.operation("LOOKUP").received_bytes, 660);
    }

    #[test]
    fn a_mount_that_counts_anew_has_done_nothing_rather_than_wrapped() {
        let of = |calls, received_bytes| OperationCounts {
            calls,
            transmissions: calls,
            received_bytes,
            ..OperationCounts::default()
        };
        assert_eq!(of(5, 900) - of(3, 400), of(2, 500));
        assert_eq!(of(1, 10) - of(3, 400), OperationCounts::default());
    }

    #[test]
    fn other_file_systems_are_none_of_nfs() {
        let text = fixture();
        for place in ["/", "/proc", "/mnt", "/mnt/n/below"] {
            assert_eq!(parse(&text, Path::new(place)), None, "{place}");
        }
        for text in ["", "device", "device a mounted on /a", "READ: 1 2 3"] {
            assert_eq!(parse(text, Path::new("/a")), None, "{text}");
        }
        let numbers = NfsMount {
            source: "[fe80::1]:/e".to_owned(),
            ..NfsMount::default()
        };
        assert_eq!(numbers.server(), "[fe80::1]");
    }
}
