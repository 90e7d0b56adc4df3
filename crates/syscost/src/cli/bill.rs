//! Arguments of `bill`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use syscost_harness::directory::Directory;
use syscost_results::bill::Sum;

use super::compare::percent;
use super::{directory, seconds};

/// Arguments of `bill`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost bill [OPTIONS] [COMMAND]...")]
#[command(after_help = "\
Examples:
  syscost bill git status              each call, how often, and what it costs
  syscost bill --tag before -- ./build
  syscost bill --against before --fail-on calls:5% -- ./build
  syscost bill --beside other.json git status
  syscost bill --pid 4711 --for 10     a running process, and its threads

The program is run a few times, in turn as it is and under ptrace, which counts each system call, page fault, task and byte of it and \
of all that it starts. Then the primitives that it uses are measured here, each as it costs after other data were read. As \
root, or with kernel.perf_event_paranoid at 1 or less, samples of as many more runs say how much of its time each really takes.")]
pub struct BillArguments {
    /// The program and its arguments
    #[arg(
        value_name = "COMMAND",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required_unless_present = "pid"
    )]
    pub command: Vec<String>,
    /// Count what this process and its threads do, while they run
    #[arg(long, value_name = "PID", conflicts_with_all = ["command", "prepare", "input", "runs", "fail_on"])]
    pub pid: Option<u32>,
    /// For how many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds, default_value = "10", requires = "pid")]
    pub for_s: Duration,
    /// Compare the counts with those of this kept run; nothing is priced
    #[arg(long, value_name = "RUN")]
    pub against: Option<String>,
    /// Also price it by this kept run of another machine (there: `syscost run bill`)
    #[arg(long, value_name = "RUN", conflicts_with = "against")]
    pub beside: Option<String>,
    /// Fail (exit code 3) if the counts grew by more for certain: `calls:5%`, `faults`, `bytes`, several with
    /// commas; what varies from run to run is no growth, and where that hides whether they did the exit code
    /// is 1
    #[arg(long, value_name = "SUM[:PERCENT]", value_parser = fail_on, value_delimiter = ',', requires = "against")]
    pub fail_on: Vec<GrownBy>,
    /// Only count, do not measure what the counts cost
    #[arg(long)]
    pub counts_only: bool,
    /// Runs that are counted, and as many that are not
    #[arg(short, long, value_parser = clap::value_parser!(u32).range(1..), default_value_t = 3)]
    pub runs: u32,
    /// What a shell does before each run
    #[arg(short, long, value_name = "STEP")]
    pub prepare: Option<String>,
    /// File that each run reads as standard input
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Count a program that fails, too
    #[arg(long)]
    pub ignore_failure: bool,
    /// Seconds in which prices are measured
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "25")]
    pub budget: Duration,
    /// Where what is done to files is priced, for a program that works on another file system than that of
    /// ~/.cache; only a scratch directory in it is written to, and removed
    #[arg(long, value_name = "[LABEL=]PATH", value_parser = directory)]
    pub dir: Option<Directory>,
    /// Seconds that one run, or what prices a call, may take before it is ended
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    pub time_limit: Duration,
    /// Keep the run under this name, too
    #[arg(long, value_name = "NAME")]
    pub tag: Option<String>,
    /// Do not keep the run
    #[arg(long)]
    pub no_save: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = BillFormat::Table)]
    pub format: BillFormat,
    /// Show every kind
    #[arg(short, long)]
    pub verbose: bool,
}

/// What is printed of a bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BillFormat {
    /// Text
    Table,
    /// Tables for GitHub
    Markdown,
    /// A page with a bar for each kind
    Html,
    /// The run document
    Json,
}

/// By how much a sum may grow before a gate fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrownBy {
    /// The sum.
    pub of: Sum,
    /// The largest growth that passes, as a share: 0.05 is 5 %.
    pub most: f64,
}

fn fail_on(text: &str) -> Result<GrownBy, String> {
    let (name, share) = match text.split_once(':') {
        Some((name, share)) => (name, percent(share)? / 100.0),
        None => (text, 0.0),
    };
    let of = Sum::ALL.into_iter().find(|sum| sum.name() == name);
    let of = of.ok_or_else(|| {
        format!("give `calls`, `faults` or `bytes`, or `calls:5%` for more than 5 %, not `{text}`")
    })?;
    Ok(GrownBy { of, most: share })
}
