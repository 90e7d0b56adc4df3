//! `syscost show`: the table of a kept run, as `run` printed it.

use anyhow::Result;
use syscost_report::export::to_csv;
use syscost_report::table::{TableOptions, table};
use syscost_results::Measurement;

use crate::cli::{ShowArguments, ShowFormat};
use crate::error::exit;
use crate::selection::{rows_of, with_parameters};
use crate::{Failed, kept, pager, references, terminal};

/// Runs the verb.
pub(crate) fn run(arguments: &ShowArguments) -> Result<u8> {
    if arguments.beside.is_some() && arguments.format != ShowFormat::Table {
        let words = "--beside shows figures beside those of a table; JSON and CSV have no place for them, so export or show the other run as well";
        return Err(Failed::Usage(words.to_owned()).into());
    }
    let beside = arguments.beside.as_deref();
    let reference = beside.map(references::find).transpose()?;
    let selectors = with_parameters(&arguments.selectors, &arguments.cases);
    let lack = |run: &_| kept::lacks_rows(run, &selectors);
    let mut run = kept::find(&arguments.run, lack)?;
    let mut is_whole = true;
    if !selectors.is_empty() {
        let rows = rows_of(&run, &arguments.run, &selectors)?;
        let rows: Vec<Measurement> = rows.into_iter().cloned().collect();
        is_whole = rows.len() == run.measurements.len();
        run.measurements = rows;
    }
    match arguments.format {
        ShowFormat::Json => {
            // A document of some rows is not the whole run.
            run.complete &= is_whole;
            super::print_json(&run)?;
        }
        ShowFormat::Csv => super::print_data(&to_csv(&[&run])?)?,
        ShowFormat::Table => {
            let options = TableOptions {
                width: terminal::width(),
                color: true,
                verbose: arguments.verbose,
                saved_to: None,
                name: arguments.run.clone(),
                beside: reference.map(|reference| reference.as_beside().beside(&run)),
            };
            pager::print(&table(&run, &options))?;
        }
    }
    Ok(exit::DONE)
}
