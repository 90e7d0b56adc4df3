//! Whether nobody but this user and root decides what lies at a path: what is started, written or
//! removed by what a file says must not be another user's word.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// Bits of a mode by which others than the owner may write.
const WRITABLE: u32 = 0o022;
/// The bit of a directory in which everybody may only rename and remove what is his own.
const STICKY: u32 = 0o1000;

/// Why a path is not to be trusted.
#[derive(Debug, thiserror::Error)]
pub enum Untrusted {
    /// It cannot be looked at.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    /// It, or a directory it lies in, is another user's.
    #[error("{0} is another user's (uid {1}), who may put anything there; give one of your own")]
    Owner(PathBuf, u32),
    /// Others may write to it.
    #[error("{0} may be written by others than its owner; `chmod go-w` it, or give another one")]
    Writable(PathBuf),
}

/// The path without links, if it and all directories it lies in belong to this user or to root and
/// may be written by nobody else. In a directory like /tmp everybody may make files, but nobody may
/// put one in the place of another's.
///
/// # Errors
/// The first part, from the path itself upwards, of which that is not so.
pub fn trusted(path: &Path) -> Result<PathBuf, Untrusted> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |cause| Untrusted::Io(path, cause)
    };
    let path = fs::canonicalize(path).map_err(io(path))?;
    for (place, part) in path.ancestors().enumerate() {
        let facts = fs::symlink_metadata(part).map_err(io(part))?;
        let owner = facts.uid();
        if owner != 0 && owner != geteuid().as_raw() {
            return Err(Untrusted::Owner(part.to_owned(), owner));
        }
        let is_shared_well = place > 0 && facts.mode() & STICKY != 0;
        if facts.mode() & WRITABLE != 0 && !is_shared_well {
            return Err(Untrusted::Writable(part.to_owned()));
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    #[test]
    fn what_others_may_write_or_own_is_refused_wherever_they_may() {
        let folder = tempfile::tempdir().unwrap();
        let (below, file) = (
            folder.path().join("below"),
            folder.path().join("below/file"),
        );
        fs::create_dir(&below).unwrap();
        fs::write(&file, "x").unwrap();
        let mode =
            |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        mode(&below, 0o755);
        mode(&file, 0o644);
        if let Err(reason) = trusted(&file) {
            return println!("skipped: {reason}");
        }
        let link = folder.path().join("link");
        symlink(&file, &link).unwrap();
        assert_eq!(trusted(&link).unwrap(), fs::canonicalize(&file).unwrap());
        for (path, bits) in [
            (&file, 0o664),
            (&file, 0o646),
            (&below, 0o777),
            (&below, 0o775),
        ] {
            let before = fs::metadata(path).unwrap().mode();
            mode(path, bits);
            assert!(
                matches!(trusted(&file), Err(Untrusted::Writable(_))),
                "{bits:o}"
            );
            mode(path, before & 0o7777);
        }
        // As /tmp is.
        mode(&below, 0o1777);
        trusted(&file).unwrap();
        // A collection in a directory where others may make files.
        assert!(matches!(trusted(&below), Err(Untrusted::Writable(_))));
        mode(&below, 0o755);
        if chown(&below, Some(65534), None).is_err() {
            return println!("skipped: only root gives a directory to another user");
        }
        assert!(matches!(trusted(&file), Err(Untrusted::Owner(_, 65534))));
    }
}
