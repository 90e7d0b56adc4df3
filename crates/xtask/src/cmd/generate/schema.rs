//! The JSON Schemas of the run document and of the lines of `export --format jsonl`.

use anyhow::{Context, Result};
use serde_json::Value;
use syscost_report::export::Record;
use syscost_results::Run;

/// The run document's schema as a file.
pub(super) fn text() -> Result<String> {
    file(&schemars::schema_for!(Run).to_value())
}

/// The exported line's schema as a file.
pub(super) fn export_text() -> Result<String> {
    file(&schemars::schema_for!(Record).to_value())
}

fn file(schema: &Value) -> Result<String> {
    let mut text = serde_json::to_string_pretty(schema).context("writing the schema")?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_knows_the_contracts_names() {
        let schema = schemars::schema_for!(Run).to_value();
        for name in [
            "schema_version",
            "machine",
            "clock",
            "noise",
            "config",
            "warnings",
            "measurements",
        ] {
            assert!(schema["properties"].get(name).is_some(), "{name}");
        }
        let estimate = &schema["$defs"]["Estimate"]["properties"];
        for name in [
            "median",
            "ci95_low",
            "ci95_high",
            "min",
            "mad",
            "p99",
            "raw_median",
            "rounds",
            "samples",
        ] {
            assert!(estimate.get(name).is_some(), "{name}");
        }
    }
}
