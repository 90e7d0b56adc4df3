//! Arguments of `clean`.

use std::path::PathBuf;

use clap::Args;

use super::Format;

/// Arguments of `clean`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost clean [OPTIONS] [PATH]...")]
#[command(after_help = "\
A run removes what it made, and what killed runs left according to their records. `clean` does the latter without a run, and also searches the directories of interrupted runs, the default directory, and each PATH.

It removes only this user's directories with syscost's marker (or with a name and mode that only syscost gives, on record or untouched for an hour), made by processes that have ended, and files that were left half written in the data folder. It never follows a link.")]
pub struct CleanArguments {
    /// Directories to search as well, e.g. those given to a lost run by `--dir`
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only list what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}
