//! Arguments of `clean`.

use std::path::PathBuf;

use clap::Args;

use super::Format;

/// Arguments of `clean`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost clean [OPTIONS] [PATH]...")]
#[command(after_help = "\
A run removes what it made, and what killed runs left that are on record. `clean` does the latter without a run, and looks beside the records into the directories of runs that broke off, into the default directory, and into PATHS.

It removes only folders with syscost's marker, of this user, whose makers are no more, and never follows a link.")]
pub struct CleanArguments {
    /// Directories to look into as well, e.g. those that a lost run had by `--dir`
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only list what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}
