//! The coordinator's side: starts a worker, watches it, ends it with all it started.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use syscost_sys::process::Owner;
use syscost_sys::{process, scratch};

use super::{ARGUMENT, Job, Program, Reply};
use crate::bencher::Findings;
use crate::failure::Failure;
use crate::trial::Trial;

/// Largest padding of a worker's environment, in bytes: one page, so that its stack starts anywhere in one.
const MOST_PADDING: usize = 4096;

/// Most of a worker's own words that is kept, in bytes.
const MOST_STDERR: usize = 4096;

/// The variable by which processes are known that a worker of this run started.
const OWNER: &str = "SYSCOST_OWNER";

/// Its value.
static RUN: OnceLock<String> = OnceLock::new();

/// A worker that says nothing for so long is looked at: twice in a row tells that a partner is lost, within 0.1 s.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How long a worker may take to exit once it has closed its output.
const LINGER: Duration = Duration::from_secs(1);

/// Why a worker could not be run at all. What it does once it runs is an [`Outcome`].
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The process could not be started.
    #[error("starting a worker process from {binary}: {cause}")]
    Start {
        /// The binary that was to be executed.
        binary: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// It ended before it had read its job.
    #[error("a worker ended before it could begin ({status}): {stderr}")]
    NoBegin {
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        stderr: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

/// What one worker did.
#[derive(Debug)]
pub struct Outcome {
    /// By index into the job's cases; `None` for cases it never came to.
    pub results: Vec<Option<Result<Findings, Failure>>>,
    /// From before the start of the process to its first word.
    pub started_in: Duration,
    /// Whether the deadline ended it.
    pub is_late: bool,
}

/// Starts workers and sees that nothing of them survives.
pub struct Launcher<'a> {
    program: Program,
    time_limit: Duration,
    interrupted: &'a AtomicBool,
}

impl<'a> Launcher<'a> {
    /// A launcher of this program's workers. Makes this process the one that orphans of a worker fall to, so that they
    /// can be found and ended.
    ///
    /// `time_limit` is per case; `interrupted` is looked at whenever a signal arrives.
    pub fn new(program: Program, time_limit: Duration, interrupted: &'a AtomicBool) -> Self {
        // Without it orphans are found as long as their parent lives.
        let _ = process::become_subreaper();
        // What an earlier run left behind that was killed.
        scratch::sweep();
        Self {
            program,
            time_limit,
            interrupted,
        }
    }

    /// How long a case may take.
    pub fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// Runs one job to its end, or to the end of its first hanging or crashing case, or to the deadline, when it is ended whatever it does. Where
    /// no worker begins, a second one is tried: memory or processes may have been short for a moment. If that does not begin either, no case has a result but
    /// why.
    ///
    /// # Errors
    /// [`WorkerError::Interrupted`] on Ctrl-C.
    pub fn run(
        &self,
        job: &Job,
        padding: usize,
        deadline: Option<Instant>,
    ) -> Result<Outcome, WorkerError> {
        let attempt = || match self.attempt(job, padding, deadline) {
            Err(error @ (WorkerError::Start { .. } | WorkerError::NoBegin { .. })) => {
                Ok(Err(error))
            }
            other => other.map(Ok),
        };
        let mut outcome = attempt()?;
        if outcome.is_err() {
            outcome = attempt()?;
        }
        Ok(outcome.unwrap_or_else(|error| {
            let failure = Failure::Failed(error.to_string());
            Outcome {
                results: vec![Some(Err(failure)); job.cases.len()],
                started_in: Duration::ZERO,
                is_late: false,
            }
        }))
    }

    fn attempt(
        &self,
        job: &Job,
        padding: usize,
        deadline: Option<Instant>,
    ) -> Result<Outcome, WorkerError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(WorkerError::Interrupted);
        }
        let begun = Instant::now();
        let mut worker = Worker::start(&self.program, job, padding)?;
        let mut outcome = Outcome {
            results: vec![None; job.cases.len()],
            started_in: Duration::ZERO,
            is_late: false,
        };
        let mut current = None;
        let ending = loop {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            let limit = left.map_or(self.time_limit, |left| left.min(self.time_limit));
            match worker.next_reply(limit, self.interrupted) {
                Heard::Reply(Reply::Ready) => outcome.started_in = begun.elapsed(),
                Heard::Reply(Reply::Begin(index) | Reply::Done(index, _))
                    if index >= job.cases.len() =>
                {
                    break format!("the worker told of a case {index}, which it does not have");
                }
                Heard::Reply(Reply::Begin(index)) => current = Some(index),
                Heard::Reply(Reply::Done(index, result)) => {
                    current = None;
                    outcome.results[index] = Some(*result);
                }
                Heard::Interrupt => return Err(WorkerError::Interrupted),
                Heard::Silence if left.is_some_and(|left| left <= limit) => {
                    outcome.is_late = true;
                    return Ok(outcome);
                }
                Heard::Silence => {
                    break format!("still running after {:.0} s", self.time_limit.as_secs_f64());
                }
                Heard::Garbage(text) => break format!("the worker said `{text}`"),
                Heard::Lost(what) => break what,
                Heard::End => {
                    let (status, stderr) = worker.ending();
                    if outcome.started_in.is_zero() {
                        let stderr = stderr.trim().to_owned();
                        return Err(WorkerError::NoBegin { status, stderr });
                    }
                    break describe_end(status, &stderr);
                }
            }
        };
        if let Some(index) = current {
            outcome.results[index] = Some(Err(Failure::Failed(ending)));
        }
        Ok(outcome)
    }
}

fn describe_end(status: ExitStatus, stderr: &str) -> String {
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("the worker was ended by signal {signal}"),
        (None, Some(code)) => format!("the worker exited with {code}"),
        (None, None) => "the worker ended".to_owned(),
    };
    match stderr.lines().next() {
        Some(line) => format!("{how}: {line}"),
        None => how,
    }
}

enum Heard {
    Reply(Reply),
    Garbage(String),
    /// One of its processes was killed, and it waits for it.
    Lost(String),
    Silence,
    Interrupt,
    End,
}

struct Worker {
    child: Child,
    replies: ChildStdout,
    unread: Vec<u8>,
    ended: Option<ExitStatus>,
    /// By which what it leaves behind is told from what others started that fell to this process.
    owner: Owner,
    /// Its children that were killed and not waited for when it was last looked at.
    killed: Vec<(u32, i32)>,
}

impl Worker {
    fn start(program: &Program, job: &Job, padding: usize) -> Result<Self, WorkerError> {
        let failed = |cause| WorkerError::Start {
            binary: program.binary.clone(),
            cause,
        };
        let mut line = serde_json::to_vec(job).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        let mut command = Command::new(&program.binary);
        // A trial is the run's, which tells it, and not the shell's.
        for trial in Trial::ALL {
            command.env_remove(trial.variable());
        }
        for (name, value) in &program.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let run = RUN.get_or_init(|| format!("{}-{:x}", std::process::id(), fastrand::u64(..)));
        let mut child = command
            .arg(ARGUMENT)
            .env(OWNER, run)
            .env("SYSCOST_PADDING", "x".repeat(padding % MOST_PADDING))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: the terminal's Ctrl-C reaches the coordinator alone.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let (replies, input) = (child.stdout.take(), child.stdin.take());
        let replies = replies.expect("standard output was asked to be a pipe");
        let mut input = input.expect("standard input was asked to be a pipe");
        let worker = Self {
            owner: Owner {
                group: child.id(),
                variable: format!("{OWNER}={run}"),
            },
            child,
            replies,
            unread: Vec::new(),
            ended: None,
            killed: Vec::new(),
        };
        match input.write_all(&line) {
            // A worker that ended at once is told apart by its exit.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed(error)),
            _ => Ok(worker),
        }
    }

    /// The next line, however long `limit` lets us wait for the whole of it.
    fn next_reply(&mut self, limit: Duration, interrupted: &AtomicBool) -> Heard {
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

    /// A child of the worker that a signal ended before the last look, and that it has not waited for since: a partner that it waits for in vain. What
    /// it kills itself it waits for at once.
    fn lost_child(&mut self) -> Option<String> {
        let killed = process::killed_children(self.child.id());
        let lost = killed.iter().find(|child| self.killed.contains(child));
        let lost = lost.map(|(pid, signal)| {
            format!("its process {pid} was ended by signal {signal}, by somebody else")
        });
        self.killed = killed;
        lost
    }

    /// How a worker that closed its output ended, and what it said. One that lingers is ended.
    fn ending(&mut self) -> (ExitStatus, String) {
        let deadline = Instant::now() + LINGER;
        while !has_exited(&self.child) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(100));
        }
        let mut stderr = [0; MOST_STDERR];
        let said = match &mut self.child.stderr {
            // Its children may hold the pipe open: what is not there now is not waited for.
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

    /// Ends the worker and everything it started, and nothing else: this process may have children of whoever started it, a shell that went on as
    /// `exec syscost`. The worker's own process is reaped last, so that its id, which is also its group's, cannot be another's by the time it is used.
    fn end(&mut self) -> ExitStatus {
        if let Some(status) = self.ended {
            return status;
        }
        // What cannot be killed by now could not be later either; the run goes on.
        let worker = self.child.id();
        let mut ended = process::kill_tree(worker).unwrap_or_default();
        let status = self.child.wait().unwrap_or_default();
        for orphan in self.owner.children() {
            ended.extend(process::kill_tree(orphan).unwrap_or_default());
            ended.push(orphan);
        }
        // Those whose parents ended before them are this process's by now.
        for pid in ended.into_iter().filter(|pid| *pid != worker) {
            process::reap(pid);
        }
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

pub(super) fn readable_within(pipe: &impl AsFd, time: Duration) -> rustix::io::Result<bool> {
    let timeout = Timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&timeout)).map(|ready| ready > 0)
}

/// Whether the process has ended; it stays to be waited for.
fn has_exited(child: &Child) -> bool {
    let Some(pid) = Pid::from_raw(child.id() as i32) else {
        return true;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}
