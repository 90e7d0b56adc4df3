//! Arguments of `show`.

use clap::{Args, ValueEnum};

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The run: a document, `latest`, an id or a tag
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Only these groups, ids, rows or patterns
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// Tell the evidence, flags and details of every row
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
