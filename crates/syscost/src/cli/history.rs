//! Arguments of `history`.

use clap::{Args, Subcommand};

use super::Format;

/// Arguments of `history`.
#[derive(Debug, Args)]
pub struct HistoryArguments {
    /// What to do; lists the kept runs if not given
    #[command(subcommand)]
    pub command: Option<HistoryCommand>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table, global = true)]
    pub format: Format,
}

/// What to do with the kept runs.
#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// List the kept runs
    List,
    /// Follow a metric over time
    Show {
        /// Name of the row, e.g. `syscall.null{call=getppid}`
        name: String,
    },
    /// Give a run a name of your own
    Tag {
        /// The run
        run: String,
        /// The tag
        tag: String,
    },
}
