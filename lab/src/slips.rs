//! `cargo lab slips`: rows measured by a program with a slip in one line, each beside itself without
//! it. Such a row must lose its number or its check mark, or the list says why it cannot.
//!
//! The slips are in a copy of the sources under `target/`, all in one build, which an environment
//! variable makes take one of them. The program itself has none.

mod build;
mod list;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use clap::Args;
use syscost_benches::CATALOGUE;
use syscost_harness::bencher::Pass;
use syscost_harness::worker::Program;
use syscost_harness::{Case, Entry};
use syscost_results::stats::order::median;

use crate::workers::{APART, End, Honest, Tally, Workers, job_case};
use list::Slip;

/// The least share of slips that evidence must withhold.
const LEAST_REFUTED: f64 = 0.9;

/// Arguments of `slips`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Slips whose names contain one of these words; all without any
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// The worker of an earlier build with this list
    #[arg(long, value_name = "FILE")]
    worker: Option<PathBuf>,
    /// Let only the timed pass slip, for all of them
    #[arg(long)]
    timed_only: bool,
    /// How often each row is measured
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let slips = list::slips()?;
    let built = match &arguments.worker {
        Some(path) => path.clone(),
        None => build::worker(&slips)?,
    };
    let interrupted = AtomicBool::new(false);
    let program = Program::other(&built)
        .introduced()
        .context("asking the copy what it is")?;
    let trials = Trials {
        honest: Workers::new(program.clone(), &interrupted)?,
        program,
        interrupted: &interrupted,
        rounds: arguments.rounds,
    };
    let mut kinds: BTreeMap<&str, Tally> = BTreeMap::new();
    let (mut known, mut unexplained) = (BTreeMap::new(), 0);
    let is_asked = |slip: &&(usize, &Slip)| {
        let mut words = arguments.words.iter();
        arguments.words.is_empty() || words.any(|word| slip.1.name.contains(word.as_str()))
    };
    for (index, slip) in slips.iter().enumerate().filter(|slip| is_asked(&slip)) {
        let mut worst: Option<(End, f64)> = None;
        for name in &slip.rows {
            let Some((benchmark, case)) = trials.find(name)? else {
                println!("{:<24}{name}: there is no such row here", slip.name);
                continue;
            };
            let row = format!("{}{}", benchmark.id, case.suffix());
            let known = match known.entry(row.clone()) {
                std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::btree_map::Entry::Vacant(free) => {
                    let known = trials.known(benchmark, &case)?;
                    if let Some(known) = &known {
                        kinds
                            .entry("control")
                            .or_default()
                            .add(&known.control.0, known.control.1);
                    }
                    free.insert(known)
                }
            };
            let Some(known) = known else {
                println!("{:<24}{row}: has no number by itself", slip.name);
                continue;
            };
            let slipped = trials.slipped(index)?;
            let timed_only = arguments.timed_only || slip.timed_only;
            let (end, factor) =
                trials.end(&slipped, benchmark, &case, &known.honest, timed_only)?;
            println!("{:<24}{row}: {} x {factor:.2}", slip.name, end.said());
            if worst.as_ref().is_none_or(|(known, _)| *known < end) {
                worst = Some((end, factor));
            }
        }
        if let Some((end, factor)) = worst {
            let is_apart = (factor - 1.0).abs() > APART;
            kinds.entry(&slip.kind).or_default().add(&end, is_apart);
            let is_free = end == End::Kept && is_apart;
            unexplained += u32::from(is_free && slip.kept.is_none());
        }
    }
    println!("{}", table(&kinds));
    judge(&kinds, unexplained)
}

fn judge(kinds: &BTreeMap<&str, Tally>, unexplained: u32) -> Result<()> {
    let share = of_slips(kinds).share_refuted();
    if unexplained > 0 {
        bail!("{unexplained} slips keep a number more than 10 % off, and the list gives no reason");
    }
    if share < LEAST_REFUTED {
        bail!(
            "evidence withholds only {:.0} % of the slips",
            100.0 * share
        );
    }
    Ok(())
}

/// What is known of a row without slips.
struct Known {
    honest: Honest,
    /// How it ends when it is measured like one that slips, and whether its number is another then.
    control: (End, bool),
}

/// Measures rows with and without slips.
struct Trials<'a> {
    honest: Workers<'a>,
    program: Program,
    interrupted: &'a AtomicBool,
    rounds: usize,
}

impl<'a> Trials<'a> {
    /// The first row of a benchmark that has these values: `syscall.null{call=getppid}`.
    fn find(&self, selector: &str) -> Result<Option<(&'static Entry, Case)>> {
        let (id, values) = selector.split_once('{').unwrap_or((selector, "}"));
        let benchmark = CATALOGUE
            .find(id)
            .with_context(|| format!("no benchmark {id}"))?;
        let values: Vec<_> = values
            .trim_end_matches('}')
            .split(',')
            .filter_map(|one| one.split_once('='))
            .collect();
        let has_all = |case: &Case| {
            values
                .iter()
                .all(|(key, value)| case.find(key) == Some(value))
        };
        let cases = (benchmark.cases)(&self.honest.here).into_iter();
        Ok(cases.filter(has_all).map(|case| (benchmark, case)).next())
    }

    /// The workers of the program with this slip.
    fn slipped(&self, index: usize) -> Result<Workers<'a>> {
        let variable = (build::VARIABLE.to_owned(), Some((index + 1).to_string()));
        let program = self.program.clone().with_environment(vec![variable]);
        Ok(self.honest.of(program, self.interrupted))
    }

    /// A row without slips; `None` if it has no number.
    fn known(&self, benchmark: &Entry, case: &Case) -> Result<Option<Known>> {
        let cases = vec![job_case(case, None); self.rounds];
        let counted = self.honest.found(benchmark, Pass::Evidence, &cases)?;
        let timed = self.honest.found(benchmark, Pass::Timed, &cases)?;
        let all: Vec<Honest> = counted
            .iter()
            .zip(&timed)
            .filter_map(|(counted, timed)| Honest::of(counted, timed))
            .collect();
        let Some(honest) = Honest::together(&all) else {
            return Ok(None);
        };
        let (end, factor) = self.end(&self.honest, benchmark, case, &honest, false)?;
        Ok(Some(Known {
            honest,
            control: (end, (factor - 1.0).abs() > APART),
        }))
    }

    /// How this row ends in most rounds, and by which factor its number is off.
    fn end(
        &self,
        slipped: &Workers<'_>,
        benchmark: &Entry,
        case: &Case,
        honest: &Honest,
        timed_only: bool,
    ) -> Result<(End, f64)> {
        let cases = vec![job_case(case, None); self.rounds];
        let counts = if timed_only { &self.honest } else { slipped };
        let counted = counts.found(benchmark, Pass::Evidence, &cases)?;
        let timed = slipped.found(benchmark, Pass::Timed, &cases)?;
        let both = counted.iter().zip(&timed);
        let mut ends: Vec<End> = both
            .map(|(counted, timed)| End::of(counted, honest).min(End::of(timed, honest)))
            .collect();
        ends.sort();
        let costs = timed
            .iter()
            .flatten()
            .filter_map(|one| median(&one.samples.values));
        let cost = median(&costs.collect::<Vec<_>>());
        let factor = cost.zip(honest.cost).map(|(cost, honest)| cost / honest);
        Ok((ends.swap_remove(ends.len() / 2), factor.unwrap_or(f64::NAN)))
    }
}

/// All that are slips, the control left out.
fn of_slips(kinds: &BTreeMap<&str, Tally>) -> Tally {
    let slips = kinds.iter().filter(|(kind, _)| **kind != "control");
    slips.fold(Tally::default(), |sum, (_, one)| sum.plus(*one))
}

fn table(kinds: &BTreeMap<&str, Tally>) -> String {
    let mut text = format!("\n{:<24}  slips  {}", "kind", Tally::NAMES);
    for (kind, one) in kinds.iter().chain([(&"all slips", &of_slips(kinds))]) {
        text += &format!("\n{kind:<24}{:>7}  {}", one.all(), one.columns());
    }
    text
}
