//! The project's chores, run as `cargo xtask CHORE`.

mod cmd;
mod columns;
mod host;
mod invariants;
mod peers;
mod program;
mod workspace;

use std::env;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use syscost_harness::worker::ARGUMENT;

/// The project's chores.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
enum Chore {
    /// Write the generated files in docs/, or check that they are current
    Gen(cmd::generate::Arguments),
    /// Check the rules of this code that no compiler knows
    Lint,
    /// Begin a new benchmark: its file from a template, and its two lines in the group's list
    NewBench(cmd::new_bench::Arguments),
    /// Make a reference that ships with the program of a run document
    Reference(cmd::reference::Arguments),
    /// Check run documents against the schema, and what a schema cannot say
    Validate(cmd::validate::Arguments),
    /// Compare rows with other tools that measure the same work
    Versus(cmd::versus::Arguments),
    /// Check how often the 95 % intervals hold the truth, simulated or on this machine
    Coverage(cmd::coverage::Arguments),
    /// Measure rows in two ways in turn, and report the rows whose numbers depend on the way
    Steady(cmd::steady::Arguments),
    /// Compare a machine with itself: rows called changed that are not, and changes put in that are found
    Aa(cmd::aa::Arguments),
    /// Measure memory bandwidth by STREAM's rules, for `versus` to compare with
    Stream(cmd::stream::Arguments),
    /// Kill, starve and hurry the program, feed it damaged files, and see that it ends well
    Torture(cmd::torture::Arguments),
    /// Time `fleet import` and `fleet report` on simulated machines, some of them bad
    Fleet(cmd::fleet::Arguments),
    /// Write down what a redesign must not move: rows, jobs, evidence, machine code
    Frozen(cmd::frozen::Arguments),
    /// Measure each row with the neighbouring value of one parameter, and see that it loses its
    /// number
    Swap(cmd::swap::Arguments),
    /// Draw docs/images from the run in fixtures/runs
    Pictures(cmd::pictures::Arguments),
    /// Build the static release, check that it is static and runs, and pack it: .deb, .tar.gz, image
    Dist,
}

fn main() -> ExitCode {
    // A run that `frozen` simulates starts workers, too.
    if env::args_os().nth(1).is_some_and(|first| first == ARGUMENT) {
        return ended(cmd::frozen::work());
    }
    ended(match Chore::parse() {
        Chore::Gen(arguments) => cmd::generate::run(&arguments),
        Chore::Lint => cmd::lint::run(),
        Chore::NewBench(arguments) => cmd::new_bench::run(&arguments),
        Chore::Reference(arguments) => cmd::reference::run(&arguments),
        Chore::Validate(arguments) => cmd::validate::run(&arguments),
        Chore::Versus(arguments) => cmd::versus::run(&arguments),
        Chore::Coverage(arguments) => cmd::coverage::run(&arguments),
        Chore::Steady(arguments) => cmd::steady::run(&arguments),
        Chore::Aa(arguments) => cmd::aa::run(&arguments),
        Chore::Stream(arguments) => cmd::stream::run(&arguments),
        Chore::Torture(arguments) => cmd::torture::run(&arguments),
        Chore::Swap(arguments) => cmd::swap::run(&arguments),
        Chore::Pictures(arguments) => cmd::pictures::run(&arguments),
        Chore::Dist => cmd::dist::run(),
        Chore::Fleet(arguments) => cmd::fleet::run(&arguments),
        Chore::Frozen(arguments) => cmd::frozen::run(&arguments),
    })
}

fn ended(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Chore::command().debug_assert();
    }
}
