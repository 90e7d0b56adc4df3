//! Processes: bound to their parent, found and ended with all they started, and their own settings.

mod batch;
mod real_time;
mod stack;
mod status;
mod surroundings;
mod tree;

use std::process::ExitStatus;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

pub use batch::Batch;
pub use real_time::{Class, RealTime, Scheduling, class, scheduling};
pub use stack::{MAX_STACK_OFFSET, with_stack_offset};
pub(crate) use status::NO_HUGE_PAGES;
pub use status::{
    MemoryOf, Seccomp, has_huge_pages, has_no_huge_pages, ignores, is_traced, memory_of,
    resident_bytes, seccomp_mode, set_for_this_process,
};
pub use surroundings::{Observer, landlock_layers, observer};
pub use tree::{
    Owner, ProcShows, descendants, has_variable, is_asleep, kill_tree, killed_children, name_of,
    proc_of, proc_shows, sees_itself, waited_for_cpu,
};

use crate::counters::Usage;
use crate::{SystemError, Unsupported, os};

/// Makes the kernel kill the calling process when the parent's thread that created it ends, for
/// whatever reason.
///
/// `expected_parent` is the process id that the parent reported for itself: if it has already
/// ended, the kernel sends no signal, so this fails and the caller has to exit by itself.
///
/// # Errors
/// When the parent is another one by now, or the system refuses.
pub fn die_with_parent(expected_parent: u32) -> Result<(), SystemError> {
    let error = |cause| {
        SystemError::new(
            "prctl(PR_SET_PDEATHSIG)",
            format!("to follow process {expected_parent}"),
            cause,
        )
    };
    os::kill_me_with_parent().map_err(error)?;
    match os::parent_id() {
        Some(parent) if parent != expected_parent => Err(error(std::io::Error::other(
            "that parent has already ended",
        ))),
        // `None`: it cannot be asked for.
        _ => Ok(()),
    }
}

/// What to do where [`patience`] ended.
pub const LONGER: &str = "a larger --time-limit gives it longer: half of that";

static PATIENCE: OnceLock<Duration> = OnceLock::new();

/// How long this process waits for what comes soon unless something is broken: no measure of how slow a
/// machine may be, since whoever knows that sets it.
pub fn patience() -> Duration {
    /// Where nobody has set it.
    const OF_NOBODY: Duration = Duration::from_secs(5);
    PATIENCE.get().copied().unwrap_or(OF_NOBODY)
}

/// Sets how long a piece of this process's work may take, before it begins: it waits for half of that.
pub fn limit_work(limit: Duration) {
    PATIENCE.get_or_init(|| limit / 2);
}

/// Waits for about this long, by any call that is not refused: [`std::thread::sleep`] panics in a sandbox
/// without clock_nanosleep.
pub fn pause(length: Duration) {
    let end = Instant::now() + length;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if os::wait_for_nothing(left).is_err() {
            thread::yield_now();
        }
    }
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail with an error, as on a full disk,
/// instead of ending this process, and likewise one to a pipe that nobody reads, as Rust's runtime does where
/// it begins the program.
pub fn survive_failed_writes() {
    os::ignore_signals_of_writes();
}

/// Gives signals their default effect and blocks none: a parent's ignored SIGCHLD would keep this
/// process from waiting for its children, and a blocked signal from being measured. What `nohup`, a
/// shell or a terminal ignores stays ignored. To be called before any other thread is started.
pub fn reset_signals() {
    os::reset_signals();
}

/// The timer slack that Linux gives to its first process, and so to all whose parents did not
/// change it, in ns (`init_task` in the kernel's init/init_task.c).
pub const DEFAULT_TIMER_SLACK_NS: u64 = 50_000;

/// Undoes what a parent may have left to this thread, and by it to all that this program starts,
/// that would decide what it measures or end it: another timer slack, readings of the time stamp
/// counter as faults (`rr` wants to see them), and open files, which each fork copies (a shell's one
/// descriptor 19999 made `task.vfork` take 113 us instead of 12). To be called before any other thread
/// is started.
pub fn reset_settings() {
    // Where a sandbox refuses them they stay; the rows that depend on them see it.
    let _ = os::set_timer_slack(DEFAULT_TIMER_SLACK_NS);
    os::allow_tsc();
    os::close_files_on_exec();
}

/// A child that has ended, with what the kernel counted of it and of the children that it waited for
/// (wait4(2)).
#[derive(Debug, Clone, Copy)]
pub struct ChildEnd {
    /// How it ended.
    pub status: ExitStatus,
    /// Time on a CPU outside of the kernel, in ns; the kernel tells whole microseconds. Only the sum with
    /// `system_ns` is exact: the kernel divides it by the ticks in either.
    pub user_ns: u64,
    /// The same in the kernel.
    pub system_ns: u64,
    /// Faults, switches and the most memory of one of them.
    pub usage: Usage,
}

/// Takes the end of a child of this process; `None` while it has not ended.
///
/// # Errors
/// It is no child, or its end was taken before.
pub fn take_end(pid: u32) -> Result<Option<ChildEnd>, SystemError> {
    os::child_end(pid)
        .map_err(|cause| SystemError::new("wait4", format!("for process {pid}"), cause))
}

/// Keeps this process, and what it starts, from leaving a core file.
pub fn leave_no_core() {
    os::leave_no_core();
}

/// How much address space this process may have (`ulimit -v`), in bytes; `None` for no limit.
pub fn address_space_limit() -> Option<u64> {
    os::address_space_limit()
}

/// Creates a POSIX timer that is never started and exists until this process ends: a small kernel
/// object that no other process inherits.
///
/// # Errors
/// When the system refuses (`ulimit -i`).
pub fn make_idle_timer() -> Result<(), SystemError> {
    os::make_idle_timer().map_err(|cause| SystemError::new("timer_create", "an idle timer", cause))
}

/// Makes orphans among this process's descendants its own children, so that none is lost to init.
pub fn become_subreaper() -> Result<(), SystemError> {
    os::become_subreaper().map_err(|cause| {
        SystemError::new("prctl(PR_SET_CHILD_SUBREAPER)", "on this process", cause)
    })
}

/// Takes the status of a child that has ended, without blocking, and returns whether there was one: for
/// a subreaper's adopted orphans, which have no [`std::process::Child`].
pub fn reap(pid: u32) -> bool {
    os::reap(pid)
}

/// Takes the status of this process's children in a group that was killed, and returns once none is left (or one second has
/// passed): until then what they have locked is locked.
pub fn reap_group(group: u32) {
    for _ in 0..1000 {
        if !os::reap_group(group) {
            break;
        }
        pause(Duration::from_millis(1));
    }
}

/// Names the calling thread, for ps and top: a process is named after the file it was started from.
pub fn set_name(name: &std::ffi::CStr) -> Result<(), SystemError> {
    os::set_name(name)
        .map_err(|cause| SystemError::new("prctl(PR_SET_NAME)", "of this thread", cause))
}

/// Sets how late the kernel may wake the calling thread from a timed sleep, in ns (0 restores what
/// it was when the thread was created).
pub fn set_timer_slack(ns: u64) -> Result<(), SystemError> {
    os::set_timer_slack(ns)
        .map_err(|cause| SystemError::new("prctl(PR_SET_TIMERSLACK)", format!("to {ns} ns"), cause))
}

/// How late the kernel may wake the calling thread from a timed sleep, in ns.
pub fn timer_slack() -> Result<u64, SystemError> {
    os::timer_slack()
        .map_err(|cause| SystemError::new("prctl(PR_GET_TIMERSLACK)", "of this thread", cause))
}

/// Whether this process runs with address randomisation off (personality ADDR_NO_RANDOMIZE, as
/// `setarch -R` and debuggers set it). The machine's own switch is
/// /proc/sys/kernel/randomize_va_space.
///
/// # Errors
/// `Unsupported` where a filter refuses the call.
pub fn personality_aslr_disabled() -> Result<bool, Unsupported> {
    os::aslr_disabled()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_parent_is_reported() {
        let parent = os::parent_id().unwrap_or(0);
        // In a thread of its own nothing outlives the test: the setting belongs to the process, but
        // this process's parent is the test runner, with which it ends anyway.
        let error = die_with_parent(parent.wrapping_add(1)).unwrap_err();
        assert!(error.to_string().contains("PDEATHSIG"), "{error}");
    }

    #[test]
    fn timer_slack_is_set_and_restored() {
        let before = or_skip!(timer_slack(), "no timer slack here");
        set_timer_slack(1_234).unwrap();
        assert_eq!(timer_slack().unwrap(), 1_234);
        set_timer_slack(0).unwrap();
        assert_eq!(timer_slack().unwrap(), before);
    }

    #[test]
    fn a_parents_files_are_not_handed_on() {
        use std::os::fd::AsRawFd;
        let file = std::fs::File::open("/").unwrap();
        // As a shell's `exec 500</`: a duplicate has no flag.
        let inherited = rustix::io::fcntl_dupfd_cloexec(&file, 500).unwrap();
        rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
        reset_settings();
        let listed = std::process::Command::new("ls")
            .arg("/proc/self/fd")
            .output();
        let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
        let number = inherited.as_raw_fd().to_string();
        assert!(!listed.lines().any(|one| one == number), "{listed}");
    }

    #[test]
    fn a_parents_timer_slack_is_not_kept() {
        or_skip!(set_timer_slack(50_000_000), "no timer slack here");
        reset_settings();
        assert_eq!(timer_slack().unwrap(), DEFAULT_TIMER_SLACK_NS);
        let child = thread::spawn(timer_slack).join().unwrap();
        assert_eq!(child.unwrap(), DEFAULT_TIMER_SLACK_NS);
    }

    #[test]
    fn a_pause_is_as_long_as_it_should_be() {
        let begun = Instant::now();
        pause(Duration::from_millis(20));
        assert!(begun.elapsed() >= Duration::from_millis(20));
    }
}
