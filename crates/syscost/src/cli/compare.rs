//! Arguments of `compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The run to compare with
    #[arg(value_name = "BASE")]
    pub base: String,
    /// The run to compare; several are pooled
    #[arg(value_name = "NEW", required = true)]
    pub new: Vec<String>,
    /// Another run of the base's side, pooled with BASE
    #[arg(long = "base", value_name = "RUN")]
    pub more_base: Vec<String>,
    /// How to print it
    #[command(flatten)]
    pub output: CompareOutput,
}

/// How a comparison is printed and judged.
#[derive(Debug, Args)]
pub struct CompareOutput {
    /// What to print
    #[arg(long, value_enum, default_value_t = CompareFormat::Table)]
    pub format: CompareFormat,
    /// Write it to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Exit with 3 if a row became worse; with `worse:5%`, if one became worse by more than that
    #[arg(long, value_name = "worse[:PERCENT]")]
    pub fail_on: Option<String>,
    /// Show every row, not only those that changed
    #[arg(short, long)]
    pub verbose: bool,
}

/// How to print a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Text for people.
    Table,
    /// A table for a pull request.
    Markdown,
    /// One JSON document.
    Json,
    /// A page.
    Html,
}
