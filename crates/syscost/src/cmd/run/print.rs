//! Prints a finished run.

use std::path::Path;

use anyhow::Result;
use syscost_report::summary::summary;
use syscost_report::{TableOptions, table};
use syscost_results::Run;
use syscost_results::agreement::Agreement;
use syscost_results::summary::has_many;
use syscost_store::Store;

use crate::cli::{Format, RunArguments};
use crate::cmd;
use crate::references::{self, Reference};
use crate::terminal;

/// Prints the summary, the table or the document, as requested.
pub(super) fn print(
    run: &Run,
    reference: Option<&Reference>,
    arguments: &RunArguments,
    saved_to: Option<&Path>,
) -> Result<()> {
    let is_written = arguments.output.as_deref() == Some(Path::new("-"));
    match arguments.format {
        // Standard output must hold exactly one document, and already has the run's.
        _ if is_written => Ok(()),
        Format::Json => cmd::print_json(run),
        Format::Table => {
            let is_summary = is_summary(run, arguments);
            let options = TableOptions {
                saved_to: saved_to.map(|path| path.display().to_string()),
                name: saved_to.map(name),
                beside: reference.map(|reference| reference.as_beside().beside(run)),
                ..terminal::table_options(arguments.verbose)
            };
            cmd::print(&if is_summary {
                summary_beside(run, reference, &options)
            } else {
                table(run, &options)
            })?;
            match saved_to.filter(|_| !terminal::is_quiet()) {
                Some(path) if !is_summary => cmd::print(&next(run, path)),
                Some(_) | None => Ok(()),
            }
        }
    }
}

/// Whether to print the summary: for a run without a selection, unless every row was asked for.
fn is_summary(run: &Run, arguments: &RunArguments) -> bool {
    let wants_rows = arguments.verbose || !arguments.selectors.is_empty();
    !wants_rows && has_many(run)
}

/// Renders the summary of a run beside the given reference, or else beside the nearest shipped one.
pub(in crate::cmd) fn summary_beside(
    run: &Run,
    given: Option<&Reference>,
    options: &TableOptions,
) -> String {
    let nearest = match given {
        Some(_) => None,
        None => references::nearest(run),
    };
    let reference = given.or(nearest.as_ref());
    summary(run, reference.map(Reference::as_beside), options)
}

/// Says how well the runs agree that were measured one after the other.
pub(super) fn agreement(agreement: &Agreement, tag: Option<&str>) -> String {
    let Agreement {
        runs,
        rows,
        half_within,
        nine_in_ten_within,
    } = agreement;
    let tagged = tag.map_or_else(String::new, |tag| format!(", tagged {tag}"));
    let within = match rows {
        1 => format!("their row agrees within {half_within:.1} %"),
        rows => format!(
            "half of their {rows} rows agree within {half_within:.1} %, nine in ten within {nine_in_ten_within:.1} %"
        ),
    };
    format!("{runs} runs{tagged}: {within} (from the smallest figure to the largest)")
}

/// The name by which commands find a run saved at this path: `latest` if it is kept, else the path.
fn name(path: &Path) -> String {
    match path.starts_with(Store::of_user().runs()) {
        true => "latest".to_owned(),
        false => path.display().to_string(),
    }
}

/// Suggests commands to use next.
fn next(run: &Run, path: &Path) -> String {
    let name = name(path);
    let text = match has_many(run) {
        true => format!("syscost show {name} --summary"),
        // Of a few selected rows, hardly one is among the numbers.
        false => format!("syscost show {name} -v for the evidence"),
    };
    format!("Next: {text}, or a page to look at: syscost report {name} -o report.html\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_suggested_for_a_run_that_has_many() {
        let reference = references::shipped().next().expect("there is one");
        let mut run = reference.as_beside().run.clone();
        let next = |run: &Run| next(run, Path::new("run.json"));
        assert!(next(&run).contains("syscost show run.json --summary"));
        run.measurements
            .retain(|row| row.name.starts_with("switch."));
        let few = next(&run);
        assert!(
            few.contains("syscost show run.json -v") && !few.contains("--summary"),
            "{few}"
        );
    }
}
