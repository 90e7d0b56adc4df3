//! Comma-separated values: a line for each row of each run.

use syscost_results::Run;

use super::columns::{COLUMNS, Value};
use super::{ExportError, Record};

/// A spreadsheet takes a text that begins with one of these for a formula, and would run it.
const BEGINS_A_FORMULA: [char; 12] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\'', '＝', '＋', '－', '＠',
];

/// A line for each row of each run beneath a line of column names (RFC 4180, UTF-8, lines end with a line feed).
///
/// Numbers are in the unit that the row names, with all their digits; a number that is not there is empty. A text that a
/// spreadsheet would take for a formula has an apostrophe put before it, as has one that begins with an apostrophe: who
/// takes one leading apostrophe off a text gets the text exactly.
///
/// # Errors
/// [`ExportError::Writer`] if the writer refuses, which it has no reason to.
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

/// The text, unable to be a formula.
fn guarded(text: String) -> String {
    if text.starts_with(BEGINS_A_FORMULA) {
        format!("'{text}")
    } else {
        text
    }
}
