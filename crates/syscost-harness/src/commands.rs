//! The commands of a user that `syscost time` measures. A worker gets them with its job; no journal keeps
//! them, so that no file decides what is started.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A command, and how it is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// What its rows call it, as [`row_value`](syscost_results::commands::row_value) writes it.
    pub name: String,
    /// The path of the file that is executed.
    pub file: String,
    /// What it is called by, and its arguments.
    pub words: Vec<String>,
    /// Its environment, each variable as `NAME=value`; one of them is `owner`.
    pub environment: Vec<String>,
    /// By which variable what it starts is recognised.
    pub owner: String,
    /// What a shell does before each run; it is not timed.
    pub prepare: Option<String>,
    /// What it reads as standard input; nothing if there is none.
    pub input: Option<PathBuf>,
    /// Files that are in the page cache at its start, and those that are not.
    pub warm: Vec<PathBuf>,
    /// See `warm`.
    pub cold: Vec<PathBuf>,
    /// Where its output goes.
    pub output: Output,
    /// Whether all its tasks stay on the measuring CPU: of one that has a single task at a time.
    pub is_pinned: bool,
    /// What each run must end with and print; nothing is compared where it is not known.
    pub expected: Option<Said>,
    /// CPU time of its first run, before which nothing had run it, in ns.
    pub first_ns: Option<f64>,
    /// How often it is run before it is first timed.
    pub warm_up: u32,
    /// How long one run may take, in seconds.
    pub time_limit_s: f64,
}

/// Where the output of a command goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Into memory, and is the same in each run.
    #[default]
    Compared,
    /// To /dev/null.
    Discarded,
    /// To the standard output of this process.
    Shown {
        /// Its id.
        by: u32,
    },
}

/// How a command ended, and what it printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// `0`, or how it ended otherwise: `exit status: 3`, `signal: 11 (SIGSEGV)`.
    pub ended: String,
    /// Bytes on standard output with their checksum (CRC-32); `None` where they are not looked at.
    pub printed: Option<(u64, u32)>,
}
