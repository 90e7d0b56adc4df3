//! Arguments of `study`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use syscost_harness::directory::Directory;

use super::run::FarEnds;
use super::{Format, ProfileName, directory, seconds};

/// Arguments of `study`.
#[derive(Debug, Args)]
#[command(after_help = "\
A study is called by its id, or by the path of a TOML file of your own:
  syscost study list              the published experiments there are
  syscost study show three-costs  what was published
  syscost study run three-costs   the same procedure here, beside it
  syscost study run mine.toml     figures of your own beside the catalogue's
  syscost study report latest     the studies of a kept run again")]
pub struct StudyArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: StudyCommand,
}

/// What `study` can do.
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// List the studies
    List {
        /// What to print
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Print the published figures and their inconsistencies
    Show {
        /// The study: its id, or a TOML file
        #[arg(value_name = "STUDY")]
        study: String,
        /// What to print
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Repeat studies on this machine, and judge them
    Run(StudyRunArguments),
    /// Print the studies of a kept run again
    #[command(override_usage = "syscost study report [OPTIONS] [RUN]")]
    Report {
        /// The run: its document, `latest`, an id or a tag
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// Only these studies: ids, or TOML files; without any, those whose rows the run has
        #[arg(long = "study", value_name = "STUDY")]
        studies: Vec<String>,
        /// What to print
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
        /// Show the evidence of every quantity
        #[arg(short, long)]
        verbose: bool,
    },
}

/// Arguments of `study run`.
#[derive(Debug, Args)]
pub struct StudyRunArguments {
    /// The studies: ids, or TOML files; `all` for every published one
    #[arg(value_name = "STUDY", required = true)]
    pub studies: Vec<String>,
    /// How thoroughly to measure: quick (6 to 51 rounds within 20 s), standard (6 to 51 rounds) or
    /// full (6 to 25 rounds), up to a minute per study, or careful (12 to 30 rounds within 15 min)
    #[arg(long, value_enum, default_value_t = ProfileName::Standard, hide_possible_values = true)]
    pub profile: ProfileName,
    /// Seconds the run may take, instead of the profile's own
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<Duration>,
    /// Take the time that the published procedures need, up to an hour per study: file cache sizes
    /// are searched until they are found or the disk ends, and operations are as many as published
    #[arg(long)]
    pub thorough: bool,
    /// Seed of every shuffle and padding, to repeat a run's order
    #[arg(long)]
    pub seed: Option<u64>,
    /// The far ends of the measurements.
    #[command(flatten)]
    pub far: FarEnds,
    /// Directory in which a study measures files
    #[arg(long, value_name = "[LABEL=]PATH", value_parser = directory)]
    pub dir: Option<Directory>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write the run document to this file as well
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Do not keep the run in the data directory
    #[arg(long)]
    pub no_save: bool,
    /// Show the evidence of every quantity
    #[arg(short, long)]
    pub verbose: bool,
}
