//! Every fact of a document, and which of them tell nothing of a difference between runs.

use std::collections::BTreeMap;

use syscost_results::{Run, Unit};

use crate::sentence::time;
use crate::units::{duration, quantity};

use super::super::quantities;
use super::Facts;

/// Every fact of the document's machine, clock and configuration, by its name in the document.
pub(super) fn all(run: &Run) -> Facts {
    let mut facts = vec![
        ("id".to_owned(), run.id.clone()),
        ("started".to_owned(), time(&run.started)),
        ("duration".to_owned(), duration(run.duration_s)),
        ("tool.version".to_owned(), run.tool.version.clone()),
    ];
    if let Some(ghz) = run.core_ghz {
        facts.push(("core_ghz".to_owned(), quantity(Unit::Gigahertz, ghz)));
    }
    for (part, value) in [
        ("machine", serde_json::to_value(&run.machine)),
        ("peer", serde_json::to_value(&run.peer)),
        ("nfs", serde_json::to_value(&run.nfs)),
        ("directories", serde_json::to_value(&run.directories)),
        ("clock", serde_json::to_value(&run.clock)),
        ("config", serde_json::to_value(&run.config)),
        ("noise", serde_json::to_value(&run.noise)),
    ] {
        // These types have no keys that JSON cannot represent.
        flatten(part, &value.unwrap_or_default(), &mut facts);
    }
    facts
}

fn flatten(name: &str, value: &serde_json::Value, facts: &mut Facts) {
    use serde_json::Value;
    let text = match value {
        Value::Null => return,
        Value::Object(fields) => {
            for (field, value) in fields {
                flatten(&format!("{name}.{field}"), value, facts);
            }
            return;
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&format!("{name}[{index}]"), item, facts);
            }
            return;
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            items.join(", ")
        }
        Value::String(text) => text.clone(),
        Value::Number(number) => quantities::fact(name, number),
        Value::Bool(flag) => flag.to_string(),
    };
    if !text.is_empty() {
        facts.push((name.to_owned(), text));
    }
}

/// Facts that differ between any two runs and explain nothing; each run's full list has them.
pub(super) fn differs_always(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "id",
        "started",
        "duration",
        "config.seed",
        "config.worker_start_ms",
        "clock.",
        "noise[",
        "machine.load1",
        "machine.cpu_pressure_avg10",
    ];
    if name.starts_with("directories[") && name.ends_with(".free_bytes") {
        return true;
    }
    NAMES.iter().any(|one| match one.ends_with(['.', '[']) {
        true => name.starts_with(one),
        false => name == *one,
    })
}

/// Each text with how often it occurs, the most common first.
pub(in super::super) fn counted<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<(&'t str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}
