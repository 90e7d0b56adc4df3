//! `syscost fleet`: many machines.

mod collect;
mod report;
mod template;

use anyhow::Result;

use crate::cli::{FleetArguments, FleetCommand};

/// Runs the command.
pub(crate) fn run(arguments: FleetArguments) -> Result<u8> {
    match arguments.command {
        FleetCommand::Run(arguments) => collect::run(&arguments),
        FleetCommand::Report(arguments) => report::run(&arguments),
        FleetCommand::Template(arguments) => template::run(&arguments),
    }
}
