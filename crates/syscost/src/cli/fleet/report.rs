//! Arguments of `fleet report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `fleet report`.
#[derive(Debug, Args)]
#[command(after_help = "\
A machine is held against those with the same processor, number of CPUs, hypervisor and product, or with the same values of other \
facts (--cohort). Each of its rows is compared with the median of the others, by how far they are apart; deviations up to 2 % \
do not count. Of the machines called unlike the others, at most 5 % are so by chance, however many there are, and however many \
rows. Of several documents of a machine the latest counts; the earlier ones say since when it has been like this, and what \
changed. A machine whose cores were its own much less of the time than others' is never called slow.

  syscost fleet report fleet-2026-11-27          a collection of `fleet run`
  syscost fleet report monday friday -o now.html two collections, and a page
  syscost fleet report nodes/*.json.gz --cohort label:instance

A CPU quota stops programs between operations, so it is read and not measured: machines that let a process use fewer CPUs than the others are told apart.

Exit codes: 0 all machines are like the others, 3 some are not, 1 none could be judged.")]
pub struct FleetReportArguments {
    /// Collections, tables or documents
    #[arg(value_name = "DIR|PARQUET|DOCUMENT", required = true)]
    pub paths: Vec<PathBuf>,
    /// Also write a page to this file
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Hold machines against each other that have the same values of these facts: those of `machine` in a document (kernel,
    /// memory_modules, mitigations.retbleed), core_ghz, label:NAME
    #[arg(long, value_name = "FACT,...", value_delimiter = ',', default_values = syscost_fleet::facts::ALIKE)]
    pub cohort: Vec<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = FleetReportFormat::Table)]
    pub format: FleetReportFormat,
    /// Write what machines of each cohort cost to this file, for `syscost check --baseline`
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Show every machine and row that differs, and every document left out
    #[arg(short, long)]
    pub verbose: bool,
}

/// How to print what is said of a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FleetReportFormat {
    /// Text for people, the worst machine first.
    Table,
    /// One JSON document.
    Json,
}
