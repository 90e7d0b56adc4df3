//! JSON lines: one object per row of each run.

use syscost_results::Run;

use super::{ExportError, Record};

/// A [`Record`] on each line, described by docs/export.schema.json.
///
/// # Errors
/// [`ExportError::Writer`] if the writer fails, which is not expected.
pub fn to_jsonl(runs: &[&Run]) -> Result<String, ExportError> {
    let mut lines = String::new();
    for record in Record::all(runs) {
        lines += &serde_json::to_string(&record)?;
        lines.push('\n');
    }
    Ok(lines)
}
