//! Counters that need a call rather than a file.
#![allow(unsafe_code)] // getrusage has no wrapper in rustix

use std::fs::File;
use std::io;

use crate::Unsupported;
use crate::counters::{Usage, Whose};

pub(crate) fn usage(whose: Whose) -> Result<Usage, Unsupported> {
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
    let count = |value: libc::c_long| value.max(0) as u64;
    Ok(Usage {
        minor_faults: count(raw.ru_minflt),
        major_faults: count(raw.ru_majflt),
        voluntary_switches: count(raw.ru_nvcsw),
        involuntary_switches: count(raw.ru_nivcsw),
        max_rss_kib: count(raw.ru_maxrss),
    })
}

/// One pread at offset 0.
pub(crate) fn read_at_start(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::pread(file, buffer, 0)?)
}
