//! Arguments of `history`.

use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand};
use jiff::{SignedDuration, Timestamp, civil, tz::TimeZone};
use syscost_results::row_name;

use super::Format;

/// Arguments of `history`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(
    override_usage = "syscost history [OPTIONS] [SELECTOR|WORDS]...\n       syscost history <COMMAND>"
)]
#[command(group(ArgGroup::new("what").args(["names", "changes"])))]
#[command(after_help = "\
Examples:
  syscost history                                   the kept runs
  syscost history 'syscall.null{call=getppid}'      a row over time
  syscost history memory --since 2026-11-01         several at a glance
  syscost history syscall.null --machine all
  syscost history --changes                         what changed, and when
  syscost history tag latest~2 latest before        names two runs
  syscost history prune --older-than 90d")]
pub struct HistoryArguments {
    /// What else to do with the kept runs.
    #[command(subcommand)]
    pub command: Option<HistoryCommand>,
    /// Rows to follow over time: a group, a benchmark, a row such as `syscall.null{call=getppid}`, a pattern, or words
    /// such as `page fault`; without any, the kept runs are listed, newest first
    #[arg(value_name = "SELECTOR|WORDS")]
    pub names: Vec<String>,
    /// List every change of level of any row, newest first
    #[arg(long)]
    pub changes: bool,
    /// Only runs of this machine, by host name or fingerprint; if not given, of the machine of the newest
    /// run; `all` follows rows on every machine, side by side
    #[arg(long, requires = "what")]
    pub machine: Option<String>,
    /// Only runs from this day on, e.g. 2026-11-20
    #[arg(long, value_name = "DATE", value_parser = moment, requires = "what")]
    pub since: Option<Timestamp>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// What else to do with the kept runs.
#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// Name runs; tagged runs are not pruned
    #[command(after_help = "\
Examples:
  syscost history tag latest before-upgrade
  syscost history tag latest~2 latest~1 latest before
  syscost history tag --delete before before          from all runs that have it")]
    Tag {
        /// The runs
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
        /// The tag; several runs may have the same: `compare before after` pools all that have it,
        /// and where one run is asked for, it means the newest
        #[arg(value_name = "TAG")]
        tag: String,
        /// Remove the tag from the runs
        #[arg(short, long)]
        delete: bool,
    },
    /// Remove old runs, after asking
    Prune(PruneArguments),
}

/// Arguments of `history prune`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  syscost history prune --keep 50
  syscost history prune --older-than 90d --yes")]
#[command(group(ArgGroup::new("which").args(["keep", "older_than"]).required(true).multiple(true)))]
pub struct PruneArguments {
    /// Keep the newest N runs
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Remove only runs older than this, e.g. 90d, 12w, 36h
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Option<SignedDuration>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// Parses a day, as its beginning in the user's time zone, or a timestamp as in run documents.
fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    text.parse::<civil::Date>()
        .and_then(|day| day.to_zoned(TimeZone::system()))
        .map(|day| day.timestamp())
        .map_err(|_| "give a day such as 2026-11-20".to_owned())
}

fn age(text: &str) -> Result<SignedDuration, String> {
    let wrong = || "give a number and h, d or w, e.g. 90d".to_owned();
    let ns = row_name::nanoseconds(text).ok_or_else(wrong)?;
    SignedDuration::try_from(Duration::from_nanos(ns)).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_days_are_understood_and_nonsense_is_not() {
        assert_eq!(age("90d"), Ok(SignedDuration::from_hours(2160)));
        assert_eq!(age("2w"), Ok(SignedDuration::from_hours(336)));
        for nonsense in ["", "d", "-1d", "90", "9é", "99999999999d"] {
            assert!(age(nonsense).is_err(), "{nonsense}");
        }
        assert!(moment("2026-11-20").is_ok());
        assert!(moment("yesterday").is_err());
    }
}
