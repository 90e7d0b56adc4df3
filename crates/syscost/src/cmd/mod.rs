//! The commands, one file each.

pub(crate) mod ab;
pub(crate) mod bill;
#[cfg(feature = "fleet")]
pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod compare;
#[cfg(feature = "doctor")]
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
#[cfg(feature = "fleet")]
pub(crate) mod fleet;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod plot;
mod program;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod selftest;
pub(crate) mod serve;
pub(crate) mod show;
#[cfg_attr(not(feature = "studies"), path = "no_study.rs")]
pub(crate) mod study;
pub(crate) mod time;

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use serde::Serialize;
use syscost_harness::Row;
use syscost_harness::session::{Options, Session};
use syscost_results::Run;

use crate::progress::Progress;

/// Measures these rows to the end, or until the user interrupts it.
///
/// # Errors
/// The session cannot begin.
fn measured(
    rows: Vec<Row>,
    options: &Options,
    mut progress: Progress,
    interrupted: &AtomicBool,
) -> Result<Run> {
    let mut session = Session::new(rows, options, &mut progress, interrupted)?;
    session.measure(&mut progress);
    progress.done();
    let [finished] = session.finish(true);
    Ok(finished.run)
}

/// Writes text to standard output, without colours where they are not wanted.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes data for other programs to standard output. Nothing is stripped: what looks like a
/// colour is data.
fn print_data(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes exactly one JSON document to standard output.
fn print_json(document: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    print(&text)
}
