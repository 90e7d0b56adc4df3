//! Named objects that outlive their creator: files, queues, semaphores, directories. Each is
//! recorded before it is created, removed when it is dropped, and, should its creator be killed,
//! removed by the next process that calls [`sweep`].
//!
//! The records are files in a folder that belongs to this user alone. Each says which process
//! created what; only what a process that no longer exists recorded there is ever removed.

mod filled;
mod folder;
mod record;
mod tree;

use std::ffi::CString;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use record::{Record, Thing};

use crate::{SystemError, os};

pub use filled::filled;
pub use folder::Folder;
pub use record::sweep;
pub use tree::{Tree, sweep_in, tree_in};

/// Something that a process which no longer exists left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Description, e.g. `tree /mnt/syscost-4711-2f`.
    pub what: String,
    /// Why it could not be removed, if that was tried and failed.
    pub trouble: Option<String>,
}

/// Finds what processes that no longer exist left behind: everything on record, and trees in these
/// folders, on record or not. Removes it if `remove` is set.
pub fn leftovers(folders: &[PathBuf], remove: bool) -> Vec<Leftover> {
    let mut found = record::leftovers(remove);
    for folder in folders {
        for stray in tree::strays(folder, remove) {
            if found.iter().all(|known| known.what != stray.what) {
                found.push(stray);
            }
        }
    }
    found
}

/// A path for a file, fifo or socket that its user creates, and that is removed when this is dropped.
#[derive(Debug)]
pub struct File {
    record: Record,
    path: PathBuf,
}

/// A directory that is created, and removed when this is dropped if it is empty: a cgroup.
#[derive(Debug)]
pub struct Directory {
    record: Record,
    path: PathBuf,
}

/// A name for a POSIX message queue that its user opens, and that is unlinked when this is dropped.
#[derive(Debug)]
pub struct PosixQueue {
    record: Record,
    name: CString,
}

/// A SysV message queue.
#[derive(Debug)]
pub struct MessageQueue {
    record: Record,
    id: i32,
}

/// A set of SysV semaphores, all 0 at first.
#[derive(Debug)]
pub struct Semaphores {
    record: Record,
    id: i32,
}

/// An unused path in this user's folder; its name ends in `.extension`.
///
/// # Errors
/// When the folder cannot be created, or nothing can be written there.
pub fn file(extension: &str) -> Result<File, SystemError> {
    let (record, path) = Record::named(|name| {
        let path = folder()?.join(format!("{name}.{extension}"));
        Ok((Thing::File(path.clone()), path))
    })?;
    Ok(File { record, path })
}

/// A new directory inside `parent`.
///
/// # Errors
/// When it cannot be recorded or created.
pub fn directory_in(parent: &Path) -> Result<Directory, SystemError> {
    let (record, path) = Record::named(|name| {
        let path = parent.join(format!("syscost-{name}"));
        Ok((Thing::Directory(path.clone()), path))
    })?;
    fs::create_dir(&path)
        .map_err(|cause| SystemError::new("mkdir", path.display().to_string(), cause))?;
    Ok(Directory { record, path })
}

/// An unused name for a POSIX message queue.
///
/// # Errors
/// When it cannot be recorded.
pub fn posix_queue() -> Result<PosixQueue, SystemError> {
    let (record, name) = Record::named(|name| {
        let name =
            CString::new(format!("/syscost-{name}")).expect("digits and dashes hold no zero");
        Ok((Thing::PosixQueue(name.clone()), name))
    })?;
    Ok(PosixQueue { record, name })
}

/// A new SysV message queue.
///
/// # Errors
/// When it cannot be recorded, or the system has no more of them.
pub fn message_queue() -> Result<MessageQueue, SystemError> {
    let (record, id) = keyed("msgget", Thing::MessageQueue, os::make_message_queue)?;
    Ok(MessageQueue { record, id })
}

/// A new set of this many SysV semaphores.
///
/// # Errors
/// When it cannot be recorded, or the system has no more of them.
pub fn semaphores(count: u16) -> Result<Semaphores, SystemError> {
    let make = |key| os::make_semaphores(key, count);
    let (record, id) = keyed("semget", Thing::Semaphores, make)?;
    Ok(Semaphores { record, id })
}

impl File {
    /// The path at which the file is to be created.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Directory {
    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl PosixQueue {
    /// The name by which the queue is opened.
    pub fn name(&self) -> &std::ffi::CStr {
        &self.name
    }

    /// Removes the name immediately; processes that have the queue open keep it.
    pub fn unlink(self) {
        self.record.release();
    }
}

impl MessageQueue {
    /// Id of the queue, for msgsnd and msgrcv.
    pub fn id(&self) -> i32 {
        self.id
    }
}

impl Semaphores {
    /// Id of the set, for semop.
    pub fn id(&self) -> i32 {
        self.id
    }
}

macro_rules! removed_when_dropped {
    ($($kind:ty),*) => {$(
        impl Drop for $kind {
            fn drop(&mut self) {
                self.record.release();
            }
        }
    )*};
}
removed_when_dropped!(File, Directory, PosixQueue, MessageQueue, Semaphores);

/// An object with a random key. A key in use is skipped: that object is another process's.
fn keyed(
    call: &'static str,
    thing: fn(i32) -> Thing,
    make: impl Fn(i32) -> io::Result<i32>,
) -> Result<(Record, i32), SystemError> {
    loop {
        let key = (random() >> 33) as i32;
        if key == 0 {
            continue; // IPC_PRIVATE
        }
        let (record, ()) = Record::named(|_| Ok((thing(key), ())))?;
        match make(key) {
            Ok(id) => return Ok((record, id)),
            Err(cause) => {
                record.forget();
                if cause.kind() != ErrorKind::AlreadyExists {
                    return Err(SystemError::new(call, format!("of key {key:#x}"), cause));
                }
            }
        }
    }
}

/// A random number, practically certain to be unique.
fn random() -> u64 {
    let mut random = RandomState::new().build_hasher();
    // Processes forked from one share its random state; their numbers must differ all the same.
    random.write_u32(std::process::id());
    random.finish()
}

/// How often a folder is created again after a sweep of another run has removed it: each such sweep
/// ends a worker, so two in a row are rare.
const MAX_TRIES: u32 = 100;

/// This user's folder, created if necessary.
fn folder() -> Result<PathBuf, SystemError> {
    folder_at(folder_path())
}

fn folder_at(path: PathBuf) -> Result<PathBuf, SystemError> {
    let failed = |cause| SystemError::new("mkdir", path.display().to_string(), cause);
    for _ in 0..MAX_TRIES {
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(failed(cause)),
        }
        match fs::symlink_metadata(&path) {
            Ok(facts) if is_own_folder(&facts) => return Ok(path),
            // In a folder that all users may write to, another one may have created it first.
            Ok(_) => {
                let why = "it is another user's; remove it, or set TMPDIR";
                return Err(failed(io::Error::other(why)));
            }
            // A sweep has removed it in between.
            Err(cause) if cause.kind() == ErrorKind::NotFound => {}
            Err(cause) => return Err(failed(cause)),
        }
    }
    Err(failed(io::Error::other("it is removed again and again")))
}

fn folder_path() -> PathBuf {
    std::env::temp_dir().join(format!("syscost-{}", os::user_id()))
}

/// Whether this is a real directory of this user's that no other user may write to.
fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| is_own_folder(&facts))
}

fn is_own_folder(facts: &fs::Metadata) -> bool {
    facts.is_dir() && facts.uid() == os::user_id() && facts.mode() & 0o022 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_make_and_remove_one_folder_do_not_harm_each_other() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("shared");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        folder_at(path.clone()).expect("it is nobody else's");
                        let _ = fs::remove_dir(&path);
                    }
                });
            }
        });
    }

    #[test]
    fn what_stands_in_the_folders_place_is_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("taken");
        fs::write(&path, "theirs").unwrap();
        let error = folder_at(path.clone()).unwrap_err();
        assert!(error.to_string().contains("another user's"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }
}
