//! JSON lines: one object for each row of each run.

use syscost_results::Run;

use super::{ExportError, Record};

/// A [`Record`] on each line, described by docs/export.schema.json.
///
/// # Errors
/// [`ExportError::Writer`] if the writer refuses, which it has no reason to.
pub fn to_jsonl(runs: &[&Run]) -> Result<String, ExportError> {
    let mut lines = String::new();
    for record in Record::all(runs) {
        lines += &serde_json::to_string(&record)?;
        lines.push('\n');
    }
    Ok(lines)
}
