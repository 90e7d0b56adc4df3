//! A trace: the tracer in a thread of its own, to which only its own tasks report (wait4 with __WNOTHREAD);
//! this thread takes the records of faults meanwhile and asks the caller whether to go on.
//!
//! The tracer's thread sleeps in wait4, which nothing ends but a task of its own: the bell, a child that does
//! nothing. To be rid of tasks that are to live on, the thread ends: then the kernel lets go of them wherever
//! they are, and wakes none.

mod faults;
mod mappings;
mod object;
mod ptrace;
mod records;
mod task;
mod tracer;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal};

use self::faults::Collector;
pub(crate) use self::object::Status;
use self::tracer::Tracer;
use crate::os::{Held, LOOK_EVERY};
use crate::trace::{Options, Progress, Tally, TraceError};
use crate::{Unsupported, cpu};

type GoesOn<'a> = &'a mut dyn FnMut(Progress) -> bool;

/// What the two threads tell each other.
#[derive(Default)]
struct Shared {
    calls: AtomicU64,
    tasks: AtomicU64,
    has_ended: AtomicBool,
    is_stopped: AtomicBool,
    bell: Mutex<Option<OwnedFd>>,
}

impl Shared {
    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Relaxed)
    }

    /// Wakes the tracer.
    fn ring(&self) {
        let bell = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bell) = &*bell {
            // It has rung before, if this fails.
            let _ = rustix::process::pidfd_send_signal(bell, Signal::KILL);
        }
    }

    /// Makes the bell of this thread: a child whose end ends a wait4.
    fn make_bell(&self) -> io::Result<u32> {
        let child = super::fork(&mut || {
            let _ = super::kill_me_with_parent();
            // What is typed at the terminal is not for it, and ends of pipes are not its to hold.
            let _ = rustix::process::setpgid(None, None);
            close_all();
            loop {
                thread::park();
            }
        })?;
        let pid = Pid::from_raw(child.cast_signed()).ok_or(io::ErrorKind::InvalidInput)?;
        let held = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        let mut bell = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
        *bell = Some(held);
        Ok(child)
    }

    fn progress(&self) -> Progress {
        Progress {
            calls: self.calls.load(Relaxed),
            tasks: self.tasks.load(Relaxed),
            has_ended: self.has_ended.load(Relaxed),
        }
    }
}

/// Stops the tracer when it goes out of scope, whatever the caller's function does.
struct Stop<'a>(&'a Shared);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.is_stopped.store(true, Relaxed);
        self.0.ring();
    }
}

/// Tells the other thread when the tracer ends: by a byte, since others that were forked meanwhile may hold
/// the pipe open.
struct AtWork(OwnedFd);

impl Drop for AtWork {
    fn drop(&mut self) {
        // There is room for it.
        let _ = rustix::io::write(&self.0, &[1]);
    }
}

pub(crate) fn trace_run(
    command: &mut Command,
    options: &Options,
    goes_on: GoesOn<'_>,
) -> Result<Tally, TraceError> {
    let mut child = Held::start(command)?;
    let first = child.pid();
    let tally = follow(first, options, true, goes_on, |tracer| {
        tracer
            .take_child()
            .map_err(|cause| TraceError::Unavailable(refusal(first, &cause)))?;
        Ok(child.release()?)
    })?;
    match child.refusal() {
        Some(cause) => Err(TraceError::Start {
            program: command.get_program().to_string_lossy().into_owned(),
            cause,
        }),
        None => Ok(tally),
    }
}

pub(crate) fn trace_attached(
    pid: u32,
    options: &Options,
    goes_on: GoesOn<'_>,
) -> Result<Tally, TraceError> {
    follow(pid, options, false, goes_on, |tracer| {
        let taken = tracer.take_running(options.follows_children);
        taken.map_err(|cause| TraceError::Attach(pid, refusal(pid, &cause)))
    })
}

/// Traces what `take` takes, in a thread of its own.
fn follow(
    first: u32,
    options: &Options,
    is_started_here: bool,
    goes_on: GoesOn<'_>,
    take: impl FnOnce(&mut Tracer<'_>) -> Result<(), TraceError> + Send,
) -> Result<Tally, TraceError> {
    let shared = Shared::default();
    let (done, at_work) =
        pipe_with(PipeFlags::CLOEXEC).map_err(|cause| TraceError::Failed("pipe2", cause.into()))?;
    let (moved, moves) = channel();
    let collector = match options.counts_faults {
        true => collector(first, is_started_here, options, moves),
        false => Err(Unsupported::new("not asked for")),
    };
    let moved = collector.is_ok().then_some(moved);
    let (traced, collector) = thread::scope(|scope| {
        let tracer = scope.spawn(|| {
            let _at_work = AtWork(at_work);
            let mut tracer = Tracer::new(first, &shared, moved);
            let traced = take(&mut tracer).and_then(|()| {
                let followed = tracer.follow(is_started_here);
                followed.map_err(|(what, cause)| TraceError::Failed(what, cause))
            });
            (super::thread_id(), traced.map(|()| tracer.tally))
        });
        let stop = Stop(&shared);
        let collector = watch(&shared, &done, options, collector, goes_on);
        drop(stop);
        (tracer.join(), collector)
    });
    let (tracer, tally) =
        traced.map_err(|_| TraceError::Failed("the tracer", io::ErrorKind::Other.into()))?;
    await_end(tracer);
    let mut tally = tally?;
    tally.faults = collector.map(Collector::finish);
    Ok(tally)
}

fn collector(
    first: u32,
    is_started_here: bool,
    options: &Options,
    moves: Receiver<faults::Moved>,
) -> Result<Collector, Unsupported> {
    let cpus = cpu::of_process(first)?;
    match is_started_here {
        true => Collector::of_child(first, &cpus, moves),
        false => Collector::of_running(first, &cpus, options.follows_children, moves),
    }
}

/// Takes records and asks the caller, until the tracer is done.
fn watch(
    shared: &Shared,
    done: &OwnedFd,
    options: &Options,
    mut collector: Result<Collector, Unsupported>,
    goes_on: GoesOn<'_>,
) -> Result<Collector, Unsupported> {
    let (mut last_look, mut ended) = (Instant::now(), None);
    loop {
        let mut ready = vec![PollFd::new(done, PollFlags::IN)];
        if let Ok(collector) = &collector {
            let full = collector.full();
            ready.extend(full.map(|ring| PollFd::new(ring, PollFlags::IN)));
        }
        let left = LOOK_EVERY.saturating_sub(last_look.elapsed());
        // An interrupted one is repeated.
        let _ = poll(&mut ready, Timespec::try_from(left).ok().as_ref());
        let happened: Vec<PollFlags> = ready.iter().map(PollFd::revents).collect();
        if let Ok(collector) = &mut collector {
            collector.forget_closed(&happened[1..]);
            collector.collect();
        }
        if !happened[0].is_empty() {
            return collector;
        }
        if last_look.elapsed() < LOOK_EVERY {
            continue;
        }
        last_look = Instant::now();
        let progress = shared.progress();
        if progress.has_ended {
            ended.get_or_insert(last_look);
        }
        let is_over = ended.is_some_and(|ended: Instant| ended.elapsed() > options.grace);
        if !shared.is_stopped() && (is_over || !goes_on(progress)) {
            drop(Stop(shared));
        }
    }
}

/// Closes all descriptors.
#[allow(unsafe_code)] // the call has no safe form
fn close_all() {
    // SAFETY: in a process that uses no descriptor any more; the call is of Linux 5.9.
    unsafe { libc::syscall(libc::SYS_close_range, 0_u32, u32::MAX, 0_u32) };
}

/// Waits until a thread of this process is gone, with all its tracees: it is joined a little before.
fn await_end(thread: u32) {
    /// How often it is looked for, each ms.
    const MAX_TIMES: u32 = 1000;
    let path = format!("/proc/self/task/{thread}");
    for _ in 0..MAX_TIMES {
        if !Path::new(&path).exists() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Why a process cannot be traced.
fn refusal(pid: u32, cause: &io::Error) -> Unsupported {
    let status = object::Status::of(pid);
    let by = status
        .and_then(|status| status.number("TracerPid"))
        .filter(|pid| *pid != 0);
    let scope = super::kernel_setting("yama/ptrace_scope");
    let advice = match (cause.raw_os_error(), by, scope.as_str()) {
        (Some(libc::ESRCH), ..) => "there is no such process".to_owned(),
        (_, Some(by), _) => format!("process {by} traces it already"),
        (_, _, scope @ ("1" | "2" | "3")) => {
            format!(
                "kernel.yama.ptrace_scope is {scope}: 1 allows own children, 2 needs CAP_SYS_PTRACE, 3 allows nobody"
            )
        }
        _ => {
            "a container's filter or a security module forbids it, or the process is another user's"
                .to_owned()
        }
    };
    Unsupported::new(format!("ptrace(PTRACE_SEIZE): {cause}; {advice}"))
}
