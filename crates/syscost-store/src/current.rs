//! A file that is kept current for others to read.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, renameat, statat, unlinkat};

use crate::folder_of;

/// A file that is written anew again and again, whole each time, in a directory that is held open.
/// Who else may write to the directory can put a link in the file's place; it is replaced, never
/// followed, and only what was written is removed.
#[derive(Debug)]
pub struct CurrentFile {
    folder: OwnedFd,
    name: OsString,
    /// What was written last, held open: its number is not given to another file meanwhile.
    written: Option<File>,
}

impl CurrentFile {
    /// For this path; nothing is written yet.
    ///
    /// # Errors
    /// When its directory cannot be opened, or something else than a regular file or a link is there.
    pub fn at(path: &Path) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_owned();
        let folder: OwnedFd = File::open(folder_of(path))?.into();
        if let Ok(facts) = statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW)
            && !matches!(
                FileType::from_raw_mode(facts.st_mode),
                FileType::RegularFile | FileType::Symlink
            )
        {
            return Err(io::Error::other("something else than a file is there"));
        }
        Ok(Self {
            folder,
            name,
            written: None,
        })
    }

    /// Writes it anew; whoever reads it sees the old content or the new one.
    ///
    /// # Errors
    /// When the directory cannot be written to.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let part = format!(".syscost-{:016x}.tmp", fastrand::u64(..));
        let part = OsStr::new(&part);
        let flags =
            OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let made = openat(&self.folder, part, flags, Mode::from_raw_mode(0o644))?;
        let mut file = File::from(made);
        let written = file.write_all(bytes);
        let result =
            written.and_then(|()| Ok(renameat(&self.folder, part, &self.folder, &self.name)?));
        match result {
            Ok(()) => self.written = Some(file),
            Err(_) => drop(unlinkat(&self.folder, part, AtFlags::empty())),
        }
        result
    }

    /// Removes it, unless it is not what was written last.
    pub fn remove(self) -> io::Result<()> {
        let Some(written) = &self.written else {
            return Ok(());
        };
        let facts = fstat(written)?;
        match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) if (there.st_dev, there.st_ino) == (facts.st_dev, facts.st_ino) => {
                Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_is_put_in_its_place_is_neither_followed_nor_its_target_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, victim) = (
            folder.path().join("cores.prom"),
            folder.path().join("victim"),
        );
        fs::write(&victim, "theirs").expect("written");
        let mut file = CurrentFile::at(&path).expect("the folder is there");
        file.write(b"1").expect("written");
        assert_eq!(fs::read(&path).expect("read"), b"1");
        let put_link = || {
            fs::remove_file(&path).expect("there");
            symlink(&victim, &path).expect("linked");
        };
        put_link();
        file.write(b"2").expect("written");
        assert!(fs::symlink_metadata(&path).expect("there").is_file());
        assert_eq!(fs::read(&path).expect("read"), b"2");
        put_link();
        file.remove().expect("what is there is not ours");
        assert!(path.is_symlink());
        assert_eq!(fs::read(&victim).expect("read"), b"theirs");
        let mut file = CurrentFile::at(&path).expect("a link is replaced");
        file.write(b"3").expect("written");
        file.remove().expect("ours");
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 1);
        fs::create_dir(folder.path().join("sub")).expect("made");
        assert!(CurrentFile::at(&folder.path().join("sub")).is_err());
    }
}
