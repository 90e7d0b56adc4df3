//! The coordinator's side: gives workers their jobs and records their results.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use syscost_sys::{process, scratch};

use super::child::{Heard, Worker};
use super::{Job, Program, Reply};
use crate::bencher::Findings;
use crate::failure::Failure;

/// Maximum number of attempts to start a worker.
const ATTEMPTS: u32 = 2;

/// A case may wait behind other programs for this many times its limit.
const MAX_WAITED: u32 = 4;

/// A shorter wait does not lengthen its time.
const MIN_WAITED: Duration = Duration::from_millis(50);

/// Ctrl-C, or a similar signal, arrived before a worker ended.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Why a worker could not be run at all. The result of one that ran is an [`Outcome`].
#[derive(Debug, thiserror::Error)]
enum WorkerError {
    /// The process could not be started.
    #[error("starting a worker process from {0}: {1}")]
    Start(PathBuf, io::Error),
    /// It ended before it had read its job.
    #[error("a worker ended before it could begin ({0}): {1}")]
    NoBegin(ExitStatus, String),
    /// Ctrl-C.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// The result of one worker.
#[derive(Debug)]
pub struct Outcome {
    /// By index into the job's cases; `None` for cases it did not reach.
    pub results: Vec<Option<Result<Findings, Failure>>>,
    /// From the start of the process to its first reply.
    pub started_in: Duration,
    /// Whether the deadline ended it.
    pub is_late: bool,
    /// How it ended: what the cases that it did not reach have in place of a result.
    pub ending: String,
}

/// Starts workers and makes sure that nothing of them survives.
pub struct Launcher<'a> {
    program: Program,
    time_limit: Duration,
    interrupted: &'a AtomicBool,
}

impl<'a> Launcher<'a> {
    /// A launcher of this program's workers. Makes this process adopt the orphans of workers, so that they
    /// can be found and ended.
    ///
    /// `time_limit` is per case; `interrupted` is checked every 50 ms.
    pub fn new(program: Program, time_limit: Duration, interrupted: &'a AtomicBool) -> Self {
        // Without it orphans are found as long as their parent lives.
        let _ = process::become_subreaper();
        // Removes what an earlier run that was killed left behind.
        scratch::sweep();
        Self {
            program,
            time_limit,
            interrupted,
        }
    }

    /// Maximum time of a case, without what its tasks wait for a CPU.
    pub fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// Runs one job to its end, or to the end of its first hanging or crashing case, or to the
    /// deadline, when it is killed. If no worker starts, a second attempt is made: memory or
    /// processes may have been short for a moment. If that fails too, every case has the reason
    /// instead of a result.
    ///
    /// # Errors
    /// On Ctrl-C.
    pub fn run(
        &self,
        job: &Job,
        padding: usize,
        deadline: Option<Instant>,
    ) -> Result<Outcome, Interrupted> {
        let mut why = String::new();
        for _ in 0..ATTEMPTS {
            match self.attempt(job, padding, deadline) {
                Ok(outcome) => return Ok(outcome),
                Err(WorkerError::Interrupted(interrupted)) => return Err(interrupted),
                Err(error) => why = error.to_string(),
            }
        }
        Ok(Outcome {
            results: vec![Some(Err(Failure::Failed(why.clone()))); job.cases.len()],
            started_in: Duration::ZERO,
            is_late: false,
            ending: why,
        })
    }

    fn attempt(
        &self,
        job: &Job,
        padding: usize,
        deadline: Option<Instant>,
    ) -> Result<Outcome, WorkerError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Interrupted.into());
        }
        let begun = Instant::now();
        let mut worker = Worker::start(&self.program, job, padding)
            .map_err(|cause| WorkerError::Start(self.program.binary.clone(), cause))?;
        let mut outcome = Outcome {
            results: vec![None; job.cases.len()],
            started_in: Duration::ZERO,
            is_late: false,
            ending: String::new(),
        };
        let (mut current, mut wait) = (None, Wait::default());
        let ending = loop {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            let limit = wait.more.unwrap_or(self.time_limit);
            let limit = left.map_or(limit, |left| left.min(limit));
            match worker.next_reply(limit, self.interrupted) {
                Heard::Reply(Reply::Ready) => outcome.started_in = begun.elapsed(),
                Heard::Reply(Reply::Begin(index) | Reply::Done(index, _))
                    if index >= job.cases.len() =>
                {
                    break format!("the worker spoke of a case {index}, which it does not have");
                }
                Heard::Reply(Reply::Begin(index)) => {
                    (current, wait) = (Some(index), Wait::since(worker.waited()));
                }
                Heard::Reply(Reply::Done(index, result)) => {
                    (current, wait.more) = (None, None);
                    outcome.results[index] = Some(*result);
                }
                Heard::Interrupt => return Err(Interrupted.into()),
                Heard::Silence if left.is_some_and(|left| left <= limit) => {
                    outcome.is_late = true;
                    return Ok(outcome);
                }
                Heard::Silence if wait.is_longer(worker.waited(), self.time_limit) => {}
                Heard::Silence => break wait.reason(self.time_limit),
                Heard::Garbage(text) => break format!("the worker said `{text}`"),
                Heard::Lost(what) => break what,
                Heard::End => {
                    let (status, stderr) = worker.ending();
                    if outcome.started_in.is_zero() {
                        let stderr = stderr.trim().to_owned();
                        return Err(WorkerError::NoBegin(status, stderr));
                    }
                    break describe_end(status, &stderr);
                }
            }
        };
        if let Some(index) = current {
            outcome.results[index] = Some(Err(Failure::Failed(ending.clone())));
        }
        outcome.ending = ending;
        Ok(outcome)
    }
}

/// What the tasks of a case waited for a CPU behind others, and its time is longer by.
#[derive(Debug, Default)]
struct Wait {
    /// What they had waited when it began.
    before: Duration,
    /// What it was given.
    given: Duration,
    /// What it was given last, and lasts from now on.
    more: Option<Duration>,
}

impl Wait {
    fn since(before: Duration) -> Self {
        Self {
            before,
            ..Self::default()
        }
    }

    /// Gives the case what its tasks have waited by now and it was not given yet; false if they
    /// have hardly waited since, or too long already.
    fn is_longer(&mut self, waited: Duration, limit: Duration) -> bool {
        let waited = waited.saturating_sub(self.before).min(MAX_WAITED * limit);
        let more = waited.saturating_sub(self.given);
        let is_longer = more >= MIN_WAITED;
        if is_longer {
            (self.given, self.more) = (waited, Some(more));
        }
        is_longer
    }

    fn reason(&self, limit: Duration) -> String {
        let seconds = limit.as_secs_f64();
        let waited = match self.given.as_secs_f64() {
            0.0 => String::new(),
            given => format!(" and {given:.1} s in which it waited for a CPU"),
        };
        format!("still running after {seconds} s{waited}; raise --time-limit")
    }
}

fn describe_end(status: ExitStatus, stderr: &str) -> String {
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("the worker was ended by signal {signal}"),
        (None, Some(code)) => format!("the worker exited with {code}"),
        (None, None) => "the worker ended".to_owned(),
    };
    // Some messages begin with an empty line.
    match stderr.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("{how}: {line}"),
        None => how,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_the_time_that_it_waits_behind_others_up_to_a_limit() {
        let ms = Duration::from_millis;
        let (limit, mut wait) = (ms(1000), Wait::since(ms(300)));
        let reason = "still running after 1 s; raise --time-limit";
        assert_eq!(wait.reason(limit), reason);
        let reason = "still running after 0.01 s; raise --time-limit";
        assert_eq!(wait.reason(ms(10)), reason);
        assert!(!wait.is_longer(ms(340), limit), "it hardly waited");
        assert!(wait.is_longer(ms(900), limit));
        assert_eq!(wait.more, Some(ms(600)));
        assert!(!wait.is_longer(ms(940), limit), "it has that already");
        assert!(wait.is_longer(ms(60_000), limit));
        assert!(!wait.is_longer(ms(90_000), limit), "too long");
        let reason =
            "still running after 1 s and 4.0 s in which it waited for a CPU; raise --time-limit";
        assert_eq!(wait.reason(limit), reason);
    }

    #[test]
    fn the_last_words_of_a_worker_are_its_first_line_that_says_something() {
        let aborted = ExitStatus::from_raw(6);
        for (stderr, words) in [
            ("", "the worker was ended by signal 6"),
            ("\n \n", "the worker was ended by signal 6"),
            (
                "\nthread 'main' has overflowed its stack\nmore\n",
                "the worker was ended by signal 6: thread 'main' has overflowed its stack",
            ),
        ] {
            assert_eq!(describe_end(aborted, stderr), words);
        }
    }
}
