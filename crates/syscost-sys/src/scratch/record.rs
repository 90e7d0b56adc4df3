//! What is on record: which process made what.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{MAX_TRIES, folder, folder_path, is_ours};
use crate::process::started;
use crate::{SystemError, os};

/// A thing with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thing {
    /// In this user's folder.
    File(PathBuf),
    Directory(PathBuf),
    PosixQueue(CString),
    /// By key.
    MessageQueue(i32),
    /// By key.
    Semaphores(i32),
}

impl Thing {
    /// One line: what it is, and its name.
    fn line(&self) -> Vec<u8> {
        let (kind, name) = match self {
            Thing::File(path) => ("file", path.as_os_str().as_bytes().to_vec()),
            Thing::Directory(path) => ("directory", path.as_os_str().as_bytes().to_vec()),
            Thing::PosixQueue(name) => ("posix_queue", name.as_bytes().to_vec()),
            Thing::MessageQueue(key) => ("message_queue", key.to_string().into_bytes()),
            Thing::Semaphores(key) => ("semaphores", key.to_string().into_bytes()),
        };
        [kind.as_bytes(), b" ", &name].concat()
    }

    /// Reads what [`Thing::line`] wrote. What we would not have written is none of ours.
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
            b"posix_queue" if name.starts_with(b"/syscost-") => {
                CString::new(name).ok().map(Thing::PosixQueue)
            }
            b"message_queue" => key().map(Thing::MessageQueue),
            b"semaphores" => key().map(Thing::Semaphores),
            _ => None,
        }
    }

    /// Removes it; whether it was there.
    ///
    /// # Errors
    /// When it is still there: a cgroup with processes in it.
    fn remove(&self) -> io::Result<bool> {
        let removed = match self {
            Thing::File(path) => fs::remove_file(path),
            Thing::Directory(path) => fs::remove_dir(path),
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

/// The process that made a thing: number, start time and pid namespace, of one boot of the machine. No other has all
/// four.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Maker {
    process: u32,
    started: u64,
    world: String,
}

/// Boot and pid namespace.
fn world() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

impl Maker {
    fn this() -> io::Result<Maker> {
        let process = std::process::id();
        let told = || io::Error::other("/proc does not tell who this process is");
        Ok(Maker {
            process,
            started: started(process).ok_or_else(told)?,
            world: world().ok_or_else(told)?,
        })
    }

    /// Whether it is certain that this process is no more. Of another container nothing is.
    fn is_gone(&self) -> bool {
        let Some(now) = world() else { return false };
        if now == self.world {
            return started(self.process) != Some(self.started);
        }
        // Another boot: all processes of that one are gone.
        let boot = |world: &str| world.split(' ').next().map(str::to_owned);
        boot(&now) != boot(&self.world)
    }
}

/// A thing on record.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    thing: Thing,
    maker: u32,
}

/// Records of this process so far.
static COUNT: AtomicU32 = AtomicU32::new(0);

impl Record {
    /// Records a thing before it is made. `thing` is given a name that no other process's thing has.
    pub(super) fn named<T>(
        thing: impl FnOnce(&str) -> Result<(Thing, T), SystemError>,
    ) -> Result<(Record, T), SystemError> {
        let failed = |cause| {
            SystemError::new(
                "write",
                format!("a record in {}", folder_path().display()),
                cause,
            )
        };
        let maker = Maker::this().map_err(failed)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{}-{number}", maker.process, maker.started);
        let (thing, also) = thing(&name)?;
        let text = [maker.world.as_bytes(), b"\n", &thing.line(), b"\n"].concat();
        let mut tries = 0;
        let path = loop {
            tries += 1;
            match write(&name, &text) {
                // A sweep has removed the empty folder in between.
                Err(error)
                    if error.cause.kind() == io::ErrorKind::NotFound && tries < MAX_TRIES => {}
                written => break written?,
            }
        };
        let record = Record {
            path,
            thing,
            maker: maker.process,
        };
        Ok((record, also))
    }

    /// Removes the thing and its record, if this process made it: a copy in a forked one removes nothing.
    pub(super) fn release(&self) {
        if self.maker == std::process::id() {
            // What cannot be removed now stays on record for the next sweep.
            if self.thing.remove().is_ok() {
                self.forget();
            }
        }
    }

    /// Removes the record of a thing that was not made.
    pub(super) fn forget(&self) {
        // Should it stay, the next sweep finds nothing to remove but the record.
        let _ = fs::remove_file(&self.path);
    }
}

fn write(name: &str, text: &[u8]) -> Result<PathBuf, SystemError> {
    let path = folder()?.join(format!("{name}.record"));
    fs::write(&path, text)
        .map_err(|cause| SystemError::new("write", path.display().to_string(), cause))?;
    Ok(path)
}

/// Removes what is on record of processes that are no more. Returns the things that were still there, in words.
///
/// Cheap where nothing is on record.
pub fn sweep() -> Vec<String> {
    let folder = folder_path();
    if !is_ours(&folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let records: BTreeSet<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "record"))
        .collect();
    let mut removed = Vec::new();
    for path in records {
        let Some((maker, thing)) = read(&path) else {
            continue;
        };
        if !maker.is_gone() {
            continue;
        }
        match thing.as_ref().map_or(Ok(false), Thing::remove) {
            Ok(was_there) => {
                let line = thing.filter(|_| was_there).map(|thing| thing.line());
                removed.extend(line.map(|line| String::from_utf8_lossy(&line).into_owned()));
                // Should the record stay, the next sweep finds nothing but it.
                let _ = fs::remove_file(path);
            }
            Err(_) => continue, // The next sweep tries again.
        }
    }
    // The folder goes with its last record; one that others have filled meanwhile stays.
    let _ = fs::remove_dir(folder);
    removed
}

/// Longest record that is read, in bytes: two lines with a path.
const MAX_RECORD: u64 = 16 << 10;

/// What a regular file begins with. A FIFO of the same name is not waited for, nor a link followed.
fn regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut options = fs::OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(os::NEITHER_WAIT_NOR_FOLLOW)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("no regular file"));
    }
    let mut text = Vec::new();
    file.take(MAX_RECORD).read_to_end(&mut text)?;
    Ok(text)
}

/// Who made it and what it is; the thing is missing in a record that was never finished.
fn read(path: &Path) -> Option<(Maker, Option<Thing>)> {
    let mut name = path.file_stem()?.to_str()?.split('-');
    let text = regular(path).ok()?;
    let mut lines = text.split(|byte| *byte == b'\n');
    let world = String::from_utf8(lines.next()?.to_vec()).ok()?;
    let maker = Maker {
        process: name.next()?.parse().ok()?,
        started: name.next()?.parse().ok()?,
        // A record cut short is of this world: it was just being written.
        world: if world.is_empty() {
            self::world()?
        } else {
            world
        },
    };
    Some((maker, lines.next().and_then(Thing::parse)))
}

#[cfg(test)]
mod tests;
