//! `syscost numbers`: the latency numbers every programmer should know, of this machine.

use anyhow::Result;
use syscost_benches::CATALOGUE;
use syscost_report::numbers::numbers as render;
use syscost_report::table::TableOptions;
use syscost_results::Run;
use syscost_results::numbers::numbers;

use crate::cli::{Format, NumbersArguments};
use crate::error::exit;
use crate::{kept, terminal};

/// Runs the verb.
pub(crate) fn run(arguments: &NumbersArguments) -> Result<u8> {
    let all = |run: &Run| numbers(run, |id| CATALOGUE.find(id).is_some());
    let run = kept::find(&arguments.run, |run| {
        let is_poor = !all(run).are_many();
        is_poor.then(|| "has few of these numbers".to_owned())
    })?;
    let numbers = all(&run);
    match arguments.format {
        Format::Json => super::print_json(&numbers)?,
        Format::Table => {
            let options = TableOptions {
                width: terminal::width(),
                color: true,
                ..TableOptions::default()
            };
            super::print(&render(&run, &numbers, &options))?;
        }
    }
    Ok(exit::DONE)
}
