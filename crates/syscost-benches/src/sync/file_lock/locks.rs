//! The three kinds of lock, and the files they lock.
#![allow(unsafe_code)] // raw system calls

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall3;
use syscost_sys::scratch;

use super::super::hand_over::{Chain, LINKS, Side};

/// The kind of lock.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    Fcntl,
    Ofd,
    Flock,
}

impl Via {
    /// The system call that locks and unlocks.
    pub(super) const fn call(self) -> Sysno {
        match self {
            Via::Fcntl | Via::Ofd => Sysno::FCNTL,
            Via::Flock => Sysno::FLOCK,
        }
    }

    /// Locks a file, sleeping while another holds it.
    pub(super) fn lock(self, file: &OwnedFd) -> Result<(), Errno> {
        match self {
            Via::Fcntl => set(file, libc::F_SETLKW, libc::F_WRLCK),
            Via::Ofd => set(file, libc::F_OFD_SETLKW, libc::F_WRLCK),
            Via::Flock => flock(file, FlockOperation::LockExclusive),
        }
    }

    pub(super) fn unlock(self, file: &OwnedFd) -> Result<(), Errno> {
        match self {
            Via::Fcntl => set(file, libc::F_SETLK, libc::F_UNLCK),
            Via::Ofd => set(file, libc::F_OFD_SETLK, libc::F_UNLCK),
            Via::Flock => flock(file, FlockOperation::Unlock),
        }
    }

    /// Whether a file could be locked now; it is not locked afterwards. This tries a shared lock,
    /// which only an exclusive lock refuses, and instead of fcntl's an open file description's,
    /// since a process does not exclude itself.
    pub(super) fn is_free(self, file: &OwnedFd) -> Result<bool, Errno> {
        let (tried, back) = match self {
            Via::Fcntl | Via::Ofd => (set(file, libc::F_OFD_SETLK, libc::F_RDLCK), Via::Ofd),
            Via::Flock => (
                flock(file, FlockOperation::NonBlockingLockShared),
                Via::Flock,
            ),
        };
        match tried {
            Ok(()) => back.unlock(file).map(|()| true),
            Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// One fcntl call that locks or unlocks a whole file.
#[inline(always)]
fn set(file: &OwnedFd, command: libc::c_int, kind: libc::c_int) -> Result<(), Errno> {
    let whole = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: the structure is the one that these commands read, and outlives the call.
    let answer = unsafe {
        syscall3(
            Sysno::FCNTL,
            file.as_raw_fd() as usize,
            command as usize,
            (&raw const whole).expose_provenance(),
        )
    };
    match answer {
        0 => Ok(()),
        error => Err(Errno::from_raw_os_error(-error as i32)),
    }
}

/// Three files, each opened twice: once for each side.
pub(super) struct Locks {
    via: Via,
    files: [[OwnedFd; 2]; LINKS],
}

impl Locks {
    pub(super) fn make(via: Via) -> Result<Self, Failure> {
        let open = || open_twice(scratch::file("lock")?.path());
        let files = [open()?, open()?, open()?];
        Ok(Self { via, files })
    }

    /// The first file, opened by each side.
    pub(super) fn first(&self) -> &[OwnedFd; 2] {
        &self.files[0]
    }
}

/// A new file, opened twice.
fn open_twice(path: &Path) -> Result<[OwnedFd; 2], Failure> {
    let failed = |error| Failure::of(&format!("make {}", path.display()), error);
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let first: File = options.create(true).open(path).map_err(failed)?;
    let second: File = options.create(false).open(path).map_err(failed)?;
    Ok([first.into(), second.into()])
}

impl Chain for Locks {
    type Error = Errno;

    fn lock(&self, side: Side, link: usize) -> Result<(), Errno> {
        self.via.lock(&self.files[link][side as usize])
    }

    fn unlock(&self, side: Side, link: usize) -> Result<(), Errno> {
        self.via.unlock(&self.files[link][side as usize])
    }
}
