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

use std::process::{Command, Stdio};

use syscost_harness::prelude::*;
use syscost_harness::programs::given;

use super::program::results_of;

/// What a C file may include as `result.h`, to print more than a number.
pub const HEADER: &str = include_str!("result.h");

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "study.own",
    title: "A procedure of your own study",
    tags: &["system call"],
    cases: Cases::Here(cases),
    quantity: Quantity::Level,
    run,
    source: include_str!("own.rs"),
    ..Benchmark::DEFAULT
};

fn cases(_: &Here) -> Vec<Case> {
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
