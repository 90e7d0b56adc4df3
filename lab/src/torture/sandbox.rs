//! A sandbox for maltreating the program: its own directories, and what may remain in them.

use std::cell::Cell;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use syscost_benches::CATALOGUE;
use syscost_results::document;
use syscost_sys::process;
use tempfile::TempDir;

use crate::invariants::violations;

/// Exit codes that are documented.
const CODES: [i32; 6] = [0, 1, 2, 3, 4, 130];

/// A program that takes longer hangs: no run here has a budget of more than a few seconds, but
/// machines may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long after the end of a run its processes may still be visible.
const LINGER: Duration = Duration::from_secs(10);

/// A directory with the program's data and scratch files.
#[derive(Debug)]
pub(super) struct Sandbox {
    program: PathBuf,
    folder: TempDir,
    /// Number of programs it has started.
    started: Cell<u32>,
}

/// A running program.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Running {
    /// Waits for its end, with a time limit.
    pub(super) fn end(mut self) -> Result<Ending> {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().context("waiting")? {
                break Some(status);
            }
            if begun.elapsed() > PATIENCE {
                self.kill()?;
                break None;
            }
            sleep(Duration::from_millis(5));
        };
        let read = |path: &Path| {
            let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()));
            let _ = fs::remove_file(path);
            bytes
        };
        Ok(Ending {
            status,
            out: read(&self.out)?,
            err: String::from_utf8_lossy(&read(&self.err)?).into_owned(),
        })
    }

    /// Ends it with a signal that cannot be caught.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.child.kill().context("killing it")?;
        self.child.wait().context("waiting for it")?;
        Ok(())
    }
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
    /// An empty sandbox for this program.
    pub(super) fn new(program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().context("making a folder")?;
        fs::create_dir(folder.path().join("tmp")).context("making a folder")?;
        Ok(Self {
            program: program.to_owned(),
            folder,
            started: Cell::new(0),
        })
    }

    /// The path of a file in the sandbox.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program with these arguments, which are separated by spaces.
    pub(super) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments.split_whitespace());
        self.within(command)
    }

    /// The program with these arguments, started by a shell that first executes `script`; `None` if
    /// that fails here.
    pub(super) fn behind(&self, script: &str, arguments: &str) -> Result<Option<Command>> {
        let script = format!("{script} || exit 1; exec \"$0\" \"$@\"");
        let behind = |program: &Path, arguments: &str| {
            let mut command = Command::new("sh");
            let shell = command.args(["-c", &script]).arg(program);
            shell.args(arguments.split_whitespace());
            self.within(command)
        };
        // A program that does nothing and exists in any environment.
        let shell = Path::new("/bin/sh");
        let is_possible = self.run(behind(shell, "-c exit"))?.code() == Some(0);
        Ok(is_possible.then(|| behind(&self.program, arguments)))
    }

    fn within(&self, mut command: Command) -> Command {
        command
            .env("XDG_DATA_HOME", self.folder.path())
            .env("TMPDIR", self.file("tmp"))
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Starts a command; its output goes to separate files.
    pub(super) fn start(&self, mut command: Command) -> Result<Running> {
        let number = self.started.get();
        self.started.set(number + 1);
        let [out, err] = ["out", "err"].map(|name| self.file(&format!("{name}.{number}")));
        let file =
            |path: &Path| File::create(path).with_context(|| format!("making {}", path.display()));
        let child = command
            .stdout(file(&out)?)
            .stderr(file(&err)?)
            .spawn()
            .with_context(|| format!("starting {}", command.get_program().display()))?;
        Ok(Running { child, out, err })
    }

    /// Starts a command and waits for its end.
    pub(super) fn run(&self, command: Command) -> Result<Ending> {
        self.start(command)?.end()
    }

    /// Keeps the directory and returns its path.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// The journals of runs that were not saved.
    pub(super) fn journals(&self) -> Vec<PathBuf> {
        entries(self.file("syscost/journals"))
    }

    /// Processes that still have this sandbox in their environment.
    pub(super) fn processes(&self) -> Vec<u32> {
        let mark = format!("XDG_DATA_HOME={}", self.folder.path().display());
        let entries = entries(PathBuf::from("/proc"));
        let pids = entries
            .iter()
            .filter_map(|path| path.file_name()?.to_str()?.parse().ok());
        pids.filter(|pid| process::has_variable(*pid, &mark))
            .collect()
    }

    /// What remains after everything has ended: processes and scratch files, one sentence each.
    pub(super) fn leftovers(&self) -> Vec<String> {
        // The scratch directory may remain if empty; documents are first written under another
        // name.
        let (scratch, mut files): (Vec<_>, Vec<_>) = entries(self.file("tmp"))
            .into_iter()
            .partition(|path| path.is_dir());
        files.extend(scratch.into_iter().flat_map(entries));
        let documents = entries(self.file("syscost/runs")).into_iter();
        files.extend(documents.filter(|path| path.extension().is_none_or(|end| end != "json")));
        let files = files
            .iter()
            .map(|file| format!("{} is left", file.display()));
        self.processes_left().into_iter().chain(files).collect()
    }

    /// Processes that remain after everything has ended, one sentence each.
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

    /// What is wrong with this end, for any run of the program.
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

/// The entries of a directory; none if it does not exist.
fn entries(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The first line of its output, for a complaint.
fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or("nothing").chars().take(200).collect()
}
