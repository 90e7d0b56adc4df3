//! Arguments of `show`.

use clap::{Args, ValueEnum};

use super::parameter;

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost show [OPTIONS] [RUN] [SELECTOR|WORDS]...")]
pub struct ShowArguments {
    /// The run: a document, `latest`, an id or a tag; may be left out before rows: `syscost show syscall`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Only these groups, ids, rows or patterns, or what is found by these words: `page fault`, `lat_ctx`
    #[arg(value_name = "SELECTOR|WORDS")]
    pub selectors: Vec<String>,
    /// Only rows that have this parameter, e.g. `size=64K`; may be repeated: several values of one
    /// key mean any of them
    #[arg(long = "case", value_name = "KEY=VALUE", value_parser = parameter)]
    pub cases: Vec<String>,
    /// The summary that a run without a selection ends with, in place of the table
    #[arg(long, conflicts_with_all = ["selectors", "cases", "verbose", "format"])]
    pub summary: bool,
    /// Show the figures of this run beside the numbers, in a table: a shipped reference
    /// (`syscost numbers --help` names them), a document, an id or a tag
    #[arg(long, value_name = "REFERENCE")]
    pub beside: Option<String>,
    /// Show the evidence, flags and details of every row
    #[arg(short, long)]
    pub verbose: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = ShowFormat::Table)]
    pub format: ShowFormat,
}

/// What `show` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// Text for people; on a terminal by the pager that PAGER names, or less
    Table,
    /// The run's document, with the rows shown
    Json,
    /// A line for each row, as `export --format csv` writes it
    Csv,
}
