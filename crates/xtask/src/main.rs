//! The project's chores, run as `cargo xtask CHORE`.

mod cmd;
mod owner;

use std::process::ExitCode;

use clap::Parser;

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
    /// Keep the names of today's rows as those of the last release, by which renamed ones are noticed
    Released,
    /// Make a reference that ships with the program of a run document
    Reference(cmd::reference::Arguments),
    /// Run the tests that plain `cargo test` leaves out, one after the other
    Machine(cmd::machine::Arguments),
    /// Build the static release, check that it is static and runs, and pack it: .deb, .tar.gz, image
    Dist,
}

fn main() -> ExitCode {
    xtask::ended(match Chore::parse() {
        Chore::Gen(arguments) => cmd::generate::run(&arguments),
        Chore::Lint => cmd::lint::run(),
        Chore::NewBench(arguments) => cmd::new_bench::run(&arguments),
        Chore::Released => cmd::lint::released::write(),
        Chore::Reference(arguments) => cmd::reference::run(&arguments),
        Chore::Machine(arguments) => cmd::machine::run(&arguments),
        Chore::Dist => cmd::dist::run(),
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
