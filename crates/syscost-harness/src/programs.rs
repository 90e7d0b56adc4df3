//! The programs of a user's own studies: made by `syscost study run` before anything is measured.
//! Workers find them in their environment.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// The environment variable that holds them, as JSON.
pub const VARIABLE: &str = "SYSCOST_STUDY_PROGRAMS";

/// The program of a quantity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnProgram {
    /// The study's id.
    pub study: String,
    /// The quantity's id.
    pub quantity: String,
    /// The executable and its arguments.
    pub command: Vec<String>,
    /// The directory in which it runs.
    pub directory: PathBuf,
    /// The unit of a number that it prints alone: `ns`, `us`, `ms`, `s` or `ticks`.
    pub unit: String,
    /// How it was made, e.g. `cc -O0 -static loop.c`.
    pub made: String,
}

/// The coordinator's own programs: its environment is the user's shell's, not a worker's.
static OWN: OnceLock<Vec<OwnProgram>> = OnceLock::new();

/// Gives this process its programs; later calls have no effect. The coordinator lists rows by them.
pub fn give(programs: Vec<OwnProgram>) {
    OWN.get_or_init(|| programs);
}

/// The programs that this process was given.
pub fn given() -> Vec<OwnProgram> {
    if let Some(own) = OWN.get() {
        return own.clone();
    }
    let set = std::env::var(VARIABLE).ok();
    set.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// The value of [`VARIABLE`] for the programs of this process; `None` if it has none.
pub fn to_variable() -> Option<String> {
    let programs = given();
    let text = || serde_json::to_string(&programs).expect("strings and paths in UTF-8 are JSON");
    (!programs.is_empty()).then(text)
}
