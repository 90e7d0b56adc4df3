//! The kinds of namespaces.
#![allow(unsafe_code)] // stat in a child that must not allocate

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

use syscost_harness::prelude::*;

/// CLONE_NEWTIME, for which not every C library has a constant.
const NEW_TIME: c_int = 0x80;

/// A kind of namespace.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// Its name in /proc/PID/ns.
    pub(super) name: &'static str,
    /// Its flag for unshare, setns and clone3.
    pub(super) flag: c_int,
    /// The file of the caller's own namespace, which unshare and setns change.
    own: &'static CStr,
}

const KINDS: [Kind; 8] = [
    kind("user", libc::CLONE_NEWUSER, c"/proc/self/ns/user"),
    kind("mnt", libc::CLONE_NEWNS, c"/proc/self/ns/mnt"),
    kind("pid", libc::CLONE_NEWPID, c"/proc/self/ns/pid_for_children"),
    kind("net", libc::CLONE_NEWNET, c"/proc/self/ns/net"),
    kind("ipc", libc::CLONE_NEWIPC, c"/proc/self/ns/ipc"),
    kind("uts", libc::CLONE_NEWUTS, c"/proc/self/ns/uts"),
    kind("cgroup", libc::CLONE_NEWCGROUP, c"/proc/self/ns/cgroup"),
    kind("time", NEW_TIME, c"/proc/self/ns/time_for_children"),
];

const fn kind(name: &'static str, flag: c_int, own: &'static CStr) -> Kind {
    Kind { name, flag, own }
}

impl Kind {
    /// The kind that a case names.
    pub(super) fn of(case: &Case) -> Result<Self, Failure> {
        let name = case.get("kind");
        let found = KINDS.iter().find(|kind| kind.name == name).copied();
        let kind = found.ok_or_else(|| case.unknown("kind"))?;
        match kind.own() {
            0 => Err(Failure::Unsupported(format!(
                "this kernel has no namespaces of the kind {name}"
            ))),
            _ => Ok(kind),
        }
    }

    /// The number of the caller's own namespace of this kind; 0 if it has none yet (`pid`, before
    /// the first child in it).
    pub(super) fn own(&self) -> u64 {
        let mut status = MaybeUninit::uninit();
        // SAFETY: a string, and room for what the call writes.
        match unsafe { libc::stat(self.own.as_ptr(), status.as_mut_ptr()) } {
            // SAFETY: the call has written it.
            0 => unsafe { status.assume_init() }.st_ino,
            _ => 0,
        }
    }
}
