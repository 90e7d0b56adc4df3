//! `cargo lab swap`: the label-swap test. Rows are measured under the name and claims of others: with
//! every other value of one of their parameters, with two at once, or by another benchmark. Such a
//! row must lose its number, or be marked as unproven, or be on the reviewed list of what nothing can
//! distinguish. Each row is measured as itself as well, the control.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use clap::Args;
use fastrand::Rng;
use syscost_harness::bencher::Pass;
use syscost_harness::worker::{JobCase, Program as WorkerProgram};
use syscost_harness::{Case, Entry};

use crate::program::Given;
use crate::workers::{APART, End, Honest, Tally, Workers, beside, chosen, job_case};

/// What nothing keeps apart from its neighbour: a benchmark, a parameter, the value of another
/// parameter where it is so (`copies=1`) or `all`, and why, separated by tabs.
const REVIEWED: &str = include_str!("swap/reviewed.txt");

/// Arguments of `swap`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Groups or benchmarks; all without any
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    program: Given,
    /// Measure rows of other benchmarks: one of the same group, one of another
    #[arg(long)]
    across: bool,
    /// Let only the timed pass lie
    #[arg(long)]
    timed_only: bool,
    /// Show how each pair ended, not only those that kept their number
    #[arg(long)]
    all: bool,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let path = arguments.program.get()?.path;
    let interrupted = AtomicBool::new(false);
    let program = WorkerProgram::other(&path)
        .introduced()
        .context("asking the program what it is")?;
    let mut trials = Trials {
        workers: Workers::new(program, &interrupted)?,
        arguments,
        known: BTreeMap::new(),
        random: Rng::with_seed(1),
    };
    let reviewed = reviewed()?;
    let mut totals = Totals::default();
    let mut unreviewed = 0;
    for benchmark in chosen(&arguments.ids)? {
        trials.learn(benchmark, &mut totals)?;
        let pairs = trials.pairs(benchmark)?;
        for (pair, end, factor) in trials.swapped(benchmark, pairs)? {
            let is_apart = factor.is_none_or(|factor| (factor - 1.0).abs() > APART);
            let is_reviewed = reviewed.iter().any(|one| one.covers(benchmark, &pair));
            totals
                .of(pair.differs.name(), benchmark)
                .add(&end, is_apart);
            let is_free = end == End::Kept;
            unreviewed += u32::from(is_free && !is_reviewed && is_apart);
            if is_free || arguments.all {
                let factor = factor.map_or("?".to_owned(), |factor| format!("{factor:.3}"));
                let mark = if is_reviewed { " (reviewed)" } else { "" };
                let (named, measured) = (pair.named.suffix(), &pair.measured);
                let said = end.said();
                println!(
                    "{}{named} from {measured}: {said} x {factor}{mark}",
                    benchmark.id
                );
            }
        }
    }
    println!("{}", totals.table());
    match unreviewed {
        0 => Ok(()),
        count => bail!("{count} rows keep their number under the label of another one"),
    }
}

/// The pairs that were looked at, and nothing distinguishes.
fn reviewed() -> Result<Vec<Reviewed>> {
    let lines = REVIEWED.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let mut fields = line.split('\t');
            let [Some(id), Some(key), Some(value), Some(_)] = [(); 4].map(|()| fields.next())
            else {
                bail!("`{line}` is not a benchmark, a parameter, where and why");
            };
            Ok(Reviewed { id, key, value })
        })
        .collect()
}

/// A line of the reviewed list.
struct Reviewed {
    id: &'static str,
    key: &'static str,
    value: &'static str,
}

impl Reviewed {
    fn covers(&self, benchmark: &Entry, pair: &Pair) -> bool {
        let has = |(key, value): (&str, &str)| pair.named.find(key) == Some(value);
        let is_there = self.value == "all" || self.value.split_once('=').is_some_and(has);
        let is_of = matches!(&pair.differs, Differs::In(keys) if keys[..] == [self.key]);
        self.id == benchmark.id && is_of && is_there
    }
}

/// A row that is named, and the name of the one that is measured.
struct Pair {
    named: Case,
    measured: String,
    differs: Differs,
}

/// How the two rows differ.
enum Differs {
    /// In these parameters.
    In(Vec<&'static str>),
    /// They are of two benchmarks.
    Benchmark,
}

impl Differs {
    const fn name(&self) -> &'static str {
        match self {
            Self::In(keys) if keys.len() == 1 => "one parameter",
            Self::In(_) => "two parameters",
            Self::Benchmark => "benchmark",
        }
    }
}

/// The names of the parameters in which two rows differ.
fn differing(one: &Case, other: &Case) -> Vec<&'static str> {
    let keys = |case: &Case| case.parameters().map(|(key, _)| key).collect::<Vec<_>>();
    let mut all = [keys(one), keys(other)].concat();
    all.sort_unstable();
    all.dedup();
    all.retain(|key| one.find(key) != other.find(key));
    all
}

/// Each row with all that differ from it in one parameter, and with the next one in the list that
/// differs in these two, for each two.
fn pairs(benchmark: &str, cases: &[Case]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (named, case) in cases.iter().enumerate() {
        let mut seen = Vec::new();
        for other in (named + 1..cases.len()).chain(0..named) {
            let keys = differing(case, &cases[other]);
            if keys.len() == 1 || keys.len() == 2 && !seen.contains(&keys) {
                seen.push(keys.clone());
                pairs.push(Pair {
                    named: case.clone(),
                    measured: format!("{benchmark}{}", cases[other].suffix()),
                    differs: Differs::In(keys),
                });
            }
        }
    }
    pairs
}

/// What is known of a row that does not lie; `None` if it has no number, or a claim refuted.
type Known = BTreeMap<String, Option<Honest>>;

/// Measures pairs.
struct Trials<'a> {
    workers: Workers<'a>,
    arguments: &'a Arguments,
    /// By the row's name.
    known: Known,
    random: Rng,
}

impl Trials<'_> {
    /// Measures the rows of a benchmark as themselves, twice: the second time is the control.
    fn learn(&mut self, benchmark: &Entry, totals: &mut Totals) -> Result<()> {
        let cases = (benchmark.cases)(&self.workers.here);
        let jobs: Vec<JobCase> = cases.iter().map(|case| job_case(case, None)).collect();
        let both = || -> Result<_> {
            let counted = self.workers.found(benchmark, Pass::Evidence, &jobs)?;
            let timed = self.workers.found(benchmark, Pass::Timed, &jobs)?;
            Ok(counted.into_iter().zip(timed))
        };
        let (first, second) = (both()?, both()?);
        for ((case, (counted, timed)), again) in cases.iter().zip(first).zip(second) {
            let honest = Honest::of(&counted, &timed);
            if let Some(honest) = &honest {
                let timed = beside(again.0.as_ref().ok(), again.1);
                let end = End::of(&again.0, honest).min(End::of(&timed, honest));
                totals.of("itself", benchmark).add(&end, false);
            }
            let name = format!("{}{}", benchmark.id, case.suffix());
            self.known.insert(name, honest);
        }
        Ok(())
    }

    /// The pairs whose rows both have a number under their own names.
    fn pairs(&mut self, benchmark: &Entry) -> Result<Vec<Pair>> {
        let cases = (benchmark.cases)(&self.workers.here);
        let all = match self.arguments.across {
            false => pairs(benchmark.id, &cases),
            true => self.across(benchmark, &cases)?,
        };
        let has_number = |name: &str| matches!(self.known.get(name), Some(Some(_)));
        let tried = all.into_iter().filter(|pair| {
            let is_known = self.arguments.across || has_number(&pair.measured);
            is_known && has_number(&format!("{}{}", benchmark.id, pair.named.suffix()))
        });
        Ok(tried.collect())
    }

    /// Each row with one of another benchmark in its group, and with one of another group.
    fn across(&mut self, benchmark: &Entry, cases: &[Case]) -> Result<Vec<Pair>> {
        let (near, far): (Vec<_>, Vec<_>) = chosen(&[])?
            .into_iter()
            .filter(|other| other.id != benchmark.id)
            .partition(|other| other.group() == benchmark.group());
        let mut pairs = Vec::new();
        for case in cases {
            for others in [&near, &far] {
                let Some(other) = self.random.choice(others) else {
                    continue;
                };
                let measured = (other.cases)(&self.workers.here);
                pairs.extend(self.random.choice(measured).map(|measured| Pair {
                    named: case.clone(),
                    measured: format!("{}{}", other.id, measured.suffix()),
                    differs: Differs::Benchmark,
                }));
            }
        }
        Ok(pairs)
    }

    /// How these pairs end, and how much more the measured row costs than the named one.
    fn swapped(
        &self,
        benchmark: &Entry,
        pairs: Vec<Pair>,
    ) -> Result<Vec<(Pair, End, Option<f64>)>> {
        let jobs: Vec<JobCase> = pairs
            .iter()
            .map(|pair| job_case(&pair.named, Some(pair.measured.clone())))
            .collect();
        let honest = |pair: &Pair| {
            let name = format!("{}{}", benchmark.id, pair.named.suffix());
            self.known.get(&name)?.clone()
        };
        let honest: Vec<Honest> = pairs.iter().filter_map(honest).collect();
        let mut ends = vec![End::Kept; pairs.len()];
        let mut counts: Vec<_> = honest.iter().map(|one| Ok(one.counted.clone())).collect();
        if !self.arguments.timed_only {
            counts = self.workers.found(benchmark, Pass::Evidence, &jobs)?;
            let counted = counts.iter().zip(&honest);
            ends = counted
                .map(|(found, honest)| End::of(found, honest))
                .collect();
        }
        let left: Vec<usize> = (0..ends.len())
            .filter(|index| !ends[*index].is_lost())
            .collect();
        let again: Vec<JobCase> = left.iter().map(|index| jobs[*index].clone()).collect();
        let timed = self.workers.found(benchmark, Pass::Timed, &again)?;
        let mut factors = vec![None; pairs.len()];
        for (index, found) in left.into_iter().zip(timed) {
            let found = beside(counts[index].as_ref().ok(), found);
            let end = End::of(&found, &honest[index]);
            factors[index] = honest[index].factor(&found);
            ends[index] = ends[index].clone().min(end);
        }
        let ended = pairs.into_iter().zip(ends).zip(factors);
        Ok(ended
            .map(|((pair, end), factor)| (pair, end, factor))
            .collect())
    }
}

/// How the pairs ended, by how their rows differ and the group.
#[derive(Default)]
struct Totals(BTreeMap<(&'static str, &'static str), Tally>);

impl Totals {
    fn of(&mut self, differs: &'static str, benchmark: &Entry) -> &mut Tally {
        let group = benchmark.id.split('.').next().unwrap_or_default();
        self.0.entry((differs, group)).or_default()
    }

    fn table(&self) -> String {
        let mut text = format!(
            "\n{:<16}{:<10}{:>7}  {}",
            "differs in",
            "group",
            "pairs",
            Tally::NAMES
        );
        let mut sums: BTreeMap<&str, Tally> = BTreeMap::new();
        for ((differs, group), one) in &self.0 {
            text += &line(differs, group, *one);
            let sum = sums.entry(differs).or_default();
            *sum = sum.plus(*one);
        }
        for (differs, one) in sums {
            text += &line(differs, "all", one);
        }
        text
    }
}

fn line(differs: &str, group: &str, one: Tally) -> String {
    format!(
        "\n{differs:<16}{group:<10}{:>7}  {}",
        one.all(),
        one.columns()
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use syscost_benches::CATALOGUE;
    use syscost_harness::Testbed;

    use super::*;

    #[test]
    fn the_reviewed_list_names_parameters_that_there_are() {
        for Reviewed { id, key, .. } in reviewed().expect("four fields a line") {
            let benchmark = CATALOGUE.find(id).unwrap_or_else(|| panic!("{id} is gone"));
            assert!(
                benchmark.parameters.iter().any(|(known, _)| *known == key),
                "{id} {key}"
            );
        }
    }

    #[test]
    fn every_other_value_of_a_parameter_is_tried() {
        let benchmark = CATALOGUE.find("op.atomic").expect("a benchmark");
        let cases = (benchmark.cases)(&Testbed::plain());
        let pairs = pairs(benchmark.id, &cases);
        assert_eq!(pairs.len(), cases.len() * (cases.len() - 1));
    }

    #[test]
    fn no_row_is_measured_under_its_own_name_and_all_are_in_the_list() {
        for benchmark in chosen(&[]).expect("some") {
            let cases = (benchmark.cases)(&Testbed::plain());
            let name = |case: &Case| format!("{}{}", benchmark.id, case.suffix());
            let names: BTreeSet<String> = cases.iter().map(name).collect();
            for pair in pairs(benchmark.id, &cases) {
                assert!(names.contains(&pair.measured));
                assert_ne!(name(&pair.named), pair.measured);
                assert!(matches!(&pair.differs, Differs::In(keys) if matches!(keys.len(), 1 | 2)));
            }
        }
    }
}
