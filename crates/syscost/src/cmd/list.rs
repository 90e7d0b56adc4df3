//! `syscost list`: every benchmark, and why one cannot run here.

use std::fmt::Write;

use anyhow::Result;
use serde::Serialize;
use syscost_harness::{Benchmark, Case};
use syscost_report::sentence;
use syscost_results::Unit;

use crate::cli::{Format, ListArguments};
use crate::error::exit;
use crate::selection;
use crate::terminal::{BOLD, DIM, RESET, YELLOW};

/// One benchmark of the list.
#[derive(Debug, Serialize)]
struct Entry {
    id: &'static str,
    title: &'static str,
    tags: &'static [&'static str],
    group: &'static str,
    unit: Unit,
    /// Names of the rows.
    cases: Vec<String>,
    /// `yes`, `partly` or `no`.
    support: &'static str,
    reason: Option<String>,
    /// How many of them only careful runs measure, or who names them.
    careful: usize,
    #[serde(skip)]
    refused: usize,
    #[serde(skip)]
    first_refusal: Option<String>,
}

/// Runs the verb.
pub(crate) fn run(arguments: &ListArguments) -> Result<u8> {
    let selectors = selection::with_parameters(&arguments.selectors, &arguments.cases);
    let benchmarks = selection::benchmarks(&selectors)?;
    match arguments.format {
        Format::Json => super::print_json(&entries(&benchmarks))?,
        Format::Table => super::print(&lines(&benchmarks)?)?,
    }
    Ok(exit::DONE)
}

/// A line for each benchmark.
pub(super) fn lines(benchmarks: &[&'static Benchmark]) -> Result<String> {
    text(&entries(benchmarks))
}

fn entries(benchmarks: &[&'static Benchmark]) -> Vec<Entry> {
    benchmarks.iter().copied().map(entry).collect()
}

fn entry(benchmark: &'static Benchmark) -> Entry {
    let cases = benchmark.cases.list();
    let refusals: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let reason = (benchmark.support)(case).err()?;
            Some(if cases.len() == 1 {
                reason.to_string()
            } else {
                format!("{}: {reason}", case.suffix())
            })
        })
        .collect();
    Entry {
        id: benchmark.id,
        title: benchmark.title,
        tags: benchmark.tags,
        group: benchmark.group(),
        unit: benchmark.unit,
        support: match refusals.len() {
            0 => "yes",
            refused if refused == cases.len() => "no",
            _ => "partly",
        },
        reason: (!refusals.is_empty()).then(|| refusals.join("; ")),
        careful: cases
            .iter()
            .filter(|case| (benchmark.careful)(case))
            .count(),
        refused: refusals.len(),
        first_refusal: refusals.first().cloned(),
        cases: cases
            .iter()
            .map(|case: &Case| format!("{}{}", benchmark.id, case.suffix()))
            .collect(),
    }
}

fn text(entries: &[Entry]) -> Result<String> {
    let widest = entries
        .iter()
        .map(|entry| entry.id.len())
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for entry in entries {
        let rows = match entry.cases.len() {
            1 => "1 row ".to_owned(),
            count => format!("{count} rows"),
        };
        write!(
            out,
            "{BOLD}{:widest$}{RESET}  {DIM}{rows:>8}{RESET}  {}",
            entry.id, entry.title
        )?;
        if entry.careful > 0 {
            write!(
                out,
                "  {DIM}({} in careful runs only){RESET}",
                entry.careful
            )?;
        }
        if let Some(reason) = &entry.first_refusal {
            write!(out, "  {YELLOW}unsupported here: {reason}{RESET}")?;
            let more = entry.refused - 1;
            if more > 0 {
                write!(
                    out,
                    " {DIM}(and {}){RESET}",
                    sentence::count(more, "more row")
                )?;
            }
        }
        out.push('\n');
    }
    Ok(out)
}
