//! The journal: what is already measured, safe from Ctrl-C, kill -9 and power cuts of the process
//! (not of the machine).
//!
//! One JSON object per line, with its [checksum](mod@line): a [`Header`], the same once more, and
//! then a [`Record`] for every finished worker. A last line that is torn, because the process died
//! while writing it, is ignored, as is one that is damaged: that worker is run again. A lock on
//! the file shows whether its run is still alive.

mod check;
pub mod line;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use syscost_results::run::{Config, NfsServer, Noise, Peer, Tool, Warning};
use syscost_results::{Directory, Machine, Run, SCHEMA_VERSION};

use crate::bencher::Findings;
use crate::failure::Failure;
use crate::pass::Pass;
use crate::programs::ProgramId;
use crate::targets::Targets;
use crate::worker::Program;
use crate::{doctor, machine};

/// Version of the journal's format; a journal of another version cannot be resumed.
const JOURNAL_VERSION: u32 = 3;

/// How many times the header is written: one of them may be damaged.
pub const HEADERS: usize = 2;

/// What was known before the first round of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Header {
    /// The version of the journal's format with which it was written.
    pub journal_version: u32,
    /// Version of the program.
    pub tool_version: String,
    /// The run's id.
    pub id: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// The machine.
    pub machine: Machine,
    /// The far end of the network measurements, if one was given.
    #[serde(default)]
    pub peer: Option<Box<Peer>>,
    /// The NFS server that is measured against without a mount, if one was given.
    #[serde(default)]
    pub nfs: Option<Box<NfsServer>>,
    /// The directories of the file-system rows.
    #[serde(default)]
    pub directories: Vec<Directory>,
    /// The configuration of the run.
    pub config: Config,
    /// Whether the budget was given explicitly, and therefore ends the run even before its minimum
    /// number of rounds.
    pub strict_budget: bool,
    /// Maximum time of a case in one worker, in seconds.
    pub time_limit_s: f64,
    /// The results of the noise probe.
    pub noise: Vec<Noise>,
    /// The warnings given.
    pub warnings: Vec<Warning>,
    /// Names of the rows, in the report's order.
    pub rows: Vec<String>,
    /// The name that the run is to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Ids of the studies that it repeats.
    #[serde(default)]
    pub studies: BTreeSet<String>,
    /// What is measured against and in, and what may be done.
    #[serde(default)]
    pub targets: Targets,
    /// The programs of the user's own studies: another one is not started when it is resumed.
    #[serde(default)]
    pub programs: Vec<ProgramId>,
    /// CPUs that may measure instead of the configuration's first one, and that one.
    #[serde(default)]
    pub candidates: Vec<u32>,
}

impl Header {
    /// The run as far as it is known before anything is measured: its facts.
    pub fn described(&self) -> Run {
        Run {
            schema_version: SCHEMA_VERSION,
            tool: Tool {
                name: "syscost".to_owned(),
                version: self.tool_version.clone(),
            },
            id: self.id.clone(),
            started: self.started.clone(),
            machine: self.machine.clone(),
            peer: self.peer.clone(),
            nfs: self.nfs.clone(),
            directories: self.directories.clone(),
            config: self.config.clone(),
            warnings: self.warnings.clone(),
            ..Run::default()
        }
    }

    /// Records which program measures, how it is started, and what its process is like, if it was asked.
    pub fn measured_by(&mut self, program: &Program) {
        self.config.environment = program.environment.iter().cloned().collect();
        if program.is_other {
            self.config.program = Some(program.binary.display().to_string());
        }
        self.config.wrapper = (!program.wrapper.is_empty()).then(|| program.wrapper.join(" "));
        if let Some(about) = &program.about {
            self.tool_version = about.version.clone();
            // What whoever leads the run found of itself is not said of it.
            let own = doctor::of_this_process(&self.machine);
            let is_own = |one: &Warning| own.iter().any(|known| known.code == one.code);
            self.warnings.retain(|one| !is_own(one));
            self.warnings.extend(about.warnings.iter().cloned());
            self.machine = about.machine.clone();
            machine::describe(&mut self.machine, &self.candidates);
        }
    }

    /// The command that began the run; the file of a study of the user's own is not known.
    pub fn command(&self) -> String {
        let studies = self.studies.iter().map(|id| format!(" {id}"));
        match self.studies.is_empty() {
            true => "syscost run".to_owned(),
            false => "syscost study run".to_owned() + &studies.collect::<String>(),
        }
    }

    /// The version a new journal has.
    pub fn version() -> u32 {
        JOURNAL_VERSION
    }
}

/// One finished worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Number of the round, from 0.
    pub round: u32,
    /// The pass that it made.
    pub pass: Pass,
    /// Id of the benchmark.
    pub benchmark: String,
    /// Results by case suffix; cases that the worker did not reach are absent.
    pub cases: Vec<(String, Result<Findings, Failure>)>,
    /// The CPU that it measured on.
    pub cpu: u32,
    /// Time stolen by the hypervisor during the worker, in percent.
    pub steal_percent: Option<f64>,
    /// From the start of the process to its first reply, in ms.
    pub started_in_ms: f64,
    /// Seconds of the run so far, including the parts before it was resumed.
    pub elapsed_s: f64,
    /// Whether the worker was completed. One that the budget ended is not written: a resumed run repeats it.
    #[serde(skip, default = "yes")]
    pub is_whole: bool,
    /// Overhead of a timed worker besides its cases, in seconds; not of one that the journal tells
    /// of.
    #[serde(skip)]
    pub beside_s: Option<f64>,
}

impl Record {
    /// One of a worker that has not measured anything yet.
    pub(super) fn new(round: u32, pass: Pass, benchmark: &str, cpu: u32) -> Self {
        Self {
            round,
            pass,
            benchmark: benchmark.to_owned(),
            cases: Vec::new(),
            cpu,
            steal_percent: None,
            started_in_ms: 0.0,
            elapsed_s: 0.0,
            is_whole: true,
            beside_s: None,
        }
    }

    /// What was found of its cases that did not fail.
    pub(super) fn found(&self) -> impl Iterator<Item = &Findings> {
        self.cases
            .iter()
            .filter_map(|(_, result)| result.as_ref().ok())
    }
}

fn yes() -> bool {
    true
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be created, read or written.
    #[error("{0} the journal {1}: {2}; set XDG_DATA_HOME to choose another place")]
    Io(&'static str, PathBuf, io::Error),
    /// There is no such journal.
    #[error(
        "there is no journal {0}: one is removed when its run is complete; `syscost history` lists the runs that were kept"
    )]
    Missing(PathBuf),
    /// Another process holds it.
    #[error("the journal {0} belongs to a run that is still going on; wait for it or end it first")]
    Busy(PathBuf),
    /// It is not a journal, or of another version.
    #[error("{0} is not a journal this version can resume: {1}; measure anew with `syscost run`")]
    Unusable(PathBuf, String),
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Begins a new journal.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let failed = io_error("creating", path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(&failed)?;
        }
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(&failed)?;
        let mut journal = Self {
            path: path.to_owned(),
            file,
        };
        journal.lock()?;
        let written = (0..HEADERS).try_for_each(|_| journal.write_line(header));
        if let Err(error) = written {
            // Without its first lines it is useless.
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(journal)
    }

    /// Opens a journal to continue it.
    ///
    /// # Errors
    /// When it cannot be read, belongs to a living run, or is not a journal of this version.
    pub fn open(path: &Path) -> Result<(Self, Header, Vec<Record>), JournalError> {
        let failed = io_error("opening", path);
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(|cause| match cause.kind() {
                io::ErrorKind::NotFound => JournalError::Missing(path.to_owned()),
                _ => failed(cause),
            })?;
        let mut journal = Self {
            path: path.to_owned(),
            file,
        };
        journal.lock()?;
        let unusable = |cause: String| JournalError::Unusable(path.to_owned(), cause);
        let facts = journal.file.metadata().map_err(&failed)?;
        if !facts.is_file() {
            return Err(unusable("it is no regular file".to_owned()));
        }
        if facts.len() > check::MAX_BYTES {
            return Err(unusable(format!("it has {} bytes", facts.len())));
        }
        let mut bytes = Vec::new();
        journal
            .file
            .read_to_end(&mut bytes)
            .map_err(io_error("reading", path))?;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let (header, records) = read(&bytes[..whole]).map_err(&unusable)?;
        if whole < bytes.len() {
            // Cut off the torn line, or the next record would be appended to it.
            journal
                .file
                .set_len(whole as u64)
                .map_err(io_error("mending", path))?;
            journal
                .file
                .seek(io::SeekFrom::End(0))
                .map_err(io_error("mending", path))?;
        }
        Ok((journal, header, records))
    }

    /// Appends one finished worker.
    ///
    /// # Errors
    /// When the line cannot be written, e.g. because the disk is full.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        self.write_line(record)
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file: its run is complete and saved elsewhere.
    pub fn remove(self) {
        // A journal left behind does no harm.
        let _ = std::fs::remove_file(&self.path);
    }

    fn lock(&self) -> Result<(), JournalError> {
        match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => Err(JournalError::Busy(self.path.clone())),
            // Missing file locks are no reason not to measure.
            _ => Ok(()),
        }
    }

    fn write_line(&mut self, entry: &impl Serialize) -> Result<(), JournalError> {
        let failed = io_error("writing", &self.path);
        let json = serde_json::to_vec(entry).map_err(|error| failed(error.into()))?;
        self.file.write_all(&line::sealed(&json)).map_err(failed)
    }
}

/// What a journal of these bytes holds, or why it cannot be used.
///
/// # Errors
/// When no line of it is a header that this version wrote.
pub fn read(bytes: &[u8]) -> Result<(Header, Vec<Record>), String> {
    let mut lines: Vec<&[u8]> = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .collect();
    if lines.is_empty() {
        return Err("it is empty".to_owned());
    }
    // No two workers report exactly the same: a line that occurs twice was copied.
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert(*line));
    let whole: Vec<&[u8]> = lines.into_iter().filter_map(line::unsealed).collect();
    let header: Header = whole
        .first()
        .and_then(|line| serde_json::from_slice(line).ok())
        .ok_or("its first lines are damaged, or of another version")?;
    if header.journal_version != JOURNAL_VERSION {
        return Err(format!("its version is {}", header.journal_version));
    }
    check::header(&header)?;
    let records = whole[1..]
        .iter()
        .filter_map(|line| serde_json::from_slice(line).ok())
        .filter(check::is_sound)
        .collect();
    Ok((header, records))
}

fn io_error<'p>(action: &'static str, path: &'p Path) -> impl Fn(io::Error) -> JournalError + 'p {
    move |cause| JournalError::Io(action, path.to_owned(), cause)
}

/// Whether a living process has locked this journal.
pub fn is_busy(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| {
        flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK)
    })
}

/// The warning that the run has no journal, which does not prevent the run.
pub(super) fn lost(error: &JournalError) -> Warning {
    Warning {
        code: "journal_lost".to_owned(),
        message: error.to_string(),
        advice: "the run goes on, but could not be resumed".to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests;
