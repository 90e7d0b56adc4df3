//! What is recorded of machines that are not like the others, and of hardly any other machine.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::fleet::Fleet;
use crate::judge::{Judgement, Outlier};

/// At most so many facts are named for a machine.
const MAX_REASONS: usize = 5;
/// A fact that more of the others share than this explains nothing.
const MAX_OF_OTHERS: f64 = 0.1;

/// A fact that goes with being unlike the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// The fact's name.
    pub fact: String,
    /// Its value; `None` where it is not recorded, but is of the others.
    pub value: Option<String>,
    /// How many of the machines that differ in the same row have it.
    pub of_such: usize,
    /// How many such machines there are.
    pub such: usize,
    /// How many of the cohort's other machines have it.
    pub of_others: usize,
    /// How many others there are.
    pub others: usize,
    /// How likely they share it by chance: the exact test of Fisher (1922), one-sided.
    pub p_value: f64,
}

/// The values of each fact over a cohort.
pub struct Values<'a> {
    fleet: &'a Fleet,
    members: usize,
    /// By fact and value: how many machines.
    counts: BTreeMap<&'a str, HashMap<&'a str, usize>>,
    /// The logarithms of factorials.
    factorials: Vec<f64>,
}

impl<'a> Values<'a> {
    /// Of these documents.
    pub fn of(fleet: &'a Fleet, entries: &[usize]) -> Self {
        let mut counts: BTreeMap<&str, HashMap<&str, usize>> = BTreeMap::new();
        for (name, value) in entries.iter().flat_map(|entry| fleet.facts(*entry)) {
            *counts.entry(name).or_default().entry(value).or_default() += 1;
        }
        let factorials = (0..=entries.len()).scan(0.0, |sum, number| {
            *sum += (number.max(1) as f64).ln();
            Some(*sum)
        });
        Values {
            fleet,
            members: entries.len(),
            counts,
            factorials: factorials.collect(),
        }
    }

    /// How many machines have this value of a fact.
    fn count(&self, name: &str, value: Option<&str>) -> usize {
        let Some(values) = self.counts.get(name) else {
            return 0;
        };
        match value {
            Some(value) => values.get(value).copied().unwrap_or(0),
            None => self.members - values.values().sum::<usize>(),
        }
    }

    /// What goes with this machine's being unlike the others of its cohort, the likeliest first.
    pub fn reasons(&self, judgement: &Judgement, outlier: &Outlier) -> Vec<Reason> {
        let Some(worst) = outlier.findings.first() else {
            return Vec::new();
        };
        // Those that differ in its worst row, in the same direction.
        let is_such = |other: &&Outlier| {
            let mut findings = other.findings.iter();
            other.cohort == outlier.cohort
                && findings.any(|found| found.row == worst.row && found.is_worse == worst.is_worse)
        };
        let such: Vec<usize> = judgement
            .outliers
            .iter()
            .filter(is_such)
            .map(|one| one.entry)
            .collect();
        let others = self.members - such.len();
        let mut reasons: Vec<Reason> = Vec::new();
        for (name, values) in &self.counts {
            // What is another on most machines names them.
            if 2 * values.len() > self.members.max(4) {
                continue;
            }
            let value = self.fleet.fact(outlier.entry, name);
            let of_such = such
                .iter()
                .filter(|entry| self.fleet.fact(**entry, name) == value)
                .count();
            let of_others = self.count(name, value) - of_such;
            let is_rare = of_others as f64 <= MAX_OF_OTHERS * others as f64;
            if is_rare && 2 * of_such >= such.len() {
                reasons.push(Reason {
                    fact: (*name).to_owned(),
                    value: value.map(str::to_owned),
                    of_such,
                    such: such.len(),
                    of_others,
                    others,
                    p_value: self.chance(of_such, such.len(), of_such + of_others),
                });
            }
        }
        reasons.sort_by(|one, other| one.p_value.total_cmp(&other.p_value));
        reasons.truncate(MAX_REASONS);
        reasons
    }

    /// The chance that at least `both` of `such` machines are among the `with` that have a value, if it does not matter.
    fn chance(&self, both: usize, such: usize, with: usize) -> f64 {
        let factorial = |number: usize| self.factorials[number];
        let choose =
            |all: usize, some: usize| factorial(all) - factorial(some) - factorial(all - some);
        let others = self.members - such;
        let possible = (both..=such.min(with)).filter(|both| with - both <= others);
        possible
            .map(|both| {
                let ways = choose(such, both) + choose(others, with - both);
                (ways - choose(self.members, with)).exp()
            })
            .sum::<f64>()
            .min(1.0)
    }
}
