//! `syscost export`: writes runs in formats for other tools.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use syscost_harness::Testbed;
use syscost_report::export::{to_bencher, to_csv, to_jsonl, to_ktap, to_markdown, to_openmetrics};
use syscost_report::sentence;
use syscost_results::Run;
use syscost_store::Store;

use crate::cli::{ExportArguments, ExportFormat};
use crate::error::exit;
use crate::files::{check_writable, write};
use crate::selection::{self, rows_of};
use crate::terminal::{note, warn};
use crate::{Failed, kept, parts};

/// Runs the command.
pub(crate) fn run(arguments: &ExportArguments) -> Result<u8> {
    let output = arguments.output.as_deref();
    let format = arguments.form()?;
    // Parquet makes its folder, or writes into the one that is there.
    if let Some(path) = output.filter(|_| format != ExportFormat::Parquet) {
        check_writable(path)?;
    }
    if format == ExportFormat::Parquet {
        return parquet(arguments, output);
    }
    let mut runs = Vec::new();
    find(arguments, &mut |run| {
        runs.push(run);
        Ok(())
    })?;
    if format == ExportFormat::Openmetrics {
        keep_latest(&mut runs);
    }
    let runs: Vec<&Run> = runs.iter().collect();
    let text = match format {
        ExportFormat::Csv => to_csv(&runs)?,
        ExportFormat::Markdown => to_markdown(&runs),
        ExportFormat::Jsonl => to_jsonl(&runs)?,
        ExportFormat::Openmetrics => to_openmetrics(&runs)?,
        ExportFormat::Bencher => to_bencher(only(&runs, "bencher")?)?,
        ExportFormat::Ktap => to_ktap(&runs),
        ExportFormat::Parquet => unreachable!("it has no text"),
    };
    match output {
        Some(path) => {
            write(path, text.as_bytes())?;
            note!("Wrote {}", path.display());
        }
        None => super::print_data(&text)?,
    }
    Ok(exit::DONE)
}

/// Finds the runs, each with only the rows that are meant, one after the other.
fn find(arguments: &ExportArguments, give: &mut dyn FnMut(Run) -> Result<()>) -> Result<()> {
    let are_rows = |words: &[String]| selection::rows(words, &Testbed::plain()).is_ok();
    let (names, selectors) = kept::all_meant("export", &arguments.words, are_rows)?;
    let mut known = BTreeSet::new();
    let mut give = |run: Run| {
        kept::distinct_from(&mut known, &run)?;
        give(run)
    };
    for name in &kept::several(&names) {
        let folder = Path::new(name);
        match folder.is_dir() && Store::of_user().passed_file(name).is_none() {
            true => find_in(folder, &selectors, arguments, &mut give)?,
            false => give(find_one(name, &selectors, arguments)?)?,
        }
    }
    Ok(())
}

/// Finds one run, with only the rows that are meant.
fn find_one(name: &str, selectors: &[String], arguments: &ExportArguments) -> Result<Run> {
    let mut run = match selectors {
        [] => kept::run(name)?,
        selectors => kept::find(name, |run| kept::lacks_rows(run, selectors))?,
    };
    if !selectors.is_empty() {
        let rows = rows_of(&run, name, selectors)?;
        run.measurements = rows.into_iter().cloned().collect();
    }
    parts::name_machine(&mut run, Path::new(name));
    if arguments.form()? == ExportFormat::Openmetrics {
        // Of ten thousand machines nobody could hold them, and this format has none.
        run.measurements
            .iter_mut()
            .for_each(|row| row.samples = None);
    }
    Ok(run)
}

/// Finds the runs in a folder. What is wrong with one does not cost the others.
fn find_in(
    folder: &Path,
    selectors: &[String],
    arguments: &ExportArguments,
    give: &mut dyn FnMut(Run) -> Result<()>,
) -> Result<()> {
    let paths = parts::documents(folder)?;
    let mut found = 0_usize;
    for path in &paths {
        match find_one(&path.to_string_lossy(), selectors, arguments) {
            Ok(run) => {
                found += 1;
                give(run)?;
            }
            Err(problem) => warn(&format!("left out: {problem:#}")),
        }
    }
    match (found, paths.len()) {
        (1.., _) => Ok(()),
        (0, 0) => Err(Failed::Usage(format!(
            "{} holds no run document; name a folder with files that `syscost run -o` wrote",
            folder.display()
        ))
        .into()),
        (0, tried) => Err(Failed::Usage(format!(
            "none of the {tried} documents in {} could be used; the warnings say why",
            folder.display()
        ))
        .into()),
    }
}

/// Keeps the latest run of each host: older ones would be the same series.
fn keep_latest(runs: &mut Vec<Run>) {
    let all = runs.len();
    // What is no time is told by the export.
    let began = |run: &Run| run.started.parse::<jiff::Timestamp>().ok();
    runs.sort_by(|a, b| {
        let hosts = a.machine.hostname.cmp(&b.machine.hostname);
        hosts.then_with(|| began(b).cmp(&began(a)))
    });
    runs.dedup_by(|older, latest| older.machine.hostname == latest.machine.hostname);
    if let older @ 1.. = all - runs.len() {
        let older = sentence::count(older, "older run");
        note!("Left out {older} of the same host: Prometheus keeps the past itself.");
    }
}

/// Returns the only run, for a format that holds just one.
fn only<'a>(runs: &[&'a Run], form: &str) -> Result<&'a Run, Failed> {
    match runs {
        [run] => Ok(run),
        runs => Err(Failed::Usage(format!(
            "{form} holds one run and {} were named; export them one by one",
            runs.len()
        ))),
    }
}

/// Writes the tables into a folder, which is created if it does not exist; a run is written as soon as it was read.
fn parquet(arguments: &ExportArguments, folder: Option<&Path>) -> Result<u8> {
    let Some(folder) = folder else {
        let homeless = "parquet is three files; name a folder for them: -o FOLDER";
        return Err(Failed::Usage(homeless.to_owned()).into());
    };
    if folder.exists() && !folder.is_dir() {
        let occupied = format!(
            "{} is not a folder; name one for the tables",
            folder.display()
        );
        return Err(Failed::Usage(occupied).into());
    }
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    parts::parquet(folder, |add| find(arguments, &mut |run| add(&run)))?;
    note!("Wrote three tables into {}", folder.display());
    Ok(exit::DONE)
}
