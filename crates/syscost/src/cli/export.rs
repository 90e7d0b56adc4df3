//! Arguments of `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(
    after_help = "docs/export.md describes every format: its columns, units and an example of use."
)]
pub struct ExportArguments {
    /// The runs: documents, `latest`, ids or tags; only one for openmetrics and bencher
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// The format
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// Write to this file (a directory for parquet) instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A line for each row.
    Csv,
    /// Tables for documents.
    Markdown,
    /// A JSON object for each row, one a line.
    Jsonl,
    /// Tables `runs`, `measurements` and `samples`, a file each.
    Parquet,
    /// For Prometheus, e.g. the node exporter's textfile collector.
    Openmetrics,
    /// Bencher Metric Format.
    Bencher,
    /// Kernel Test Anything Protocol.
    Ktap,
}
