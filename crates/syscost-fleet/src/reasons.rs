//! What is recorded of machines that are not like the others, and of hardly any other machine.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::fleet::Fleet;
use crate::judge::{Judgement, Outlier};

/// Maximum number of facts named for a machine.
const MAX_REASONS: usize = 5;
/// What others have, too, is named only if chance brings it together less often than this.
const MAX_CHANCE: f64 = 0.01;
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

/// What goes with being unlike the others, for all machines of a judgement.
pub(crate) struct Reasons<'a> {
    fleet: &'a Fleet,
    /// The facts of each cohort that has an outlier.
    cohorts: HashMap<usize, Values<'a>>,
    /// Those of machines that differ in a row in the same direction, for each row that is some machine's worst.
    such: HashMap<Difference, Values<'a>>,
    /// The logarithms of factorials.
    factorials: Vec<f64>,
}

/// A cohort, a row, and whether it is worse than the others'.
type Difference = (usize, u32, bool);

/// How many of some machines have each value of each fact.
struct Values<'a> {
    machines: usize,
    counts: BTreeMap<&'a str, HashMap<&'a str, usize>>,
}

impl<'a> Values<'a> {
    fn of(fleet: &'a Fleet, entries: &[usize]) -> Self {
        let mut counts: BTreeMap<&str, HashMap<&str, usize>> = BTreeMap::new();
        for (name, value) in entries.iter().flat_map(|entry| fleet.facts(*entry)) {
            *counts.entry(name).or_default().entry(value).or_default() += 1;
        }
        Values {
            machines: entries.len(),
            counts,
        }
    }

    /// How many machines have this value of a fact.
    fn count(&self, name: &str, value: Option<&str>) -> usize {
        let values = self.counts.get(name);
        match value {
            Some(value) => values
                .and_then(|values| values.get(value))
                .copied()
                .unwrap_or(0),
            None => self.machines - values.map_or(0, |values| values.values().sum()),
        }
    }
}

impl<'a> Reasons<'a> {
    /// For these machines.
    pub(crate) fn new(fleet: &'a Fleet, judgement: &Judgement) -> Self {
        let mut such: HashMap<Difference, Vec<usize>> = HashMap::new();
        such.extend(
            judgement
                .outliers
                .iter()
                .filter_map(|one| Some((worst(one)?, Vec::new()))),
        );
        for outlier in &judgement.outliers {
            for found in &outlier.findings {
                if let Some(such) = such.get_mut(&(outlier.cohort, found.row, found.is_worse)) {
                    such.push(outlier.entry);
                }
            }
        }
        let mut cohorts = HashMap::new();
        for outlier in &judgement.outliers {
            let members = &judgement.cohorts[outlier.cohort].cohort.entries;
            cohorts
                .entry(outlier.cohort)
                .or_insert_with(|| Values::of(fleet, members));
        }
        let factorials = (0..=fleet.entries.len()).scan(0.0, |sum, number| {
            *sum += (number.max(1) as f64).ln();
            Some(*sum)
        });
        let such = such.into_iter();
        Reasons {
            fleet,
            cohorts,
            such: such
                .map(|(key, such)| (key, Values::of(fleet, &such)))
                .collect(),
            factorials: factorials.collect(),
        }
    }

    /// What goes with this machine's being unlike the others of its cohort, the likeliest first.
    pub(crate) fn of(&self, outlier: &Outlier) -> Vec<Reason> {
        let such = worst(outlier).and_then(|worst| self.such.get(&worst));
        let Some((such, all)) = such.zip(self.cohorts.get(&outlier.cohort)) else {
            return Vec::new();
        };
        let others = all.machines - such.machines;
        let mut reasons: Vec<Reason> = Vec::new();
        for (name, values) in &all.counts {
            // What is another on most machines names them.
            if 2 * values.len() > all.machines {
                continue;
            }
            let value = self.fleet.fact(outlier.entry, name);
            let of_such = such.count(name, value);
            let with = all.count(name, value);
            let is_rare = (with - of_such) as f64 <= MAX_OF_OTHERS * others as f64;
            let p_value = self.chance(of_such, such.machines, with, all.machines);
            // What the machine alone has is worth a look, however few others there are to tell
            // chance from cause.
            let is_its_own = with == of_such;
            if is_rare && 2 * of_such >= such.machines && (is_its_own || p_value <= MAX_CHANCE) {
                reasons.push(Reason {
                    fact: (*name).to_owned(),
                    value: value.map(str::to_owned),
                    of_such,
                    such: such.machines,
                    of_others: with - of_such,
                    others,
                    p_value,
                });
            }
        }
        reasons.sort_by(|one, other| one.p_value.total_cmp(&other.p_value));
        reasons.truncate(MAX_REASONS);
        reasons
    }

    /// The chance that at least `both` of `such` machines are among the `with` of `all` that have a value, if it does not matter.
    fn chance(&self, both: usize, such: usize, with: usize, all: usize) -> f64 {
        let factorial = |number: usize| self.factorials[number];
        let choose =
            |all: usize, some: usize| factorial(all) - factorial(some) - factorial(all - some);
        let others = all - such;
        let possible = (both..=such.min(with)).filter(|both| with - both <= others);
        possible
            .map(|both| {
                (choose(such, both) + choose(others, with - both) - choose(all, with)).exp()
            })
            .sum::<f64>()
            .min(1.0)
    }
}

/// The difference of a machine's worst row.
fn worst(outlier: &Outlier) -> Option<Difference> {
    let worst = outlier.findings.first()?;
    Some((outlier.cohort, worst.row, worst.is_worse))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_facts_are_judged_exactly() {
        let reasons = Reasons {
            fleet: &Fleet::default(),
            cohorts: HashMap::new(),
            such: HashMap::new(),
            factorials: (0..=40)
                .scan(0.0, |sum, number: u32| {
                    *sum += f64::from(number.max(1)).ln();
                    Some(*sum)
                })
                .collect(),
        };
        // Fisher's lady: 3 of 4 cups told rightly, 17 of 70 ways; and all of 4, 1 of 70.
        assert!((reasons.chance(3, 4, 4, 8) - 17.0 / 70.0).abs() < 1e-12);
        assert!((reasons.chance(4, 4, 4, 8) - 1.0 / 70.0).abs() < 1e-12);
        assert!((reasons.chance(1, 1, 1, 40) - 1.0 / 40.0).abs() < 1e-12);
    }
}
