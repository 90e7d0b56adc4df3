//! The directories that file-system rows are measured in.

use serde::{Deserialize, Serialize};

use crate::{Run, row_name};

/// The parameter of a row's case that names its directory by its label.
pub const KEY: &str = "dir";

/// A directory that file-system rows were measured in, and what lies beneath it. A fact that could
/// not be read is null, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Directory {
    /// What rows call it: `dir=LABEL`.
    pub label: String,
    /// Where it is, absolute.
    pub path: String,
    /// Kind of the file system, e.g. `ext4`.
    pub filesystem: String,
    /// What is mounted, e.g. `/dev/vda` or `server:/export`.
    pub source: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Mount options, e.g. `rw,relatime`.
    pub options: String,
    /// Whether its files are in memory alone, so that no cache lies before them.
    pub in_memory: bool,
    /// The kernel's name of the block device, e.g. `vda`; null where there is none.
    pub device: Option<String>,
    /// The device's I/O scheduler, e.g. `mq-deadline`.
    pub scheduler: Option<String>,
    /// Whether the device says that it is a rotating disk.
    pub rotational: Option<bool>,
    /// What is virtual between the file system and hardware, from above, e.g. `loop over /srv/image`
    /// or `virtio`.
    pub layers: Vec<String>,
    /// Alignment of direct I/O; null where the file system has none, or the kernel does not report it.
    pub direct: Option<DirectIo>,
    /// Size of the file system in bytes.
    pub total_bytes: Option<u64>,
    /// Bytes of it that this user could still write when the run began.
    pub free_bytes: Option<u64>,
    /// What serves it, if it is mounted over NFS.
    pub nfs: Option<NfsMount>,
}

/// What direct I/O (O_DIRECT) has to be aligned to, by statx(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DirectIo {
    /// Alignment of the buffer in bytes.
    pub memory_bytes: u32,
    /// Alignment of offset and length in bytes.
    pub offset_bytes: u32,
}

/// A file system mounted over NFS.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct NfsMount {
    /// Version of the protocol, e.g. `4.2`.
    pub version: String,
    /// The server's numeric address.
    pub server: String,
}

impl Directory {
    /// What makes rows with one label comparable: the file system, its source and the layers
    /// between them, e.g. `ext4 on /dev/vda (virtio)`. The path is not part of it.
    pub fn storage(&self) -> String {
        // A loop device's number varies; the file below it, which is a layer, identifies it.
        let is_meaningful = self.source != self.filesystem && !self.source.starts_with("/dev/loop");
        let source = Some(&self.source).filter(|source| is_meaningful && !source.is_empty());
        let mut text = self.filesystem.clone();
        if let Some(source) = source {
            text.push_str(&format!(" on {source}"));
        }
        if !self.layers.is_empty() {
            text.push_str(&format!(" ({})", self.layers.join(", ")));
        }
        text
    }
}

/// The label in a row's name, if it has one: `ssd` of `fs.read{dir=ssd,size=4K}`.
pub fn label_of(name: &str) -> Option<&str> {
    let mut values = row_name::parameters(name);
    values.find(|(key, _)| *key == KEY).map(|(_, label)| label)
}

/// The directory that a row with this name was measured in.
pub fn of<'a>(run: &'a Run, name: &str) -> Option<&'a Directory> {
    let label = label_of(name)?;
    let mut directories = run.directories.iter();
    directories.find(|directory| directory.label == label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_names_what_lies_beneath_and_not_the_path() {
        let mut directory = Directory {
            path: "/data".to_owned(),
            filesystem: "ext4".to_owned(),
            source: "/dev/vda".to_owned(),
            ..Directory::default()
        };
        assert_eq!(directory.storage(), "ext4 on /dev/vda");
        directory.layers = vec!["loop over /srv/image".to_owned(), "virtio".to_owned()];
        directory.source = "/dev/loop3".to_owned();
        assert_eq!(directory.storage(), "ext4 (loop over /srv/image, virtio)");
        (directory.filesystem, directory.source) = ("tmpfs".to_owned(), "tmpfs".to_owned());
        directory.layers.clear();
        assert_eq!(directory.storage(), "tmpfs");
    }

    #[test]
    fn a_rows_name_tells_its_directory() {
        assert_eq!(label_of("fs.read{dir=ssd,size=4K}"), Some("ssd"));
        assert_eq!(label_of("fs.sync{via=fsync,dir=a-b}"), Some("a-b"));
        for name in ["fs.read", "fs.nfs{op=null}", "a.b{subdir=x}"] {
            assert_eq!(label_of(name), None, "{name}");
        }
    }
}
