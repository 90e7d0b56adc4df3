//! `syscost report`: runs as a page to look at in a browser.

use std::collections::BTreeMap;

use anyhow::Result;
use syscost_benches::CATALOGUE;
use syscost_harness::doc::explanation;
use syscost_report::html::{Explanation, PageOptions, page};
use syscost_results::Run;
use syscost_results::numbers::numbers;
use syscost_store::Store;

use crate::cli::ReportArguments;
use crate::error::exit;
use crate::files;

/// Runs the verb.
pub(crate) fn run(arguments: &ReportArguments) -> Result<u8> {
    files::check_writable(&arguments.output)?;
    let store = Store::of_user();
    let runs = arguments
        .runs
        .iter()
        .map(|name| Ok(store.find(name)?.run))
        .collect::<Result<Vec<Run>>>()?;
    let runs: Vec<&Run> = runs.iter().collect();
    files::write(
        &arguments.output,
        html(&runs, arguments.title.clone()).as_bytes(),
    )?;
    anstream::eprintln!("Wrote {}", arguments.output.display());
    Ok(exit::DONE)
}

/// The page of these runs, with all that this program knows about their rows.
pub(crate) fn html(runs: &[&Run], title: Option<String>) -> String {
    let options = PageOptions {
        title,
        explanations: explanations(runs),
        headline: runs
            .iter()
            .map(|run| numbers(run, |id| CATALOGUE.find(id).is_some()))
            .collect(),
        history: Vec::new(),
    };
    page(runs, &options)
}

/// Explanations of the benchmarks these runs have rows of. One that this version does not know has none.
fn explanations(runs: &[&Run]) -> BTreeMap<String, Explanation> {
    let ids = runs
        .iter()
        .flat_map(|run| &run.measurements)
        .map(|row| row.id.as_str());
    ids.filter_map(|id| {
        let explained = explanation(CATALOGUE.find(id)?.source);
        let explanation = Explanation {
            summary: explained.summary,
            sections: explained.sections,
        };
        Some((id.to_owned(), explanation))
    })
    .collect()
}
