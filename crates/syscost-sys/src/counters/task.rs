//! What the kernel counted for any task of this user: a partner's switches, faults and time, read
//! from outside.

use std::cell::Cell;
use std::fs;
use std::ops::{Add, Sub};

use rustix::time::{ClockId, clock_gettime};

use super::proc_file::ProcFile;
use super::sched::{parse, parse_migrations};
use super::usage::Usage;
use crate::process::proc_of;
use crate::{Unsupported, os};

/// A thread of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId {
    /// Its process.
    pub process: u32,
    /// The thread's own id; equal to that of the process for its first thread.
    pub thread: u32,
}

impl TaskId {
    /// Returns the calling thread.
    pub fn own() -> TaskId {
        TaskId {
            process: std::process::id(),
            thread: os::thread_id(),
        }
    }

    /// The process that the kernel counts the task as part of, `Tgid` of proc(5): threads of one process
    /// share it.
    pub fn group(self) -> Result<u32, Unsupported> {
        let file = open(self, "status")?;
        let mut buffer = [0; 4096];
        let group = field(file.read(&mut buffer)?, "Tgid:");
        let group = group.and_then(|number| u32::try_from(number).ok());
        group.ok_or_else(|| file.unexpected())
    }
}

/// Where one task runs, by a file kept open: a single file, where [`TaskStat`] has four.
#[derive(Debug)]
pub struct TaskPlace(ProcFile);

/// The statistics of one task, kept open.
#[derive(Debug)]
pub struct TaskStat {
    task: TaskId,
    status: ProcFile,
    place: TaskPlace,
    schedule: Option<ProcFile>,
    /// Absent in kernels without CONFIG_SCHED_DEBUG.
    debug: Option<ProcFile>,
}

/// One reading of [`TaskStat`], or the sum of several tasks' readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskReading {
    /// Switches because it waited for something.
    pub voluntary_switches: u64,
    /// Switches because another task was to run.
    pub involuntary_switches: u64,
    /// Page faults served without reading from a device.
    pub minor_faults: u64,
    /// Page faults that had to read.
    pub major_faults: u64,
    /// Time on a processor, in ns; `None` where the kernel does not report it.
    pub run_ns: Option<u64>,
    /// Time ready to run but waiting for a processor, in ns; `None` where the kernel does not report it.
    pub delay_ns: Option<u64>,
    /// How often it was moved to another processor; `None` where the kernel does not report it.
    pub migrations: Option<u64>,
}

/// Opens one of the task's files in /proc.
pub(super) fn open(task: TaskId, name: &str) -> Result<ProcFile, Unsupported> {
    let process = proc_of(task.process)?;
    ProcFile::open(format!("{process}/task/{}/{name}", task.thread))
}

impl TaskPlace {
    /// Opens the file that says where a task runs.
    pub fn of(task: TaskId) -> Result<TaskPlace, Unsupported> {
        open(task, "stat").map(TaskPlace)
    }

    /// The processor it runs on, or ran on last.
    pub fn processor(&self) -> Result<u32, Unsupported> {
        Ok(self.numbers()?.processor)
    }

    fn numbers(&self) -> Result<Numbers, Unsupported> {
        let mut buffer = [0; 1024];
        Numbers::parse(self.0.read(&mut buffer)?).ok_or_else(|| self.0.unexpected())
    }
}

impl TaskStat {
    /// Opens the statistics of a task.
    ///
    /// # Errors
    /// `Unsupported` when there is no such task, or it is another user's.
    pub fn of(task: TaskId) -> Result<TaskStat, Unsupported> {
        Ok(TaskStat {
            task,
            status: open(task, "status")?,
            place: TaskPlace::of(task)?,
            schedule: open(task, "schedstat").ok(),
            debug: open(task, "sched").ok(),
        })
    }

    /// Reads them now.
    ///
    /// # Errors
    /// `Unsupported` when the task has ended, or the text is not as proc(5) describes.
    pub fn read(&self) -> Result<TaskReading, Unsupported> {
        let mut buffer = [0; 4096];
        let status = self.status.read(&mut buffer)?;
        let count = |name| field(status, name).ok_or_else(|| self.status.unexpected());
        let voluntary_switches = count("voluntary_ctxt_switches:")?;
        let involuntary_switches = count("nonvoluntary_ctxt_switches:")?;
        let stat = self.place.numbers()?;
        fn of<T>(file: &Option<ProcFile>, parse: fn(&str) -> Option<T>) -> Option<T> {
            let mut buffer = [0; 4096];
            parse(file.as_ref()?.read(&mut buffer).ok()?)
        }
        let schedule = of(&self.schedule, parse);
        Ok(TaskReading {
            voluntary_switches,
            involuntary_switches,
            minor_faults: stat.minor_faults,
            major_faults: stat.major_faults,
            run_ns: match self.task == TaskId::own() {
                true => Some(own_run_ns()),
                false => schedule.map(|now| now.run_ns),
            },
            delay_ns: schedule.map(|now| now.run_delay_ns),
            migrations: of(&self.debug, parse_migrations),
        })
    }

    /// The processor it runs on, or ran on last.
    pub fn processor(&self) -> Result<u32, Unsupported> {
        self.place.processor()
    }

    /// Whether it is asleep, waiting for something that can be interrupted.
    pub fn is_asleep(&self) -> Result<bool, Unsupported> {
        Ok(self.place.numbers()?.is_asleep)
    }
}

/// Time that the calling thread ran, in ns. For a running thread /proc reports its time as of the
/// last tick or switch, which does not change for milliseconds.
pub fn own_run_ns() -> u64 {
    run_ns_by(ClockId::ThreadCPUTime)
}

fn run_ns_by(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

thread_local! {
    /// How long processes ran that did operations for this thread, and their children, in ns.
    static SERVED_NS: Cell<u64> = const { Cell::new(0) };
}

/// Adds time to that of the processes that do operations for this thread.
pub(crate) fn add_served(ns: u64) {
    SERVED_NS.set(SERVED_NS.get() + ns);
}

/// How long the family of the calling thread ran: its process, children that ended and were waited for,
/// and processes that did operations for it ([`Lean`](crate::lean::Lean)) with theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FamilyRun {
    /// Time of all, in ns.
    pub ns: u64,
    /// That of the calling thread before and after the others' was read, in ns.
    own_ns: (u64, u64),
}

impl FamilyRun {
    /// Reads it now.
    ///
    /// # Errors
    /// `Unsupported` where a filter refuses to tell that of children.
    pub fn read() -> Result<Self, Unsupported> {
        let others_ns = os::children_run_ns()? + SERVED_NS.get();
        let before_ns = own_run_ns();
        let process_ns = run_ns_by(ClockId::ProcessCPUTime);
        Ok(Self {
            ns: process_ns + others_ns,
            own_ns: (before_ns, own_run_ns()),
        })
    }

    /// Whether others of the family than the calling thread ran since `before`.
    pub fn had_others_since(&self, before: &Self) -> bool {
        // Of the others' time the least that it can be now, and the most that it was.
        self.ns.saturating_sub(self.own_ns.1) > before.ns.saturating_sub(before.own_ns.0)
    }
}

/// The numbers of `/proc/PID/task/TID/stat` that are used here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    is_asleep: bool,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    processor: u32,
}

impl Numbers {
    /// Of a task; `None` of one that is not there.
    pub(crate) fn of(TaskId { process, thread }: TaskId) -> Option<Numbers> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/task/{thread}/stat")).ok()?)
    }

    /// Fields 3, 10, 12 and 39 of proc(5). The second, a name, may hold anything; the last
    /// parenthesis ends it.
    fn parse(text: &str) -> Option<Numbers> {
        let fields: Vec<&str> = text.rsplit_once(") ")?.1.split_ascii_whitespace().collect();
        // The first field after the name is the third.
        let field = |number: usize| fields.get(number - 3)?.parse().ok();
        Some(Numbers {
            is_asleep: *fields.first()? == "S",
            minor_faults: field(10)?,
            major_faults: field(12)?,
            processor: u32::try_from(field(39)?).ok()?,
        })
    }
}

fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().parse().ok()
}

impl TaskReading {
    /// Whether what was counted for this task, when it had ended, is all of what was counted for its program:
    /// other tasks have faults or, where they share its memory, at least switches.
    pub fn is_all_of(&self, whole: &Usage) -> bool {
        let switches = whole.voluntary_switches + whole.involuntary_switches;
        // Its last switch, at its end, may come after it was looked at.
        self.minor_faults == whole.minor_faults && switches <= self.switches() + 1
    }

    /// Voluntary and involuntary switches together: a wake-up that preempts counts as involuntary.
    pub fn switches(&self) -> u64 {
        self.voluntary_switches + self.involuntary_switches
    }
}

fn both(a: Option<u64>, b: Option<u64>, how: impl Fn(u64, u64) -> u64) -> Option<u64> {
    a.zip(b).map(|(a, b)| how(a, b))
}

impl Add for TaskReading {
    type Output = TaskReading;

    fn add(self, other: TaskReading) -> TaskReading {
        TaskReading {
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
            run_ns: both(self.run_ns, other.run_ns, |a, b| a + b),
            delay_ns: both(self.delay_ns, other.delay_ns, |a, b| a + b),
            migrations: both(self.migrations, other.migrations, |a, b| a + b),
        }
    }
}

impl Sub for TaskReading {
    type Output = TaskReading;

    fn sub(self, before: TaskReading) -> TaskReading {
        let since = u64::saturating_sub;
        TaskReading {
            voluntary_switches: since(self.voluntary_switches, before.voluntary_switches),
            involuntary_switches: since(self.involuntary_switches, before.involuntary_switches),
            minor_faults: since(self.minor_faults, before.minor_faults),
            major_faults: since(self.major_faults, before.major_faults),
            run_ns: both(self.run_ns, before.run_ns, since),
            delay_ns: both(self.delay_ns, before.delay_ns, since),
            migrations: both(self.migrations, before.migrations, since),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_stand_behind_a_name_that_may_hold_anything() {
        let text = "7 (a) b (c) S 1 7 7 0 -1 4194560 123 0 5 0 0 0 0 0 20 0 1 0 100 1000 10 \
                    184 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0";
        assert_eq!(
            Numbers::parse(text),
            Some(Numbers {
                is_asleep: true,
                minor_faults: 123,
                major_faults: 5,
                processor: 3
            })
        );
        assert_eq!(Numbers::parse("7 (a) S 1"), None);
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
        assert_eq!(field(status, "voluntary_ctxt_switches:"), Some(150));
        assert_eq!(field(status, "nonvoluntary_ctxt_switches:"), Some(545));
    }

    #[test]
    fn threads_of_the_process_are_of_the_family() {
        let before = or_skip!(FamilyRun::read());
        let spin = || while own_run_ns() < 1_000_000 {};
        std::thread::spawn(spin).join().unwrap();
        let after = FamilyRun::read().unwrap();
        assert!(after.had_others_since(&before) && after.ns - before.ns > 1_000_000);
    }

    #[test]
    fn another_threads_sleeps_are_its_switches() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            sender.send(TaskId::own()).unwrap();
            while wait.recv().is_ok() {
                std::thread::sleep(std::time::Duration::from_micros(10));
            }
        });
        let task = receiver.recv().unwrap();
        match TaskStat::of(task) {
            Ok(stat) => {
                assert_ne!(task, TaskId::own());
                assert_eq!(task.group(), Ok(std::process::id()));
                let before = stat.read().unwrap();
                for _ in 0..5 {
                    go.send(()).unwrap();
                }
                // It has slept when it waits for more.
                let slept = || (stat.read().unwrap() - before).voluntary_switches;
                while slept() < 5 {
                    std::thread::yield_now();
                }
                let allowed = crate::cpu::allowed().unwrap();
                assert!(allowed.contains(&stat.processor().unwrap()));
            }
            Err(reason) => println!("skipped: {reason}"),
        }
        drop(go);
        thread.join().unwrap();
    }

    #[test]
    fn a_thread_that_runs_sees_its_own_time_pass() {
        let stat = or_skip!(TaskStat::of(TaskId::own()));
        let before = stat.read().unwrap().run_ns;
        (0..1_000_u64).for_each(|iteration| {
            std::hint::black_box(iteration);
        });
        assert!(stat.read().unwrap().run_ns > before);
    }
}
