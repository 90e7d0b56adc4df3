//! Writes files atomically.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

/// Writes a file atomically, through a temporary file next to it that is renamed. Links are
/// followed; anything but a regular file (a device, a pipe) is written to, never replaced.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::OpenOptions::new()
            .write(true)
            .open(&target)?
            .write_all(bytes);
    }
    let mut file = fresh(folder_of(&target))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}

/// The bytes packed with gzip (RFC 1952).
pub fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = packer.write_all(bytes);
    packer.finish().unwrap_or_default()
}

/// How the names of files begin that are being written.
const PREFIX: &str = ".syscost-";

/// How they end.
const SUFFIX: &str = ".tmp";

/// A file in this folder that is to be persisted under its name when it is whole; locked while its writer lives.
///
/// # Errors
/// If nothing can be written there.
pub fn fresh(folder: &Path) -> io::Result<NamedTempFile> {
    loop {
        // A temporary file is readable by its owner only; this one becomes an ordinary file, readable
        // by others as the umask allows.
        let file = tempfile::Builder::new()
            .prefix(PREFIX)
            .suffix(SUFFIX)
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)?;
        // Where there are no locks, none is abandoned either.
        let _ = file.as_file().try_lock();
        if file.as_file().metadata()?.nlink() > 0 {
            return Ok(file);
        }
    }
}

/// The files in a folder that writers left that were killed.
pub(crate) fn abandoned(folder: &Path) -> Vec<PathBuf> {
    let is_abandoned = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        // Opening anything else, e.g. a FIFO, might wait.
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let is_free = || fs::File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        is_file && is_ours && is_free()
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let abandoned = entries.filter(is_abandoned);
    abandoned.map(|entry| entry.path()).collect()
}

/// The directory that contains a file, `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_a_link_followed_and_a_device_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("run.json");
        let link = folder.path().join("link.json");
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        write_atomically(&link, b"new").expect("written through the link");
        assert_eq!(fs::read_to_string(&file).expect("read"), "new");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        write_atomically(Path::new("/dev/null"), b"new").expect("written to the device");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
    }

    #[test]
    fn what_a_killed_writer_left_is_told_from_what_is_being_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let written = fresh(folder.path()).expect("made");
        let left = folder.path().join(".syscost-abcdef.tmp");
        fs::write(&left, "half").expect("written");
        for name in ["run.json", ".tmpAbCdEf"] {
            fs::write(folder.path().join(name), "{}").expect("written");
        }
        assert_eq!(abandoned(folder.path()), [left]);
        assert!(written.path().exists());
    }

    #[test]
    fn others_may_read_what_they_may_read_of_any_new_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [usual, atomic] = ["usual", "atomic"].map(|name| folder.path().join(name));
        fs::write(&usual, "new").expect("written");
        write_atomically(&atomic, b"new").expect("written");
        let mode = |path| fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(&atomic), mode(&usual));
    }
}
