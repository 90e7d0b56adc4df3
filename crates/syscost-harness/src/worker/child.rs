//! A worker's process: started, listened to, and ended with everything it started.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use syscost_sys::process::Owner;
use syscost_sys::{process, scratch};

use super::{ARGUMENT, Job, Program, Reply};

/// Maximum padding of a worker's environment, in bytes: one page, so that its stack starts anywhere
/// within a page.
const MAX_PADDING: usize = 4096;

/// Maximum length of a worker's standard error that is kept, in bytes.
const MAX_STDERR: usize = 4096;

/// The environment variable that identifies the processes which a worker of this run started.
const OWNER: &str = "SYSCOST_OWNER";

/// The value of that variable.
static RUN: OnceLock<String> = OnceLock::new();

/// A silent worker is checked at this interval: two checks show within 0.1 s that a partner is lost.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How long a worker may take to exit once it has closed its output.
const LINGER: Duration = Duration::from_secs(1);

/// The result of listening to a worker.
pub(super) enum Heard {
    Reply(Reply),
    /// A line that is not a reply, truncated.
    Garbage(String),
    /// One of its processes was killed while it waits for it.
    Lost(String),
    /// Nothing until the time was up.
    Silence,
    Interrupt,
    End,
}

/// What is the same for all that this process starts.
fn run() -> &'static str {
    RUN.get_or_init(|| format!("{}-{:x}", std::process::id(), fastrand::u64(..)))
}

/// The variable, as `NAME=value`, by which what this process starts is recognised.
pub fn owner_variable() -> String {
    format!("{OWNER}={}", run())
}

/// A worker's process, and everything it started: dropping it ends them all.
pub(super) struct Worker {
    child: Child,
    replies: ChildStdout,
    unread: Vec<u8>,
    ended: Option<ExitStatus>,
    /// Identifies its orphans, since those of other processes may be adopted by this process as well.
    owner: Owner,
    /// Its killed children that had not been waited for at the last check.
    killed: Vec<(u32, i32)>,
}

impl Worker {
    /// Starts a worker and gives it its job.
    pub(super) fn start(program: &Program, job: &Job, padding: usize) -> io::Result<Self> {
        let mut line = serde_json::to_vec(job)?;
        line.push(b'\n');
        let mut command = program.command();
        let run = run();
        let mut child = command
            .arg(ARGUMENT)
            .env(OWNER, run)
            .env("SYSCOST_PADDING", "x".repeat(padding % MAX_PADDING))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so that the terminal's Ctrl-C reaches the coordinator alone.
            .process_group(0)
            .spawn()?;
        let (replies, input) = (child.stdout.take(), child.stdin.take());
        let replies = replies.expect("standard output was asked to be a pipe");
        let mut input = input.expect("standard input was asked to be a pipe");
        let worker = Self {
            owner: Owner {
                group: child.id(),
                variable: owner_variable(),
            },
            child,
            replies,
            unread: Vec::new(),
            ended: None,
            killed: Vec::new(),
        };
        match input.write_all(&line) {
            // If a worker ended immediately, its exit status says why.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(worker),
        }
    }

    /// The next line, waiting at most `limit` for the whole of it.
    pub(super) fn next_reply(&mut self, limit: Duration, interrupted: &AtomicBool) -> Heard {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return match serde_json::from_slice(&line) {
                    Ok(reply) => Heard::Reply(reply),
                    Err(_) => Heard::Garbage(
                        String::from_utf8_lossy(&line)
                            .trim()
                            .chars()
                            .take(80)
                            .collect(),
                    ),
                };
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let readable = readable_within(&self.replies, left.min(LOOK_AGAIN));
            if interrupted.load(Ordering::Relaxed) {
                return Heard::Interrupt;
            }
            match readable {
                Ok(true) => {}
                Ok(false) if left > LOOK_AGAIN => match self.lost_child() {
                    Some(what) => return Heard::Lost(what),
                    None => continue,
                },
                Ok(false) => return Heard::Silence,
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return Heard::End,
            }
            let mut chunk = [0; 16 * 1024];
            match self.replies.read(&mut chunk) {
                Ok(0) => return Heard::End,
                Ok(count) => self.unread.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Heard::End,
            }
        }
    }

    /// A child of the worker that a signal had already ended at the last check, and that it has not
    /// waited for since: it waits forever for an answer of this partner. A child that it kills
    /// itself it waits for immediately, once it has the CPU: only checks count at which it sleeps.
    fn lost_child(&mut self) -> Option<String> {
        let worker = self.child.id();
        let is_asleep = || process::is_asleep(worker);
        // Most looks end at the first question. Whoever still sleeps at the second one was not about to wait for them.
        let killed = is_asleep().then(|| process::killed_children(worker));
        let Some(killed) = killed.filter(|_| is_asleep()) else {
            self.killed.clear();
            return None;
        };
        let lost = killed.iter().find(|child| self.killed.contains(child));
        let lost = lost.map(|(pid, signal)| {
            format!("its process {pid} was killed by signal {signal}, which syscost did not send")
        });
        self.killed = killed;
        lost
    }

    /// The longest time that one of its tasks has waited for a CPU so far, of those that are there.
    pub(super) fn waited(&self) -> Duration {
        process::waited_for_cpu(self.child.id())
    }

    /// How a worker that closed its output ended, and its standard error. One that lingers is killed.
    pub(super) fn ending(&mut self) -> (ExitStatus, String) {
        let deadline = Instant::now() + LINGER;
        while !has_exited(&self.child) && Instant::now() < deadline {
            process::pause(Duration::from_micros(100));
        }
        let mut stderr = [0; MAX_STDERR];
        let said = match &mut self.child.stderr {
            // Its children may hold the pipe open: do not wait for what is not there now.
            Some(pipe) if readable_within(pipe, Duration::ZERO) == Ok(true) => {
                pipe.read(&mut stderr).unwrap_or(0)
            }
            _ => 0,
        };
        let status = self.end();
        (
            status,
            String::from_utf8_lossy(&stderr[..said]).into_owned(),
        )
    }

    /// Ends the worker and everything it started, and nothing else: this process may have other
    /// children, e.g. of a shell that became it by `exec syscost`. The worker's own process is
    /// reaped last, so that its id, which is also its group's, cannot be reused before then.
    fn end(&mut self) -> ExitStatus {
        if let Some(status) = self.ended {
            return status;
        }
        // What cannot be killed now could not be killed later either; the run goes on.
        let worker = self.child.id();
        let mut ended = process::kill_tree(worker).unwrap_or_default();
        let status = self.child.wait().unwrap_or_default();
        for orphan in self.owner.children() {
            ended.extend(process::kill_tree(orphan).unwrap_or_default());
            ended.push(orphan);
        }
        // Those whose parents ended before them have been adopted by this process.
        for pid in ended.into_iter().filter(|pid| *pid != worker) {
            process::reap(pid);
        }
        // Where /proc does not show them, the group is all that is known of those that it left.
        process::reap_group(worker);
        scratch::sweep();
        self.ended = Some(status);
        status
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether there is something to read, or the end, before `time` has passed.
pub(super) fn readable_within(pipe: &impl AsFd, time: Duration) -> rustix::io::Result<bool> {
    let timeout = Timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&timeout)).map(|ready| ready > 0)
}

/// Whether the process has ended, without taking its status.
fn has_exited(child: &Child) -> bool {
    let Some(pid) = Pid::from_raw(child.id() as i32) else {
        return true;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}
