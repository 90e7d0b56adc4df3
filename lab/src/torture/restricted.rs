//! Environments in which something that programs rely on is missing or scarce, or system calls are refused.

#![allow(unsafe_code)] // a filter is installed between fork and exec

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result};
use fastrand::Rng;
use rustix::io::Errno;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use syscost_sys::raw::Sysno;

use super::Tally;
use super::sandbox::{Ending, Sandbox};

/// Shell commands to execute before the program is started.
const RESTRICTIONS: [&str; 31] = [
    "true",
    "ulimit -n 6",
    "ulimit -n 12",
    "ulimit -n 32",
    // The program's file takes 40 MB of it.
    "ulimit -v 70000",
    "ulimit -v 300000",
    "ulimit -d 20000",
    "ulimit -s 64",
    "ulimit -f 0",
    "ulimit -f 1",
    "ulimit -l 0",
    "ulimit -t 1",
    "exec <&-",
    "exec 0<&- 3<&-",
    "unset HOME XDG_DATA_HOME TMPDIR",
    "export HOME=/nonexistent XDG_DATA_HOME=/nonexistent/data",
    "export TMPDIR=/nonexistent/tmp",
    "export TMPDIR=/proc",
    "export PATH=",
    "export LANG=xx_YY.ZZ TERM=nothing COLUMNS=1 LINES=0",
    "export SYSCOST_BATCH_FACTOR=x SYSCOST_BATCH_FACTOR=-1",
    "mkdir -p gone && cd gone && rmdir ../gone",
    "trap '' INT TERM HUP PIPE CHLD ALRM USR1 USR2",
    "umask 777",
    "nice -n 19 true && renice -n 19 $$ >/dev/null",
    "chrt --idle --pid 0 $$",
    "taskset -p 1 $$ >/dev/null",
    "set -- \"$@\" --real-time",
    "exec unshare --user --map-root-user --mount --pid --fork \"$0\" \"$@\"",
    "exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \"$0\" \"$@\"",
    "exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'ulimit -u 1; exec \"$0\" \"$@\"' \"$0\" \"$@\"",
];

/// Restrictions under which nothing can be written, not even an error.
const MUTE: [&str; 2] = ["ulimit -f 0", "ulimit -f 1"];

/// A short run of rows with very different requirements.
const RUN: &str = "run --profile quick --budget 1 --no-save --format json \
     syscall.null ipc.round_trip task.fork memory.malloc timing.clock_read";

/// What is wrong with the end of such a run: if nothing can run it must say why, and if something
/// ran there must be a document.
fn complaints(ending: &Ending) -> Vec<String> {
    let mut complaints = match ending.out.is_empty() {
        true => ending.complaints(),
        false => ending.complaints_of_run(),
    };
    if ending.out.is_empty() && ending.err.trim().is_empty() {
        complaints.push("neither a document nor a word".to_owned());
    }
    if ending.code() == Some(2) {
        complaints.push(format!("its arguments are wrong: {}", ending.err));
    }
    complaints
}

/// Tries all restrictions.
pub(super) fn all(sandbox: &Sandbox, _: &mut Rng, tally: &mut Tally) -> Result<()> {
    for script in RESTRICTIONS {
        let Some(command) = sandbox.behind(script, RUN)? else {
            tally.not_tried.push(script);
            continue;
        };
        let ending = sandbox.run(command)?;
        let mut complaints = match MUTE.contains(&script) {
            true => ending.complaints(),
            false => complaints(&ending),
        };
        complaints.extend(sandbox.leftovers());
        tally.note(script, complaints);
    }
    Ok(())
}

/// Calls that some kernel, container or sandbox refuses, tried one by one.
const CALLS: &str = "sched_getaffinity sched_setaffinity pidfd_open pidfd_send_signal memfd_create execveat prctl seccomp \
    perf_event_open clone3 process_vm_readv membarrier rseq io_uring_setup getcpu sched_setscheduler \
    sched_getscheduler setpriority mlock madvise mincore mbind move_pages get_mempolicy statx close_range \
    getrandom prlimit64 waitid eventfd2 signalfd4 timerfd_create epoll_create1 flock getrusage clock_nanosleep \
    setpgid setsid socketpair memfd_secret sysinfo sigaltstack ppoll fchmod";

/// What the default profile of Docker refuses in an old kernel (moby, profiles/seccomp/default.json).
const CONTAINER: &str = "perf_event_open bpf io_uring_setup userfaultfd setns unshare mount keyctl kcmp process_vm_readv ptrace \
    move_pages mbind set_mempolicy get_mempolicy seccomp";

/// What gVisor lacks, by its list of unsupported system calls.
const GVISOR: &str = "perf_event_open bpf io_uring_setup userfaultfd pidfd_open pidfd_send_signal clone3 membarrier rseq kcmp \
    process_madvise move_pages sched_setattr sched_getattr vmsplice copy_file_range openat2 faccessat2 \
    memfd_secret";

/// Refuses the next call of the list, with one error or the other; before the first one, the
/// groups.
pub(super) fn refused(sandbox: &Sandbox, rng: &mut Rng, tally: &mut Tally) -> Result<()> {
    let groups = [
        ("as in a container", Errno::PERM, CONTAINER),
        ("as by gVisor", Errno::NOSYS, GVISOR),
    ];
    if tally.tried == 0 {
        for (what, errno, calls) in groups {
            refuse(sandbox, what, errno, calls, tally)?;
        }
    }
    let calls: Vec<&str> = CALLS.split(' ').collect();
    let call = calls[(tally.tried - groups.len()) % calls.len()];
    let (word, errno) = match rng.bool() {
        true => ("EPERM", Errno::PERM),
        false => ("ENOSYS", Errno::NOSYS),
    };
    refuse(sandbox, &format!("{call}: {word}"), errno, call, tally)
}

fn refuse(
    sandbox: &Sandbox,
    what: &str,
    errno: Errno,
    calls: &str,
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
fn refusing(command: &mut Command, errno: Errno, calls: &str) -> Result<()> {
    let architecture = std::env::consts::ARCH
        .try_into()
        .context("building a filter for this processor")?;
    let number = |name| {
        let call = Sysno::from_name(name).with_context(|| format!("there is no call {name}"))?;
        let number = call
            .number()
            .with_context(|| format!("{name} is not of this processor"))?;
        Ok((i64::from(number), Vec::new()))
    };
    let always: BTreeMap<i64, Vec<_>> = calls.split(' ').map(number).collect::<Result<_>>()?;
    let refusal = SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_that_is_refused_has_a_number_here() {
        for calls in [CALLS, CONTAINER, GVISOR] {
            refusing(&mut Command::new("true"), Errno::PERM, calls).expect("a filter");
        }
    }
}
