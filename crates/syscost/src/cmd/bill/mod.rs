//! `syscost bill`: what a program asks of the kernel, and what that costs.

mod count;
mod prices;

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use syscost_report::TableOptions;
use syscost_report::bill::Billed;
use syscost_results::Run;
use syscost_results::bill::{Bill, differences};
use syscost_results::commands::row_value;
use syscost_store::Store;

use super::program;
use crate::cli::{BillArguments, BillFormat};
use crate::error::exit;
use crate::terminal::{self, note, say};
use crate::{Failed, interrupt, kept};

/// Runs the command.
pub(crate) fn run(arguments: &BillArguments) -> Result<u8> {
    let store = Store::of_user();
    if let Some(tag) = &arguments.tag {
        Store::check_tag(tag)?;
    }
    // Before anything is started.
    let earlier = with_bill(arguments.against.as_deref())?;
    let other = arguments.beside.as_deref().map(kept::run).transpose()?;
    let interrupted = interrupt::catch()?;
    let bill = match arguments.pid {
        Some(pid) => count::attached(pid, arguments.for_s, &interrupted)?,
        None => count::started(arguments, &interrupted)?,
    };
    if interrupted.load(Ordering::Relaxed) && arguments.pid.is_none() {
        return Err(Failed::Interrupted.into());
    }
    let run = priced(bill, arguments, &store, &interrupted)?;
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
        BillFormat::Table => {
            let options = TableOptions {
                width: terminal::width(),
                color: true,
                quiet: terminal::is_quiet(),
                ..TableOptions::default()
            };
            billed.text(&options)
        }
    };
    super::print(&written)?;
    if !arguments.no_save {
        let text = serde_json::to_vec_pretty(&run)?;
        let path = super::run::keep(&store, &run, &text, arguments.tag.as_deref())?;
        note!("saved to {}", path.display());
    }
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

/// The run of a bill, with the rows that price it if that is wanted.
fn priced(
    mut bill: Bill,
    arguments: &BillArguments,
    store: &Store,
    interrupted: &AtomicBool,
) -> Result<Run> {
    let is_counted_only =
        arguments.counts_only || arguments.against.is_some() || !bill.refuted.is_empty();
    if !is_counted_only && arguments.pid.is_none() {
        count::sample(&mut bill, arguments, interrupted)?;
    }
    let rows = if is_counted_only {
        Vec::new()
    } else {
        prices::rows(&bill)
    };
    let mut run =
        prices::measured(rows, arguments, store, interrupted).context("measuring prices")?;
    run.bill = Some(Box::new(bill));
    Ok(run)
}

/// The name of a program with these words.
fn name(words: &[String]) -> String {
    row_value(&program::shortened(&words.join(" ")))
}
