//! Machines that are alike: only these are held against each other; and in what some of them are configured otherwise.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use syscost_results::facts::{Field, Varies, are_close};
use syscost_stats::order;

use crate::facts::field;
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

/// Fewer machines than these share nothing.
const MIN_ALIKE: usize = 3;

/// A fact of their configuration that most machines of a kind share and some do not, whatever they cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drifted {
    /// The fact's name: `kernel`.
    pub fact: String,
    /// What most of them have; null where it is not recorded, as no quota is where there is none.
    pub usual: Option<String>,
    /// How many have that.
    pub machines: usize,
    /// The others by what they have, the rarest first.
    pub others: Vec<Others>,
}

/// Some machines with another value of a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Others {
    /// It; null where it is not recorded.
    pub value: Option<String>,
    /// Their host names.
    pub machines: Vec<String>,
    /// Whether a process may use fewer CPUs there by it than on half of the cohort: that stops programs between operations, and no row is
    /// slower for it.
    pub fewer_cpus: bool,
}

/// In what machines of a cohort are configured otherwise than more than half of them, what can change most first. Facts in which every
/// machine differs from every other, as in the name of its disk, are none.
pub(crate) fn drifted(fleet: &Fleet, cohort: &Cohort) -> Vec<Drifted> {
    let entries = &cohort.entries;
    let facts = entries.iter().flat_map(|entry| fleet.facts(*entry));
    let names: BTreeSet<&str> = facts.map(|(name, _)| name).collect();
    let known = names
        .into_iter()
        .filter_map(|name| Some((name, field(name)?)));
    let known = known.filter(|(_, field)| field.varies != Varies::ByHour);
    let mut known: Vec<(&str, &Field)> = known.collect();
    known.sort_by_key(|(_, field)| field.affects);
    let limited = limited(fleet, entries);
    let drifted = known.into_iter().filter_map(|(name, field)| {
        let mut values: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
        for entry in entries {
            let value = fleet.fact(*entry, name);
            match values.iter_mut().find(|(one, _)| is_as(field, *one, value)) {
                Some((_, having)) => having.push(*entry),
                None => values.push((value, vec![*entry])),
            }
        }
        values.sort_by_key(|(_, having)| having.len());
        let (usual, having) = values.pop()?;
        let is_usual = having.len() >= MIN_ALIKE && 2 * having.len() > entries.len();
        (is_usual && !values.is_empty()).then(|| Drifted {
            fact: name.to_owned(),
            usual: usual.map(str::to_owned),
            machines: having.len(),
            others: values
                .into_iter()
                .map(|(value, having)| Others {
                    value: value.map(str::to_owned),
                    fewer_cpus: LIMITS.contains(&name)
                        && having.iter().any(|entry| limited.contains(entry)),
                    machines: having
                        .iter()
                        .map(|entry| fleet.entries[*entry].host.clone())
                        .collect(),
                })
                .collect(),
        })
    });
    drifted.collect()
}

/// What limits the CPUs that a process may use: its affinity, and the quota of its control group.
const LIMITS: [&str; 2] = ["cpus_allowed", "cgroup_cpu_quota"];
/// Less than this share of what others may use is a limit.
const LESS: f64 = 0.99;

/// The machines on which a process may use fewer CPUs than on half of these, or more.
fn limited(fleet: &Fleet, entries: &[usize]) -> Vec<usize> {
    let usable = |entry: usize| {
        let number = |fact| fleet.fact(entry, fact)?.parse::<f64>().ok();
        LIMITS.into_iter().filter_map(number).reduce(f64::min)
    };
    let known: Vec<(usize, f64)> = entries
        .iter()
        .filter_map(|entry| Some((*entry, usable(*entry)?)))
        .collect();
    let cpus: Vec<f64> = known.iter().map(|(_, cpus)| *cpus).collect();
    let most = order::median(&cpus).map_or(0.0, |others| LESS * others);
    let few = known.into_iter().filter(|(_, cpus)| *cpus < most);
    few.map(|(entry, _)| entry).collect()
}

fn is_as(field: &Field, one: Option<&str>, other: Option<&str>) -> bool {
    let numbers = one
        .zip(other)
        .and_then(|(one, other)| Some((one.parse::<f64>().ok()?, other.parse::<f64>().ok()?)));
    match numbers {
        Some((one, other)) if field.varies == Varies::Slightly => are_close(one, other),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_few_machines_have_otherwise_is_told_whatever_they_cost() {
        let kernel = |machine: usize| {
            if machine == 3 {
                "Linux 6.1"
            } else {
                "Linux 6.8"
            }
        };
        let memory = |machine: usize| match machine {
            4 => "8000000000".to_owned(),
            // As much as the kernel of each boot left.
            other => format!("{}", 16_000_000_000_u64 + 1_000_000 * other as u64),
        };
        let facts = |machine: usize| {
            let mut facts = vec![
                ("cpus_allowed", "4".to_owned()),
                // That one has more of something is no limit, nor that it is scheduled otherwise.
                ("sockets", format!("{}", 1 + machine / 7)),
                ("kernel", kernel(machine).to_owned()),
                ("memory_bytes", memory(machine)),
                ("kernel_cmdline.root", format!("UUID={machine}")),
                ("load1", format!("{machine}")),
            ];
            // A quota of more CPUs than there are takes none.
            let quota = [(5, "0.3"), (6, "8")]
                .into_iter()
                .find(|(one, _)| *one == machine);
            facts.extend(quota.map(|(_, cpus)| ("cgroup_cpu_quota", cpus.to_owned())));
            facts
        };
        let fleet = Fleet::with_facts((0..8).map(facts));
        let cohort = Cohort {
            facts: Vec::new(),
            entries: (0..8).collect(),
        };
        let found = drifted(&fleet, &cohort);
        let lines: Vec<String> = found
            .iter()
            .map(|one| {
                let values = one.others.iter().map(|other| {
                    let few = if other.fewer_cpus { ", fewer CPUs" } else { "" };
                    format!(
                        "{:?} {}{few}",
                        other.value.as_deref(),
                        other.machines.join(" ")
                    )
                });
                let values: Vec<String> = values.collect();
                format!(
                    "{}, {} alike: {}",
                    one.fact,
                    one.machines,
                    values.join("; ")
                )
            })
            .collect();
        assert_eq!(
            lines,
            [
                "kernel, 7 alike: Some(\"Linux 6.1\") node3",
                "cgroup_cpu_quota, 6 alike: Some(\"0.3\") node5, fewer CPUs; Some(\"8\") node6",
                "sockets, 7 alike: Some(\"2\") node7",
                "memory_bytes, 7 alike: Some(\"8000000000\") node4",
            ]
        );
        let few = Cohort {
            facts: Vec::new(),
            entries: vec![2, 3],
        };
        assert_eq!(drifted(&fleet, &few), []);
    }
}
