//! Archives whose bytes depend on their contents only: not on the clock, the user or the
//! directories of the machine that makes them.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};

/// The modification time of every file, in seconds since 1970, if SOURCE_DATE_EPOCH is not set: the
/// beginning of 2026. (1970 itself would make tar warn.)
const TIME: u64 = 1_767_225_600;

/// A file to be packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed {
    /// Its contents.
    pub(super) content: Vec<u8>,
    /// Whether it is executable.
    pub(super) is_program: bool,
}

impl Packed {
    /// A text file or other data.
    pub(super) fn data(content: impl Into<Vec<u8>>) -> Self {
        Self {
            content: content.into(),
            is_program: false,
        }
    }
}

/// Files by their path in the archive, which has no leading slash.
pub(super) type Files = BTreeMap<PathBuf, Packed>;

/// The modification time of files in archives.
pub(super) fn time() -> Result<u64> {
    match env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text.parse().context("reading SOURCE_DATE_EPOCH"),
        Err(_) => Ok(TIME),
    }
}

/// Compresses as `gzip --best` does, which Debian asks of documentation, without name and time.
pub(super) fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = encoder(Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?)
}

fn encoder(compression: Compression) -> GzEncoder<Vec<u8>> {
    GzBuilder::new().mtime(0).write(Vec::new(), compression)
}

/// A compressed tar archive of files and their directories, all owned by root.
pub(super) fn tar_gz(files: &Files, time: u64) -> Result<Vec<u8>> {
    let mut tar = tar::Builder::new(encoder(Compression::default()));
    let mut folders: Vec<&Path> = files
        .keys()
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|folder| !folder.as_os_str().is_empty())
        .collect();
    folders.sort();
    folders.dedup();
    for folder in folders {
        let mut header = header(tar::EntryType::Directory, 0o755, time);
        let path = format!("{}/", folder.display());
        tar.append_data(&mut header, path, &[][..])?;
    }
    for (path, file) in files {
        let mode = if file.is_program { 0o755 } else { 0o644 };
        let mut header = header(tar::EntryType::Regular, mode, time);
        header.set_size(file.content.len() as u64);
        tar.append_data(&mut header, path, &file.content[..])?;
    }
    Ok(tar.into_inner()?.finish()?)
}

fn header(kind: tar::EntryType, mode: u32, time: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(time);
    header.set_size(0);
    header
}

/// Adds to a folder in the archive the list of what lies below `top`, as `sha256sum --check` reads it there.
pub(super) fn add_checksums(files: &mut Files, top: &Path, folder: &Path) {
    let mut sums = String::new();
    for (path, file) in &*files {
        let digest = Sha256::digest(&file.content);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = path.strip_prefix(top).unwrap_or(path);
        let _ = writeln!(sums, "{hex}  {}", path.display());
    }
    files.insert(folder.join("SHA256SUMS"), Packed::data(sums));
}

/// An `ar` archive of named parts, the format of Debian packages.
pub(super) fn ar(parts: &[(&str, Vec<u8>)], time: u64) -> Result<Vec<u8>> {
    let mut ar = ar::Builder::new(Vec::new());
    for (name, content) in parts {
        let mut header = ar::Header::new(name.as_bytes().to_vec(), content.len() as u64);
        header.set_mode(0o100_644);
        header.set_mtime(time);
        ar.append(&header, &content[..])?;
    }
    Ok(ar.into_inner()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_sha256sum() {
        let mut files = Files::from([("top/a/b".into(), Packed::data(""))]);
        add_checksums(&mut files, Path::new("top"), Path::new("top/doc"));
        let sums = &files[Path::new("top/doc/SHA256SUMS")].content;
        assert_eq!(
            String::from_utf8_lossy(sums),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a/b\n"
        );
    }
}
