//! Arguments of `history`.

use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand};
use jiff::{SignedDuration, Timestamp, civil, tz::TimeZone};
use syscost_results::row_name;

use super::Format;

/// Arguments of `history`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  syscost history                              the kept runs
  syscost history show syscall.null            a metric over time
  syscost history tag latest~2 latest before   names two runs
  syscost history prune --older-than 90d")]
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
    /// List the kept runs, newest first
    #[command(after_help = "\
Examples:
  syscost history list --format json")]
    List,
    /// Follow a metric over time, or several at a glance
    #[command(after_help = "\
Examples:
  syscost history show 'syscall.null{call=getppid}' --last 20
  syscost history show memory --since 2026-11-01
  syscost history show syscall.null --all-machines")]
    Show {
        /// Rows: a group, a benchmark, a row such as `syscall.null{call=getppid}`, a pattern, or
        /// words such as `page fault`
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
        /// Every machine of the kept runs, side by side; `syscost fleet report` of their directory says
        /// which is not like the others
        #[arg(long, conflicts_with = "machine")]
        all_machines: bool,
        /// Which runs
        #[command(flatten)]
        scope: ScopeArguments,
    },
    /// List every change of level of any metric, newest first
    #[command(after_help = "\
Examples:
  syscost history changes --since 2026-11-01")]
    Changes {
        /// Which runs
        #[command(flatten)]
        scope: ScopeArguments,
    },
    /// Name runs; tagged runs are not pruned
    #[command(after_help = "\
Examples:
  syscost history tag latest before-upgrade
  syscost history tag latest~2 latest~1 latest before")]
    Tag {
        /// The runs
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
        /// The tag; several runs may have the same: `compare before after` pools all that have it,
        /// and where one run is asked for, it means the newest
        #[arg(value_name = "TAG")]
        tag: String,
    },
    /// Remove a tag from runs
    #[command(after_help = "\
Examples:
  syscost history untag latest before
  syscost history untag before before          from all runs that have it")]
    Untag {
        /// The runs
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
        /// The tag
        #[arg(value_name = "TAG")]
        tag: String,
    },
    /// Remove old runs, after asking
    Prune(PruneArguments),
}

/// Which runs to follow.
#[derive(Debug, Clone, Args)]
pub struct ScopeArguments {
    /// Only runs of this machine, by host name or fingerprint (if not given, of the machine of the
    /// newest run)
    #[arg(long)]
    pub machine: Option<String>,
    /// Only the newest N runs
    #[arg(long, value_name = "N")]
    pub last: Option<usize>,
    /// Only runs from this day on, e.g. 2026-11-20
    #[arg(long, value_name = "DATE", value_parser = moment)]
    pub since: Option<Timestamp>,
}

/// Arguments of `history prune`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  syscost history prune --keep 50 --dry-run
  syscost history prune --older-than 90d --yes")]
#[command(group(ArgGroup::new("which").args(["keep", "older_than"]).required(true).multiple(true)))]
pub struct PruneArguments {
    /// Keep the newest N runs
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Remove only runs older than this, e.g. 90d, 12w, 36h
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Option<SignedDuration>,
    /// Remove tagged runs as well
    #[arg(long)]
    pub tagged: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Only list what would be removed
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
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
