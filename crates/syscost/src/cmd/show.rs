//! `syscost show`: the table of a kept run, as `run` printed it.

use anyhow::Result;
use syscost_report::table::{TableOptions, table};

use crate::cli::ShowArguments;
use crate::error::exit;
use crate::selection::{measures, rows_of};
use crate::{kept, terminal};

/// Runs the verb.
pub(crate) fn run(arguments: &ShowArguments) -> Result<u8> {
    let mut run = kept::find(&arguments.run, |run| measures(run, &arguments.selectors))?;
    if !arguments.selectors.is_empty() {
        let rows = rows_of(&run, &arguments.run, &arguments.selectors)?;
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
