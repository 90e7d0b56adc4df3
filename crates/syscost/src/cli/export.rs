//! Arguments of `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::parameter;

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost export [OPTIONS] --format <FORMAT> [RUN|SELECTOR]...")]
#[command(
    after_help = "docs/export.md describes every format: its columns, units and an example of use."
)]
pub struct ExportArguments {
    /// The runs: documents, `latest`, ids or tags; only one for openmetrics and bencher; the latest
    /// if none is given. After them, only these groups, ids, rows or patterns, or what is found by
    /// these words
    #[arg(value_name = "RUN|SELECTOR")]
    pub words: Vec<String>,
    /// Only rows that have this parameter, e.g. `size=64K`; may be repeated: several values of one
    /// key mean any of them
    #[arg(long = "case", value_name = "KEY=VALUE", value_parser = parameter)]
    pub cases: Vec<String>,
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
