//! `syscost report`: writes runs as a page to look at in a browser.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use syscost_benches::CATALOGUE;
use syscost_harness::doc::explanation;
use syscost_report::html::{Explanation, PageOptions, page};
use syscost_results::history::Series;
use syscost_results::numbers::numbers;
use syscost_results::{Machine, Run};
use syscost_store::{Scope, Store, fingerprint};

use crate::cli::ReportArguments;
use crate::error::exit;
use crate::terminal::note;
use crate::{files, kept};

/// Runs the command.
pub(crate) fn run(arguments: &ReportArguments) -> Result<u8> {
    files::check_writable(&arguments.output)?;
    files::check_ending(&arguments.output, &["html", "htm"], "a page")?;
    let store = Store::of_user();
    let mut runs = kept::each(&arguments.runs)?;
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
    let options = PageOptions {
        title: arguments.title.clone(),
        samples: arguments.samples,
        history,
        ..options(&runs)
    };
    files::write(&arguments.output, page(&runs, &options).as_bytes())?;
    note!("Wrote {}", arguments.output.display());
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

/// Returns what this program knows about these runs' rows.
fn options(runs: &[&Run]) -> PageOptions {
    PageOptions {
        title: None,
        explanations: explanations(runs),
        headline: runs
            .iter()
            .map(|run| numbers(run, |id| CATALOGUE.find(id).is_some()))
            .collect(),
        studies: super::study::repeated_in(runs),
        history: Vec::new(),
        samples: false,
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
            tags: benchmark.tags.iter().map(|tag| (*tag).to_owned()).collect(),
            sections: explained.sections,
        };
        Some((id.to_owned(), explanation))
    })
    .collect()
}
