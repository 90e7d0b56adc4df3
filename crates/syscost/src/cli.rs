//! The command line. Help, man page and completions all come from here.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use syscost_harness::session::Profile;
use syscost_sys::cpu;

/// What does this computer charge for its primitives?
///
/// Measures clock reads, calls, operations, system calls and signals on this machine. Every number comes with a 95 %
/// confidence interval over fresh processes and with evidence: what the benchmark claims is compared with what the kernel
/// counted, and a refuted claim withholds its number.
#[derive(Debug, Parser)]
#[command(
    name = "syscost",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(after_help = "\
Begin with:
  syscost run --profile quick      everything, in seconds
  syscost run syscall              one group, in a minute or less
  syscost explain syscall.null     what a row means
  syscost doctor                   whether this machine is fit to be measured

Exit codes: 0 done, 1 failure, 2 bad usage, 4 some results withheld (with --strict), 130 interrupted")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure, print a table, keep the run
    Run(RunArguments),
    /// List every benchmark, and why one cannot run here
    List(ListArguments),
    /// Explain a benchmark: what it measures, what not, how to read it, what proves it
    Explain(ExplainArguments),
    /// Check whether this machine is fit to be measured, and what to do where not
    Doctor(DoctorArguments),
    /// Measure operations of known cost, and lies that must be refuted
    Selftest(SelftestArguments),
}

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Selectors name a group, a benchmark, a row, or a pattern of them:
  syscost run syscall                        a group
  syscost run syscall.null 'call.*'          a benchmark and a pattern
  syscost run 'syscall.null{call=getppid}'   one row
Without a selector everything is measured.

A run that broke off is taken up again with --resume and the journal's path, which `run` names when it begins.")]
pub struct RunArguments {
    /// What to measure: groups, ids, rows or patterns; everything if none is given
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// How much to take: quick (seconds), standard (a minute) or careful (many minutes)
    #[arg(long, value_enum, default_value_t = ProfileName::Standard)]
    pub profile: ProfileName,
    /// Seconds the run may take, if not the profile's own; ends it even before its fewest rounds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<Duration>,
    /// CPU to measure on, as `3` or `2,3`; the first is used, the others are probed (the quietest if not given)
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub cpus: Option<CpuList>,
    /// Seed of every shuffle and padding, to repeat a run's order
    #[arg(long)]
    pub seed: Option<u64>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write the run document to this file as well
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Leave the raw samples out of the document
    #[arg(long)]
    pub no_samples: bool,
    /// Do not keep the run in the data folder
    #[arg(long)]
    pub no_save: bool,
    /// Take up the run of this journal
    #[arg(long, value_name = "JOURNAL", conflicts_with_all = ["selectors", "profile", "budget", "cpus", "seed", "time_limit"])]
    pub resume: Option<PathBuf>,
    /// Seconds one row may take in one process before it is ended
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    pub time_limit: Duration,
    /// Exit with 4 if a number was withheld
    #[arg(long)]
    pub strict: bool,
    /// Show the evidence of every row
    #[arg(short, long)]
    pub verbose: bool,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Only these groups, ids or patterns
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// Id of the benchmark, e.g. `syscall.null`
    #[arg(value_name = "ID")]
    pub id: String,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Arguments of `selftest`.
#[derive(Debug, Args)]
pub struct SelftestArguments {
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// What to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people.
    Table,
    /// One JSON document.
    Json,
}

/// A [`Profile`] by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// Six rounds, seconds.
    Quick,
    /// Nine rounds, up to seventeen, a minute.
    Standard,
    /// Twelve rounds, up to thirty, many minutes.
    Careful,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Quick => Profile::Quick,
            ProfileName::Standard => Profile::Standard,
            ProfileName::Careful => Profile::Careful,
        }
    }
}

/// CPU numbers, at least one.
#[derive(Debug, Clone)]
pub struct CpuList(pub Vec<u32>);

fn cpu_list(text: &str) -> Result<CpuList, String> {
    match cpu::parse_list(text) {
        Ok(cpus) if !cpus.is_empty() => Ok(CpuList(cpus)),
        _ => Err("give CPU numbers such as 0-3,5".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds < 1e6 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("give a positive number of seconds".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn nonsense_durations_are_refused() {
        assert!(seconds("-1").is_err());
        assert!(seconds("NaN").is_err());
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
    }
}
