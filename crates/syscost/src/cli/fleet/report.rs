//! Arguments of `fleet report`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `fleet report`.
#[derive(Debug, Args)]
pub struct FleetReportArguments {
    /// Collections, tables or documents
    #[arg(value_name = "DIR|PARQUET|DOCUMENT", required = true)]
    pub paths: Vec<PathBuf>,
}
