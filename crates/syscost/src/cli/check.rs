//! Arguments of `check`.

use clap::{Args, ValueEnum};

use super::compare::percent;
use super::manual;

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost check [OPTIONS] --baseline <RUN|FILE> [SELECTOR]...")]
#[command(after_help = manual::with_exit_codes("check", "\
What looks worse is measured again, and only what both times show is said. Nothing is kept.

  syscost run --profile quick --tag good
  syscost check --baseline good
  syscost check --baseline kind.json --format nagios

With --format nagios the exit codes are 0 OK, 1 WARNING (not as it should be), 3 UNKNOWN (all else); with --format npd 0, 1, and 2 for all else."))]
pub struct CheckArguments {
    /// Only these groups, ids, rows or patterns, as far as the baseline has them; a short list of the
    /// quick profile's rows if none is given
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// What this machine should be like: a kept run, by its document, id or tag, or a baseline that
    /// `syscost fleet report --save-baseline` wrote
    #[arg(long, value_name = "RUN|FILE")]
    pub baseline: String,
    /// By how much a row may be worse, even at the better end of its interval
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "10%")]
    pub margin: f64,
    /// What to print
    #[arg(long, value_enum, default_value_t = CheckFormat::Line)]
    pub format: CheckFormat,
}

/// What `check` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// A line for people: at most 200 characters.
    Line,
    /// A line for Nagios, Icinga and their like, with figures.
    Nagios,
    /// A line for Kubernetes' node-problem-detector: at most 80 characters.
    Npd,
    /// One JSON document.
    Json,
}
