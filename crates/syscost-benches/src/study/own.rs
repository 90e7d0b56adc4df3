//! Programs of a user's own study: a C file, or a command.
//!
//! ## Measures
//! What the program prints, each time it is started: a number in the unit that its study states, or lines
//! as the programs of the published studies print them (docs/studies.md).
//! ## Does not measure
//! Anything that syscost knows: the study says what its procedure is.
//! ## Interpretation
//! By the study's own text.
//! ## Source
//! The user's TOML file.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use syscost_harness::prelude::*;

use super::program::results_of;

/// The environment variable by which workers find the programs, as JSON.
pub const VARIABLE: &str = "SYSCOST_STUDY_PROGRAMS";

/// What a C file may include as `result.h`, to print more than a number.
pub const HEADER: &str = include_str!("result.h");

/// The program of a quantity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnProgram {
    /// The study's id.
    pub study: String,
    /// The quantity's id.
    pub quantity: String,
    /// The executable, by its absolute path, and its arguments.
    pub command: Vec<String>,
    /// The directory in which it runs.
    pub directory: PathBuf,
    /// The unit of a number that it prints alone: `ns`, `us`, `ms`, `s` or `ticks`.
    pub unit: String,
    /// How it was made, e.g. `cc 12.2 -O0 loop.c`.
    pub made: String,
}

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "study.own",
    title: "A procedure of your own study",
    cases: Cases::Here(cases),
    quantity: Quantity::Level,
    run,
    source: include_str!("own.rs"),
    ..Benchmark::DEFAULT
};

/// The coordinator's own programs: its environment is the user's shell's, not a worker's.
static OWN: OnceLock<Vec<OwnProgram>> = OnceLock::new();

/// Gives this process the programs; later calls have no effect.
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

fn cases() -> Vec<Case> {
    let programs = given().into_iter();
    programs
        .map(|one| Case::new([("study", one.study), ("quantity", one.quantity)]))
        .collect()
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (study, quantity) = (b.case().get("study"), b.case().get("quantity"));
    let mut programs = given().into_iter();
    let own = programs.find(|one| one.study == study && one.quantity == quantity);
    let own = own.ok_or_else(|| {
        let what =
            format!("the program is not at hand: syscost study run with the file of `{study}`");
        Failure::Unsupported(what)
    })?;
    let start = || {
        let mut command = Command::new(&own.command[0]);
        command.args(&own.command[1..]).current_dir(&own.directory);
        command.stdin(Stdio::null()).output()
    };
    results_of(b, 1, Unit::Nanoseconds, Some(&own.unit), start)?;
    b.note("program", own.made.as_str(), "study");
    Ok(())
}
