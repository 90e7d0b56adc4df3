//! Where the program is maltreated: folders of its own, and what may be left in them.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use syscost_benches::CATALOGUE;
use syscost_results::document;
use tempfile::TempDir;

use crate::invariants::violations;

/// Exit codes that are documented.
const CODES: [i32; 6] = [0, 1, 2, 3, 4, 130];

/// A program that takes longer hangs: no run here has a budget of more than a few seconds, but machines may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long after the end of a run its processes may still be seen.
const LINGER: Duration = Duration::from_secs(10);

/// A folder with the program's data and scratch.
#[derive(Debug)]
pub(super) struct Sandbox {
    program: PathBuf,
    folder: TempDir,
}

/// How a program ended.
#[derive(Debug)]
pub(super) struct Ending {
    /// `None` if it had to be killed.
    status: Option<ExitStatus>,
    pub(super) out: Vec<u8>,
    pub(super) err: String,
}

impl Sandbox {
    /// An empty one for this program.
    pub(super) fn new(program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().context("making a folder")?;
        fs::create_dir(folder.path().join("tmp")).context("making a folder")?;
        Ok(Self {
            program: program.to_owned(),
            folder,
        })
    }

    /// A file of this name in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program with these arguments.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        self.within(command)
    }

    /// The same, started by a shell that does something else before.
    pub(super) fn behind(&self, script: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{script}; exec \"$0\" \"$@\"")])
            .arg(&self.program)
            .args(arguments);
        self.within(command)
    }

    fn within(&self, mut command: Command) -> Command {
        command
            .env("XDG_DATA_HOME", self.folder.path())
            .env("TMPDIR", self.file("tmp"))
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Starts it; what it prints goes to files.
    pub(super) fn start(&self, mut command: Command) -> Result<Child> {
        let file = |name| File::create(self.file(name)).with_context(|| format!("making {name}"));
        command
            .stdout(file("out")?)
            .stderr(file("err")?)
            .spawn()
            .with_context(|| format!("starting {}", command.get_program().display()))
    }

    /// Waits for its end, not for ever.
    pub(super) fn end(&self, mut child: Child) -> Result<Ending> {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().context("waiting")? {
                break Some(status);
            }
            if begun.elapsed() > PATIENCE {
                child.kill().context("killing it")?;
                child.wait().context("waiting")?;
                break None;
            }
            sleep(Duration::from_millis(5));
        };
        let read = |name| fs::read(self.file(name)).with_context(|| format!("reading {name}"));
        Ok(Ending {
            status,
            out: read("out")?,
            err: String::from_utf8_lossy(&read("err")?).into_owned(),
        })
    }

    /// Starts it and waits for its end.
    pub(super) fn run(&self, command: Command) -> Result<Ending> {
        self.end(self.start(command)?)
    }

    /// The journals of runs that were not saved.
    pub(super) fn journals(&self) -> Vec<PathBuf> {
        let folder = self.file("syscost/journals");
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Processes that still have this sandbox in their environment.
    pub(super) fn processes(&self) -> Vec<u32> {
        let mark = format!("XDG_DATA_HOME={}", self.folder.path().display());
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == mark.as_bytes())
        })
        .collect()
    }

    /// What is left once everything has ended: processes and scratch files, a sentence each.
    pub(super) fn leftovers(&self) -> Vec<String> {
        let folders = fs::read_dir(self.file("tmp"));
        let folders = folders.into_iter().flatten().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()));
        let files = files.flatten().flatten();
        let files = files.map(|file| format!("{} is left", file.path().display()));
        self.processes_left().into_iter().chain(files).collect()
    }

    /// Processes that are left once everything has ended, a sentence each.
    pub(super) fn processes_left(&self) -> Vec<String> {
        let begun = Instant::now();
        let processes = loop {
            let processes = self.processes();
            if processes.is_empty() || begun.elapsed() > LINGER {
                break processes;
            }
            sleep(Duration::from_millis(20));
        };
        let named = |pid: &u32| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            format!("process {pid} ({}) is left", name.trim())
        };
        processes.iter().map(named).collect()
    }
}

impl Ending {
    /// Its exit code, if it has one.
    pub(super) fn code(&self) -> Option<i32> {
        self.status?.code()
    }

    /// What is wrong with any end of the program.
    pub(super) fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        match self.status {
            None => complaints.push(format!("it hung for {} s", PATIENCE.as_secs())),
            Some(status) => match status.code() {
                None => complaints.push(format!("signal {:?} ended it", status.signal())),
                Some(code) if !CODES.contains(&code) => {
                    complaints.push(format!("its exit code is {code}"));
                }
                Some(_) => {}
            },
        }
        if self.err.contains("panicked") {
            complaints.push(format!("it panicked: {}", first_line(&self.err)));
        }
        complaints
    }

    /// What is wrong with the end of a run that must have printed a document.
    pub(super) fn complaints_of_run(&self) -> Vec<String> {
        let mut complaints = self.complaints();
        match document::read(&self.out) {
            Ok(run) => complaints.extend(violations(&run, &CATALOGUE)),
            Err(error) => complaints.push(format!(
                "its exit code is {:?}, its document {error}, and it says: {}",
                self.code(),
                first_line(&self.err)
            )),
        }
        complaints
    }
}

/// What it said first, for a complaint.
fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or("nothing").chars().take(200).collect()
}
