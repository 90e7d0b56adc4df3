//! `syscost fleet import` and `syscost fleet export`.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use syscost_fleet::collection::Places;
use syscost_fleet::tables::{Wanted, documents, import as import_documents};
use syscost_report::sentence::count;

use crate::cli::fleet::{FleetExportArguments, FleetImportArguments};
use crate::error::{Failed, exit};
use crate::files::write;
use crate::terminal::{note, warn};

/// Documents left out that are named; of more there is only the number.
const NAMED: usize = 20;

/// Turns documents into tables.
pub(super) fn import(arguments: &FleetImportArguments) -> Result<u8> {
    let mut places = Places::default();
    for path in &arguments.paths {
        places.add(path, 0)?;
    }
    for left_out in &places.left_out {
        warn(&format!("left out: {}: {}", left_out.what, left_out.why));
    }
    let found = places.files();
    if found.is_empty() {
        let none = "there are no documents (*.json, *.json.gz); name a directory that has some";
        return Err(Failed::Usage(none.to_owned()).into());
    }
    // Draws on a terminal only.
    let bar = ProgressBar::new(found.len() as u64);
    let imported = import_documents(&found, &arguments.output, &|| bar.inc(1));
    bar.finish_and_clear();
    let imported = imported?;
    for left_out in imported.left_out.iter().take(NAMED) {
        warn(&format!("left out: {left_out}"));
    }
    if let Some(more @ 1..) = imported.left_out.len().checked_sub(NAMED) {
        warn(&format!("left out: {more} more"));
    }
    let mut parts = vec![format!(
        "{} with {} added to {}",
        count(imported.runs, "run"),
        count(imported.rows, "row"),
        arguments.output.display()
    )];
    if imported.known > 0 {
        parts.push(format!("{} there already", imported.known));
    }
    if !imported.left_out.is_empty() {
        let documents = count(imported.left_out.len(), "document");
        parts.push(format!("{documents} left out"));
    }
    super::super::print(&format!("{}\n", parts.join(", ")))?;
    Ok(match imported.runs + imported.known {
        0 => exit::FAILURE,
        _ => exit::DONE,
    })
}

/// Turns tables into documents.
pub(super) fn export(arguments: &FleetExportArguments) -> Result<u8> {
    let folder = &arguments.output;
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let wanted = Wanted {
        hostname: arguments.host.clone(),
        date: arguments.date.map(|date| date.to_string()),
    };
    let mut written = BTreeSet::new();
    documents(&arguments.tables, &wanted, |mut name, bytes| {
        // Ids that differ only in what no file name has.
        while !written.insert(name.clone()) {
            name = format!("_{name}");
        }
        write(&folder.join(&name), bytes)
    })?;
    if written.is_empty() {
        let none = "no run in the tables is of that machine and day; leave out --host or --date";
        return Err(Failed::Usage(none.to_owned()).into());
    }
    note!(
        "Wrote {} into {}",
        count(written.len(), "document"),
        folder.display()
    );
    Ok(exit::DONE)
}
