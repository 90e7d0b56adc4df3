//! prctl and its like.
#![allow(unsafe_code)] // personality, signal and timer_create have no wrapper in rustix

use std::io;
use std::num::NonZeroU64;
use std::{mem, ptr};

use rustix::process::{self, Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};

use crate::Unsupported;

pub(crate) fn kill_me_with_parent() -> io::Result<()> {
    Ok(process::set_parent_process_death_signal(Some(
        Signal::KILL,
    ))?)
}

pub(crate) fn ignore_file_size_signal() {
    // SAFETY: to be ignored needs no handler, and the signal is a valid one.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

pub(crate) fn make_idle_timer() -> io::Result<()> {
    // SAFETY: all zeros are a valid event.
    let mut event: libc::sigevent = unsafe { mem::zeroed() };
    event.sigev_notify = libc::SIGEV_NONE;
    let mut id: libc::timer_t = ptr::null_mut();
    // SAFETY: both are there during the call; the timer is never started, and sends no signal.
    match unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut id) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `None` for a parent in another pid namespace.
pub(crate) fn parent_id() -> Option<u32> {
    process::getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned())
}

pub(crate) fn become_subreaper() -> io::Result<()> {
    // Any process id switches it on; the kernel only looks whether it is 0.
    Ok(process::set_child_subreaper(Some(process::getpid()))?)
}

/// Whether it was a child of this process, and had ended.
pub(crate) fn reap(pid: u32) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    let waited = child(pid).map(|pid| process::waitid(WaitId::Pid(pid), options));
    matches!(waited, Ok(Ok(Some(_))))
}

pub(crate) fn set_name(name: &std::ffi::CStr) -> io::Result<()> {
    Ok(rustix::thread::set_name(name)?)
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

/// The same for one that is still what it was when it was found, as `is_still` tells while its id cannot become another's. On kernels without
/// pidfd_open (before 5.3), or where it is refused, its id may become another's in the meantime.
pub(crate) fn kill_found(pid: u32, is_still: impl FnOnce() -> bool) -> io::Result<()> {
    match process::pidfd_open(child(pid)?, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        _ if !is_still() => Ok(()),
        Ok(held) => match process::pidfd_send_signal(held, Signal::KILL) {
            Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(_) => kill_process(pid),
            Ok(()) => Ok(()),
        },
        Err(_) => kill_process(pid),
    }
}

/// Kills a group of processes; one without members is fine.
pub(crate) fn kill_group(group: u32) -> io::Result<()> {
    match process::kill_process_group(child(group)?, Signal::KILL) {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        other => Ok(other?),
    }
}

pub(crate) fn stop_process(pid: u32) -> io::Result<()> {
    signal(pid, Signal::STOP)
}

fn signal(pid: u32, signal: Signal) -> io::Result<()> {
    match process::kill_process(child(pid)?, signal) {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        other => Ok(other?),
    }
}

/// What may be a child: neither 0 (the own group) nor what would wrap to a negative number (a group), nor init.
fn child(pid: u32) -> io::Result<Pid> {
    let pid = Pid::from_raw(pid.cast_signed())
        .filter(|pid| !pid.as_raw_nonzero().is_negative() && !pid.is_init());
    Ok(pid.ok_or(io::ErrorKind::InvalidInput)?)
}
