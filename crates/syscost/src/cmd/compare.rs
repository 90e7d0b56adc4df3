//! `syscost compare`: two sides of runs, row by row.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use syscost_report::compare::{markdown, table};
use syscost_report::html;
use syscost_report::table::TableOptions;
use syscost_results::Run;
use syscost_results::compare::{
    Comparison, Row, compare, compare_cycles, compare_pair, compare_pair_cycles,
};
use syscost_store::Store;

use crate::cli::{CompareArguments, CompareFormat, CompareOutput, FailOn};
use crate::error::{exit, unless_broken_pipe};
use crate::{
    Failed, files,
    terminal::{self, note, say},
};

/// Compares two runs measured in turn; the exit code.
pub(super) fn pair(base: &Run, new: &Run, output: &CompareOutput) -> Result<u8> {
    let comparison = match output.cycles {
        true => compare_pair_cycles(base, new),
        false => compare_pair(base, new),
    };
    write_and_judge(&comparison, output)
}

/// Runs the verb.
pub(crate) fn run(arguments: &CompareArguments) -> Result<u8> {
    let CompareArguments {
        base,
        new,
        more_base,
        spread,
        output,
    } = arguments;
    if let Some(path) = &output.output {
        files::check_writable(path)?;
    }
    let base: Vec<&String> = std::iter::once(base).chain(more_base).collect();
    let base = side(&base)?;
    let new = side(&new.iter().collect::<Vec<_>>())?;
    let spread = side(&spread.iter().collect::<Vec<_>>())?;
    // A run counted twice makes a spread or a change smaller than it is.
    distinct(base.iter().chain(&new).chain(&spread))?;
    let by = match output.cycles {
        true => compare_cycles,
        false => compare,
    };
    let comparison = by(
        &base.iter().collect::<Vec<_>>(),
        &new.iter().collect::<Vec<_>>(),
        &spread.iter().collect::<Vec<_>>(),
    );
    write_and_judge(&comparison, output)
}

/// A reader that has gone opens no gate.
fn write_and_judge(comparison: &Comparison, output: &CompareOutput) -> Result<u8> {
    let written = write(comparison, output);
    let code = judge(comparison, output.fail_on)?;
    unless_broken_pipe(written)?;
    Ok(code)
}

/// The runs of a side.
fn side(names: &[&String]) -> Result<Vec<Run>> {
    let store = Store::of_user();
    let runs = names
        .iter()
        .map(|name| Ok(store.find(name)?.run))
        .collect::<Result<Vec<Run>>>()?;
    Ok(runs)
}

/// A run pooled with itself would look twice as sure as it is.
fn distinct<'a>(runs: impl Iterator<Item = &'a Run>) -> Result<(), Failed> {
    let mut seen = BTreeSet::new();
    for run in runs {
        if !seen.insert(&run.id) {
            return Err(Failed::Usage(format!(
                "run {} is given twice; give each run once",
                run.id
            )));
        }
    }
    Ok(())
}

fn write(comparison: &Comparison, output: &CompareOutput) -> Result<()> {
    let text = match output.form() {
        CompareFormat::Json => {
            let mut text = serde_json::to_string_pretty(comparison)?;
            text.push('\n');
            text
        }
        CompareFormat::Markdown => markdown(comparison, output.verbose),
        CompareFormat::Table => text(comparison, output.verbose, output.output.is_none()),
        CompareFormat::Html => html::comparison(comparison),
    };
    match &output.output {
        Some(path) => files::write(path, text.as_bytes()),
        None => super::print(&text),
    }
}

/// The comparison as text for people.
pub(super) fn text(comparison: &Comparison, verbose: bool, color: bool) -> String {
    table(
        comparison,
        &TableOptions {
            width: terminal::width(),
            color,
            verbose,
            ..TableOptions::default()
        },
    )
}

/// The exit code a comparison asks for.
///
/// # Errors
/// When there is nothing to judge: a gate must not be open because a name was misspelt.
pub(super) fn judge(comparison: &Comparison, fail_on: Option<FailOn>) -> Result<u8> {
    let Some(fail_on) = fail_on else {
        return Ok(exit::DONE);
    };
    if comparison.rows.is_empty() {
        bail!(
            "no row has a number on both sides, so --fail-on has nothing to judge; measure the same rows on both"
        );
    }
    let without = comparison.rows.iter().filter(|row| row.ci95_low.is_none());
    match without.count() {
        0 => {}
        without if without == comparison.rows.len() => bail!(
            "no row has an interval, so --fail-on has nothing to judge; more processes give one: measure longer, or pool runs"
        ),
        without => say!(
            "the gate does not judge {without} of {} rows: they have no interval",
            comparison.rows.len()
        ),
    }
    let gone = comparison.missing.len() + comparison.refused.len();
    if gone > 0 {
        note!(
            "{}warning:{} --fail-on judges {} rows; {gone} could not be compared (-v names them)",
            terminal::YELLOW,
            terminal::RESET,
            comparison.rows.len()
        );
    }
    let lost = comparison.missing.iter().find(|row| row.lost);
    if let Some(row) = lost {
        say!(
            "the gate is shut: {} has no number on the new side, though it was tried ({})",
            row.name,
            row.reason
        );
        return Ok(exit::GATE);
    }
    let is_too_much = |row: &&Row| {
        row.worse_by_at_least()
            .is_some_and(|by| by >= fail_on.worse_by)
    };
    let (worse, beside_a_neighbour): (Vec<&Row>, Vec<&Row>) = comparison
        .rows
        .iter()
        .filter(is_too_much)
        .partition(|row| row.is_for_gates());
    if let Some(first) = beside_a_neighbour.first() {
        say!(
            "the gate does not judge {} of {}: too few samples were undisturbed, and a neighbour may be the whole change",
            first.name,
            match beside_a_neighbour.len() {
                1 => "1 row that is worse".to_owned(),
                rows => format!("{rows} rows that are worse"),
            }
        );
    }
    let Some(first) = worse.first() else {
        return Ok(exit::DONE);
    };
    let others = match worse.len() - 1 {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    say!("the gate is shut: {} is worse{others}", first.name);
    Ok(exit::GATE)
}
