//! The parameters of rows: which of them differ, and which are numbers.

use std::collections::{BTreeMap, BTreeSet};

use syscost_results::Measurement;
use syscost_results::row_name::number;

/// The parameters whose values differ between the rows.
pub(super) fn varying<'a>(rows: &[&'a Measurement]) -> Vec<&'a String> {
    let mut seen: BTreeMap<&String, BTreeSet<Option<&String>>> = BTreeMap::new();
    for key in rows.iter().flat_map(|row| row.case.keys()) {
        let values = seen.entry(key).or_default();
        values.extend(rows.iter().map(|row| row.case.get(key)));
    }
    seen.into_iter()
        .filter(|(_, values)| values.len() > 1)
        .map(|(key, _)| key)
        .collect()
}

/// A parameter's values in all rows: sorted if all are numbers, otherwise in order of appearance;
/// `None` if a row lacks it.
pub(super) fn values(rows: &[&Measurement], key: &str) -> Option<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for row in rows {
        let value = row.case.get(key)?;
        if !found.contains(value) {
            found.push(value.clone());
        }
    }
    if found.iter().all(|value| number(value).is_some()) {
        found.sort_by(|a, b| {
            number(a)
                .unwrap_or(0.0)
                .total_cmp(&number(b).unwrap_or(0.0))
        });
    }
    Some(found)
}

/// A parameter's distinct values as numbers; `None` if one is not a number.
pub(super) fn numbers(rows: &[&Measurement], key: &str) -> Option<Vec<f64>> {
    values(rows, key)?
        .iter()
        .map(|value| number(value))
        .collect()
}
