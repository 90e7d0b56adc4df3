//! Machines that are alike: only these are held against each other.

use std::collections::BTreeMap;

use crate::fleet::Fleet;

/// Machines with the same values of some facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cohort {
    /// The facts, in the order chosen; `None` where one is not recorded.
    pub facts: Vec<(String, Option<String>)>,
    /// Their documents, by number.
    pub entries: Vec<usize>,
}

/// Parts documents into cohorts by these facts, the largest cohort first.
pub fn cohorts(fleet: &Fleet, entries: &[usize], alike: &[String]) -> Vec<Cohort> {
    let mut parts: BTreeMap<Vec<Option<&str>>, Vec<usize>> = BTreeMap::new();
    for entry in entries {
        let values = alike.iter().map(|name| fleet.fact(*entry, name));
        parts.entry(values.collect()).or_default().push(*entry);
    }
    let named = |values: Vec<Option<&str>>| {
        let values = values.into_iter().map(|value| value.map(str::to_owned));
        alike.iter().cloned().zip(values).collect()
    };
    let mut cohorts: Vec<Cohort> = parts
        .into_iter()
        .map(|(values, entries)| Cohort {
            facts: named(values),
            entries,
        })
        .collect();
    cohorts.sort_by_key(|cohort| std::cmp::Reverse(cohort.entries.len()));
    cohorts
}
