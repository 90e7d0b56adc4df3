//! Arguments of `study`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use syscost_harness::directory::Directory;

use super::run::FarEnds;
use super::{ProfileName, RowArgument, directory, form, seconds};
use crate::Failed;

/// Arguments of `study`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(override_usage = "syscost study [OPTIONS] [STUDY]\n       syscost study <COMMAND>")]
#[command(after_help = "\
A study is called by its id, or by the path of a TOML file of your own:
  syscost study                   the published experiments there are
  syscost study three-costs       what was published; --source: its programs
  syscost study run three-costs   the same procedure here, beside it
  syscost study run mine.toml     figures of your own beside the catalogue's
  syscost study report latest     the studies of a kept run again
  syscost study report A B C      those of several machines, side by side
  syscost study run all -o lab/   a report to hand in: text, page, charts, data")]
pub struct StudyArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<StudyCommand>,
    /// The study whose published figures and inconsistencies are printed: its id, or a TOML file; `all` for
    /// every published one; without it they are listed
    #[arg(value_name = "STUDY")]
    pub study: Option<String>,
    /// Print the C programs of the study instead, with the command that compiles each by hand; or one of
    /// them, or a header that they include
    #[arg(
        long,
        value_name = "PROCEDURE",
        num_args = 0..=1,
        default_missing_value = "",
        requires = "study"
    )]
    pub source: Option<String>,
}

/// What `study` can do.
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// Repeat studies on this machine, and judge them
    Run(Box<StudyRunArguments>),
    /// Print the studies of kept runs again; those of several machines side by side
    #[command(override_usage = "syscost study report [OPTIONS] [STUDY|RUN]...")]
    Report(StudyReportArguments),
}

/// Arguments of `study report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  syscost study report latest
  syscost study report three-costs before after -o both.md
  syscost study report all latest -o lab/")]
pub struct StudyReportArguments {
    /// Studies: ids, `all`, or TOML files; without any, those whose rows the runs have. Runs: documents,
    /// ids or tags, several are columns; without any, the latest
    #[arg(value_name = "STUDY|RUN")]
    pub names: Vec<String>,
    /// What to print; if not given, what the extension of --output (.md, .html, .csv, .json) means,
    /// else a table
    #[arg(long, value_enum)]
    pub format: Option<StudyFormat>,
    /// Write to this file instead of standard output; into a folder, a path without extension, a report
    /// to hand in, with charts and data
    #[arg(short, long, value_name = "FILE|FOLDER")]
    pub output: Option<PathBuf>,
    /// Show the evidence of every quantity
    #[arg(short, long)]
    pub verbose: bool,
}

impl StudyReportArguments {
    /// Returns the requested format, or the one that the output file's extension means.
    ///
    /// # Errors
    /// When the extension means another format.
    pub fn form(&self) -> Result<StudyFormat, Failed> {
        let by_ending = [
            ("txt", StudyFormat::Table),
            ("md", StudyFormat::Markdown),
            ("html", StudyFormat::Html),
            ("csv", StudyFormat::Csv),
            ("json", StudyFormat::Json),
        ];
        form(
            "studies have",
            self.format,
            self.output.as_deref(),
            &by_ending,
        )
    }
}

/// How studies of runs are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StudyFormat {
    /// Text for people.
    Table,
    /// One JSON document.
    Json,
    /// A report to hand in, without its charts.
    Markdown,
    /// The same as a page, with its charts.
    Html,
    /// A line for each quantity and source.
    Csv,
}

/// Arguments of `study run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  syscost study run three-costs
  syscost study run all --thorough -o lab/
  syscost study run mine.toml")]
pub struct StudyRunArguments {
    /// The studies: ids, or TOML files; `all` for every published one
    #[arg(value_name = "STUDY", required = true)]
    pub studies: Vec<String>,
    /// How thoroughly to measure, as in `run`: quick, standard or full, up to a minute per study, or
    /// careful
    #[arg(long, value_enum, default_value_t = ProfileName::Standard, hide_possible_values = true)]
    pub profile: ProfileName,
    /// Seconds the run may take, instead of the profile's own
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<Duration>,
    /// Take the time that the published procedures need, up to an hour per study: file cache sizes
    /// are searched until they are found or the disk ends, and operations are as many as published
    #[arg(long)]
    pub thorough: bool,
    /// How long a row may take.
    #[command(flatten)]
    pub row: RowArgument,
    /// The far ends of the measurements.
    #[command(flatten)]
    pub far: FarEnds,
    /// Directory in which a study measures files
    #[arg(long, value_name = "[LABEL=]PATH", value_parser = directory)]
    pub dir: Option<Directory>,
    /// Resume the interrupted run of these studies that is recorded in this journal; journals lie in
    /// $XDG_DATA_HOME/syscost/journals (by default ~/.local/share/syscost/journals)
    #[arg(long, value_name = "JOURNAL", conflicts_with_all = ["profile", "budget", "thorough", "time_limit", "peer", "nfs", "dir"])]
    pub resume: Option<PathBuf>,
    /// Write the run document to this file as well; into a folder, a path without extension, a report
    /// to hand in, with charts and data
    #[arg(short, long, value_name = "FILE|FOLDER")]
    pub output: Option<PathBuf>,
}
