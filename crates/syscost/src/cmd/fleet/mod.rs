//! `syscost fleet`: many machines.

mod collect;
mod net;
mod report;
mod tables;
mod template;

use anyhow::Result;

use crate::cli::{FleetArguments, FleetCommand};

/// Runs the command.
pub(crate) fn run(arguments: FleetArguments) -> Result<u8> {
    match arguments.command {
        FleetCommand::Run(arguments) => collect::run(&arguments),
        FleetCommand::Net(arguments) => net::run(&arguments),
        FleetCommand::Report(arguments) => report::run(&arguments),
        FleetCommand::Import(arguments) => tables::import(&arguments),
        FleetCommand::Export(arguments) => tables::export(&arguments),
        FleetCommand::Template(arguments) => template::run(&arguments),
    }
}
