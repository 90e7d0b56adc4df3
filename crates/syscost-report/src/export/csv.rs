//! Comma-separated values: one line per row of each run.

use syscost_results::Run;

use super::columns::{COLUMNS, Value};
use super::{ExportError, Record};

/// A spreadsheet takes a text that begins with one of these for a formula, and evaluates it.
const BEGINS_A_FORMULA: [char; 12] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\'', '＝', '＋', '－', '＠',
];

/// One line per row of each run, below a line of column names (RFC 4180, UTF-8, lines end with a
/// line feed).
///
/// Numbers are in the row's unit, with all their digits; a missing number is an empty field. A text
/// that a spreadsheet would take for a formula is prefixed with an apostrophe, and so is one that
/// begins with an apostrophe: removing one leading apostrophe restores the exact text.
///
/// # Errors
/// [`ExportError::Writer`] if the writer fails, which is not expected.
pub fn to_csv(runs: &[&Run]) -> Result<String, ExportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.iter().map(|(name, _)| name))?;
    for record in Record::all(runs) {
        writer.write_record(COLUMNS.iter().map(|(_, value)| field(value, &record)))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    // Every field was a string, so nothing is lost.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn field(value: &Value, record: &Record) -> String {
    match value {
        Value::Text(text) => guarded(text(record).unwrap_or_default()),
        Value::Time(time) => guarded(time(record)),
        Value::Double(number) => {
            number(record).map_or_else(String::new, |number| number.to_string())
        }
        Value::Count(count) => count(record).to_string(),
    }
}

/// The text, escaped so that it cannot be a formula.
pub(crate) fn guarded(text: String) -> String {
    if text.starts_with(BEGINS_A_FORMULA) {
        format!("'{text}")
    } else {
        text
    }
}
