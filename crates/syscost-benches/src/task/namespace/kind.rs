//! The kinds of namespaces.
#![allow(unsafe_code)] // stat in a child that must not allocate

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

use syscost_harness::prelude::*;

/// CLONE_NEWTIME, for which not every C library has a constant.
const NEW_TIME: c_int = 0x80;

/// The kind of namespace, by its name in /proc/PID/ns.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Mnt,
    Pid,
    Net,
    Ipc,
    Uts,
    Cgroup,
    Time,
}

impl Kind {
    /// Its flag for unshare, setns and clone3, and the file of the caller's own namespace, which unshare
    /// and setns change.
    const fn flag_and_own(self) -> (c_int, &'static CStr) {
        match self {
            Kind::User => (libc::CLONE_NEWUSER, c"/proc/self/ns/user"),
            Kind::Mnt => (libc::CLONE_NEWNS, c"/proc/self/ns/mnt"),
            Kind::Pid => (libc::CLONE_NEWPID, c"/proc/self/ns/pid_for_children"),
            Kind::Net => (libc::CLONE_NEWNET, c"/proc/self/ns/net"),
            Kind::Ipc => (libc::CLONE_NEWIPC, c"/proc/self/ns/ipc"),
            Kind::Uts => (libc::CLONE_NEWUTS, c"/proc/self/ns/uts"),
            Kind::Cgroup => (libc::CLONE_NEWCGROUP, c"/proc/self/ns/cgroup"),
            Kind::Time => (NEW_TIME, c"/proc/self/ns/time_for_children"),
        }
    }

    /// The name of the file by which [`Kind::own`] tells the caller's own namespace.
    pub(super) fn file(self) -> &'static str {
        let path = self.flag_and_own().1.to_str().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default()
    }

    /// Its flag for unshare, setns and clone3.
    pub(super) const fn flag(self) -> c_int {
        self.flag_and_own().0
    }

    /// Whether this kernel has such namespaces.
    pub(super) fn exists(self) -> Result<(), Unsupported> {
        match self.own() {
            0 => Err(Unsupported::new(format!(
                "this kernel has no namespaces of the kind {}",
                self.name()
            ))),
            _ => Ok(()),
        }
    }

    /// The number of the caller's own namespace of this kind; 0 if it has none yet (`pid`, before
    /// the first child in it).
    pub(super) fn own(self) -> u64 {
        let mut status = MaybeUninit::uninit();
        // SAFETY: a string, and room for what the call writes.
        match unsafe { libc::stat(self.flag_and_own().1.as_ptr(), status.as_mut_ptr()) } {
            // SAFETY: the call has written it.
            0 => unsafe { status.assume_init() }.st_ino,
            _ => 0,
        }
    }
}
