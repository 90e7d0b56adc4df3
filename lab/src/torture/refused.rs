//! Refuses system calls, as do containers and kernels that lack them.

#![allow(unsafe_code)] // a filter is installed between fork and exec

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result};
use fastrand::Rng;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use super::Tally;
use super::restricted::{RUN, complaints};
use super::sandbox::Sandbox;

/// Calls that some kernel, container or sandbox refuses, tried one by one.
const CALLS: [(&str, libc::c_long); 44] = [
    ("sched_getaffinity", libc::SYS_sched_getaffinity),
    ("sched_setaffinity", libc::SYS_sched_setaffinity),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pidfd_send_signal", libc::SYS_pidfd_send_signal),
    ("memfd_create", libc::SYS_memfd_create),
    ("execveat", libc::SYS_execveat),
    ("prctl", libc::SYS_prctl),
    ("seccomp", libc::SYS_seccomp),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("clone3", libc::SYS_clone3),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("membarrier", libc::SYS_membarrier),
    ("rseq", libc::SYS_rseq),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("getcpu", libc::SYS_getcpu),
    ("sched_setscheduler", libc::SYS_sched_setscheduler),
    ("sched_getscheduler", libc::SYS_sched_getscheduler),
    ("setpriority", libc::SYS_setpriority),
    ("mlock", libc::SYS_mlock),
    ("madvise", libc::SYS_madvise),
    ("mincore", libc::SYS_mincore),
    ("mbind", libc::SYS_mbind),
    ("move_pages", libc::SYS_move_pages),
    ("get_mempolicy", libc::SYS_get_mempolicy),
    ("statx", libc::SYS_statx),
    ("close_range", libc::SYS_close_range),
    ("getrandom", libc::SYS_getrandom),
    ("prlimit64", libc::SYS_prlimit64),
    ("waitid", libc::SYS_waitid),
    ("eventfd2", libc::SYS_eventfd2),
    ("signalfd4", libc::SYS_signalfd4),
    ("timerfd_create", libc::SYS_timerfd_create),
    ("epoll_create1", libc::SYS_epoll_create1),
    ("flock", libc::SYS_flock),
    ("getrusage", libc::SYS_getrusage),
    ("clock_nanosleep", libc::SYS_clock_nanosleep),
    ("setpgid", libc::SYS_setpgid),
    ("setsid", libc::SYS_setsid),
    ("socketpair", libc::SYS_socketpair),
    ("memfd_secret", libc::SYS_memfd_secret),
    ("sysinfo", libc::SYS_sysinfo),
    ("sigaltstack", libc::SYS_sigaltstack),
    ("ppoll", libc::SYS_ppoll),
    ("fchmod", libc::SYS_fchmod),
];

/// Environments that refuse many calls at once: the default profile of Docker (moby,
/// profiles/seccomp/default.json) in an old kernel, and gVisor, by its list of unsupported system
/// calls.
const TOGETHER: [(&str, i32, &[libc::c_long]); 2] = [
    (
        "as in a container",
        libc::EPERM,
        &[
            libc::SYS_perf_event_open,
            libc::SYS_bpf,
            libc::SYS_io_uring_setup,
            libc::SYS_userfaultfd,
            libc::SYS_setns,
            libc::SYS_unshare,
            libc::SYS_mount,
            libc::SYS_keyctl,
            libc::SYS_kcmp,
            libc::SYS_process_vm_readv,
            libc::SYS_ptrace,
            libc::SYS_move_pages,
            libc::SYS_mbind,
            libc::SYS_set_mempolicy,
            libc::SYS_get_mempolicy,
            libc::SYS_seccomp,
        ],
    ),
    (
        "as by gVisor",
        libc::ENOSYS,
        &[
            libc::SYS_perf_event_open,
            libc::SYS_bpf,
            libc::SYS_io_uring_setup,
            libc::SYS_userfaultfd,
            libc::SYS_pidfd_open,
            libc::SYS_pidfd_send_signal,
            libc::SYS_clone3,
            libc::SYS_membarrier,
            libc::SYS_rseq,
            libc::SYS_kcmp,
            libc::SYS_process_madvise,
            libc::SYS_move_pages,
            libc::SYS_sched_setattr,
            libc::SYS_sched_getattr,
            libc::SYS_vmsplice,
            libc::SYS_copy_file_range,
            libc::SYS_openat2,
            libc::SYS_faccessat2,
            libc::SYS_memfd_secret,
        ],
    ),
];

/// Refuses the next call of the list, with one error or the other; before the first one, the
/// groups.
pub(super) fn one(sandbox: &Sandbox, rng: &mut Rng, tally: &mut Tally) -> Result<()> {
    if tally.tried == 0 {
        for (what, errno, calls) in TOGETHER {
            refuse(sandbox, what, errno, calls, tally)?;
        }
    }
    let (name, call) = CALLS[(tally.tried - TOGETHER.len()) % CALLS.len()];
    let (word, errno) = match rng.bool() {
        true => ("EPERM", libc::EPERM),
        false => ("ENOSYS", libc::ENOSYS),
    };
    refuse(sandbox, &format!("{name}: {word}"), errno, &[call], tally)
}

fn refuse(
    sandbox: &Sandbox,
    what: &str,
    errno: i32,
    calls: &[libc::c_long],
    tally: &mut Tally,
) -> Result<()> {
    let mut command = sandbox.command(RUN);
    refusing(&mut command, errno, calls)?;
    let ending = sandbox.run(command)?;
    let mut complaints = complaints(&ending);
    complaints.extend(sandbox.leftovers());
    tally.note(what, complaints);
    Ok(())
}

/// Makes the kernel refuse these calls to the program and everything it starts.
fn refusing(command: &mut Command, errno: i32, calls: &[libc::c_long]) -> Result<()> {
    let architecture = std::env::consts::ARCH
        .try_into()
        .context("building a filter for this processor")?;
    let always: BTreeMap<i64, Vec<_>> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(always, SeccompAction::Allow, refusal, architecture)
        .context("building a filter")?;
    let filter: BpfProgram = filter.try_into().context("building a filter")?;
    // SAFETY: between fork and exec it makes two system calls and takes no lock, and nothing is
    // allocated unless it fails.
    unsafe {
        command.pre_exec(move || {
            apply_filter(&filter).map_err(|error| std::io::Error::other(error.to_string()))
        });
    }
    Ok(())
}
