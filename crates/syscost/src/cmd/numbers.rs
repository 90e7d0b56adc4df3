//! `syscost numbers`: shows the latency numbers every programmer should know, of a run.

use anyhow::Result;
use syscost_report::numbers::numbers as render;
use syscost_report::summary::Reference;
use syscost_report::table::TableOptions;
use syscost_results::numbers::numbers;

use crate::cli::{Format, NumbersArguments};
use crate::error::exit;
use crate::{kept, references, terminal};

/// Runs the command.
pub(crate) fn run(arguments: &NumbersArguments) -> Result<u8> {
    let beside = arguments.beside.as_deref();
    let reference = beside.map(references::find).transpose()?;
    let run = kept::find(&arguments.run, |run| {
        let is_poor = !numbers(run).are_many();
        is_poor.then(|| "has few of these numbers".to_owned())
    })?;
    let mut numbers = numbers(&run);
    if let Some(reference) = &reference {
        let Reference { name, run: other } = reference.as_beside();
        numbers = numbers.beside(&run, name, other);
    }
    match arguments.format {
        Format::Json => super::print_json(&numbers)?,
        Format::Table => {
            let options = TableOptions {
                width: terminal::width(),
                color: true,
                ..TableOptions::default()
            };
            let sentence = reference.map(|reference| reference.as_beside().sentence());
            super::print(&render(&run, &numbers, sentence.as_deref(), &options))?;
        }
    }
    Ok(exit::DONE)
}
