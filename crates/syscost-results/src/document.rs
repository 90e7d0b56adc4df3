//! Reads a run document: from bytes to a [`Run`], or to one line that says what is wrong, where, and what to do.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::measurement::Estimate;
use crate::run::{Run, SCHEMA_VERSION};

mod cleaned;
mod summary;
#[cfg(test)]
mod tests;

pub use summary::{Row, Summary};

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

const NO_RUN: &str = "this is JSON, but no run document";
const GIVE_A_RUN: &str = "give a file that `syscost run -o` wrote";
const TAKE_ANOTHER_COPY: &str = "take another copy of the file, or measure anew";
const UPDATE: &str = "read it with a newer syscost";

impl DocumentError {
    fn new(place: Place, problem: impl AsRef<str>, advice: &'static str) -> Self {
        let place = match place {
            Place::Field { path, at } => Place::Field {
                path: one_line(&path),
                at,
            },
            place => place,
        };
        Self {
            place,
            problem: one_line(problem.as_ref()),
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
        let problem = text.rfind(" at line ").map_or(&*text, |end| &text[..end]);
        let advice = if error.is_data() {
            GIVE_A_RUN
        } else {
            TAKE_ANOTHER_COPY
        };
        Self::new(place, problem, advice)
    }
}

/// Longest piece of a document that is repeated in an error, in characters.
const LONGEST: usize = 200;

/// A text from a document, fit for one line of a terminal: no control characters, not endless.
fn one_line(text: &str) -> String {
    let mut line: String = text.chars().take(LONGEST).flat_map(visible).collect();
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}

fn visible(letter: char) -> impl Iterator<Item = char> {
    // What turns the direction of writing is as misleading as an escape sequence.
    let hidden = letter.is_control()
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let escaped = hidden.then(|| letter.escape_unicode());
    let plain = (!hidden).then_some(letter);
    escaped.into_iter().flatten().chain(plain)
}

/// What tells a run document from another, whatever else it holds.
#[derive(Deserialize)]
struct Head {
    schema_version: Option<serde_json::Value>,
    machine: Option<IgnoredAny>,
    measurements: Option<IgnoredAny>,
}

/// What can be read from a run document: all of it, or its [`Summary`].
trait Content: DeserializeOwned {
    fn version(&self) -> u32;
    fn check(&self) -> Result<(), DocumentError>;
}

impl Content for Run {
    fn version(&self) -> u32 {
        self.schema_version
    }

    fn check(&self) -> Result<(), DocumentError> {
        let rows = self.measurements.iter();
        check_rows(rows.map(|row| (row.name.as_str(), row.id.as_str(), &row.estimate)))?;
        check_samples(self)
    }
}

impl Content for Summary {
    fn version(&self) -> u32 {
        self.schema_version
    }

    fn check(&self) -> Result<(), DocumentError> {
        let rows = self.measurements.iter();
        check_rows(rows.map(|row| (row.name.as_str(), row.id.as_str(), &row.estimate)))
    }
}

/// The run in a document.
///
/// # Errors
/// When the bytes are empty, binary, cut off, no JSON, no run, a run of a newer schema, or contradict themselves.
pub fn read(bytes: &[u8]) -> Result<Run, DocumentError> {
    content(bytes)
}

/// What an index keeps of the run in a document; several times as fast as [`read`], since samples and evidence are
/// checked to be JSON and then left out.
///
/// # Errors
/// As [`read`], but what is left out may be of the wrong type.
pub fn read_summary(bytes: &[u8]) -> Result<Summary, DocumentError> {
    content(bytes)
}

fn content<T: Content>(bytes: &[u8]) -> Result<T, DocumentError> {
    check_text(bytes)?;
    // A good document is parsed once; only a bad one again, to tell what is wrong and where.
    match serde_json::from_slice::<T>(bytes) {
        Ok(content) if (1..=SCHEMA_VERSION).contains(&content.version()) => {
            let content = harmless(bytes, content);
            content.check()?;
            Ok(content)
        }
        Ok(_) => Err(diagnose::<T>(bytes, None)),
        Err(error) => Err(diagnose::<T>(bytes, Some(&error))),
    }
}

/// The content with its texts cleaned, where that is needed.
fn harmless<T: Content>(bytes: &[u8], content: T) -> T {
    if !cleaned::is_needed(bytes) {
        return content;
    }
    let value = serde_json::from_slice(bytes).map(cleaned::cleaned);
    value.and_then(serde_json::from_value).unwrap_or(content)
}

/// What is wrong with a document that did not parse, or has a version that this reader does not know.
fn diagnose<T: Content>(bytes: &[u8], error: Option<&serde_json::Error>) -> DocumentError {
    let head = match serde_json::from_slice::<Head>(bytes) {
        Ok(head) => head,
        Err(error) if error.is_data() && !error.to_string().starts_with("duplicate field") => {
            return DocumentError::new(Place::Whole, NO_RUN, GIVE_A_RUN);
        }
        Err(error) => return DocumentError::json(&error, None),
    };
    if let Err(error) = check_head(&head) {
        return error;
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, T>(&mut json) {
        Err(error) => {
            let path = error.path().to_string();
            DocumentError::json(error.inner(), Some(path))
        }
        // What follows the document is found by the first parse only.
        Ok(_) => match error {
            Some(error) => DocumentError::json(error, None),
            None => DocumentError::new(Place::Whole, NO_RUN, GIVE_A_RUN),
        },
    }
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
            NO_RUN
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

/// What the types cannot say: names are unique, numbers in order. Rows are given as name, id, estimate.
fn check_rows<'a>(
    rows: impl Iterator<Item = (&'a str, &'a str, &'a Estimate)>,
) -> Result<(), DocumentError> {
    let mut names = BTreeSet::new();
    for (index, (name, id, estimate)) in rows.enumerate() {
        let wrong = |field: &str, problem: String| {
            let path = format!("measurements[{index}].{field}");
            DocumentError::new(Place::Field { path, at: None }, problem, TAKE_ANOTHER_COPY)
        };
        if !names.insert(name) {
            return Err(wrong("name", format!("`{name}` occurs twice")));
        }
        if id.is_empty() || !name.starts_with(id) {
            let problem = format!("`{name}` does not begin with its id `{id}`");
            return Err(wrong("name", problem));
        }
        check_estimate(estimate).map_err(|problem| wrong("estimate", problem))?;
    }
    Ok(())
}

fn check_samples(run: &Run) -> Result<(), DocumentError> {
    for (index, row) in run.measurements.iter().enumerate() {
        for (round, samples) in row.samples.iter().flatten().enumerate() {
            if samples.values.iter().any(|value| !value.is_finite()) {
                let path = format!("measurements[{index}].samples[{round}].values");
                return Err(DocumentError::new(
                    Place::Field { path, at: None },
                    "a sample is no finite number",
                    TAKE_ANOTHER_COPY,
                ));
            }
        }
    }
    Ok(())
}

fn check_estimate(estimate: &Estimate) -> Result<(), String> {
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        min,
        best,
        mad,
        p99,
        raw_median,
        ..
    } = *estimate;
    let all = [median, ci95_low, ci95_high, min, best, mad, p99, raw_median];
    if all.iter().flatten().any(|value| !value.is_finite()) {
        return Err("a number is not finite".to_owned());
    }
    let ordered = |low: Option<f64>, high: Option<f64>| !matches!((low, high), (Some(low), Some(high)) if low > high);
    if !ordered(ci95_low, ci95_high) || !ordered(ci95_low, median) || !ordered(median, ci95_high) {
        return Err("the median is not within its interval".to_owned());
    }
    Ok(())
}
