//! The query of docs/export.md, which must give every published median.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Json, rows};

/// The query of docs/export.md for the medians of a run, of all rows in this folder.
pub(crate) fn recipe(folder: &str) -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/export.md");
    let guide = fs::read_to_string(guide).expect("the guide");
    let (_, query) = guide.split_once("```sql\n").expect("a query");
    let (query, _) = query.split_once("```").expect("its end");
    let every = query.replace("WHERE name LIKE 'syscall.null%'", "");
    assert_ne!(every, query);
    every.replace("tables/", &format!("{folder}/"))
}

/// Half a unit in the last place of the recorded run's numbers, which have seven digits.
const LAST_DIGIT: f64 = 5e-7;

/// Asserts that the query gives every published median to its last digit.
pub(crate) fn assert_recipe(run: &Value, found: &Value) {
    let by_name: BTreeMap<&str, &Value> = rows(run)
        .iter()
        .map(|row| (row["name"].text(), row))
        .collect();
    let mut checked = 0;
    for row in found.list() {
        let name = row[1].text();
        let row_of_run = by_name[name];
        if row_of_run["status"] == "ok" {
            let estimate = &row_of_run["estimate"];
            let (found, median) = (row[2].number(), estimate["median"].number());
            assert!(
                (found / median - 1.0).abs() <= LAST_DIGIT,
                "{name}: {found}, published as {median}"
            );
            assert_eq!(row[3], estimate["rounds"], "{name}");
            checked += 1;
        }
    }
    assert!(checked >= 5, "only {checked} rows");
}
