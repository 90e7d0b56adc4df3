//! `syscost export`: writes runs in formats for other tools.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use syscost_report::export::{
    to_bencher, to_csv, to_jsonl, to_ktap, to_markdown, to_openmetrics, to_parquet,
};
use syscost_results::Run;

use crate::cli::{ExportArguments, ExportFormat};
use crate::error::exit;
use crate::files::{check_writable, write};
use crate::terminal::note;
use crate::{Failed, kept};

/// Runs the command.
pub(crate) fn run(arguments: &ExportArguments) -> Result<u8> {
    let output = arguments.output.as_deref();
    if let Some(path) = output {
        check_writable(path)?;
    }
    let runs = find(&arguments.runs)?;
    let runs: Vec<&Run> = runs.iter().collect();
    let text = match arguments.format {
        ExportFormat::Csv => to_csv(&runs)?,
        ExportFormat::Markdown => to_markdown(&runs),
        ExportFormat::Jsonl => to_jsonl(&runs)?,
        ExportFormat::Openmetrics => to_openmetrics(only(&runs, "openmetrics")?)?,
        ExportFormat::Bencher => to_bencher(only(&runs, "bencher")?)?,
        ExportFormat::Ktap => to_ktap(&runs),
        ExportFormat::Parquet => return parquet(&runs, output),
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

/// Finds the runs of these names, and refuses one that is named twice: its rows would be counted
/// twice.
fn find(names: &[String]) -> Result<Vec<Run>> {
    let mut ids = BTreeSet::new();
    let mut runs = Vec::new();
    for name in names {
        let run = kept::run(name)?;
        if !ids.insert(run.id.clone()) {
            let twice = format!(
                "`{name}` is run {}, which was already named; name each run once",
                run.id
            );
            return Err(Failed::Usage(twice).into());
        }
        runs.push(run);
    }
    Ok(runs)
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

/// Writes the tables into a folder, which is created if it does not exist.
fn parquet(runs: &[&Run], folder: Option<&Path>) -> Result<u8> {
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
    let files = to_parquet(runs)?;
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    write(&folder.join("runs.parquet"), &files.runs)?;
    write(&folder.join("measurements.parquet"), &files.measurements)?;
    write(&folder.join("samples.parquet"), &files.samples)?;
    note!("Wrote three tables into {}", folder.display());
    Ok(exit::DONE)
}
