//! A store with documents of one row.

mod series;
mod store;

use std::fs;

use crate::{Index, Store};
use serde_json::Value;
use syscost_results::fixture;
use tempfile::TempDir;

/// A document with one row, measured on day `day` of 2026-01.
pub(super) fn document(day: u32, host: &str, median: f64) -> Value {
    let mut run = fixture::run(&id(day), vec![fixture::valued("a.b{c=d}", median)]);
    run.started = format!("{}T08:00:00Z", date(day));
    (run.machine.hostname, run.machine.cpu_model) = (host.to_owned(), "Imaginary".to_owned());
    serde_json::to_value(run).expect("JSON")
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
