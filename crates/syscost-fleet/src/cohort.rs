//! Machines that are alike: only these are held against each other; and those that let a process use fewer CPUs than the others.

use std::collections::BTreeMap;

use serde::Serialize;
use syscost_results::stats::order;

use crate::deviation::MIN_MACHINES;
use crate::fleet::Fleet;

/// Machines with the same values of some facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cohort {
    /// The facts, in the order chosen; `None` where one is not recorded.
    pub(crate) facts: Vec<(String, Option<String>)>,
    /// Their documents, by number.
    pub(crate) entries: Vec<usize>,
}

/// Parts documents into cohorts by these facts, the largest cohort first.
pub(crate) fn cohorts(fleet: &Fleet, entries: &[usize], alike: &[String]) -> Vec<Cohort> {
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

/// Less than this share of what others may use is a limit.
const LESS: f64 = 0.99;

/// A machine that lets a process use fewer CPUs than those like it do. A quota is a fact and no measurement: it stops
/// programs between operations, and the samples that it stopped are left out as disturbed, so that no row is slower for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limited {
    /// Its host name.
    pub machine: String,
    /// How many CPUs a process may use there, by its affinity and the quota of its control group.
    pub cpus: f64,
    /// How many on half of the others, or more.
    pub others: f64,
}

/// The limited machines of a cohort, those with the fewest CPUs first.
pub(crate) fn limited(fleet: &Fleet, cohort: &Cohort) -> Vec<Limited> {
    if cohort.entries.len() < MIN_MACHINES {
        return Vec::new();
    }
    let number = |entry: usize, fact: &str| fleet.fact(entry, fact)?.parse::<f64>().ok();
    let usable = |entry: &usize| {
        let allowed = number(*entry, "cpus_allowed")?;
        let quota = number(*entry, "cgroup_cpu_quota").unwrap_or(allowed);
        Some((*entry, allowed.min(quota)))
    };
    let all: Vec<(usize, f64)> = cohort.entries.iter().filter_map(usable).collect();
    let counts: Vec<f64> = all.iter().map(|(_, cpus)| *cpus).collect();
    let Some(others) = order::median(&counts) else {
        return Vec::new();
    };
    let mut found: Vec<Limited> = all
        .into_iter()
        .filter(|(_, cpus)| *cpus < LESS * others)
        .map(|(entry, cpus)| Limited {
            machine: fleet.entries[entry].host.clone(),
            cpus,
            others,
        })
        .collect();
    found.sort_by(|one, other| one.cpus.total_cmp(&other.cpus));
    found
}
