//! Arguments of `fleet import` and `fleet export`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `fleet import`.
#[derive(Debug, Args)]
pub struct FleetImportArguments {
    /// Collections or documents
    #[arg(value_name = "DIR|DOCUMENT", required = true)]
    pub paths: Vec<PathBuf>,
}

/// Arguments of `fleet export`.
#[derive(Debug, Args)]
pub struct FleetExportArguments {
    /// The directory of the tables
    #[arg(value_name = "TABLES")]
    pub tables: PathBuf,
}
