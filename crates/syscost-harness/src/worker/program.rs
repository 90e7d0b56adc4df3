//! The program from which workers are started: this one, or another build of it to compare with.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use syscost_results::Machine;
use syscost_results::machine::Build;
use syscost_results::run::Warning;
use syscost_sys::{platform, process};

use super::ARGUMENT;
use super::child::readable_within;
use crate::variation::Variation;
use crate::{doctor, machine};

/// The argument after [`ARGUMENT`] that makes a program print what it is.
pub const ABOUT: &str = "about";

/// Version of the protocol between coordinator and worker; raised when other versions would misunderstand it.
const PROTOCOL: u32 = 8;

/// Where the kernel shows a process, and one forked from it, its image (proc_pid_exe(5)).
const OWN_IMAGE: &str = "/proc/self/exe";

/// How long a program may take to print what it is. Another program may never do so.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum length of that answer, in bytes.
const LONGEST_ANSWER: usize = 64 << 10;

/// The program from which workers are started, and the environment they get.
#[derive(Debug, Clone)]
pub struct Program {
    /// Path of the program.
    pub binary: PathBuf,
    /// Variables set for its workers, or removed from their environment where the value is `None`.
    pub environment: Vec<(String, Option<String>)>,
    /// The words of a command that starts it, by executing what it is given: `setarch -R`. None if it is
    /// started as it is.
    pub wrapper: Vec<String>,
    /// Whether it is not this program.
    pub is_other: bool,
    /// Its description of itself and of where it runs, if it was asked.
    pub about: Option<About>,
}

/// The description of a build of syscost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of the program.
    pub version: String,
    /// Version of its workers' protocol.
    pub protocol: u32,
    /// C library and how it is linked.
    pub libc: String,
    /// How it was built.
    pub build: Build,
    /// The machine as its process sees it; of builds with other protocols not known.
    #[serde(default)]
    pub machine: Machine,
    /// What that process should be warned of: filters, limits and settings that it has.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// Why another program cannot measure for this one.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It cannot be started.
    #[error(
        "cannot start {0}: {1}; give the file of a syscost binary, or a command that starts what follows it"
    )]
    Start(PathBuf, io::Error),
    /// It does not print what it is.
    #[error(
        "{0} does not answer as syscost does; give the file of a syscost binary from version 0.1 on"
    )]
    Stranger(PathBuf),
    /// It would misunderstand its jobs: its version, and that of its protocol.
    #[error(
        "the workers of {0} (syscost {1}) speak version {2}, this program {PROTOCOL}; measure each by \
         itself and use `syscost compare`"
    )]
    Protocol(PathBuf, String, u32),
}

impl About {
    /// The description of this program, of this version.
    pub fn this(version: &str) -> Self {
        let machine = machine::capture();
        Self {
            version: version.to_owned(),
            protocol: PROTOCOL,
            libc: platform::c_library(),
            build: machine::build(),
            warnings: doctor::of_this_process(&machine),
            machine,
        }
    }
}

impl Program {
    /// This program, its workers in its own environment. They are started from the running image,
    /// even if its file is replaced meanwhile: an update would mix two versions in one run.
    ///
    /// # Errors
    /// When its own file cannot be found.
    pub fn this() -> io::Result<Self> {
        let binary = match process::sees_itself() {
            true => PathBuf::from(OWN_IMAGE),
            false => std::env::current_exe()?,
        };
        Ok(Self {
            binary,
            environment: Vec::new(),
            wrapper: Vec::new(),
            is_other: false,
            about: None,
        })
    }

    /// Another build of syscost.
    pub fn other(binary: &Path) -> Self {
        Self {
            binary: binary.to_owned(),
            environment: Vec::new(),
            wrapper: Vec::new(),
            is_other: true,
            about: None,
        }
    }

    /// The same program, started by a command that is followed by it.
    ///
    /// # Errors
    /// When this program's own file cannot be found: the command has another image.
    pub fn wrapped(mut self, command: &str) -> io::Result<Self> {
        self.wrapper = command.split_whitespace().map(str::to_owned).collect();
        if !self.wrapper.is_empty() && !self.is_other {
            self.binary = std::env::current_exe()?;
        }
        Ok(self)
    }

    /// The same program, asked what it is and what its process is like, in its environment.
    ///
    /// # Errors
    /// When it cannot be started, is not syscost, or has another version of the workers' protocol.
    pub fn introduced(mut self) -> Result<Self, ProgramError> {
        let about = ask(&self)?;
        if about.protocol != PROTOCOL {
            let (version, protocol) = (about.version, about.protocol);
            return Err(ProgramError::Protocol(self.binary, version, protocol));
        }
        self.about = Some(about);
        Ok(self)
    }

    /// The command that starts it.
    pub(super) fn command(&self) -> Command {
        let mut words = self.wrapper.iter();
        let mut command = match words.next() {
            Some(first) => Command::new(first),
            None => Command::new(&self.binary),
        };
        if !self.wrapper.is_empty() {
            command.args(words).arg(&self.binary);
        }
        // A trial comes from the run, which records it, not from the shell.
        for variable in Variation::ALL.map(Variation::variable) {
            command.env_remove(variable);
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// The same program with another environment.
    #[must_use]
    pub fn with_environment(mut self, environment: Vec<(String, Option<String>)>) -> Self {
        self.environment = environment;
        self
    }
}

fn ask(program: &Program) -> Result<About, ProgramError> {
    let started = || {
        program
            .wrapper
            .first()
            .map_or(program.binary.clone(), PathBuf::from)
    };
    let mut child = program
        .command()
        .args([ARGUMENT, ABOUT])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|cause| ProgramError::Start(started(), cause))?;
    let mut answer = Vec::new();
    if let Some(mut output) = child.stdout.take() {
        let deadline = Instant::now() + PATIENCE;
        let mut chunk = [0; 4096];
        while answer.len() < LONGEST_ANSWER {
            let left = deadline.saturating_duration_since(Instant::now());
            match readable_within(&output, left).map(|ready| ready.then(|| output.read(&mut chunk)))
            {
                Ok(Some(Ok(count))) if count > 0 => answer.extend_from_slice(&chunk[..count]),
                Err(Errno::INTR) => {}
                _ => break,
            }
        }
    }
    // A program that has not ended by now is not syscost; both calls fail only if it has.
    let _ = child.kill();
    let _ = child.wait();
    serde_json::from_slice(&answer).map_err(|_| ProgramError::Stranger(started()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_is_refused() {
        for (binary, words) in [
            ("/usr/bin/yes", "does not answer as syscost does"),
            ("/bin/true", "does not answer as syscost does"),
            ("/no/such/program", "cannot start /no/such/program"),
            ("/", "cannot start /"),
        ] {
            let program = Program::other(Path::new(binary));
            let error = program.introduced().expect_err("refused");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
