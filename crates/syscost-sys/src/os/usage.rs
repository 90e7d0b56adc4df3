//! Counters that need a call rather than a file.
#![allow(unsafe_code)] // getrusage has no wrapper in rustix

use std::fs::File;
use std::io;

use crate::Unsupported;
use crate::counters::{Usage, Whose};

pub(crate) fn usage(whose: Whose) -> Result<Usage, Unsupported> {
    let raw = rusage(whose)?;
    let count = |value: libc::c_long| value.max(0) as u64;
    Ok(Usage {
        minor_faults: count(raw.ru_minflt),
        major_faults: count(raw.ru_majflt),
        voluntary_switches: count(raw.ru_nvcsw),
        involuntary_switches: count(raw.ru_nivcsw),
        max_rss_kib: count(raw.ru_maxrss),
    })
}

/// CPU time of all children that ended and were waited for, in ns; the kernel gives whole us.
pub(crate) fn children_run_ns() -> Result<u64, Unsupported> {
    let raw = rusage(Whose::Children)?;
    let us = |time: libc::timeval| (time.tv_sec * 1_000_000 + time.tv_usec).max(0) as u64;
    Ok(1_000 * (us(raw.ru_utime) + us(raw.ru_stime)))
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
