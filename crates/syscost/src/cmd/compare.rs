//! `syscost compare`: two sides of runs, row by row.

use std::collections::BTreeSet;

use anyhow::Result;
use syscost_report::compare::{markdown, table};
use syscost_report::html;
use syscost_report::table::TableOptions;
use syscost_results::Run;
use syscost_results::compare::{Comparison, compare, compare_pair};
use syscost_store::Store;

use crate::cli::{CompareArguments, CompareFormat, CompareOutput, FailOn};
use crate::error::exit;
use crate::{Failed, files, terminal};

/// Compares two runs measured in turn; the exit code.
pub(super) fn pair(base: &Run, new: &Run, output: &CompareOutput) -> Result<u8> {
    let comparison = compare_pair(base, new);
    write(&comparison, output)?;
    Ok(judge(&comparison, output.fail_on))
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
    // A run counted on both sides would make the base's own spread smaller than it is.
    distinct(base.iter().chain(&spread))?;
    let comparison = compare(
        &base.iter().collect::<Vec<_>>(),
        &new.iter().collect::<Vec<_>>(),
        &spread.iter().collect::<Vec<_>>(),
    );
    write(&comparison, output)?;
    Ok(judge(&comparison, output.fail_on))
}

/// The runs of a side.
fn side(names: &[&String]) -> Result<Vec<Run>> {
    let store = Store::of_user();
    let runs = names
        .iter()
        .map(|name| Ok(store.find(name)?.run))
        .collect::<Result<Vec<Run>>>()?;
    distinct(runs.iter())?;
    Ok(runs)
}

/// A run pooled with itself would look twice as sure as it is.
fn distinct<'a>(runs: impl Iterator<Item = &'a Run>) -> Result<(), Failed> {
    let mut seen = BTreeSet::new();
    for run in runs {
        if !seen.insert(&run.id) {
            return Err(Failed::Usage(format!(
                "run {} is given twice on one side; give each run once",
                run.id
            )));
        }
    }
    Ok(())
}

fn write(comparison: &Comparison, output: &CompareOutput) -> Result<()> {
    let text = match output.format {
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
            saved_to: None,
        },
    )
}

/// The exit code a comparison asks for.
pub(super) fn judge(comparison: &Comparison, fail_on: Option<FailOn>) -> u8 {
    let failed = |fail_on: FailOn| {
        let mut worse = comparison
            .rows
            .iter()
            .filter_map(|row| row.worse_by_at_least());
        worse.any(|by| by >= fail_on.worse_by)
    };
    if fail_on.is_some_and(failed) {
        exit::REGRESSION
    } else {
        exit::DONE
    }
}
