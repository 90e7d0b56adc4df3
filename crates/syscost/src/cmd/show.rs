//! `syscost show`: the table of a kept run, as `run` printed it.

use anyhow::Result;
use syscost_report::table::{TableOptions, table};

use crate::cli::ShowArguments;
use crate::error::exit;
use crate::selection::{measures, rows_of, with_parameters};
use crate::{kept, terminal};

/// Runs the verb.
pub(crate) fn run(arguments: &ShowArguments) -> Result<u8> {
    let selectors = with_parameters(&arguments.selectors, &arguments.cases);
    let mut run = kept::find(&arguments.run, |run| measures(run, &selectors))?;
    if !selectors.is_empty() {
        let rows = rows_of(&run, &arguments.run, &selectors)?;
        run.measurements = rows.into_iter().cloned().collect();
    }
    let options = TableOptions {
        width: terminal::width(),
        color: true,
        verbose: arguments.verbose,
        saved_to: None,
        name: arguments.run.clone(),
    };
    super::print(&table(&run, &options))?;
    Ok(exit::DONE)
}
