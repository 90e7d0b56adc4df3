//! prctl and its like.
#![allow(unsafe_code)] // personality has no wrapper in rustix

use std::io;
use std::num::NonZeroU64;

use rustix::process::{self, Pid, Signal, WaitOptions};

use crate::Unsupported;

pub(crate) fn kill_me_with_parent() -> io::Result<()> {
    Ok(process::set_parent_process_death_signal(Some(
        Signal::KILL,
    ))?)
}

/// `None` for a parent in another pid namespace.
pub(crate) fn parent_id() -> Option<u32> {
    process::getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned())
}

pub(crate) fn become_subreaper() -> io::Result<()> {
    // Any process id switches it on; the kernel only looks whether it is 0.
    Ok(process::set_child_subreaper(Some(process::getpid()))?)
}

pub(crate) fn reap_ended() -> usize {
    let mut reaped = 0;
    while let Ok(Some(_)) = process::wait(WaitOptions::NOHANG) {
        reaped += 1;
    }
    reaped
}

pub(crate) fn set_timer_slack(ns: u64) -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(
        ns,
    ))?)
}

pub(crate) fn timer_slack() -> io::Result<u64> {
    Ok(rustix::thread::current_timer_slack()?)
}

pub(crate) fn aslr_disabled() -> Result<bool, Unsupported> {
    const ASK_ONLY: libc::c_ulong = 0xffff_ffff;
    // SAFETY: with this value the call changes nothing and returns the current setting.
    let persona = unsafe { libc::personality(ASK_ONLY) };
    if persona < 0 {
        return Err(Unsupported::new(format!(
            "personality: {}",
            io::Error::last_os_error()
        )));
    }
    Ok(persona & libc::ADDR_NO_RANDOMIZE != 0)
}

/// Kills one process; one that has already ended is fine.
pub(crate) fn kill_process(pid: u32) -> io::Result<()> {
    signal(pid, Signal::KILL)
}

pub(crate) fn stop_process(pid: u32) -> io::Result<()> {
    signal(pid, Signal::STOP)
}

fn signal(pid: u32, signal: Signal) -> io::Result<()> {
    // Neither 0 (the own group) nor what would wrap to a negative number (a group) is a process.
    let pid = Pid::from_raw(pid.cast_signed())
        .filter(|pid| !pid.as_raw_nonzero().is_negative() && !pid.is_init());
    let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
    match process::kill_process(pid, signal) {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        other => Ok(other?),
    }
}
