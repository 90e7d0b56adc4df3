//! Arguments of `fleet import` and `fleet export`.

use std::path::PathBuf;

use clap::Args;
use jiff::civil::Date;

/// Arguments of `fleet import`.
#[derive(Debug, Args)]
pub struct FleetImportArguments {
    /// Directories of documents, such as `syscost fleet run` makes, or single documents
    #[arg(value_name = "DIR|DOCUMENT", required = true)]
    pub paths: Vec<PathBuf>,
    /// The directory of the tables; runs that it has already are not added again
    #[arg(short, long, value_name = "TABLES")]
    pub output: PathBuf,
}

/// Arguments of `fleet export`.
#[derive(Debug, Args)]
pub struct FleetExportArguments {
    /// The directory of the tables
    #[arg(value_name = "TABLES")]
    pub tables: PathBuf,
    /// The directory for the documents, one packed file for each run
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Only runs of the machine of this name
    #[arg(long)]
    pub host: Option<String>,
    /// Only runs that began on this day, UTC, e.g. 2026-11-20
    #[arg(long)]
    pub date: Option<Date>,
}
