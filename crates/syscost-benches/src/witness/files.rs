//! What the kernel says of open files, and what calls on them gave.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::readlink;
use syscost_harness::directory::Directory;
use syscost_harness::prelude::*;
use syscost_sys::files;

/// The label of the directory that a file is in.
pub(crate) static DIRECTORY: Witness = Witness::of("directory of the file", "/proc/self/fd");

/// Whether a file bypasses the page cache.
static DIRECT: Witness = Witness::of("O_DIRECT of the open file", "fcntl F_GETFL");

/// Bytes that each operation has moved: reads, writes, copies.
pub(crate) static MOVED: Witness = Witness::of(
    "bytes that an operation moved",
    "results of its calls, fstat",
);

pub(crate) fn see_directory(b: &mut Bencher, file: impl AsFd) {
    match directory_of(file.as_fd(), &b.targets().directories) {
        Ok(label) => b.observe(&DIRECTORY, label),
        Err(reason) => b.unobserved(&DIRECTORY, reason),
    }
}

/// The label of the innermost of these directories that a file is in.
fn directory_of(file: BorrowedFd<'_>, directories: &[Directory]) -> Result<String, Unsupported> {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let path = readlink(&*link, Vec::new())
        .map_err(|cause| Unsupported::new(format!("readlink {link}: {cause}")))?;
    let path = Path::new(std::ffi::OsStr::from_bytes(path.as_bytes()));
    let length = |one: &&Directory| {
        let made = one.made().ok()?;
        path.starts_with(&made).then(|| made.components().count())
    };
    let found = directories.iter().max_by_key(length);
    let found = found.filter(|one| length(one).is_some());
    let alike = directories
        .iter()
        .filter(|one| found.is_some_and(|of| of.path == one.path));
    match (found, alike.count()) {
        (None, _) => Ok("none of this run".to_owned()),
        (Some(found), 1) => Ok(found.label.clone()),
        (Some(_), _) => Err(Unsupported::new("several labels name this directory")),
    }
}

/// Proof of whether a file bypasses the page cache.
pub(crate) fn direct(is_direct: bool) -> Proof {
    DIRECT.expects(if is_direct { "set" } else { "not set" })
}

pub(crate) fn see_direct(b: &mut Bencher, file: &File) -> Result<(), Failure> {
    let seen = files::is_direct(file)?;
    b.observe(&DIRECT, if seen { "set" } else { "not set" });
    Ok(())
}

/// Reports the number that all of these are, or which there are.
pub(crate) fn see_alike(
    b: &mut Bencher,
    witness: &'static Witness,
    numbers: impl IntoIterator<Item = u64>,
) {
    let different: BTreeSet<u64> = numbers.into_iter().collect();
    match different.iter().collect::<Vec<_>>()[..] {
        [one] => b.observe(witness, *one),
        [] | [_, _, ..] => b.observe(witness, format!("{different:?}")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn directory(label: &str, path: PathBuf) -> Directory {
        let label = label.to_owned();
        Directory { label, path }
    }

    #[test]
    fn a_file_is_in_the_innermost_directory() {
        let own = File::open(env!("CARGO_MANIFEST_DIR")).expect("this crate");
        let path = std::fs::canonicalize(env!("CARGO_MANIFEST_DIR")).expect("it has a path");
        let outer = path.parent().expect("the workspace").to_owned();
        let (inner, beside) = (
            directory("inner", path.clone()),
            directory("x", path.join("src")),
        );
        let outer = directory("outer", outer);
        let of = |all: &[Directory]| directory_of(own.as_fd(), all);
        or_skip!(of(std::slice::from_ref(&outer)));
        assert_eq!(of(&[outer.clone(), inner.clone()]), Ok("inner".to_owned()));
        assert_eq!(of(&[inner.clone(), outer.clone()]), Ok("inner".to_owned()));
        // Lies: a directory within it, and one of which nothing tells which label is meant.
        assert_eq!(of(&[beside]), Ok("none of this run".to_owned()));
        assert!(of(&[inner, directory("again", path)]).is_err());
    }
}
