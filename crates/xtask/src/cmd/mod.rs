//! The chores that need the program, or much else; one file or folder each.

pub(crate) mod dist;
pub(crate) mod generate;
pub(crate) mod lint;
mod machine;
mod parts;
mod reference;

use anyhow::Result;
use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Chore {
    /// Write the generated files in docs/, or check that they are current
    Gen(generate::Arguments),
    /// Check the rules of this code that no compiler knows
    Lint,
    /// Keep the names of today's rows as those of the last release, by which renamed ones are noticed
    Released,
    /// Take a shared run in, as a reference that ships with the program
    Reference(reference::Arguments),
    /// Take off each part of the program in turn, and check that the rest compiles
    Parts(parts::Arguments),
    /// Run the tests that plain `cargo test` leaves out, one after the other
    Machine(machine::Arguments),
    /// Build the static release, check that it is static and runs, and pack it: .deb, .tar.gz, image
    Dist(dist::Arguments),
}

/// Runs a chore.
pub(crate) fn run(chore: Chore) -> Result<()> {
    match chore {
        Chore::Gen(arguments) => generate::run(&arguments),
        Chore::Lint => lint::run(),
        Chore::Released => lint::released::write(),
        Chore::Reference(arguments) => reference::run(&arguments),
        Chore::Parts(arguments) => parts::run(&arguments),
        Chore::Machine(arguments) => machine::run(&arguments),
        Chore::Dist(arguments) => dist::run(&arguments),
    }
}
