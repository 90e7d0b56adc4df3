//! Arguments of `fleet`.

mod collect;
mod report;
mod tables;
mod template;

use clap::{Args, Subcommand};

pub use collect::{CollectArguments, EngineName, NetArguments, Transport, Which};
pub use report::{FleetReportArguments, FleetReportFormat};
pub use tables::{FleetExportArguments, FleetImportArguments};
pub use template::TemplateArguments;

/// Arguments of `fleet`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct FleetArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// What is done with many machines.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Measure many machines through Slurm or Ansible, one document each
    Run(Box<CollectArguments>),
    /// Measure the network between every pair of machines
    Net(NetArguments),
    /// Find the machines that are not like the others: in what, by how much, and what about them is
    /// different
    Report(FleetReportArguments),
    /// Turn documents into Parquet tables, for DuckDB and Spark
    Import(FleetImportArguments),
    /// Turn Parquet tables back into documents
    Export(FleetExportArguments),
    /// Write the file that another program needs to measure or check machines with syscost
    Template(TemplateArguments),
}
