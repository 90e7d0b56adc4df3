//! Named objects that outlive their creator: files, queues, semaphores, directories. Each is
//! recorded before it is created, removed when it is dropped, and, should its creator be killed,
//! removed by the next process that calls [`sweep`].
//!
//! The records are files in a folder that belongs to this user alone. Each says which process
//! created what; only what a process that no longer exists recorded there is ever removed.

mod filled;
mod folder;
mod place;
mod record;
mod tree;

use std::ffi::CString;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use place::{MAX_TRIES, OTHERS_WRITE, folder, folder_path, is_ours, is_own_folder};
use record::{Record, Thing};

use crate::{SystemError, os};

pub use filled::filled;
pub use folder::Folder;
pub use place::is_nowhere;
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

fn random() -> u64 {
    let mut random = RandomState::new().build_hasher();
    // Processes forked from one share its random state; their numbers must differ all the same.
    random.write_u32(std::process::id());
    random.finish()
}
