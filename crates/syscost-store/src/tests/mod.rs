//! A store with documents of one row.

mod series;
mod store;

use std::fs;

use crate::{Index, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A document with one row, measured on day `day` of 2026-01.
pub(super) fn document(day: u32, host: &str, median: f64) -> Value {
    json!({
        "schema_version": 1, "tool": {"name": "syscost", "version": "0.1.0"},
        "id": id(day), "started": format!("{}T08:00:00Z", date(day)), "duration_s": 1.5, "complete": true,
        "machine": {"hostname": host, "cpu_model": "Imaginary", "build": {"profile": "release"}},
        "clock": {"source": "tsc", "ghz": 2.6, "step_ns": 0.7, "read_ns": 12.3, "drift_ppm": null, "health": []},
        "core_ghz": null, "noise": [],
        "config": {
            "profile": "quick", "budget_s": 9.0, "seed": 1, "cpus": [1], "selectors": [], "min_rounds": 6,
            "max_rounds": 6, "samples_per_round": 20, "worker_start_ms": null, "resumed": 0
        },
        "warnings": [],
        "measurements": [{
            "name": "a.b{c=d}", "id": "a.b", "case": {"c": "d"}, "title": "A", "unit": "ns", "better": "lower",
            "status": "ok", "reason": null,
            "estimate": {
                "median": median, "ci95_low": median, "ci95_high": median, "min": 1.0, "mad": 0.5, "p99": null,
                "raw_median": null, "rounds": 6, "samples": 6
            },
            "core_cycles": null, "flags": [], "evidence": []
        }]
    })
}

pub(super) fn date(day: u32) -> String {
    format!("2026-{:02}-{:02}", 1 + day / 28, 1 + day % 28)
}

pub(super) fn id(day: u32) -> String {
    format!("{}T080000Z-{day}", date(day).replace('-', ""))
}

pub(super) fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::at(folder.path().join("syscost"));
    fs::create_dir_all(store.runs()).expect("made");
    (folder, store)
}

pub(super) fn put(store: &Store, document: &Value) {
    let id = document["id"].as_str().expect("an id");
    fs::write(
        store.runs().join(format!("{id}.json")),
        document.to_string(),
    )
    .expect("written");
}

pub(super) fn open(store: &Store) -> Index {
    Index::open(store, &mut |_, _| {}).expect("an index")
}
