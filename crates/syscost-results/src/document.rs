//! Reads a run document: from bytes to a [`Run`], or to one line that says what is wrong, where,
//! and what to do about it.

use std::fmt;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Measurement;
use crate::run::{Run, SCHEMA_VERSION};

mod check;
mod cleaned;
mod digest;
mod place;
#[cfg(test)]
mod tests;

use check::check;
use cleaned::cleaned;
pub use digest::{Digest, DigestRow, read_digest};
use place::path_at;

/// The place of an error in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorPlace {
    /// The document as a whole.
    Whole,
    /// At a byte offset, from 0.
    Byte(usize),
    /// At a line and column, from 1.
    Line {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// At a field, e.g. `measurements[3].unit`, and its position.
    Field {
        /// The field's path.
        path: String,
        /// Line and column, from 1; `None` if only the content is wrong.
        at: Option<(usize, usize)>,
    },
}

impl fmt::Display for ErrorPlace {
    /// The place as it follows a file's name: `:3:14: measurements[0].unit`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorPlace::Whole => Ok(()),
            ErrorPlace::Byte(offset) => write!(f, ", byte {offset}"),
            ErrorPlace::Line { line, column } => write!(f, ":{line}:{column}"),
            ErrorPlace::Field {
                path,
                at: Some((line, column)),
            } => write!(f, ":{line}:{column}, field {path}"),
            ErrorPlace::Field { path, at: None } => write!(f, ", field {path}"),
        }
    }
}

/// Why bytes are not a run document that this version can read. Its text follows the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}; {advice}")]
pub struct DocumentError {
    /// Where.
    pub place: ErrorPlace,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub advice: &'static str,
}

const NO_TEXT: &str = "this is no text, so no run document";
const NO_JSON: &str = "this is text, but no run document";
const NO_RUN: &str = "this is JSON, but no run document";
const GIVE_A_RUN: &str = "give a file that `syscost run -o` wrote";
const TAKE_ANOTHER_COPY: &str = "take another copy of the file, or measure anew";
const UPDATE: &str = "read it with a newer syscost";

impl DocumentError {
    fn new(place: ErrorPlace, problem: impl AsRef<str>, advice: &'static str) -> Self {
        let place = match place {
            ErrorPlace::Field { path, at } => ErrorPlace::Field {
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

    fn no_run(problem: &str) -> Self {
        Self::new(ErrorPlace::Whole, problem, GIVE_A_RUN)
    }

    fn json(error: &serde_json::Error, path: Option<String>) -> Self {
        let at = (error.line(), error.column());
        let place = match path.filter(|path| !path.is_empty()) {
            Some(path) => ErrorPlace::Field { path, at: Some(at) },
            None => ErrorPlace::Line {
                line: at.0,
                column: at.1,
            },
        };
        if error.is_eof() {
            return Self::new(place, "the document ends too early", TAKE_ANOTHER_COPY);
        }
        let text = error.to_string();
        // The place is given once, before the sentence.
        let problem = text.rfind(" at line ").map_or(&*text, |end| &text[..end]);
        let advice = if error.is_data() {
            GIVE_A_RUN
        } else {
            TAKE_ANOTHER_COPY
        };
        Self::new(place, problem, advice)
    }
}

/// Maximum length of a quotation from the document in an error, in characters.
const MAX_QUOTED: usize = 200;

/// A text from a document, made fit for one line of a terminal: no control characters, limited
/// length.
fn one_line(text: &str) -> String {
    let mut line: String = text.chars().take(MAX_QUOTED).flat_map(visible).collect();
    if text.chars().nth(MAX_QUOTED).is_some() {
        line.push('…');
    }
    line
}

/// Whether a character moves a terminal's cursor, changes the writing direction, or has no shape, so
/// that two texts look alike; or is none that XML may contain.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn visible(letter: char) -> impl Iterator<Item = char> {
    let hidden = is_hidden(letter);
    let escaped = hidden.then(|| letter.escape_unicode());
    let plain = (!hidden).then_some(letter);
    escaped.into_iter().flatten().chain(plain)
}

/// The fields that identify a run document, whatever else it holds.
#[derive(Deserialize)]
struct Head {
    schema_version: Option<serde_json::Value>,
    machine: Option<IgnoredAny>,
    measurements: Option<IgnoredAny>,
}

/// Reads the run in a document.
///
/// # Errors
/// If the bytes are empty, binary, truncated, not JSON, not a run, a run of a newer schema, or
/// inconsistent.
pub fn read(bytes: &[u8]) -> Result<Run, DocumentError> {
    // Some editors put a byte order mark before the text.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    check_text(bytes)?;
    // A valid document is parsed once; only an invalid one again, to find out what is wrong and
    // where.
    match serde_json::from_slice::<Run>(&cleaned(bytes)) {
        Ok(mut run) if (1..=SCHEMA_VERSION).contains(&run.schema_version) => {
            run.measurements.iter_mut().for_each(Measurement::rename);
            check(&run)?;
            Ok(run)
        }
        Ok(_) => Err(diagnose(bytes, None)),
        Err(error) => Err(diagnose(bytes, Some(&error))),
    }
}

/// What is wrong with a document that did not parse, or whose version this reader does not know.
fn diagnose(bytes: &[u8], error: Option<&serde_json::Error>) -> DocumentError {
    let head = match serde_json::from_slice::<Head>(bytes) {
        Ok(head) => head,
        Err(error) if error.is_data() && !error.to_string().starts_with("duplicate field") => {
            return DocumentError::no_run(NO_RUN);
        }
        Err(error) => return DocumentError::json(&error, None),
    };
    if let Err(error) = check_head(&head) {
        return error;
    }
    match error {
        Some(error) if error.is_data() || error.is_eof() => {
            let path = path_at(bytes, error.line(), error.column());
            DocumentError::json(error, Some(path))
        }
        Some(error) => DocumentError::json(error, None),
        None => DocumentError::no_run(NO_RUN),
    }
}

fn check_text(bytes: &[u8]) -> Result<(), DocumentError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(DocumentError::no_run("the file is empty"));
    }
    let binary = |offset| DocumentError::new(ErrorPlace::Byte(offset), NO_TEXT, GIVE_A_RUN);
    // Looking for one value is much faster than for its place.
    if bytes.contains(&0) {
        let offset = bytes.iter().position(|&byte| byte == 0);
        return Err(binary(offset.unwrap_or(0)));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_start().starts_with(['{', '[']) => Ok(()),
        Ok(_) => Err(DocumentError::no_run(NO_JSON)),
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
        return Err(DocumentError::no_run(problem));
    };
    let (problem, advice) = match version.as_u64() {
        Some(version) if version > u64::from(SCHEMA_VERSION) => (
            format!(
                "the document has version {version}, this syscost reads up to {SCHEMA_VERSION}"
            ),
            UPDATE,
        ),
        Some(1..) => return Ok(()),
        _ => (
            format!("{version} is no version of a run document"),
            GIVE_A_RUN,
        ),
    };
    let (path, at) = ("schema_version".to_owned(), None);
    Err(DocumentError::new(
        ErrorPlace::Field { path, at },
        problem,
        advice,
    ))
}
