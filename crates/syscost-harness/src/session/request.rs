//! How a run is requested, what it reports meanwhile, and why it may fail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use syscost_results::run::{NfsServer, Peer};
use syscost_results::study::Study;

use super::journal::JournalError;
use crate::profile::Profile;
use crate::testbed::Testbed;
use crate::worker::Program;

/// The reason in documents why rows were skipped that Ctrl-C left unmeasured.
pub use syscost_results::compare::INTERRUPTED;

/// The request for a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// How much to measure.
    pub profile: Profile,
    /// Time budget, if not the profile's own. An explicit one ends the run even before its minimum
    /// number of rounds.
    pub budget: Option<Duration>,
    /// How many rounds there are at least and at most, if not the profile's; as many as these, each of one
    /// sample, where both are the same.
    pub rounds: Option<(u32, u32)>,
    /// How long it may wait in addition, while no core is ours.
    pub patience: Duration,
    /// Seed, if the run is to repeat another's shuffles.
    pub seed: Option<u64>,
    /// CPUs to measure on, if not the quietest.
    pub cpus: Option<Vec<u32>>,
    /// How long a case may take in one worker before it is ended.
    pub time_limit: Duration,
    /// What the user selected, for the record.
    pub selectors: Vec<String>,
    /// What the user calls the machine, for the record.
    pub labels: BTreeMap<String, String>,
    /// The name that the run is to have: whoever resumes it gives it the same.
    pub tag: Option<String>,
    /// The studies that it repeats. Rows of their earlier [tiers](Study::tiers), and those from which such
    /// rows are computed, are measured first, and where the time is too short, rows of later tiers are left
    /// out before them. Rows in none come last.
    pub studies: Vec<Study>,
    /// The program from which workers are started.
    pub program: Program,
    /// Folder of the journal, which is named after the run; without one the run cannot be resumed.
    pub journal_folder: Option<PathBuf>,
    /// File that stores what cores showed in earlier runs; without it each run finds out for itself.
    pub known_cores: Option<PathBuf>,
    /// File that stores what the runs of this machine showed; without it each run is the first.
    pub kept_runs: Option<PathBuf>,
    /// What decided which rows there are: every job carries it.
    pub here: Testbed,
    /// The far end of the network measurements, if one was given: for the record.
    pub peer: Option<Box<Peer>>,
    /// The NFS server that is measured against without a mount, if one was given: for the record.
    pub nfs: Option<Box<NfsServer>>,
    /// Version of the program.
    pub version: &'static str,
}

impl Options {
    /// A quick run of rows that any machine has, with nothing kept and no far end; the rest is set
    /// by whoever asks for more.
    pub fn quick(program: Program, time_limit: Duration, version: &'static str) -> Self {
        Options {
            profile: Profile::Quick,
            budget: None,
            rounds: None,
            patience: Duration::ZERO,
            seed: None,
            cpus: None,
            time_limit,
            selectors: Vec::new(),
            labels: BTreeMap::new(),
            tag: None,
            studies: Vec::new(),
            program,
            journal_folder: None,
            known_cores: None,
            kept_runs: None,
            here: Testbed::plain(),
            peer: None,
            nfs: None,
            version,
        }
    }

    /// Ids of the studies.
    pub(super) fn study_ids(&self) -> BTreeSet<String> {
        self.studies.iter().map(|study| study.id.clone()).collect()
    }
}

/// What happens during a run, reported between workers only, so that drawing it disturbs no sample.
pub enum Event<'a> {
    /// The run does this before its first round.
    Preparing(&'a str),
    /// Rounds begin.
    Begin {
        /// Rows to measure.
        rows: usize,
        /// Path of the journal, if there is one.
        journal: Option<&'a Path>,
    },
    /// A worker is about to start.
    Working {
        /// Id of the benchmark.
        benchmark: &'a str,
        /// The round, from 1.
        round: u32,
        /// Minimum number of rounds.
        rounds: u32,
        /// Share of the run that is done, 0 to 1.
        done: f64,
        /// Time left, roughly.
        left: Duration,
    },
    /// A row got no number.
    Trouble {
        /// Name of the row.
        name: &'a str,
        /// Why.
        reason: &'a str,
    },
}

/// Receives the events of a run.
pub trait Observer {
    /// Handles an event. Runs on the coordinator's CPU, between workers.
    fn event(&mut self, event: Event<'_>);
}

/// Why a run cannot be made at all.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A requested CPU cannot be used.
    #[error("CPU {0} cannot be used: {1}; `syscost doctor` lists the allowed ones")]
    Cpu(u32, String),
    /// It was begun by another command, `run` or `study run`, or with other studies.
    #[error("{0} is continued by the command that began it: {1} --resume {0}")]
    Command(PathBuf, String),
    /// The journal comes from another version or machine.
    #[error("cannot resume {0}: {1}; measure anew with `syscost run`")]
    Foreign(PathBuf, String),
}
