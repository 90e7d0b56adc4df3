//! The owner of a folder on a server: the process that made it, encoded in the folder's name, so that
//! other processes can find out whether it is still alive.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Prefix of the names of folders.
const PREFIX: &str = ".syscost-nfs-";

/// The world of an owner that cannot determine it; equal to no other.
const UNKNOWN: u64 = 0;

/// Maximum number of digits of a part of the name, which is a hexadecimal number.
const MAX_DIGITS: usize = 16;

/// A process of one boot of one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    /// Identifies the machine's boot and the PID namespace, within which process ids are valid.
    world: u64,
    pid: u32,
    /// Start time of the process, in ticks since boot; 0 if /proc does not show it.
    started: u64,
}

impl Owner {
    pub(super) fn this() -> Self {
        let pid = std::process::id();
        Self {
            world: world().unwrap_or(UNKNOWN),
            pid,
            started: started(pid).unwrap_or(0),
        }
    }

    /// The name of the `count`th folder of this owner.
    pub(super) fn folder(self, count: u32) -> String {
        let Self {
            world,
            pid,
            started,
        } = self;
        format!("{PREFIX}{world:x}-{pid:x}-{started:x}-{count:x}")
    }

    /// Returns the owner of the folder with this name; `None` if syscost did not make it.
    pub(super) fn of(folder: &str) -> Option<Self> {
        let mut parts = folder.strip_prefix(PREFIX)?.split('-');
        let mut number = || {
            let part = parts.next()?;
            let is_plain = (1..=MAX_DIGITS).contains(&part.len())
                && part
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            u64::from_str_radix(part, 16).ok().filter(|_| is_plain)
        };
        let (world, pid, started, _count) = (number()?, number()?, number()?, number()?);
        let owner = Self {
            world,
            pid: u32::try_from(pid).ok()?,
            started,
        };
        parts.next().is_none().then_some(owner)
    }

    /// Whether it has ended; known only of processes of this boot of this machine.
    pub(super) fn has_ended(self) -> Option<bool> {
        self.has_ended_in(world()?, started(self.pid), || is_there(self.pid))
    }

    /// As [`Owner::has_ended`], seen from this world. `started` is the start time of the process that
    /// has its id now, if /proc shows one; `is_there` returns whether there is any.
    fn has_ended_in(
        self,
        world: u64,
        started: Option<u64>,
        is_there: impl FnOnce() -> bool,
    ) -> Option<bool> {
        if self.world != world || self.world == UNKNOWN || self.started == 0 {
            return None;
        }
        match started {
            Some(started) => Some(started != self.started),
            // /proc may hide the processes of other users (hidepid), even a live owner.
            None if is_there() => None,
            None => Some(true),
        }
    }
}

/// Hashes the machine's boot id and this process's PID namespace; `None` if /proc does not show both,
/// since machines could then be mistaken for each other.
fn world() -> Option<u64> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    if boot.trim().is_empty() {
        return None;
    }
    // FNV-1a is the same in every build, which the standard library's hashers need not be.
    let text = format!("{} {}", boot.trim(), namespace.display());
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Some(sum)
}

/// Whether any process has this id, visible or not: kill(2) with signal 0 is refused (EPERM) for
/// that of another user.
fn is_there(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    match pid.map(test_kill_process) {
        Some(Err(Errno::SRCH)) | None => false,
        Some(Ok(()) | Err(_)) => true,
    }
}

/// Start time of a process, in ticks since boot (proc_pid_stat(5), field 22). The command name may
/// contain spaces and parentheses; the last parenthesis ends it.
fn started(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_shows_whether_its_owner_is_alive() {
        let this = Owner::this();
        let name = this.folder(7);
        assert_eq!(Owner::of(&name), Some(this), "{name}");
        if this.started == 0 {
            println!("skipped: /proc does not show when this process started");
            return;
        }
        assert_eq!(this.has_ended(), Some(false));
        let earlier = Owner {
            started: this.started + 1,
            ..this
        };
        assert_eq!(earlier.has_ended(), Some(true), "its id was reused");
        let elsewhere = Owner {
            world: this.world ^ 1,
            ..this
        };
        assert_eq!(elsewhere.has_ended(), None);
    }

    #[test]
    fn an_owner_that_cannot_be_seen_is_not_taken_for_ended() {
        let owner = Owner {
            world: 7,
            pid: 42,
            started: 1000,
        };
        let ended = |world, started, is_there| owner.has_ended_in(world, started, || is_there);
        assert_eq!(ended(7, Some(1000), true), Some(false));
        assert_eq!(ended(7, Some(1001), true), Some(true), "reused");
        assert_eq!(ended(7, None, false), Some(true));
        assert_eq!(ended(7, None, true), None, "hidden, or reused");
        assert_eq!(ended(8, None, false), None, "another machine");
        let nowhere = Owner {
            world: UNKNOWN,
            ..owner
        };
        assert_eq!(nowhere.has_ended_in(UNKNOWN, None, || false), None);
    }

    #[test]
    fn processes_of_other_users_are_there_too() {
        assert!(is_there(std::process::id()));
        assert!(is_there(1), "EPERM says so");
        assert!(!is_there(0) && !is_there(u32::MAX), "not process ids");
    }

    #[test]
    fn names_of_others_are_not_taken_for_ours() {
        for other in [
            "",
            "data",
            ".syscost-nfs-",
            ".syscost-nfs-1-2-3",
            ".syscost-nfs-1-2-3-4-5",
            ".syscost-nfs-1-2-3-X",
            ".syscost-nfs-1-2-+3-4",
            ".syscost-nfs-1-fffffffff-3-4",
            ".syscost-nfs-11111111111111111-2-3-4",
            "x.syscost-nfs-1-2-3-4",
        ] {
            assert_eq!(Owner::of(other), None, "{other}");
        }
    }
}
