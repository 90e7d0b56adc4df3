//! The project's chores, run as `cargo xtask CHORE`; `cargo new-bench` builds only what it needs.

#[cfg(feature = "program")]
mod cmd;
mod new_bench;
#[cfg(feature = "program")]
mod owner;

use std::process::ExitCode;

use clap::Parser;

/// The project's chores.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
enum Chore {
    /// Begin a new benchmark: its file from a template, and its two lines in the group's list
    NewBench(new_bench::Arguments),
    #[cfg(feature = "program")]
    #[command(flatten)]
    OfProgram(cmd::Chore),
}

fn main() -> ExitCode {
    xtask::ended(match Chore::parse() {
        Chore::NewBench(arguments) => new_bench::run(&arguments),
        #[cfg(feature = "program")]
        Chore::OfProgram(chore) => cmd::run(chore),
    })
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
