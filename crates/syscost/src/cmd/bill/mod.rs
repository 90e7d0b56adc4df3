//! `syscost bill`: what a program asks of the kernel, and what that costs.

mod count;
mod prices;

use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use syscost_report::bill::Billed;
use syscost_results::Run;
use syscost_results::bill::{Bill, differences};
use syscost_results::commands::row_value;
use syscost_store::Store;

use super::program;
use crate::cli::{BillArguments, BillFormat};
use crate::error::exit;
use crate::terminal::{self, say};
use crate::{Failed, directories, interrupt, kept};

/// Runs the command.
pub(crate) fn run(arguments: &BillArguments) -> Result<u8> {
    let store = Store::of_user();
    if let Some(tag) = &arguments.tag {
        Store::check_tag(tag)?;
    }
    // Before anything is started.
    directories::check(arguments.dir.as_slice())?;
    let earlier = with_bill(arguments.against.as_deref())?;
    let other = arguments.beside.as_deref().map(kept::run).transpose()?;
    let interrupted = interrupt::catch()?;
    let is_priced = !arguments.counts_only && arguments.against.is_none();
    let bill = match arguments.pid {
        Some(pid) => count::attached(pid, arguments.for_s, &interrupted)?,
        None => count::started(arguments, is_priced, &interrupted)?,
    };
    if interrupted.load(Ordering::Relaxed) && arguments.pid.is_none() {
        return Err(Failed::Interrupted.into());
    }
    let rows = match is_priced && bill.refuted.is_empty() {
        true => prices::rows(&bill),
        false => Vec::new(),
    };
    let measured = prices::measured(rows, arguments, &store, &interrupted);
    let run = Run {
        bill: Some(Box::new(bill)),
        ..measured.context("measuring prices")?
    };
    let billed = Billed {
        run: &run,
        earlier: earlier.as_ref(),
        other: other.as_ref(),
        is_verbose: arguments.verbose,
    };
    let written = match arguments.format {
        BillFormat::Json => serde_json::to_string_pretty(&run)? + "\n",
        BillFormat::Markdown => billed.markdown(),
        BillFormat::Html => billed.page(),
        BillFormat::Table => billed.text(&terminal::table_options(false)),
    };
    // First, as whoever reads the table may stop at its first line.
    if !arguments.no_save {
        super::run::keep_and_say(&store, &run, arguments.tag.as_deref())?;
    }
    super::print(&written)?;
    if interrupted.load(Ordering::Relaxed) {
        say!("interrupted");
        return Ok(exit::INTERRUPTED);
    }
    Ok(code(&run, earlier.as_ref(), arguments))
}

/// The kept run of this name, which has a bill.
fn with_bill(name: Option<&str>) -> Result<Option<Run>> {
    let Some(name) = name else {
        return Ok(None);
    };
    let run = kept::run(name)?;
    match &run.bill {
        Some(bill) if bill.refuted.is_empty() => Ok(Some(run)),
        Some(_) => Err(Failed::Usage(format!(
            "the counts of run {name} are refuted: syscost show {name}"
        ))
        .into()),
        None => Err(Failed::Usage(format!(
            "run {name} has no counts of a program: it is none of `syscost bill`"
        ))
        .into()),
    }
}

/// The exit code: 4 where the counts are refuted, else that of the gate.
fn code(run: &Run, earlier: Option<&Run>, arguments: &BillArguments) -> u8 {
    let Some(bill) = run.bill.as_deref().filter(|bill| bill.refuted.is_empty()) else {
        return exit::NOTHING;
    };
    let Some(before) = earlier.and_then(|run| run.bill.as_deref()) else {
        return exit::DONE;
    };
    let is_of_one = |bill: &Bill| bill.cpu_ns.len() < 2;
    if !arguments.fail_on.is_empty() && (is_of_one(before) || is_of_one(bill)) {
        say!("the gate cannot tell: one run shows nothing of what varies from run to run");
        return exit::FAILURE;
    }
    let all = differences(before, bill);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let judged = arguments.fail_on.iter().filter_map(|gate| {
        let sum = all.iter().find(|one| one.of == gate.of)?;
        let (name, most) = (gate.of.name(), percent(gate.most));
        let grew = sum.certain_growth();
        if grew > gate.most {
            say!("gate failed: {name} grew by {} or more, beyond {most}", percent(grew));
            return Some(exit::GATE);
        }
        (sum.likely_growth() > gate.most).then(|| {
            say!("the gate cannot tell whether {name} grew by more than {most}: they vary too much from run to run");
            exit::FAILURE
        })
    });
    judged.max().unwrap_or(exit::DONE)
}

/// The name of a program with these words.
fn name(words: &[String]) -> String {
    row_value(&program::shortened(&words.join(" ")))
}
