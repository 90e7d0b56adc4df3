//! What a task's descriptor is, and what its program is allowed, as /proc shows it. Nothing here asks a file
//! system: the tracee may be what serves it.

use std::fs;

use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, getxattr, statx};

use crate::trace::Object;

/// What a task's descriptor is; `None` if it has no such one.
pub(super) fn object(task: u32, descriptor: u32) -> Option<Object> {
    let path = format!("/proc/{task}/fd/{descriptor}");
    let status = status_of(&path, StatxFlags::TYPE)?;
    Some(
        match FileType::from_raw_mode(u32::from(status.stx_mode) as _) {
            FileType::RegularFile => Object::File,
            FileType::Directory => Object::Directory,
            FileType::Fifo => Object::Pipe,
            FileType::CharacterDevice => character_device(status.stx_rdev_major),
            FileType::Socket => socket(&path),
            FileType::Unknown => without_type(&path),
            _ => Object::Other,
        },
    )
}

fn status_of(path: &str, mask: StatxFlags) -> Option<Statx> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    statx(CWD, path, flags, mask).ok()
}

fn character_device(major: u32) -> Object {
    /// Terminals: virtual and serial ones, /dev/tty and /dev/console, pseudo-terminals
    /// (Documentation/admin-guide/devices.txt).
    const TERMINALS: [u32; 4] = [4, 5, 204, 229];
    match major {
        136..=143 => Object::Terminal,
        _ if TERMINALS.contains(&major) => Object::Terminal,
        _ => Object::CharacterDevice,
    }
}

/// The kernel tells a socket's protocol in an extended attribute.
fn socket(path: &str) -> Object {
    let mut name = [0; 32];
    let length = getxattr(path, "system.sockprotoname", &mut name[..]).unwrap_or(0);
    match &name[..length] {
        [b'T', b'C', b'P', ..] => Object::Tcp,
        [b'U', b'N', b'I', b'X', ..] => Object::Unix,
        _ => Object::OtherSocket,
    }
}

/// The kernel's own files, which have no type but a name.
fn without_type(path: &str) -> Object {
    const EVENTS: [&str; 7] = [
        "eventfd",
        "eventpoll",
        "timerfd",
        "signalfd",
        "pidfd",
        "inotify",
        "fanotify",
    ];
    let name = fs::read_link(path).unwrap_or_default();
    let name = name.to_string_lossy();
    match EVENTS.iter().any(|event| name.contains(event)) {
        true => Object::Event,
        false => Object::Other,
    }
}

/// A task's /proc status.
pub(crate) struct Status(String);

impl Status {
    pub(crate) fn of(task: u32) -> Option<Status> {
        let text = fs::read_to_string(format!("/proc/{task}/status"));
        text.ok().map(Status)
    }

    fn words(&self, name: &str) -> impl Iterator<Item = &str> {
        let mut lines = self.0.lines();
        let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_default().split_whitespace()
    }

    /// The first number of this line, in decimal.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.words(name).next()?.parse().ok()
    }

    /// Whether this bit is set of the mask in this line.
    pub(crate) fn has_bit(&self, name: &str, bit: i32) -> bool {
        let mask = self.words(name).next();
        let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok());
        mask.is_some_and(|mask| mask >> bit & 1 == 1)
    }

    /// Whether a signal would have no effect on the task.
    pub(super) fn ignores(&self, signal: i32) -> bool {
        let ignored_by_default = [libc::SIGCHLD, libc::SIGURG, libc::SIGWINCH, libc::SIGCONT];
        let bit = signal - 1;
        self.has_bit("SigIgn", bit)
            || ignored_by_default.contains(&signal) && !self.has_bit("SigCgt", bit)
    }

    /// Whether signals wait that the task does not block.
    #[cfg(target_arch = "aarch64")]
    pub(super) fn has_pending(&self) -> bool {
        let is_open = |bit| !self.has_bit("SigBlk", bit);
        (0..64)
            .any(|bit| is_open(bit) && (self.has_bit("SigPnd", bit) || self.has_bit("ShdPnd", bit)))
    }
}

/// The program that a task has just executed, if its file gives a privilege that the kernel withheld.
pub(super) fn lost_privilege(task: u32) -> Option<String> {
    /// CAP_SYS_PTRACE: with it, what is traced gets its privileges.
    const TRACE_ALL: i32 = 19;
    let tracer = Status::of(std::process::id())?;
    if tracer.has_bit("CapEff", TRACE_ALL) {
        return None;
    }
    let path = format!("/proc/{task}/exe");
    let file = status_of(&path, StatxFlags::MODE | StatxFlags::UID | StatxFlags::GID)?;
    let (status, mode) = (Status::of(task)?, u32::from(file.stx_mode));
    if status.number("NoNewPrivs") == Some(1) {
        return None;
    }
    // The second number is the effective one.
    let effective = |name| status.words(name).nth(1).and_then(|id| id.parse().ok());
    let is_group = libc::S_ISGID | libc::S_IXGRP;
    let lost = mode & libc::S_ISUID != 0 && effective("Uid") != Some(file.stx_uid)
        || mode & is_group == is_group && effective("Gid") != Some(file.stx_gid)
        || getxattr(&path, "security.capability", &mut [0; 64][..]).is_ok();
    let name = fs::read_link(&path).ok()?;
    lost.then(|| name.to_string_lossy().into_owned())
}
