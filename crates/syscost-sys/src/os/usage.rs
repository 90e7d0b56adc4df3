//! Counters that need a call rather than a file.
#![allow(unsafe_code)] // getrusage has no wrapper in rustix

use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::Unsupported;
use crate::counters::{Usage, Whose};
use crate::process::ChildEnd;

pub(crate) fn usage(whose: Whose) -> Result<Usage, Unsupported> {
    rusage(whose).map(|raw| counts(&raw))
}

fn counts(raw: &libc::rusage) -> Usage {
    let count = |value: libc::c_long| value.max(0) as u64;
    Usage {
        minor_faults: count(raw.ru_minflt),
        major_faults: count(raw.ru_majflt),
        voluntary_switches: count(raw.ru_nvcsw),
        involuntary_switches: count(raw.ru_nivcsw),
        max_rss_kib: count(raw.ru_maxrss),
    }
}

/// The end of a child, if it has ended; what was counted of it and of the children that it waited for.
pub(crate) fn child_end(pid: u32) -> io::Result<Option<ChildEnd>> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    // SAFETY: rusage is plain integers, for which zero is a value.
    let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
    let mut status = 0;
    // SAFETY: both are writable and outlive the call.
    match unsafe { libc::wait4(pid, &mut status, libc::WNOHANG, &mut raw) } {
        0 => return Ok(None),
        -1 => return Err(io::Error::last_os_error()),
        _ => {}
    }
    let ns =
        |time: libc::timeval| run_ns([time.tv_sec.max(0) as u64, time.tv_usec.max(0) as u64, 0, 0]);
    Ok(Some(ChildEnd {
        status: ExitStatus::from_raw(status),
        user_ns: ns(raw.ru_utime),
        system_ns: ns(raw.ru_stime),
        usage: counts(&raw),
    }))
}

/// CPU time of all children that ended and were waited for, in ns; the kernel gives whole us.
pub(crate) fn children_run_ns() -> Result<u64, Unsupported> {
    let libc::rusage {
        ru_utime: user,
        ru_stime: system,
        ..
    } = rusage(Whose::Children)?;
    let words = [user.tv_sec, user.tv_usec, system.tv_sec, system.tv_usec];
    Ok(run_ns(words.map(|word| word.max(0) as u64)))
}

/// Whose counts getrusage gives of children that ended and were waited for.
pub(crate) const OF_CHILDREN: i32 = libc::RUSAGE_CHILDREN;

/// CPU time, in ns, by the first words of what getrusage gives: seconds and microseconds, of the user and of
/// the system.
pub(crate) fn run_ns([user_s, user_us, system_s, system_us]: [u64; 4]) -> u64 {
    1_000 * (1_000_000 * (user_s + system_s) + user_us + system_us)
}

fn rusage(whose: Whose) -> Result<libc::rusage, Unsupported> {
    let who = match whose {
        Whose::Thread => libc::RUSAGE_THREAD,
        Whose::Children => libc::RUSAGE_CHILDREN,
    };
    // SAFETY: rusage is plain integers, for which zero is a value.
    let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `raw` is one rusage, writable.
    if unsafe { libc::getrusage(who, &mut raw) } != 0 {
        return Err(Unsupported::new(format!(
            "getrusage: {}",
            io::Error::last_os_error()
        )));
    }
    Ok(raw)
}

/// One pread at offset 0.
pub(crate) fn read_at_start(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::pread(file, buffer, 0)?)
}
