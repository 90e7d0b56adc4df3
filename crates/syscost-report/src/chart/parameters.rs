//! The parameters of rows: which of them differ, and which are numbers.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use syscost_results::Measurement;
use syscost_results::row_name::number;

/// The parameters whose values differ between the rows.
pub(super) fn varying<'a>(rows: &[&'a Measurement]) -> BTreeSet<&'a str> {
    // The first value, whether there is another one, and how many rows have the parameter.
    let mut seen: BTreeMap<&str, (&str, bool, usize)> = BTreeMap::new();
    for (key, value) in rows.iter().flat_map(|row| &row.case) {
        let (first, differs, count) = seen.entry(key).or_insert((value, false, 0));
        *differs |= first != value;
        *count += 1;
    }
    seen.into_iter()
        .filter(|(_, (_, differs, count))| *differs || *count < rows.len())
        .map(|(key, _)| key)
        .collect()
}

/// A parameter's values in all rows: sorted if all are numbers, otherwise in order of appearance;
/// `None` if a row lacks it.
pub(super) fn values(rows: &[&Measurement], key: &str) -> Option<Vec<String>> {
    let mut known: HashSet<&str> = HashSet::new();
    let mut found: Vec<String> = Vec::new();
    for row in rows {
        let value = row.case.get(key)?;
        if known.insert(value) {
            found.push(value.clone());
        }
    }
    if found.iter().all(|value| number(value).is_some()) {
        let number = |value: &String| number(value).unwrap_or(0.0);
        found.sort_by(|a, b| number(a).total_cmp(&number(b)));
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
