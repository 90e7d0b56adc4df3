//! Records: which process created what.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{Leftover, MAX_TRIES, folder, folder_path, is_ours, random, tree};
use crate::{SystemError, os};

/// A named object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thing {
    /// A file in this user's folder.
    File(PathBuf),
    Directory(PathBuf),
    /// A folder with all its content.
    Tree(PathBuf),
    PosixQueue(CString),
    /// A queue, by its key.
    MessageQueue(i32),
    /// A set of semaphores, by its key.
    Semaphores(i32),
}

impl Thing {
    /// The text of a record: the kind of the object, and its name.
    fn line(&self) -> Vec<u8> {
        let (kind, name) = match self {
            Thing::File(path) => ("file", path.as_os_str().as_bytes().to_vec()),
            Thing::Directory(path) => ("directory", path.as_os_str().as_bytes().to_vec()),
            Thing::Tree(path) => ("tree", path.as_os_str().as_bytes().to_vec()),
            Thing::PosixQueue(name) => ("posix_queue", name.as_bytes().to_vec()),
            Thing::MessageQueue(key) => ("message_queue", key.to_string().into_bytes()),
            Thing::Semaphores(key) => ("semaphores", key.to_string().into_bytes()),
        };
        [kind.as_bytes(), b" ", &name].concat()
    }

    /// Reads what [`Thing::line`] wrote. What it would not have written is not ours.
    fn parse(line: &[u8]) -> Option<Thing> {
        let at = line.iter().position(|byte| *byte == b' ')?;
        let (kind, name) = (&line[..at], &line[at + 1..]);
        let path = || PathBuf::from(std::ffi::OsString::from_vec(name.to_vec()));
        let key = || str::from_utf8(name).ok()?.parse::<i32>().ok();
        match kind {
            b"file" => {
                Some(Thing::File(path())).filter(|_| path().parent() == Some(&folder_path()))
            }
            b"directory" => {
                let ours = path().file_name()?.as_bytes().starts_with(b"syscost-");
                ours.then(|| Thing::Directory(path()))
            }
            b"tree" => {
                let ours = path().file_name()?.as_bytes().starts_with(b"syscost-");
                ours.then(|| Thing::Tree(path()))
            }
            b"posix_queue" if name.starts_with(b"/syscost-") => {
                CString::new(name).ok().map(Thing::PosixQueue)
            }
            b"message_queue" => key().map(Thing::MessageQueue),
            b"semaphores" => key().map(Thing::Semaphores),
            _ => None,
        }
    }

    /// Whether its name means the same wherever it is read: that of a queue or semaphore does not.
    fn has_path(&self) -> bool {
        match self {
            Thing::File(_) | Thing::Directory(_) | Thing::Tree(_) => true,
            Thing::PosixQueue(_) | Thing::MessageQueue(_) | Thing::Semaphores(_) => false,
        }
    }

    /// Whether it exists; true for objects without a path, whose existence only their creator could check.
    fn may_be_there(&self) -> bool {
        match self {
            Thing::File(path) | Thing::Directory(path) | Thing::Tree(path) => {
                fs::symlink_metadata(path).is_ok()
            }
            Thing::PosixQueue(_) | Thing::MessageQueue(_) | Thing::Semaphores(_) => true,
        }
    }

    /// Removes it; returns whether it existed.
    ///
    /// # Errors
    /// When it still exists: a cgroup with processes in it.
    fn remove(&self) -> io::Result<bool> {
        let removed = match self {
            Thing::File(path) => fs::remove_file(path),
            Thing::Directory(path) => fs::remove_dir(path),
            Thing::Tree(path) => tree::remove(path),
            Thing::PosixQueue(name) => os::remove_posix_queue(name),
            Thing::MessageQueue(key) => os::remove_message_queue(*key),
            Thing::Semaphores(key) => os::remove_semaphores(*key),
        };
        match removed {
            Ok(()) => Ok(true),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(cause),
        }
    }
}

/// Where the names of queues and semaphores are valid: boot and IPC namespace.
fn world() -> Result<String, SystemError> {
    let failed = |path| move |cause| SystemError::new("read", path, cause);
    let (boot, namespace) = ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/ipc");
    let boot = fs::read_to_string(boot).map_err(failed(boot))?;
    let namespace = fs::read_link(namespace).map_err(failed(namespace))?;
    Ok(format!("{} {}", boot.trim(), namespace.display()))
}

/// What stands in place of the world in records of what has a path, where /proc does not say (it
/// may show processes only). No world is called so.
const UNKNOWN_WORLD: &str = "unknown";

/// A recorded object, locked while its creator or a forked copy of it lives: the kernel releases a
/// process's locks however it ends, and in whatever container it ran.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    thing: Thing,
    maker: u32,
    _lock: fs::File,
}

impl Record {
    /// Records an object before it is created. `thing` is given a unique name.
    pub(super) fn named<T>(
        thing: impl FnOnce(&str) -> Result<(Thing, T), SystemError>,
    ) -> Result<(Record, T), SystemError> {
        let maker = std::process::id();
        // Processes of two containers may have the same number.
        let name = format!("{maker}-{:x}", random());
        let (thing, also) = thing(&name)?;
        let world = match world() {
            Err(_) if thing.has_path() => UNKNOWN_WORLD.to_owned(),
            known => known?,
        };
        let text = [world.as_bytes(), b"\n", &thing.line(), b"\n"].concat();
        let (path, lock) = write(&name, &text)?;
        let record = Record {
            path,
            thing,
            maker,
            _lock: lock,
        };
        Ok((record, also))
    }

    /// Removes the object and its record, if this process created it: a copy in a forked process
    /// removes nothing.
    pub(super) fn release(&self) {
        if self.is_of_this_process() {
            // What cannot be removed now stays on record for the next sweep.
            if self.thing.remove().is_ok() {
                self.forget();
            }
        }
    }

    /// The file that it is in.
    #[cfg(test)]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this process, and not one that it is a forked copy of, created the object.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.maker == std::process::id()
    }

    /// Removes the record of an object that was not created, or is gone.
    pub(super) fn forget(&self) {
        // If it stays, the next sweep finds nothing to remove but the record.
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes a record and locks it.
fn write(name: &str, text: &[u8]) -> Result<(PathBuf, fs::File), SystemError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let path = folder()?.join(format!("{name}.record"));
        match write_at(&path, text) {
            Ok(lock) => return Ok((path, lock)),
            // A sweep has removed the empty folder in between, or the record before it was locked. Both wait for one lock of the
            // kernel in turn, so without a pause the next try may end alike, and so may all.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound && tries < MAX_TRIES => {
                thread::sleep(Duration::from_micros(random() % 128));
            }
            Err(cause) => {
                return Err(SystemError::new("write", path.display().to_string(), cause));
            }
        }
    }
}

fn write_at(path: &Path, text: &[u8]) -> io::Result<fs::File> {
    let mut file = fs::File::create_new(path)?;
    let written = file.lock().and_then(|()| file.write_all(text));
    if written.is_err() {
        // A full disk, or locks are not supported: nothing will be created, so nothing stays on record.
        let _ = fs::remove_file(path);
    }
    written?;
    match file.metadata()?.nlink() {
        0 => Err(io::ErrorKind::NotFound.into()),
        _ => Ok(file),
    }
}

/// Removes what processes that no longer exist have on record. Returns descriptions of the objects
/// that still existed.
///
/// Cheap if nothing is on record.
pub fn sweep() -> Vec<String> {
    let removed = leftovers(true).into_iter();
    let removed = removed.filter(|left| left.trouble.is_none());
    removed.map(|left| left.what).collect()
}

/// The objects on record of processes that no longer exist, if they still exist. Removes them and
/// their records, if `remove` is set.
pub(super) fn leftovers(remove: bool) -> Vec<Leftover> {
    let folder = folder_path();
    if !is_ours(&folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let records: BTreeSet<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "record"))
        .collect();
    let mut found = Vec::new();
    for path in records {
        // Locked until the record is gone, so that no other process sweeps it meanwhile.
        let Ok((_lock, thing)) = orphaned(&path) else {
            continue;
        };
        let result = match (&thing, remove) {
            (None, _) => Ok(false),
            (Some(thing), true) => thing.remove(),
            (Some(thing), false) => Ok(thing.may_be_there()),
        };
        // What cannot be removed stays on record: the next sweep tries again.
        if remove && result.is_ok() {
            let _ = fs::remove_file(path);
        }
        let is_there = *result.as_ref().unwrap_or(&true);
        found.extend(thing.filter(|_| is_there).map(|thing| Leftover {
            what: String::from_utf8_lossy(&thing.line()).into_owned(),
            trouble: result.err().map(|cause| cause.to_string()),
        }));
    }
    if remove {
        // The folder is removed with its last record; if others have added records meanwhile, it stays.
        let _ = fs::remove_dir(folder);
    }
    found
}

/// Longest record that is read, in bytes: two lines with a path.
const MAX_RECORD: u64 = 16 << 10;

/// A record whose creator no longer exists, locked, and the object that is still to be removed:
/// `None` for a record that was never finished, or of an IPC namespace that this process cannot
/// reach.
fn orphaned(path: &Path) -> io::Result<(fs::File, Option<Thing>)> {
    // The open neither blocks on a FIFO of that name nor follows a link.
    let mut options = fs::OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(os::NEITHER_WAIT_NOR_FOLLOW)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("no regular file"));
    }
    file.try_lock()?;
    if file.metadata()?.nlink() == 0 {
        // Another sweep was first, and the name may belong to a new record by now.
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut text = Vec::new();
    (&file).take(MAX_RECORD).read_to_end(&mut text)?;
    let thing = parse(&text, &world().unwrap_or_default());
    Ok((file, thing))
}

/// The thing of a record that may be removed from this world.
fn parse(text: &[u8], here: &str) -> Option<Thing> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let is_here = lines.next()? == here.as_bytes();
    let thing = Thing::parse(lines.next()?)?;
    Some(thing).filter(|thing| thing.has_path() || is_here)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::scratch;

    #[test]
    fn a_thing_goes_in_and_out_of_its_line() {
        for thing in [
            Thing::File(folder_path().join("1-2-3.fifo")),
            Thing::Directory(PathBuf::from("/sys/fs/cgroup/syscost-1-2-3")),
            Thing::Tree(PathBuf::from("/mnt/a b/syscost-1-2-3")),
            Thing::PosixQueue(c"/syscost-1-2-3".to_owned()),
            Thing::MessageQueue(77),
            Thing::Semaphores(78),
        ] {
            assert_eq!(Thing::parse(&thing.line()), Some(thing));
        }
        for stranger in [
            &b"file /etc/passwd"[..],
            b"file ",
            b"directory /home",
            b"tree /home",
            b"posix_queue /theirs",
            b"message_queue x",
            b"semaphores",
            b"",
        ] {
            assert_eq!(Thing::parse(stranger), None, "{stranger:?}");
        }
    }

    #[test]
    fn only_regular_files_that_nobody_holds_are_swept() {
        let here = or_skip!(world(), "no /proc");
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let held = write_at(
            &at("1-2-3.record"),
            format!("{here}\nmessage_queue 7\n").as_bytes(),
        );
        assert!(orphaned(&at("1-2-3.record")).is_err(), "its maker lives");
        drop(held.unwrap());
        let (_lock, thing) = orphaned(&at("1-2-3.record")).unwrap();
        assert_eq!(thing, Some(Thing::MessageQueue(7)));

        std::os::unix::fs::symlink(at("1-2-3.record"), at("1-2-4.record")).unwrap();
        assert!(orphaned(&at("1-2-4.record")).is_err(), "a link");
        let made = std::process::Command::new("mkfifo")
            .arg(at("1-2-5.record"))
            .status();
        if !made.is_ok_and(|status| status.success()) {
            println!("skipped: no mkfifo");
            return;
        }
        assert!(
            orphaned(&at("1-2-5.record")).is_err(),
            "a FIFO without a writer"
        );
    }

    #[test]
    fn a_record_that_was_swept_before_it_was_locked_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1-2-3.record");
        std::thread::scope(|scope| {
            let sweeps = scope.spawn(|| {
                for _ in 0..20_000 {
                    if let Ok((lock, _)) = orphaned(&path) {
                        fs::remove_file(&path).unwrap();
                        drop(lock);
                    }
                }
            });
            while !sweeps.is_finished() {
                match write_at(&path, b"world\n") {
                    Ok(lock) => {
                        assert!(path.exists(), "what is locked is there");
                        fs::remove_file(&path).unwrap();
                        drop(lock);
                    }
                    Err(cause) => assert_eq!(cause.kind(), io::ErrorKind::NotFound),
                }
            }
        });
    }

    #[test]
    fn keys_of_another_world_are_not_ours_to_remove() {
        let parse = |text: &str| parse(text.as_bytes(), "boot ipc:[1]");
        assert_eq!(
            parse("boot ipc:[1]\nsemaphores 7\n"),
            Some(Thing::Semaphores(7))
        );
        assert_eq!(parse("boot ipc:[2]\nsemaphores 7\n"), None);
        assert_eq!(parse("old ipc:[1]\nposix_queue /syscost-1\n"), None);
        let file = folder_path().join("1-2-3.fifo");
        assert_eq!(
            parse(&format!("boot ipc:[2]\nfile {}\n", file.display())),
            Some(Thing::File(file))
        );
        // As where /proc shows processes only.
        assert!(parse(&format!("{UNKNOWN_WORLD}\ntree /tmp/syscost-1\n")).is_some());
        assert_eq!(parse(&format!("{UNKNOWN_WORLD}\nsemaphores 7\n")), None);
        assert_eq!(parse("boot"), None, "cut short");
    }

    #[test]
    fn things_are_removed_when_dropped_and_when_their_maker_was_killed() {
        or_skip!(world(), "no /proc");
        let file = scratch::file("test").unwrap();
        let path = file.path().to_owned();
        fs::write(&path, "x").unwrap();
        drop(file);
        assert!(!path.exists());

        // A forked process creates one of each and ends before it can remove them.
        let shared_keys = crate::partner::Shared::new([const { AtomicU32::new(0) }; 2]).unwrap();
        let child = os::fork(&mut || {
            let (Ok(queue), Ok(set)) = (scratch::message_queue(), scratch::semaphores(1)) else {
                return 1;
            };
            let keys = [&queue.record, &set.record].map(|record| match record.thing {
                Thing::MessageQueue(key) | Thing::Semaphores(key) => key as u32,
                _ => 0,
            });
            shared_keys[0].store(keys[0], Ordering::SeqCst);
            shared_keys[1].store(keys[1], Ordering::SeqCst);
            std::mem::forget((queue, set));
            0
        })
        .unwrap();
        if os::wait_for(child).unwrap() != 0 {
            println!("skipped: no SysV objects here");
            return;
        }
        let kept = scratch::semaphores(1).unwrap();
        let removed = sweep();
        for (kind, key) in ["message_queue", "semaphores"]
            .iter()
            .zip(shared_keys.iter())
        {
            let line = format!("{kind} {}", key.load(Ordering::SeqCst));
            // Another test's sweep may have come first; what matters is that it is gone.
            let gone = match *kind {
                "semaphores" => os::remove_semaphores(key.load(Ordering::SeqCst) as i32).is_err(),
                _ => os::remove_message_queue(key.load(Ordering::SeqCst) as i32).is_err(),
            };
            assert!(gone, "{line} is still there after {removed:?}");
        }
        let Thing::Semaphores(key) = kept.record.thing else {
            panic!("it is a set of semaphores");
        };
        assert!(
            os::make_semaphores(key, 1).is_err(),
            "what lives is left alone"
        );
    }
}
