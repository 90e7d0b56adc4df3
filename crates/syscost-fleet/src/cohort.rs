//! Machines that are alike: only these are held against each other; and in what some of them are configured otherwise.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use syscost_results::facts::{Affects, Field, Varies};

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
    /// Whether programs get fewer CPUs by it: that stops them between operations, and no row is slower for it.
    pub takes_cpus: bool,
}

/// Some machines with another value of a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Others {
    /// It; null where it is not recorded.
    pub value: Option<String>,
    /// Their host names.
    pub machines: Vec<String>,
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
                .map(|(value, having)| others(fleet, value, &having))
                .collect(),
            takes_cpus: field.affects == Affects::CpuTime,
        })
    });
    drifted.collect()
}

fn others(fleet: &Fleet, value: Option<&str>, having: &[usize]) -> Others {
    let names = having
        .iter()
        .map(|entry| fleet.entries[*entry].host.clone());
    Others {
        value: value.map(str::to_owned),
        machines: names.collect(),
    }
}

/// Numbers that vary slightly from boot to boot are the same within this share.
const SLIGHTLY: f64 = 0.01;

fn is_as(field: &Field, one: Option<&str>, other: Option<&str>) -> bool {
    let numbers = one
        .zip(other)
        .and_then(|(one, other)| Some((one.parse::<f64>().ok()?, other.parse::<f64>().ok()?)));
    match numbers {
        Some((one, other)) if field.varies == Varies::Slightly => {
            (one - other).abs() <= SLIGHTLY * one.max(other)
        }
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
                ("kernel", kernel(machine).to_owned()),
                ("memory_bytes", memory(machine)),
                ("kernel_cmdline.root", format!("UUID={machine}")),
                ("load1", format!("{machine}")),
            ];
            facts.extend((machine == 5).then(|| ("cgroup_cpu_quota", "0.3".to_owned())));
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
                    format!("{:?} {}", other.value.as_deref(), other.machines.join(" "))
                });
                let values: Vec<String> = values.collect();
                format!(
                    "{}, {} alike, {}: {}",
                    one.fact,
                    one.machines,
                    one.takes_cpus,
                    values.join("; ")
                )
            })
            .collect();
        assert_eq!(
            lines,
            [
                "kernel, 7 alike, false: Some(\"Linux 6.1\") node3",
                "cgroup_cpu_quota, 7 alike, true: Some(\"0.3\") node5",
                "memory_bytes, 7 alike, false: Some(\"8000000000\") node4",
            ]
        );
        let few = Cohort {
            facts: Vec::new(),
            entries: vec![2, 3],
        };
        assert_eq!(drifted(&fleet, &few), []);
    }
}
