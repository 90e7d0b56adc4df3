//! The JSON Schemas of the run document and of the lines of `export --format jsonl`.
//!
//! Nothing else needs them, so whatever is built has no part of them but an example of syscost-report, which prints them.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::{cargo, workspace};

/// What the example prints, a line each.
const FILES: [&str; 2] = ["docs/run.schema.json", "docs/export.schema.json"];

/// The schemas as files: builds what they are derived from.
pub(super) fn files() -> Result<Vec<(PathBuf, String)>> {
    let schema = "run --quiet --package syscost-report --features schema --example schema";
    let mut cargo = cargo::command();
    cargo
        .args(schema.split(' '))
        .current_dir(workspace::root())
        .stderr(std::process::Stdio::inherit());
    let output = cargo.output().context("starting cargo")?;
    ensure!(output.status.success(), "`cargo {schema}` failed");
    let printed = String::from_utf8(output.stdout).context("reading the schemas")?;
    let files = FILES.iter().zip(printed.lines());
    let pretty = files.map(|(path, line)| {
        let schema: Value = serde_json::from_str(line).context("reading a schema")?;
        Ok((path.into(), format!("{schema:#}\n")))
    });
    pretty.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_knows_the_contracts_names() {
        let text = workspace::read(&workspace::root().join(FILES[0])).unwrap();
        let schema: Value = serde_json::from_str(&text).unwrap();
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
