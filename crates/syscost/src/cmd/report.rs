//! `syscost report`: writes runs as a page to look at in a browser.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::slice;

use anyhow::Result;
use syscost_benches::CATALOGUE;
use syscost_harness::doc::explanation;
use syscost_report::html::{Explanation, PageOptions, page};
use syscost_results::compare::{Comparison, compare};
use syscost_results::history::Series;
use syscost_results::numbers::numbers;
use syscost_results::{Machine, Run, summary};
use syscost_store::{Scope, Store, fingerprint};

use super::compare::side;
use crate::cli::ReportArguments;
use crate::error::exit;
use crate::references::{self, Reference};
use crate::terminal::note;
use crate::{Failed, files, kept};

/// Runs the command.
pub(crate) fn run(arguments: &ReportArguments) -> Result<u8> {
    if let Some(file) = &arguments.share {
        return share(&arguments.runs, file);
    }
    files::check_writable(&arguments.output)?;
    files::check_ending(&arguments.output, &["html", "htm"], "a page")?;
    let store = Store::of_user();
    let (mut runs, in_base) = match &arguments.runs[..] {
        // Two names are compared, and the runs of a tag are pooled.
        [base, new] => {
            let mut runs = side(slice::from_ref(base))?;
            let in_base = runs.len();
            runs.extend(side(slice::from_ref(new))?);
            (runs, in_base)
        }
        names => (kept::runs(names)?, 0),
    };
    kept::distinct(&runs)?;
    // Before runs are anonymised: afterwards the machine would be another one.
    let mut history = match (arguments.history, runs.last()) {
        (true, Some(last)) => history(&store, &runs, &last.machine)?,
        _ => Vec::new(),
    };
    // Before studies are judged, since they quote rows. Claims and counts, on which verdicts are
    // based, stay as they are.
    if arguments.anonymous {
        let renamed = Run::anonymize_together(&mut runs);
        for series in &mut history {
            if let Some(name) = renamed.get(&series.name) {
                series.name.clone_from(name);
            }
        }
    }
    let runs: Vec<&Run> = runs.iter().collect();
    let (base, new) = runs.split_at(in_base);
    let comparison = (!base.is_empty()).then(|| compare(base, new, &[]));
    let sides = <[String; 2]>::try_from(arguments.runs.clone()).ok();
    let options = PageOptions {
        sides: sides.filter(|_| !arguments.anonymous),
        samples: arguments.samples,
        history,
        ..options(&runs, comparison)
    };
    let page = of_page(&runs, options);
    files::write(&arguments.output, page.as_bytes())?;
    note!("Wrote {}", arguments.output.display());
    Ok(exit::DONE)
}

/// Writes what strangers may know of a run, to send as a reference.
fn share(names: &[String], file: &Path) -> Result<u8> {
    files::check_writable(file)?;
    files::check_ending(file, &["gz"], "a run to share")?;
    let [name] = names else {
        return Err(Failed::Usage("--share takes one run; share each by itself".to_owned()).into());
    };
    let run = kept::run(name)?;
    let (shared, bytes) = syscost_store::share(&run, |row| CATALOGUE.ships(row))
        .map_err(|unfit| Failed::Usage(format!("{name} cannot be a reference: {unfit}")))?;
    files::write(file, &bytes)?;
    note!(
        "Wrote {}: {} of {} rows, {} KiB. All that it tells: syscost show {0} --format json",
        file.display(),
        shared.measurements.len(),
        run.measurements.len(),
        bytes.len().div_ceil(1024)
    );
    Ok(exit::DONE)
}

/// Returns the rows of these runs over time, on this machine.
fn history(store: &Store, runs: &[Run], machine: &Machine) -> Result<Vec<Series>> {
    let names: BTreeSet<&str> = runs
        .iter()
        .flat_map(|run| &run.measurements)
        .map(|row| row.name.as_str())
        .collect();
    let scope = Scope {
        machine: Some(fingerprint(machine)),
        ..Scope::default()
    };
    let followed = super::history::open(store)?.follow(&scope, &|name| names.contains(name))?;
    Ok(followed
        .series
        .into_iter()
        .map(|tracked| tracked.series)
        .collect())
}

/// The page of a comparison of these runs.
pub(super) fn of_comparison(runs: &[&Run], comparison: &Comparison) -> String {
    of_page(runs, options(runs, Some(comparison.clone())))
}

/// The page of these runs; that of a single one, if it is not of a few rows, with a reference beside it.
fn of_page(runs: &[&Run], options: PageOptions<'_>) -> String {
    let reference = match runs {
        [run] if summary::has_many(run) => references::nearest(run),
        _ => None,
    };
    let reference = reference.as_ref().map(Reference::as_beside);
    page(
        runs,
        &PageOptions {
            reference,
            ..options
        },
    )
}

/// Returns what this program knows about these runs' rows.
fn options<'a>(runs: &[&Run], comparison: Option<Comparison>) -> PageOptions<'a> {
    PageOptions {
        comparison,
        explanations: explanations(runs),
        headline: runs.iter().map(|run| numbers(run)).collect(),
        studies: super::study::section(runs),
        ..PageOptions::default()
    }
}

/// Explanations of the benchmarks that these runs have rows of, as far as this version knows them.
fn explanations(runs: &[&Run]) -> BTreeMap<String, Explanation> {
    let ids = runs
        .iter()
        .flat_map(|run| &run.measurements)
        .map(|row| row.id.as_str());
    ids.filter_map(|id| {
        let benchmark = CATALOGUE.find(id)?;
        let explained = explanation(benchmark.source);
        let explanation = Explanation {
            summary: explained.summary,
            tags: benchmark.tags().map(str::to_owned).collect(),
            sections: explained.sections,
        };
        Some((id.to_owned(), explanation))
    })
    .collect()
}
