//! Shared: one run of a command, with what the kernel counted of it and all that it started.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{self as program, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};
use syscost_harness::bencher::Often;
use syscost_harness::commands::{Command, Output, Said};
use syscost_harness::prelude::*;
use syscost_sys::audit::of_programs;
use syscost_sys::clock::Clock;
use syscost_sys::counters::{Io, IoReader, TaskStat};
use syscost_sys::files;
use syscost_sys::lean::{Lean, Script, ScriptCall};
use syscost_sys::process::{self, ChildEnd, Owner, proc_of};

/// Maximum number of bytes that a command prints: they are kept in memory until it ends.
const MAX_PRINTED: u64 = 256 << 20;

/// Maximum number of processes of a command at a time.
const MAX_PROCESSES: usize = 4096;

/// How often what it prints is looked at while it runs, and its processes: a look at either takes some
/// microseconds, and some hundred.
const LOOK: Duration = Duration::from_millis(50);
const LOOK_AT_PROCESSES: Duration = Duration::from_secs(1);

/// How often the core is looked at while a command runs on it: that takes its CPU for half a percent of the
/// time.
const OFTEN: Duration = Duration::from_millis(2);

/// How long what it started may take to end after it: more is left running.
const GRACE: Duration = Duration::from_millis(20);

/// A run of a command.
#[derive(Debug, Clone)]
pub struct Run {
    /// What is a sample of it.
    pub execution: Execution,
    /// How it ended, and what it printed.
    pub said: Said,
    /// The last line on standard error.
    pub complaint: String,
    /// Its length by the processor's counter, read by who starts it, in ns; `None` where the run has another clock.
    pub(super) counter_ns: Option<f64>,
    /// The time from before its start until its end was seen, by the system's clock, in ns.
    pub(super) around_ns: f64,
    /// CPU time of its first task by the scheduler, in ns.
    pub(super) scheduled_ns: Option<f64>,
    /// What it and the children that it waited for read and wrote; `None` where the kernel does not tell.
    pub(super) moved: Option<Io>,
}

impl Run {
    /// Its length, in ns.
    pub fn wall_ns(&self) -> f64 {
        self.execution.also[WALL]
    }
}

/// The names of what is seen of a run besides its CPU time.
pub(super) const WALL: &str = "wall_ns";
pub(super) const WAITED: &str = "waited_ns";
pub(super) const PEAK: &str = "peak_bytes";

/// Does what precedes a run.
///
/// # Errors
/// A step that failed.
pub fn prepare(command: &Command) -> Result<(), Failure> {
    if let Some(step) = &command.prepare {
        shell(step).map_err(|why| Failure::Failed(format!("--prepare {step}: {why}")))?;
    }
    for path in &command.warm {
        let read = File::open(path).and_then(|mut file| io::copy(&mut file, &mut io::sink()));
        read.map_err(|cause| Failure::of(&format!("read {}", path.display()), cause))?;
    }
    for path in &command.cold {
        let file = File::open(path);
        let file = file.map_err(|cause| Failure::of(&format!("open {}", path.display()), cause))?;
        let dropped = files::drop_cache(&file);
        dropped.map_err(|cause| Failure::Failed(format!("--cold {}: {cause}", path.display())))?;
    }
    Ok(())
}

/// Has a shell do this, without input.
///
/// # Errors
/// How it ended, with the last line that it said.
pub fn shell(step: &str) -> Result<(), String> {
    let failed = |cause: io::Error| format!("/bin/sh: {cause}");
    // Not a pipe, whose end a process that it leaves running would keep open.
    let said = files::in_memory("syscost-step").map_err(failed)?;
    let status = program::Command::new("/bin/sh")
        .args(["-c", step])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said.try_clone().map_err(failed)?)
        .status()
        .map_err(failed)?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{status}: {}", last_line(said))),
    }
}

/// Runs a command once, on these CPUs, and ends it if it takes longer than it may, or at Ctrl-C. Meanwhile
/// `often` is called every 2 ms.
pub fn run(
    command: &Command,
    clock: Option<&Clock>,
    cpus: &[u32],
    interrupted: Option<&AtomicBool>,
    often: Option<Often<'_>>,
) -> Result<Run, Failure> {
    let Start {
        mut started,
        printed,
        complaints,
    } = Start::of(command, cpus, Then::Run)?;
    let lean = started.lean()?;
    let is_watched = often.is_some();
    let begun = Instant::now();
    let begun_ns = own_cpu_ns();
    let limits = Limits {
        outputs: [printed.as_ref(), Some(&complaints)],
        deadline: begun + Duration::from_secs_f64(command.time_limit_s),
        interrupted,
    };
    of_programs(|| {
        lean.begin(0, 1).tried("start the command")?;
        limits.watch(lean, often)
    })?;
    let around_ns = begun.elapsed().as_nanos() as f64;
    // Who watches it takes its CPU.
    let watched_ns = if is_watched {
        own_cpu_ns() - begun_ns
    } else {
        0
    };
    let done = lean.done(0, 1).tried("start the command")?;
    let pid = done.iterations().next().map_or(0, |words| words[0]);
    let pid = u32::try_from(pid).map_err(|_| Failure::Failed("it cannot be started".into()))?;
    let counter_ns = clock.filter(|clock| Lean::reads(clock));
    let counter_ns = counter_ns.map(|clock| clock.to_ns(done.ticks));
    // It has ended, and nobody has taken its end.
    let id = TaskId {
        process: pid,
        thread: pid,
    };
    let first = TaskStat::of(id).and_then(|task| task.read()).ok();
    let moved = IoReader::of_process(pid).and_then(|file| file.read()).ok();
    let end = started.end(pid)?;
    let printed = printed.map(checksum).transpose();
    let printed = printed.tried("read what it printed")?;
    let cpu_ns = (end.user_ns + end.system_ns) as f64;
    let usage = end.usage;
    let has_one_task = first.is_some_and(|first| first.is_all_of(&usage));
    let delay_ns = first.and_then(|first| first.delay_ns).unwrap_or(0);
    let waited_ns = delay_ns.saturating_sub(watched_ns);
    let also = BTreeMap::from([
        (WALL, counter_ns.unwrap_or(around_ns)),
        (WAITED, waited_ns as f64),
        ("user_ns", end.user_ns as f64),
        (PEAK, (usage.max_rss_kib << 10) as f64),
    ]);
    let said = Said {
        ended: end.status.to_string(),
        printed,
    };
    Ok(Run {
        execution: Execution {
            cpu_ns,
            also,
            usage,
            waited_ns,
            has_several_tasks: !has_one_task,
            is_as_expected: command.expected.as_ref().is_none_or(|one| *one == said),
        },
        said,
        complaint: last_line(complaints),
        counter_ns,
        around_ns,
        scheduled_ns: first.and_then(|first| first.run_ns).map(|ns| ns as f64),
        moved,
    })
}

/// The CPU time of this task, in ns.
fn own_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    1_000_000_000 * time.tv_sec as u64 + time.tv_nsec as u64
}

/// What is needed to start a command.
struct Start {
    started: Started,
    /// What it prints, where that is compared, and what it complains of.
    printed: Option<File>,
    complaints: File,
}

impl Start {
    fn of(command: &Command, cpus: &[u32], then: Then) -> Result<Self, Failure> {
        // What it starts and does not wait for is this process's to end, and to count.
        process::become_subreaper().map_err(|cause| Failure::Failed(cause.to_string()))?;
        let memory = || files::in_memory("syscost-command");
        let files = || -> io::Result<_> {
            let input = match &command.input {
                Some(path) => File::open(path)?,
                None => File::open("/dev/null")?,
            };
            let (output, printed) = match command.output {
                Output::Compared => {
                    let printed = memory()?;
                    (printed.try_clone()?, Some(printed))
                }
                Output::Discarded => (File::options().write(true).open("/dev/null")?, None),
                Output::Shown { by } => {
                    let shown = format!("/proc/{by}/fd/1");
                    (File::options().append(true).open(shown)?, None)
                }
            };
            let complaints = memory()?;
            let error = complaints.try_clone()?;
            Ok(([input, output, error], printed, complaints))
        };
        let opened = files();
        let (files, printed, complaints) =
            opened.tried("open what the command reads and writes")?;
        let lean = Lean::start_with(&script(command, then), cpus, Some(files))?;
        let owner = Owner {
            group: lean.task().process,
            variable: command.owner.clone(),
        };
        Ok(Self {
            started: Started {
                lean: Some(lean),
                owner,
            },
            printed,
            complaints,
        })
    }
}

/// A command that was started: dropping it ends all of it that still runs, and nothing else.
struct Started {
    /// Starts it, and waits for its end without taking that. It is small, for the kernel counts the memory of whoever
    /// starts a command as that of the command.
    lean: Option<Lean>,
    owner: Owner,
}

impl Started {
    fn lean(&mut self) -> Result<&mut Lean, Failure> {
        let gone = || Failure::Broken("starts a command twice".into());
        self.lean.as_mut().ok_or_else(gone)
    }

    /// Takes the end of the command, of this process, and adds what those cost that it started and did not wait for.
    ///
    /// # Errors
    /// Some of them still run.
    fn end(&mut self, pid: u32) -> Result<ChildEnd, Failure> {
        // Then it is this process' child.
        drop(self.lean.take());
        self.owner.group = pid;
        let taken = process::take_end(pid).map_err(|cause| Failure::Failed(cause.to_string()))?;
        let mut end =
            taken.ok_or_else(|| Failure::Broken("is taken for ended too early".into()))?;
        let until = Instant::now() + GRACE;
        loop {
            let mut left = Vec::new();
            for orphan in self.owner.children() {
                match process::take_end(orphan) {
                    Ok(Some(other)) => {
                        end.user_ns += other.user_ns;
                        end.system_ns += other.system_ns;
                    }
                    Ok(None) => left.push(process::name_of(orphan).unwrap_or_default()),
                    Err(cause) => return Err(Failure::Failed(cause.to_string())),
                }
            }
            match left.is_empty() {
                true => return Ok(end),
                false if Instant::now() > until => {
                    return Err(Failure::Failed(format!(
                        "it leaves processes running when it ends ({}): what they cost is not known by then",
                        left.join(", ")
                    )));
                }
                false => process::pause(Duration::from_millis(1)),
            }
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(lean) = self.lean.take() {
            let _ = process::kill_tree(lean.task().process);
        }
        for orphan in self.owner.children() {
            let _ = process::kill_tree(orphan);
            process::reap(orphan);
        }
    }
}

/// What a command does once the kernel has executed it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Run,
    /// Stops before its first instruction.
    Stop,
}

/// The calls that start a command and wait for its end, or until it has stopped.
fn script(command: &Command, then: Then) -> Script {
    /// A child that borrows memory, and whose parent waits until it has executed something.
    const FLAGS: i32 = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let mut script = Script::new();
    let file = script.place_apart(&[command.file.as_bytes(), b"\0"].concat());
    let arguments = script.place_list(&command.words);
    let environment = script.place_list(&command.environment);
    let execute = [
        ScriptCall::new(Sysno::EXECVE, [file, arguments, environment]),
        ScriptCall::new(Sysno::EXIT_GROUP, [NOT_EXECUTED]),
    ];
    let trace = ScriptCall::new(Sysno::PTRACE, [libc::PTRACE_TRACEME as u64]);
    // It may end all of its group.
    let leave = ScriptCall::leaving_the_group();
    let (until, child) = match then {
        Then::Run => (libc::WEXITED, [&leave[..], &execute].concat()),
        Then::Stop => (
            libc::WEXITED | libc::WSTOPPED,
            [&[trace], &execute[..]].concat(),
        ),
    };
    let wait = [libc::P_ALL.into(), 0, 0, (until | libc::WNOWAIT) as u64, 0];
    script
        .launching()
        .iteration([
            ScriptCall::new(Sysno::CLONE, [FLAGS as u64]).forking(),
            ScriptCall::new(Sysno::WAITID, wait),
        ])
        .child(child)
}

/// The status with which shells end whose command cannot be executed.
const NOT_EXECUTED: u64 = 127;

/// Why this file cannot be executed, as far as that can be told.
pub fn not_executable(file: &Path) -> String {
    let words = match std::fs::metadata(file) {
        Err(cause) => return cause.to_string(),
        Ok(found) if found.is_dir() => "it is a directory",
        Ok(found) if found.permissions().mode() & 0o111 == 0 => "nobody may execute it",
        Ok(_) => {
            "it is a program of another processor, or neither a program nor a script that begins with #!"
        }
    };
    words.to_owned()
}

/// Why a file must not be started where its calls are counted: it would lose what its bits give it.
pub fn privileged(path: &Path) -> Option<&'static str> {
    let found = std::fs::metadata(path)
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    let mode = found.permissions().mode();
    if mode & 0o4000 != 0 && found.uid() != rustix::process::geteuid().as_raw() {
        return Some("set-user-ID");
    }
    if mode & 0o2010 == 0o2010 && found.gid() != rustix::process::getegid().as_raw() {
        return Some("set-group-ID");
    }
    let capabilities = rustix::fs::getxattr(path, "security.capability", &mut [0_u8; 64]);
    capabilities.is_ok().then_some("given capabilities")
}

/// What ends a command before its own end.
struct Limits<'a> {
    outputs: [Option<&'a File>; 2],
    deadline: Instant,
    interrupted: Option<&'a AtomicBool>,
}

impl Limits<'_> {
    /// Returns once the command has ended.
    fn watch(&self, lean: &Lean, mut often: Option<Often<'_>>) -> Result<(), Failure> {
        let period = if often.is_some() { OFTEN } else { LOOK };
        let period = Timespec::try_from(period).expect("it is short");
        let mut next_look = Instant::now() + LOOK;
        let mut next_at_processes = Instant::now() + LOOK_AT_PROCESSES;
        loop {
            let ready = poll(&mut [PollFd::new(lean, PollFlags::IN)], Some(&period));
            if matches!(ready, Ok(1..)) {
                return Ok(());
            }
            if let Some(often) = &mut often {
                often();
            }
            if Instant::now() < next_look {
                continue;
            }
            next_look = Instant::now() + LOOK;
            let failed = |what: String| Err(Failure::Failed(what));
            if self
                .interrupted
                .is_some_and(|flag| flag.load(Ordering::Relaxed))
            {
                return failed("interrupted".to_owned());
            }
            let now = Instant::now();
            if now > self.deadline {
                return failed("it still runs at the time limit (--time-limit SECONDS)".to_owned());
            }
            let length = |file: &File| file.metadata().map_or(0, |found| found.len());
            if self
                .outputs
                .iter()
                .flatten()
                .any(|file| length(file) > MAX_PRINTED)
            {
                let most = MAX_PRINTED >> 20;
                return failed(format!("it prints more than {most} MiB (--output null)"));
            }
            if now >= next_at_processes {
                next_at_processes = now + LOOK_AT_PROCESSES;
                if process::descendants(lean.task().process).len() > MAX_PROCESSES {
                    return failed(format!("it has more than {MAX_PROCESSES} processes"));
                }
            }
        }
    }
}

/// The command line of a command that the kernel has executed, and that was ended before its first instruction.
///
/// # Errors
/// The kernel does not let it be stopped there, or /proc does not show it.
pub(super) fn command_line(command: &Command, cpus: &[u32]) -> Result<Vec<String>, Failure> {
    let Start { mut started, .. } = Start::of(command, cpus, Then::Stop)?;
    let done = started.lean()?.make(0, 1).tried("start the command")?;
    let pid = done.iterations().next().map_or(0, |words| words[0]);
    let pid = u32::try_from(pid).map_err(|_| Failure::Failed("it cannot be started".into()))?;
    let line = proc_of(pid).map(|path| std::fs::read(format!("{path}/cmdline")));
    drop(started);
    let line = line?.tried("read the command line of what was executed")?;
    let words = line.split(|byte| *byte == 0);
    let words = words.map(|word| String::from_utf8_lossy(word).into_owned());
    let mut words: Vec<String> = words.collect();
    // The last word is ended, too.
    words.pop();
    match words.is_empty() {
        true => Err(Failure::Unsupported(
            "it had ended before it was looked at".to_owned(),
        )),
        false => Ok(words),
    }
}

/// Whether the kernel executes a command by such a line: its own, or that of its script's interpreter.
pub(super) fn is_executed_as(command: &Command, line: &[String]) -> bool {
    let arguments = &command.words[1..];
    line == &command.words[..] || (line.len() > command.words.len() && line.ends_with(arguments))
}

/// The length of a file in memory, and its checksum (CRC-32).
///
/// # Errors
/// It cannot be read.
pub fn checksum(mut file: File) -> io::Result<(u64, u32)> {
    let bytes = files::end_of(&mut file, u64::MAX)?;
    Ok((bytes.len() as u64, crc32fast::hash(&bytes)))
}

/// The last line of a file that says something.
fn last_line(mut file: File) -> String {
    /// Bytes of the end of the file in which that line is looked for.
    const MOST: u64 = 4096;
    let bytes = files::end_of(&mut file, MOST).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    let line = line
        .unwrap_or_default()
        .chars()
        .filter(|one| !one.is_control());
    line.take(200).collect()
}
