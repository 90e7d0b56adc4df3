//! Starting a partner, knowing where it runs, and ending it.

use std::fmt;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle};

use syscost_params::Value;

use crate::counters::TaskId;
use crate::{cpu, os, process};

/// What the partners are: processes or threads.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[value(role = TaskKind)]
pub enum Between {
    /// Two processes, each with memory of its own.
    Processes,
    /// Two threads of one process.
    Threads,
}

/// Why a partner could not be started, or how it failed.
#[derive(Debug, thiserror::Error)]
pub enum PartnerError {
    /// It could not be started.
    #[error("starting a partner ({0}): {1}")]
    Start(&'static str, std::io::Error),
    /// It ended before it was ready.
    #[error("a partner could not begin: {0}")]
    NotReady(String),
    /// Its work failed.
    #[error("a partner failed: {0}")]
    Failed(String),
}

/// A task that works with the one that started it.
///
/// A partner process is killed when this is dropped, and when its creator ends. A partner thread
/// must be ended through the objects that it works with; it ends with the process at the latest.
#[derive(Debug)]
pub struct Partner {
    task: TaskId,
    reports: PipeReader,
    handle: Handle,
}

#[derive(Debug)]
enum Handle {
    /// The child's process id, until it has been waited for.
    Process(Option<u32>),
    Thread(Option<JoinHandle<bool>>),
}

/// A partner's work; its error says why it failed.
type Work = Box<dyn FnOnce() -> Result<(), String>>;

/// The preparation of the work, which runs in the partner.
type Prepare = Box<dyn FnOnce() -> Result<Work, String> + Send>;

/// The first byte of a task's first report.
const READY: u8 = b'+';

impl Partner {
    /// Starts `work` in another task that may use these processors, and returns when it is about to begin.
    ///
    /// When it starts a process, the caller should have no threads but partners.
    ///
    /// # Errors
    /// When the task cannot be started, or it may not use these processors.
    pub fn start<E: fmt::Display>(
        between: Between,
        cpus: &[u32],
        work: impl FnOnce() -> Result<(), E> + Send + 'static,
    ) -> Result<Partner, PartnerError> {
        Self::start_prepared(between, cpus, || Ok(()), |()| work())
    }

    /// As [`Partner::start`], with something to `prepare` in the partner first: returns when it is prepared.
    ///
    /// # Errors
    /// As above, or [`PartnerError::NotReady`] with what `prepare` returned.
    pub fn start_prepared<P: 'static, E: fmt::Display>(
        between: Between,
        cpus: &[u32],
        prepare: impl FnOnce() -> Result<P, E> + Send + 'static,
        work: impl FnOnce(P) -> Result<(), E> + Send + 'static,
    ) -> Result<Partner, PartnerError> {
        let prepare = move || {
            let prepared = prepare().map_err(|error| error.to_string())?;
            let work = move || work(prepared).map_err(|error| error.to_string());
            Ok(Box::new(work) as Work)
        };
        Self::start_boxed(between, cpus, Box::new(prepare))
    }

    /// [`Partner::start_prepared`] without type parameters, so that it is compiled only once.
    fn start_boxed(
        between: Between,
        cpus: &[u32],
        prepare: Prepare,
    ) -> Result<Partner, PartnerError> {
        let failed = |what| move |cause| PartnerError::Start(what, cause);
        let (reports, report) = pipe().map_err(failed("pipe"))?;
        let cpus = cpus.to_vec();
        let handle = match between {
            Between::Threads => {
                let body = move || run(report, || pinned(&cpus), prepare);
                let thread = thread::Builder::new().spawn(body);
                Handle::Thread(Some(thread.map_err(failed("thread"))?))
            }
            Between::Processes => {
                let maker = std::process::id();
                let mut parts = Some((report, prepare));
                let child = os::fork(&mut || {
                    let Some((report, prepare)) = parts.take() else {
                        return 1;
                    };
                    let follow = || {
                        process::die_with_parent(maker).map_err(|error| error.to_string())?;
                        pinned(&cpus)
                    };
                    i32::from(!run(report, follow, prepare))
                });
                Handle::Process(Some(child.map_err(failed("fork"))?))
            }
        };
        let mut partner = Partner {
            task: TaskId::own(),
            reports,
            handle,
        };
        partner.task = partner.greeting()?;
        Ok(partner)
    }

    /// The partner's task id.
    pub fn task(&self) -> TaskId {
        self.task
    }

    fn end(&self) {
        if let Handle::Process(Some(child)) = self.handle {
            // A process that has ended already is only waited for.
            let _ = os::kill_process(child);
            let _ = os::wait_for(child);
        }
    }

    /// Whether it has ended, successfully or not, or has reported its failure and is about to end.
    /// Costs a system call.
    pub fn has_ended(&self) -> bool {
        os::is_readable(self.reports.as_fd())
    }

    /// Waits until the partner has ended by itself, and reports its failure.
    ///
    /// # Errors
    /// [`PartnerError::Failed`] with what its work returned, or how its process ended.
    pub fn join(mut self) -> Result<(), PartnerError> {
        let ended = self.ending();
        ended.map_err(|how| {
            let mut said = String::new();
            // No writer of the pipe is left, so this reads everything that was written before the end.
            let _ = self.reports.read_to_string(&mut said);
            PartnerError::Failed(if said.is_empty() { how } else { said })
        })
    }

    /// Waits until it has ended, and returns how, unless it ended well. Once only.
    fn ending(&mut self) -> Result<(), String> {
        match &mut self.handle {
            Handle::Process(child) => {
                let child = child.take().expect("it is taken here, once");
                match os::wait_for(child) {
                    Ok(0) => Ok(()),
                    // As in shells: 128 plus the signal's number.
                    Ok(code @ 129..=192) => {
                        Err(format!("its process was killed by signal {}", code - 128))
                    }
                    Ok(code) => Err(format!("its process ended with {code}")),
                    Err(cause) => Err(format!("waiting for it: {cause}")),
                }
            }
            Handle::Thread(thread) => {
                let thread = thread.take().expect("it is taken here, once");
                match thread.join() {
                    Ok(true) => Ok(()),
                    Ok(false) | Err(_) => Err("its thread ended badly".to_owned()),
                }
            }
        }
    }

    /// Waits until the partner is ready, and returns its task id.
    fn greeting(&mut self) -> Result<TaskId, PartnerError> {
        let mut first = [0; 9];
        let result = self.reports.read_exact(&mut first);
        if result.is_ok() && first[0] == READY {
            let number = |at: usize| {
                u32::from_le_bytes([first[at], first[at + 1], first[at + 2], first[at + 3]])
            };
            return Ok(TaskId {
                process: number(1),
                thread: number(5),
            });
        }
        let mut said = String::from_utf8_lossy(&first)
            .trim_end_matches('\0')
            .to_owned();
        let _ = self.reports.read_to_string(&mut said);
        if said.is_empty() {
            let how = self.ending().err();
            said = how.unwrap_or_else(|| "it ended without a word".to_owned());
        }
        Err(PartnerError::NotReady(said))
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.end();
    }
}

fn pinned(cpus: &[u32]) -> Result<(), String> {
    cpu::pin_to(cpus).map_err(|error| error.to_string())
}

/// The task's side: take its place, prepare, report that it is ready, work, report a failure.
/// Returns whether all went well.
fn run(
    mut report: PipeWriter,
    take_place: impl FnOnce() -> Result<(), String>,
    prepare: Prepare,
) -> bool {
    let result = take_place().and_then(|()| {
        let work = caught(prepare)?;
        let own = TaskId::own();
        let mut greeting = vec![READY];
        greeting.extend(own.process.to_le_bytes());
        greeting.extend(own.thread.to_le_bytes());
        report
            .write_all(&greeting)
            .map_err(|error| error.to_string())?;
        caught(work)
    });
    if let Err(reason) = &result {
        // If there is no reader any more, the way the task ends shows the failure.
        let _ = report.write_all(reason.as_bytes());
    }
    result.is_ok()
}

/// The work's result; a panic is a failure.
fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("it panicked".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partner::Shared;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    fn each(test: impl Fn(Between)) {
        or_skip!(cpu::allowed(), "no affinity here");
        Between::ALL.into_iter().for_each(test);
    }

    #[test]
    fn a_partner_is_there_pinned_and_ends_well() {
        each(|between| {
            let last = *cpu::allowed().unwrap().last().unwrap();
            let seen = Shared::new(AtomicU32::new(u32::MAX)).unwrap();
            let theirs = seen.clone();
            let partner = Partner::start(between, &[last], move || {
                theirs.store(cpu::current(), SeqCst);
                Ok::<(), String>(())
            })
            .unwrap();
            let same_process = partner.task().process == std::process::id();
            assert_eq!(same_process, between == Between::Threads);
            assert_ne!(partner.task(), TaskId::own());
            partner.join().unwrap();
            assert_eq!(seen.load(SeqCst), last);
        });
    }

    #[test]
    fn failures_are_reported() {
        each(|between| {
            let all = cpu::allowed().unwrap();
            let failing = Partner::start(between, &all, || Err("no luck"));
            let failing = failing.unwrap();
            while !failing.has_ended() {
                thread::yield_now();
            }
            assert_eq!(
                failing.join().unwrap_err().to_string(),
                "a partner failed: no luck"
            );
            let nowhere = Partner::start(between, &[9_999], || Ok::<(), String>(()));
            assert!(nowhere.unwrap_err().to_string().contains("9999"));
        });
    }

    #[test]
    fn a_partner_is_ready_once_it_is_prepared() {
        each(|between| {
            let all = cpu::allowed().unwrap();
            let steps = Shared::new(AtomicU32::new(0)).unwrap();
            let (first, second) = (steps.clone(), steps.clone());
            let prepare = move || {
                first.store(1, SeqCst);
                Ok(1)
            };
            let work = move |done| {
                while second.load(SeqCst) == done {
                    thread::yield_now();
                }
                Ok::<(), String>(())
            };
            let partner = Partner::start_prepared(between, &all, prepare, work).unwrap();
            assert_eq!(steps.swap(2, SeqCst), 1);
            partner.join().unwrap();
            let unready = Partner::start_prepared(between, &all, || Err("no room"), Ok);
            let why = unready.unwrap_err().to_string();
            assert_eq!(why, "a partner could not begin: no room");
        });
    }

    #[test]
    fn a_killed_partner_has_ended() {
        let all = or_skip!(cpu::allowed(), "no affinity here");
        let partner = Partner::start(Between::Processes, &all, || -> Result<(), String> {
            std::process::abort()
        });
        let partner = partner.unwrap();
        while !partner.has_ended() {
            thread::yield_now();
        }
        let how = partner.join().unwrap_err().to_string();
        assert!(how.contains("killed by signal 6"), "{how}");
        let prepare = || -> Result<(), String> { std::process::abort() };
        let unready = Partner::start_prepared(Between::Processes, &all, prepare, Ok);
        let why = unready.unwrap_err().to_string();
        let expected = "a partner could not begin: its process was killed by signal 6";
        assert_eq!(why, expected);
    }

    #[test]
    fn a_dropped_partner_process_is_gone() {
        let all = or_skip!(cpu::allowed(), "no affinity here");
        let partner = Partner::start(Between::Processes, &all, || -> Result<(), String> {
            loop {
                thread::park();
            }
        })
        .unwrap();
        let pid = partner.task().process;
        assert!(!partner.has_ended(), "it is parked");
        drop(partner);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }
}
