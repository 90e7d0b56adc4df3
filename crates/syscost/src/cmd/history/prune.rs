//! `syscost history prune`: removes old runs, after asking.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::Result;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::json;
use syscost_report::history::{HistoryOptions, list};
use syscost_store::{KeptRun, Store};

use crate::cli::{Format, PruneArguments};
use crate::error::{Failed, exit};
use crate::terminal;

/// Runs the command.
pub(super) fn run(store: &Store, arguments: &PruneArguments, format: Format) -> Result<u8> {
    let runs = super::open(store)?.runs()?;
    let now = Timestamp::now();
    let (spared, going): (Vec<KeptRun>, Vec<KeptRun>) = old(runs, arguments, now)
        .into_iter()
        .partition(|run| !arguments.tagged && !run.tags.is_empty());
    let bytes: u64 = going.iter().map(|run| run.size_bytes).sum();
    if let Format::Table = format {
        super::super::print(&report(&going, spared.len(), bytes, now))?;
    }
    let remove =
        !going.is_empty() && !arguments.dry_run && (arguments.yes || confirmed(going.len())?);
    if remove {
        for run in &going {
            store.remove(&run.id)?;
        }
    }
    if let Format::Json = format {
        let ids: Vec<&String> = going.iter().map(|run| &run.id).collect();
        super::super::print_json(
            &json!({"runs": ids, "bytes": bytes, "spared_tagged": spared.len(), "removed": remove}),
        )?;
    } else if remove {
        super::super::print("removed\n")?;
    }
    Ok(exit::DONE)
}

/// Returns the runs, given newest first, that are beyond the limits of number and age. With both
/// limits, a run must be beyond both.
fn old(runs: Vec<KeptRun>, arguments: &PruneArguments, now: Timestamp) -> Vec<KeptRun> {
    let is_old = |run: &KeptRun| {
        arguments.older_than.is_none_or(|age| {
            // A run whose time cannot be read is not old.
            run.started
                .parse::<Timestamp>()
                .is_ok_and(|started| now.duration_since(started) > age)
        })
    };
    runs.into_iter()
        .skip(arguments.keep.unwrap_or(0))
        .filter(is_old)
        .collect()
}

fn report(going: &[KeptRun], spared: usize, bytes: u64, now: Timestamp) -> String {
    let mut text = String::new();
    if going.is_empty() {
        text += "there is nothing to remove\n";
    } else {
        let options = HistoryOptions {
            width: terminal::width(),
            color: true,
            zone: TimeZone::system(),
        };
        text += &list(&super::listed(going), now, &options);
        text += &format!(
            "{}, {:.1} MB\n",
            super::runs(going.len(), ""),
            bytes as f64 / 1e6
        );
    }
    if spared > 0 {
        text += &format!(
            "{} (--tagged removes {} too)\n",
            match spared {
                1 => "1 run with a tag stays".to_owned(),
                spared => format!("{spared} runs with a tag stay"),
            },
            if spared == 1 { "it" } else { "them" }
        );
    }
    text
}

/// Asks for confirmation on the terminal.
///
/// # Errors
/// [`Failed::Usage`] without a terminal: then only `--yes` confirms it.
fn confirmed(count: usize) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Failed::Usage(format!(
            "{} would be removed, and there is no terminal to ask on; add --yes, or --dry-run to look",
            super::runs(count, "")
        ))
        .into());
    }
    let mut question = io::stderr();
    write!(question, "remove {}? [y/N] ", super::runs(count, ""))?;
    question.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
