//! Reads a run document: from bytes to a [`Run`], or to one line that says what is wrong, where, and what to do.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::measurement::{Estimate, Measurement};
use crate::run::{Run, SCHEMA_VERSION};

/// Where in a document something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Somewhere in the whole of it.
    Whole,
    /// At a byte, from 0.
    Byte(usize),
    /// At a line and column, from 1.
    Line {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// At a field, e.g. `measurements[3].unit`, and where that stands.
    Field {
        /// The field's path.
        path: String,
        /// Line and column, from 1; `None` where only the content is wrong.
        at: Option<(usize, usize)>,
    },
}

impl fmt::Display for Place {
    /// As it follows a file's name: `:3:14: measurements[0].unit`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Byte(offset) => write!(f, ", byte {offset}"),
            Place::Line { line, column } => write!(f, ":{line}:{column}"),
            Place::Field {
                path,
                at: Some((line, column)),
            } => write!(f, ":{line}:{column}, field {path}"),
            Place::Field { path, at: None } => write!(f, ", field {path}"),
        }
    }
}

/// Why bytes are no run document that this version can read. Its text follows the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}; {advice}")]
pub struct DocumentError {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub advice: &'static str,
}

const GIVE_A_RUN: &str = "give a file that `syscost run -o` wrote";
const TAKE_ANOTHER_COPY: &str = "take another copy of the file, or measure anew";
const UPDATE: &str = "read it with a newer syscost";

impl DocumentError {
    fn new(place: Place, problem: impl Into<String>, advice: &'static str) -> Self {
        Self {
            place,
            problem: problem.into(),
            advice,
        }
    }

    fn json(error: &serde_json::Error, path: Option<String>) -> Self {
        let at = (error.line(), error.column());
        let place = match path.filter(|path| path != ".") {
            Some(path) => Place::Field { path, at: Some(at) },
            None => Place::Line {
                line: at.0,
                column: at.1,
            },
        };
        if error.is_eof() {
            return Self::new(place, "the document ends too early", TAKE_ANOTHER_COPY);
        }
        let text = error.to_string();
        // The place is told once, before the sentence.
        let problem = text.split(" at line ").next().unwrap_or(&text);
        let problem: String = problem.chars().take(200).collect();
        let advice = if error.is_data() {
            GIVE_A_RUN
        } else {
            TAKE_ANOTHER_COPY
        };
        Self::new(place, problem, advice)
    }
}

/// What tells a run document from another, whatever else it holds.
#[derive(Deserialize)]
struct Head {
    schema_version: Option<serde_json::Value>,
    machine: Option<IgnoredAny>,
    measurements: Option<IgnoredAny>,
}

/// The run in a document.
///
/// # Errors
/// When the bytes are empty, binary, cut off, no JSON, no run, a run of a newer schema, or contradict themselves.
pub fn read(bytes: &[u8]) -> Result<Run, DocumentError> {
    check_text(bytes)?;
    let head: Head = serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() {
            DocumentError::new(
                Place::Whole,
                "this is JSON, but no run document",
                GIVE_A_RUN,
            )
        } else {
            DocumentError::json(&error, None)
        }
    })?;
    check_head(&head)?;
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let run: Run = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        DocumentError::json(error.inner(), Some(path))
    })?;
    check_content(&run)?;
    Ok(run)
}

fn check_text(bytes: &[u8]) -> Result<(), DocumentError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(DocumentError::new(
            Place::Whole,
            "the file is empty",
            GIVE_A_RUN,
        ));
    }
    let binary = |offset| {
        DocumentError::new(
            Place::Byte(offset),
            "this is no text, so no run document",
            GIVE_A_RUN,
        )
    };
    if let Some(offset) = bytes.iter().position(|&byte| byte == 0) {
        return Err(binary(offset));
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(binary(error.valid_up_to())),
    }
}

fn check_head(head: &Head) -> Result<(), DocumentError> {
    let Some(version) = &head.schema_version else {
        let problem = if head.machine.is_some() && head.measurements.is_some() {
            "there is no schema_version"
        } else {
            "this is JSON, but no run document"
        };
        return Err(DocumentError::new(Place::Whole, problem, GIVE_A_RUN));
    };
    let field = || Place::Field {
        path: "schema_version".to_owned(),
        at: None,
    };
    match version.as_u64() {
        Some(version) if version > u64::from(SCHEMA_VERSION) => Err(DocumentError::new(
            field(),
            format!(
                "the document has version {version}, this syscost reads up to {SCHEMA_VERSION}"
            ),
            UPDATE,
        )),
        Some(1..) => Ok(()),
        _ => Err(DocumentError::new(
            field(),
            format!("{version} is no version of a run document"),
            GIVE_A_RUN,
        )),
    }
}

/// What the types cannot say: names are unique, numbers in order.
fn check_content(run: &Run) -> Result<(), DocumentError> {
    let mut names = BTreeSet::new();
    for (index, row) in run.measurements.iter().enumerate() {
        let wrong = |field: &str, problem: String| {
            let path = format!("measurements[{index}].{field}");
            DocumentError::new(Place::Field { path, at: None }, problem, TAKE_ANOTHER_COPY)
        };
        if !names.insert(&row.name) {
            return Err(wrong("name", format!("`{}` occurs twice", row.name)));
        }
        if row.id.is_empty() || !row.name.starts_with(&row.id) {
            return Err(wrong(
                "name",
                format!("`{}` does not begin with its id `{}`", row.name, row.id),
            ));
        }
        check_estimate(row).map_err(|problem| wrong("estimate", problem))?;
        for (round, samples) in row.samples.iter().flatten().enumerate() {
            if samples.values.iter().any(|value| !value.is_finite()) {
                return Err(wrong(
                    &format!("samples[{round}].values"),
                    "a sample is no finite number".to_owned(),
                ));
            }
        }
    }
    Ok(())
}

fn check_estimate(row: &Measurement) -> Result<(), String> {
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        min,
        mad,
        p99,
        raw_median,
        ..
    } = row.estimate;
    let all = [median, ci95_low, ci95_high, min, mad, p99, raw_median];
    if all.iter().flatten().any(|value| !value.is_finite()) {
        return Err("a number is not finite".to_owned());
    }
    let ordered = |low: Option<f64>, high: Option<f64>| !matches!((low, high), (Some(low), Some(high)) if low > high);
    if !ordered(ci95_low, ci95_high) || !ordered(ci95_low, median) || !ordered(median, ci95_high) {
        return Err("the median is not within its interval".to_owned());
    }
    Ok(())
}
