//! Experiments with the program, run as `cargo lab CHORE`. Plain `cargo build` and `cargo test` leave them out.

mod aa;
mod columns;
mod coverage;
mod fleet;
mod host;
mod invariants;
mod listed;
mod machines;
mod own_share;
mod pictures;
mod probe_series;
mod program;
mod slips;
mod steady;
mod swap;
mod torture;
mod userlands;
mod validate;
mod workers;

use std::process::ExitCode;

use clap::Parser;

/// Experiments with the program.
#[derive(Debug, Parser)]
#[command(name = "cargo lab", bin_name = "cargo lab", max_term_width = 100)]
enum Chore {
    /// Check run documents against the schema, and what a schema cannot say
    Validate(validate::Arguments),
    /// Check how often the 95 % intervals hold the truth, simulated or on this machine
    Coverage(coverage::Arguments),
    /// Measure rows in two ways in turn, and report the rows whose numbers depend on the way
    Steady(steady::Arguments),
    /// Compare a machine with itself: rows called changed that are not, and changes put in that are found
    Aa(aa::Arguments),
    /// Kill, starve and hurry the program, feed it damaged files, and see that it ends well
    Torture(torture::Arguments),
    /// Try the program in emulated machines with other processors, kernels and settings
    Machines(machines::Arguments),
    /// Try the program in roots with another C library, without a shell, without anything, in a package
    Userlands(userlands::Arguments),
    /// Time `fleet report` on simulated machines, some of them bad
    Fleet(fleet::Arguments),
    /// Measure rows under the names of others, and see that they lose their numbers
    Swap(swap::Arguments),
    /// Measure rows by a program with a slip in one line, and see that they lose their numbers
    Slips(slips::Arguments),
    /// Record probes of the core after several kinds of work, and tell how many were called wrongly
    ProbeSeries(probe_series::Arguments),
    /// Tell how much of the time each core was own while a command ran, by probes of another kind
    OwnShare(own_share::Arguments),
    /// Draw docs/images from the run in fixtures/runs
    Pictures(pictures::Arguments),
}

fn main() -> ExitCode {
    xtask::ended(match Chore::parse() {
        Chore::Validate(arguments) => validate::run(&arguments),
        Chore::Coverage(arguments) => coverage::run(&arguments),
        Chore::Steady(arguments) => steady::run(&arguments),
        Chore::Aa(arguments) => aa::run(&arguments),
        Chore::Torture(arguments) => torture::run(&arguments),
        Chore::Machines(arguments) => machines::run(&arguments),
        Chore::Userlands(arguments) => userlands::run(&arguments),
        Chore::Fleet(arguments) => fleet::run(&arguments),
        Chore::Swap(arguments) => swap::run(&arguments),
        Chore::Slips(arguments) => slips::run(&arguments),
        Chore::ProbeSeries(arguments) => probe_series::run(&arguments),
        Chore::OwnShare(arguments) => own_share::run(&arguments),
        Chore::Pictures(arguments) => pictures::run(&arguments),
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
