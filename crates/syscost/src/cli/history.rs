//! Arguments of `history`.

use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand};
use jiff::{SignedDuration, Timestamp, civil, tz::TimeZone};
use syscost_results::row_name;

use super::Format;

/// Arguments of `history`.
#[derive(Debug, Args)]
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
    List,
    /// Follow a metric over time, or several at a glance
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
    Changes {
        /// Which runs
        #[command(flatten)]
        scope: ScopeArguments,
    },
    /// Name a run; a tagged run is not pruned
    Tag {
        /// The run
        run: String,
        /// The tag
        tag: String,
    },
    /// Remove a tag from a run
    Untag {
        /// The run
        run: String,
        /// The tag
        tag: String,
    },
    /// Remove old runs, after asking
    Prune(PruneArguments),
    /// Print the directory where runs are kept
    Path,
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
