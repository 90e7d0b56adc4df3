//! Arguments of `report`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost report [OPTIONS] [RUN]...")]
pub struct ReportArguments {
    /// The runs, side by side: documents, `latest`, ids or tags
    #[arg(value_name = "RUN", default_value = "latest")]
    pub runs: Vec<String>,
    /// The page to write
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Add every row over time, from the kept runs of the last run's machine
    #[arg(long)]
    pub history: bool,
    /// Draw the samples of each row, and with many runs each row over the runs; makes the page
    /// several times as large
    #[arg(long)]
    pub samples: bool,
    /// Leave out what identifies the machine's owner: host names, addresses, paths, the kernel's
    /// command line, the environment
    #[arg(long)]
    pub anonymous: bool,
    /// The page's title
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}
