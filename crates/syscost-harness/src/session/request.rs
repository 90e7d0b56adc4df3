//! How a run is asked for, what it tells meanwhile, and why there may be none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use syscost_results::run::{NfsServer, Peer};

use super::Profile;
use super::journal::JournalError;
use crate::worker::Program;

/// Why rows were skipped that Ctrl-C left unmeasured, as documents have it.
pub const INTERRUPTED: &str = "interrupted";

/// How a run is asked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// How much to take.
    pub profile: Profile,
    /// Time budget, if not the profile's own. One given by hand ends the run even before its fewest rounds.
    pub budget: Option<Duration>,
    /// Seed, if the run is to repeat another's shuffles.
    pub seed: Option<u64>,
    /// CPUs to measure on, if not the quietest.
    pub cpus: Option<Vec<u32>>,
    /// How long a case may take in one worker before it is ended.
    pub time_limit: Duration,
    /// What the user selected, for the record.
    pub selectors: Vec<String>,
    /// The program to start workers from.
    pub program: Program,
    /// Folder of the journal, which is named after the run; without one the run cannot be resumed.
    pub journal_folder: Option<PathBuf>,
    /// Where is kept what cores showed in earlier runs; without it each run finds out for itself.
    pub known_cores: Option<PathBuf>,
    /// The far end of the network measurements, if one was given: for the record. Workers find it in their environment.
    pub peer: Option<Box<Peer>>,
    /// The NFS server that is measured against without a mount, if one was given: for the record.
    pub nfs: Option<Box<NfsServer>>,
    /// Version of the program.
    pub version: &'static str,
}

/// What happens during a run, told between workers only, so that drawing it disturbs no sample.
pub enum Event<'a> {
    /// The run does something before its first round.
    Preparing(&'a str),
    /// Rounds begin.
    Begin {
        /// Rows to measure.
        rows: usize,
        /// Where the journal lies, if there could be one.
        journal: Option<&'a Path>,
    },
    /// A worker is about to start.
    Working {
        /// Id of the benchmark.
        benchmark: &'a str,
        /// The round, from 1.
        round: u32,
        /// Rounds at least.
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

/// Is told what happens.
pub trait Observer {
    /// Takes note of an event. Runs on the coordinator's CPU, between workers.
    fn event(&mut self, event: Event<'_>);
}

/// Why there is no run at all.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A CPU that was asked for cannot be used.
    #[error("CPU {cpu} cannot be used: {reason}; `syscost doctor` lists the allowed ones")]
    Cpu {
        /// Its number.
        cpu: u32,
        /// Why not.
        reason: String,
    },
    /// The journal was made by something else.
    #[error("cannot resume {path}: {cause}; measure anew with `syscost run`")]
    Foreign {
        /// The journal.
        path: PathBuf,
        /// What differs.
        cause: String,
    },
}
