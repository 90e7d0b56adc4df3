//! Machines that let a process use fewer CPUs than those like them do.
//!
//! A quota is a fact and no measurement: it stops programs between operations, and the samples that it stopped are left out as
//! disturbed, so that no row is slower for it.

use serde::Serialize;
use syscost_results::stats::order;

use crate::cohort::Cohort;
use crate::deviation::MIN_MACHINES;
use crate::fleet::Fleet;

/// Less than this share of what others may use is a limit.
const LESS: f64 = 0.99;

/// A machine that lets a process use fewer CPUs than those like it do.
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
pub fn limited(fleet: &Fleet, cohort: &Cohort) -> Vec<Limited> {
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
