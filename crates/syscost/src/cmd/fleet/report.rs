//! `syscost fleet report`: which machines are not like the others.

use anyhow::Result;
use jiff::Timestamp;
use syscost_fleet::collection::Places;
use syscost_fleet::facts::ALIKE;
use syscost_fleet::fleet::Fleet;
use syscost_fleet::report::{Judged, Report, page, text};

use crate::cli::fleet::{FleetReportArguments, FleetReportFormat};
use crate::error::{exit, unless_broken_pipe};
use crate::terminal::note;
use crate::{Failed, files, pager, terminal};

/// Runs the command.
pub(super) fn run(arguments: &FleetReportArguments) -> Result<u8> {
    if let Some(output) = &arguments.output {
        files::check_writable(output)?;
        files::check_ending(output, &["html", "htm"], "a page")?;
    }
    if let Some(baseline) = &arguments.baseline {
        files::check_writable(baseline)?;
    }
    let fleet = read(arguments)?;
    check_facts(&fleet, &arguments.cohort)?;
    let judged = Judged::of(&fleet, &arguments.cohort);
    let report = judged.report();
    // One that says nothing would take the place of one that does.
    if let Some(path) = arguments.baseline.as_ref().filter(|_| report.judged > 0) {
        files::write(path, &judged.baseline().to_bytes())?;
        note!("Wrote {}", path.display());
    }
    if let Some(path) = &arguments.output {
        files::write(path, page(&report).as_bytes())?;
        note!("Wrote {}", path.display());
    }
    unless_broken_pipe(print(&report, arguments))?;
    Ok(match report.unlike() {
        0 if report.cannot_tell() => exit::FAILURE,
        0 => exit::DONE,
        _ => exit::GATE,
    })
}

/// Reads the documents of all paths; single documents are one collection.
fn read(arguments: &FleetReportArguments) -> Result<Fleet> {
    let mut places = Places::default();
    for (index, path) in arguments.paths.iter().enumerate() {
        places.add(path, if path.is_dir() { index + 1 } else { 0 })?;
    }
    let mut fleet = Fleet::of(places.read(), Timestamp::now());
    fleet.silent = places.silent;
    fleet.left_out.extend(places.left_out);
    Ok(fleet)
}

/// Refuses facts that no machine has.
fn check_facts(fleet: &Fleet, alike: &[String]) -> Result<(), Failed> {
    let is_known = |name: &&String| ALIKE.contains(&&***name) || fleet.knows(name);
    match alike
        .iter()
        .find(|name| !fleet.entries.is_empty() && !is_known(name))
    {
        Some(name) => Err(Failed::Usage(format!(
            "no machine has a fact `{name}`; give one that stands under `machine` in a document, core_ghz, or label:NAME"
        ))),
        None => Ok(()),
    }
}

fn print(report: &Report, arguments: &FleetReportArguments) -> Result<()> {
    match arguments.format {
        FleetReportFormat::Json => crate::cmd::print_json(report),
        FleetReportFormat::Table => {
            pager::print(&text(report, terminal::width(), arguments.verbose))
        }
    }
}
