//! Writes files atomically.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a file atomically, through a temporary file next to it that is renamed. Links are
/// followed; anything but a regular file (a device, a pipe) is written to, never replaced.
///
/// # Errors
/// If the directory or the file cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::OpenOptions::new()
            .write(true)
            .open(&target)?
            .write_all(bytes);
    }
    // A temporary file is readable by its owner only; this one becomes an ordinary file, readable
    // by others as the umask allows.
    let mut file = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder_of(&target))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
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
    fn others_may_read_what_they_may_read_of_any_new_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [usual, atomic] = ["usual", "atomic"].map(|name| folder.path().join(name));
        fs::write(&usual, "new").expect("written");
        write_atomically(&atomic, b"new").expect("written");
        let mode = |path| fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(&atomic), mode(&usual));
    }
}
