//! prctl and similar calls.
#![allow(unsafe_code)] // personality, signal and timer_create have no wrapper in rustix

use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::{mem, ptr};

use rustix::process::{self, Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};

use crate::Unsupported;

pub(crate) fn kill_me_with_parent() -> io::Result<()> {
    Ok(process::set_parent_process_death_signal(Some(
        Signal::KILL,
    ))?)
}

/// A setting in /proc/sys/kernel; empty where it is not shown.
pub(crate) fn kernel_setting(name: &str) -> String {
    let text = fs::read_to_string(format!("/proc/sys/kernel/{name}"));
    text.unwrap_or_default().trim().to_owned()
}

pub(crate) fn ignore_signals_of_writes() {
    take_signals_of_writes(libc::SIG_IGN);
}

/// Gives the signals their default effect that [`ignore_signals_of_writes`] ignores: for a program of the
/// user.
pub(crate) fn heed_signals() {
    take_signals_of_writes(libc::SIG_DFL);
}

fn take_signals_of_writes(how: libc::sighandler_t) {
    for signal in [libc::SIGPIPE, libc::SIGXFSZ] {
        // SAFETY: neither needs a handler, and the signals are valid ones.
        unsafe { libc::signal(signal, how) };
    }
}

/// Signals whose being ignored is the user's wish: `nohup`, a job in the background, a terminal
/// that is not to stop it. [`ignore_signals_of_writes`] ignores the others.
const LEFT_IGNORED: [i32; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGPIPE,
    libc::SIGXFSZ,
];

pub(crate) fn reset_signals() {
    for signal in (1..=libc::SIGRTMAX()).filter(|signal| !LEFT_IGNORED.contains(signal)) {
        // SAFETY: the calls read and write a valid sigaction; all zeros are SIG_DFL with an empty
        // mask. Only what is ignored is replaced, so no handler is lost.
        unsafe {
            let mut now: libc::sigaction = mem::zeroed();
            let is_known = libc::sigaction(signal, ptr::null(), &raw mut now) == 0;
            if is_known && now.sa_sigaction == libc::SIG_IGN {
                let default: libc::sigaction = mem::zeroed();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
            }
        }
    }
    // SAFETY: an empty set is valid, and nobody waits for the old one.
    unsafe {
        let mut none: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Lets this thread read the time stamp counter (x86; elsewhere the kernel refuses, and it can).
pub(crate) fn allow_tsc() {
    // SAFETY: the call changes nothing but whether an instruction is allowed.
    unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_ENABLE, 0, 0, 0) };
}

/// Closes all descriptors but the three standard ones wherever another program is executed.
pub(crate) fn close_files_on_exec() {
    // SAFETY: the call changes nothing but a flag of descriptors; it is of Linux 5.9, the flag of 5.11.
    let marked = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    if marked == 0 {
        return;
    }
    let listed = fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten();
    let numbers = listed.filter_map(|one| one.file_name().to_str()?.parse().ok());
    for fd in numbers.filter(|fd: &i32| *fd > 2) {
        // SAFETY: as above; a number that is no descriptor any more is refused.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Keeps this process and its children from leaving a core file. A limit of one byte is too small
/// for any file, and the kernel takes it as a request to start no helper either (core(5)).
pub(crate) fn leave_no_core() {
    let before = process::getrlimit(process::Resource::Core);
    let least = before.maximum.map_or(1, |most| most.min(1));
    let limit = process::Rlimit {
        current: Some(least),
        maximum: before.maximum,
    };
    // Lowering one's own limit cannot fail.
    let _ = process::setrlimit(process::Resource::Core, limit);
}

/// The limit of address space (`ulimit -v`), in bytes.
pub(crate) fn address_space_limit() -> Option<u64> {
    process::getrlimit(process::Resource::As).current
}

pub(crate) fn make_idle_timer() -> io::Result<()> {
    // SAFETY: all zeros are a valid event.
    let mut event: libc::sigevent = unsafe { mem::zeroed() };
    event.sigev_notify = libc::SIGEV_NONE;
    let mut id: libc::timer_t = ptr::null_mut();
    // SAFETY: both live through the call; the timer is never started, and sends no signal.
    match unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut id) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `None` for a parent in another pid namespace, or where a filter refuses to tell.
pub(crate) fn parent_id() -> Option<u32> {
    u32::try_from(process::getppid()?.as_raw_nonzero().get()).ok()
}

pub(crate) fn become_subreaper() -> io::Result<()> {
    // Any process id switches it on; the kernel only looks whether it is 0.
    Ok(process::set_child_subreaper(Some(process::getpid()))?)
}

/// Takes the status of a child that has ended; false if there was none.
pub(crate) fn reap(pid: u32) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    let waited = child(pid).map(|pid| process::waitid(WaitId::Pid(pid), options));
    matches!(waited, Ok(Ok(Some(_))))
}

/// Takes the status of each child of a process group that has ended; whether any of the group are left.
pub(crate) fn reap_group(group: u32) -> bool {
    let Ok(group) = child(group) else {
        return false;
    };
    loop {
        match process::waitpgid(group, process::WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
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

/// Where the vDSO begins, the kernel's own code in user space; 0 where it has given this process none.
pub(crate) fn vdso() -> usize {
    // SAFETY: looks a number up that the kernel gave this process.
    unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) as usize }
}

/// Kills one process; it is no error if it has already ended.
pub(crate) fn kill_process(pid: u32) -> io::Result<()> {
    signal(pid, Signal::KILL)
}

/// Kills a process that is still the one that was found, which `is_still` checks while the id
/// cannot be reused. On kernels without pidfd_open (before 5.3), or where it is refused, the id may
/// be reused between the check and the kill.
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

/// Kills a group of processes; it is no error if it has no members.
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

/// Maximum number of layers of Landlock rules over a task (`LANDLOCK_MAX_NUM_LAYERS` in the
/// kernel's security/landlock/limits.h).
pub(crate) const MAX_LANDLOCK_LAYERS: i32 = 16;

/// Puts layers of Landlock rules over this thread, for ever, at most `most` of them and as many as
/// the kernel accepts; returns how many. They forbid it to execute files.
pub(crate) fn add_landlock_layers(most: i32) -> io::Result<i32> {
    // LANDLOCK_ACCESS_FS_EXECUTE, in the first version of `struct landlock_ruleset_attr`.
    let attributes: u64 = 1;
    rustix::thread::set_no_new_privs(true)?;
    // SAFETY: the attributes are valid for their length, which the call is given; it makes a
    // descriptor that nothing else owns.
    let rules = unsafe {
        let rules = libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &raw const attributes,
            size_of_val(&attributes),
            0,
        );
        if rules < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(rules as i32)
    };
    for added in 0..most {
        // SAFETY: the call takes a descriptor and no address.
        let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) };
        if done != 0 {
            let why = io::Error::last_os_error();
            let is_full = why.raw_os_error() == Some(libc::E2BIG);
            return if is_full { Ok(added) } else { Err(why) };
        }
    }
    Ok(most)
}

/// Accepts the id of a possible child: neither 0 (the own group) nor one that would wrap to a
/// negative number (a group), nor init.
fn child(pid: u32) -> io::Result<Pid> {
    let pid = Pid::from_raw(pid.cast_signed())
        .filter(|pid| !pid.as_raw_nonzero().is_negative() && !pid.is_init());
    Ok(pid.ok_or(io::ErrorKind::InvalidInput)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_stamp_counter_is_allowed_again() {
        // The setting is a thread's own.
        let thread = std::thread::spawn(|| {
            // SAFETY: only an instruction that this thread does not use is forbidden meanwhile.
            if unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV, 0, 0, 0) } != 0 {
                return println!("skipped: no time stamp counter to forbid");
            }
            allow_tsc();
            let mut mode: libc::c_int = 0;
            // SAFETY: `mode` is one int, writable.
            unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode, 0, 0, 0) };
            assert_eq!(mode, libc::PR_TSC_ENABLE);
        });
        thread.join().unwrap();
    }
}
