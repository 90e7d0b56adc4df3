//! `syscost show`: prints the table or the summary of a kept run, as `run` did.

use anyhow::Result;
use syscost_harness::Testbed;
use syscost_report::bill::Billed;
use syscost_report::{TableOptions, table};
use syscost_results::summary::has_many;
use syscost_results::{Measurement, Run};

use super::run::print::summary_beside;
use crate::cli::{ShowArguments, ShowFormat};
use crate::error::exit;
use crate::selection::{self, rows_of};
use crate::{kept, pager, references, terminal};

/// Runs the command.
pub(crate) fn run(arguments: &ShowArguments) -> Result<u8> {
    let reference = references::given(&arguments.beside, arguments.format == ShowFormat::Table)?;
    let are_rows =
        |words: &[String]| !arguments.summary && selection::rows(words, &Testbed::plain()).is_ok();
    let (name, selectors) = kept::meant("show", &arguments.run, &arguments.selectors, are_rows)?;
    let lack = |run: &Run| match arguments.summary {
        true => (!has_many(run)).then(|| "has few of the summary's rows".to_owned()),
        false => kept::lacks_rows(run, &selectors),
    };
    let mut run = kept::find(&name, lack)?;
    let mut is_part = false;
    if !selectors.is_empty() {
        let rows = rows_of(&run, &name, &selectors)?;
        let rows: Vec<Measurement> = rows.into_iter().cloned().collect();
        is_part = rows.len() < run.measurements.len();
        run.measurements = rows;
    }
    let mut options = TableOptions {
        name: Some(name),
        is_part,
        ..terminal::table_options(arguments.verbose)
    };
    match arguments.format {
        _ if arguments.summary => {
            pager::print(&summary_beside(&run, reference.as_ref(), &options))?
        }
        ShowFormat::Json => super::print_json(&run)?,
        ShowFormat::Table if run.bill.is_some() && selectors.is_empty() => {
            let billed = Billed {
                is_verbose: arguments.verbose,
                ..Billed::of(&run)
            };
            pager::print(&billed.text(&options))?;
        }
        ShowFormat::Table => {
            options.beside = reference.map(|reference| reference.as_beside().beside(&run));
            pager::print(&table(&run, &options))?;
        }
    }
    Ok(exit::DONE)
}
