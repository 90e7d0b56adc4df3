//! `cargo lab validate FILE…`: checks run documents against the schema, and for what a schema
//! cannot express.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use jsonschema::Validator;
use serde_json::Value;
use syscost_benches::CATALOGUE;
use syscost_results::{Estimate, Measurement, Run, document};

use crate::invariants;
use xtask::workspace;

/// The published schemas, which `cargo xtask gen` writes: of run documents, and of the lines of exports.
const DOCUMENT: &str = "docs/run.schema.json";
const LINE: &str = "docs/export.schema.json";

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Run documents, as `syscost run --output FILE` writes them; of `.jsonl` each line, as `syscost export` writes them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut invalid = 0;
    for file in &arguments.files {
        let text = workspace::read(file)?;
        let complaints = match file.extension() {
            Some(extension) if extension == "jsonl" => of_lines(&text),
            _ => of_document(&text),
        }?;
        report(file, &complaints);
        invalid += usize::from(!complaints.is_empty());
    }
    match invalid {
        0 => Ok(()),
        _ => bail!(
            "{invalid} of {} documents are invalid",
            arguments.files.len()
        ),
    }
}

fn report(file: &Path, complaints: &[String]) {
    let file = file.display();
    if complaints.is_empty() {
        println!("{file}: valid");
    }
    for complaint in complaints {
        println!("{file}: {complaint}");
    }
}

/// What is wrong with a document: according to the schema and, if that is satisfied, the
/// invariants.
fn of_document(text: &str) -> Result<Vec<String>> {
    let complaints = against(&validator(DOCUMENT)?, text);
    if !complaints.is_empty() {
        return Ok(complaints);
    }
    Ok(match document::read(text.as_bytes()) {
        Ok(run) => [
            invariants::violations(&run, &CATALOGUE),
            judged_otherwise(&run),
        ]
        .concat(),
        Err(error) => vec![format!("satisfies the schema but cannot be read{error}")],
    })
}

/// The rows that have other numbers when their samples are judged again by what the document says of its cores.
fn judged_otherwise(run: &Run) -> Vec<String> {
    let again = run.judged_again();
    let rows = run.measurements.iter().zip(&again.measurements);
    let numbers = |row: &Measurement| {
        let Estimate {
            median,
            ci95_low,
            ci95_high,
            shared_median,
            ..
        } = row.estimate;
        (median, ci95_low, ci95_high, shared_median, row.sharing)
    };
    let probed = rows.filter(|(row, _)| row.sharing.is_some() && row.samples.is_some());
    probed
        .filter(|(row, again)| numbers(row) != numbers(again))
        .map(|(row, again)| {
            let (was, is) = (numbers(row), numbers(again));
            format!("{}: judged again, {was:?} becomes {is:?}", row.name)
        })
        .collect()
}

/// What is wrong with the lines of an export.
fn of_lines(text: &str) -> Result<Vec<String>> {
    let validator = validator(LINE)?;
    let of_line = |(index, line)| {
        let complaints = against(&validator, line).into_iter();
        complaints.map(move |what| format!("line {}: {what}", index + 1))
    };
    Ok(text.lines().enumerate().flat_map(of_line).collect())
}

fn validator(schema: &str) -> Result<Validator> {
    let text = workspace::read(&workspace::root().join(schema))?;
    let value = serde_json::from_str(&text).with_context(|| format!("reading {schema}"))?;
    jsonschema::validator_for(&value).with_context(|| format!("reading {schema}"))
}

/// Where a text does not satisfy a schema.
fn against(validator: &Validator, text: &str) -> Vec<String> {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return vec![format!("is no JSON: {error}")],
    };
    let errors = validator.iter_errors(&value);
    errors
        .map(|error| format!("at {}: {error}", place(&error.instance_path().to_string())))
        .collect()
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() {
        "the top"
    } else {
        pointer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::tests::{row, run};
    use syscost_results::{Measurement, Status};

    fn valid() -> Value {
        serde_json::to_value(run(vec![row("1"), row("10")])).unwrap()
    }

    fn complaints_of(document: &Value) -> Vec<String> {
        of_document(&document.to_string()).unwrap()
    }

    #[test]
    fn a_sound_document_is_valid() {
        assert_eq!(complaints_of(&valid()), [""; 0]);
    }

    #[test]
    fn a_recorded_run_and_its_rows_of_every_status_satisfy_the_schemas() {
        let path = workspace::root().join("fixtures/runs/quick.json");
        let mut recorded = document::read(workspace::read(&path).unwrap().as_bytes()).unwrap();
        let made = Status::ALL.map(|status| Measurement {
            status,
            reason: Some("a reason".to_owned()),
            ..recorded.measurements[0].clone()
        });
        recorded.measurements.extend(made);
        let document = serde_json::to_string(&recorded).unwrap();
        let found = against(&validator(DOCUMENT).unwrap(), &document);
        assert_eq!(found, [""; 0]);
        let lines = syscost_report::export::to_jsonl(&[&recorded]).unwrap();
        assert_eq!(lines.lines().count(), recorded.measurements.len());
        assert_eq!(of_lines(&lines).unwrap(), [""; 0]);
    }

    #[test]
    fn the_schema_names_the_place() {
        let mut wrong = valid();
        wrong["measurements"][1]["status"] = "fine".into();
        let found = complaints_of(&wrong);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("at /measurements/1/status: "),
            "{found:?}"
        );
        let mut missing = valid();
        missing.as_object_mut().unwrap().remove("clock");
        assert!(complaints_of(&missing)[0].starts_with("at the top: "));
        assert!(of_document("{").unwrap()[0].starts_with("is no JSON"));
    }

    #[test]
    fn readers_and_the_invariants_are_asked_where_the_schema_is_content() {
        for (field, value, expected) in [
            ("min", -1.0, "min is -1, and no cost is zero or less"),
            ("ci95_high", 1.0, "the median is not within its interval"),
        ] {
            let mut wrong = valid();
            wrong["measurements"][0]["estimate"][field] = value.into();
            let found = complaints_of(&wrong).concat();
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn the_lines_of_an_export_are_judged_one_by_one() {
        let run = run(vec![row("1"), row("10")]);
        let lines = syscost_report::export::to_jsonl(&[&run]).unwrap();
        assert_eq!(of_lines(&lines).unwrap(), [""; 0]);
        let found = of_lines(&lines.replacen("\"ok\"", "\"fine\"", 1)).unwrap();
        assert!(found[0].starts_with("line 1: at /status: "), "{found:?}");
    }
}
