//! Which processors a thread may run on: sets of any size, since the kernel refuses to fill one
//! that is smaller than its own.
#![allow(unsafe_code)] // the wrappers in rustix have a fixed size of 1024 processors

use std::ffi::c_ulong;
use std::io;
use std::path::Path;

use rustix::thread::sched_getcpu;

use crate::cpu::{file_text, parse_list};

/// Processors in a word of a set.
const BITS: usize = c_ulong::BITS as usize;

/// Words of the first set that is tried: 1024 processors.
const FEW_WORDS: usize = 1024 / BITS;

/// Words of the largest set that is tried: a million processors.
const MAX_WORDS: usize = (1 << 20) / BITS;

pub(crate) fn set_affinity(cpus: &[u32]) -> io::Result<()> {
    let set = set_of(cpus).ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: the kernel reads as many bytes as the set has.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_setaffinity,
            0,
            size_of_val(&*set),
            set.as_ptr(),
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(crate) fn affinity() -> io::Result<Vec<u32>> {
    // A sandbox may refuse the call; /proc gives the same list, but includes processors that are offline.
    asked().or_else(|refused| shown().ok_or(refused))
}

/// The list in this thread's status file.
fn shown() -> Option<Vec<u32>> {
    shown_in("/proc/thread-self/status")
}

/// The list in the status file of a task.
pub(crate) fn shown_in(path: &str) -> Option<Vec<u32>> {
    let status = std::fs::read_to_string(path).ok()?;
    let mut lines = status.lines();
    let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let mut cpus = parse_list(list).ok()?;
    let online = file_text(Path::new("/sys/devices/system/cpu/online"));
    if let Some(online) = online.and_then(|list| parse_list(&list).ok()) {
        cpus.retain(|cpu| online.contains(cpu));
    }
    (!cpus.is_empty()).then_some(cpus)
}

fn asked() -> io::Result<Vec<u32>> {
    let mut words = FEW_WORDS;
    loop {
        let mut set: Vec<c_ulong> = vec![0; words];
        // SAFETY: the kernel writes no more bytes than the set has.
        let result = unsafe {
            libc::syscall(
                libc::SYS_sched_getaffinity,
                0,
                size_of_val(&*set),
                set.as_mut_ptr(),
            )
        };
        if result >= 0 {
            return Ok(members(&set));
        }
        let cause = io::Error::last_os_error();
        // The kernel's own set is larger.
        if cause.raw_os_error() != Some(libc::EINVAL) || words >= MAX_WORDS {
            return Err(cause);
        }
        words *= 2;
    }
}

/// The set of these processors; `None` if one is beyond the largest possible set.
fn set_of(cpus: &[u32]) -> Option<Vec<c_ulong>> {
    let most = cpus.iter().copied().max().unwrap_or(0) as usize;
    let words = most / BITS + 1;
    if words > MAX_WORDS {
        return None;
    }
    let mut set = vec![0; words];
    for cpu in cpus.iter().map(|cpu| *cpu as usize) {
        set[cpu / BITS] |= 1 << (cpu % BITS);
    }
    Some(set)
}

/// The members of a set, ascending.
fn members(set: &[c_ulong]) -> Vec<u32> {
    let all = 0..set.len() * BITS;
    all.filter(|cpu| set[cpu / BITS] & (1 << (cpu % BITS)) != 0)
        .map(|cpu| cpu as u32)
        .collect()
}

pub(crate) fn current_cpu() -> u32 {
    sched_getcpu() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_any_of_4096_processors() {
        for cpus in [&[0][..], &[0, 1, 63, 64], &[1023, 1024, 4095]] {
            let set = set_of(cpus).unwrap();
            assert_eq!(members(&set), cpus);
        }
        assert_eq!(set_of(&[4095]).unwrap().len(), 4096 / BITS);
        assert_eq!(set_of(&[u32::MAX]), None);
    }

    #[test]
    fn proc_shows_what_the_call_returns() {
        match shown() {
            Some(cpus) => assert_eq!(cpus, asked().unwrap()),
            None => println!("skipped: /proc shows no list of CPUs"),
        }
    }

    #[test]
    fn this_thread_may_run_where_it_is_and_nowhere_beyond() {
        let allowed = affinity().unwrap();
        assert!(!allowed.is_empty());
        set_affinity(&allowed).unwrap();
        assert_eq!(affinity().unwrap(), allowed);
        assert!(set_affinity(&[u32::MAX]).is_err());
        assert!(set_affinity(&[1_000_000]).is_err(), "no such processor");
    }
}
