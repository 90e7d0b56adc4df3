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
use syscost_stats::order::median;

use crate::workers::{APART, End, Honest, Tally, Workers, beside, job_case};
use list::Slip;

/// Minimum share of slips that must lose their number or their check mark.
const MIN_CAUGHT: f64 = 0.9;

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
    let mut trials = Trials {
        honest: Workers::new(program.clone(), &interrupted)?,
        program,
        interrupted: &interrupted,
        rounds: arguments.rounds,
        known: BTreeMap::new(),
        kinds: BTreeMap::new(),
    };
    let mut unexplained = 0;
    let is_asked = |slip: &Slip| {
        let mut words = arguments.words.iter();
        arguments.words.is_empty() || words.any(|word| slip.name.contains(word.as_str()))
    };
    for (index, slip) in slips.iter().enumerate().filter(|(_, slip)| is_asked(slip)) {
        let timed_only = arguments.timed_only || slip.timed_only;
        let mut worst: Option<(End, bool)> = None;
        for row in &slip.rows {
            match trials.slipped(index, row, timed_only)? {
                Ok((end, factor)) => {
                    println!("{:<24}{row}: {} x {factor:.2}", slip.name, end.said());
                    worst = worst.max(Some((end, is_apart(factor))));
                }
                Err(reason) => println!("{:<24}{row}: {reason}", slip.name),
            }
        }
        if let Some((end, is_apart)) = worst {
            let kind = trials.kinds.entry(slip.kind.clone()).or_default();
            kind.add(&end, is_apart);
            let is_free = end == End::Kept && is_apart;
            unexplained += u32::from(is_free && slip.kept.is_none());
        }
    }
    println!("{}", table(&trials.kinds));
    judge(&trials.kinds, unexplained)
}

fn judge(kinds: &Kinds, unexplained: u32) -> Result<()> {
    let share = of_slips(kinds).share_caught();
    if unexplained > 0 {
        bail!("{unexplained} slips keep a number more than 10 % off, and the list gives no reason");
    }
    if share < MIN_CAUGHT {
        bail!("only {:.0} % of the slips are caught", 100.0 * share);
    }
    Ok(())
}

fn is_apart(factor: f64) -> bool {
    (factor - 1.0).abs() > APART
}

/// How the slips of each kind ended.
type Kinds = BTreeMap<String, Tally>;

/// The kind of rows that are measured without a slip.
const CONTROL: &str = "control";

/// Measures rows with and without slips.
struct Trials<'a> {
    honest: Workers<'a>,
    program: Program,
    interrupted: &'a AtomicBool,
    rounds: usize,
    /// Rows without slips, by their selectors; those that have no number are `None`.
    known: BTreeMap<String, Option<Honest>>,
    kinds: Kinds,
}

impl<'a> Trials<'a> {
    /// How this row ends in most rounds with a slip, and by which factor its number is off; or why it
    /// is not tried.
    fn slipped(
        &mut self,
        index: usize,
        row: &str,
        timed_only: bool,
    ) -> Result<Result<(End, f64), &'static str>> {
        let Some((benchmark, case)) = self.find(row)? else {
            return Ok(Err("there is no such row here"));
        };
        if !self.known.contains_key(row) {
            let known = self.known(benchmark, &case)?;
            self.known.insert(row.to_owned(), known);
        }
        let Some(honest) = &self.known[row] else {
            return Ok(Err("it has no number without a slip"));
        };
        let variable = (build::VARIABLE.to_owned(), Some((index + 1).to_string()));
        let program = self.program.clone().with_environment(vec![variable]);
        let slipped = self.honest.of(program, self.interrupted);
        let end = self.end(&slipped, benchmark, &case, honest, timed_only)?;
        Ok(Ok(end))
    }

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

    /// A row without slips, `None` if it has no number; measured once more, as the control.
    fn known(&mut self, benchmark: &Entry, case: &Case) -> Result<Option<Honest>> {
        let cases = vec![job_case(case, None); self.rounds];
        let counted = self.honest.found(benchmark, Pass::Evidence, &cases)?;
        let timed = self.honest.found(benchmark, Pass::Timed, &cases)?;
        let both = counted.iter().zip(&timed);
        let all = both.filter_map(|(counted, timed)| Honest::of(counted, timed));
        let Some(honest) = Honest::together(&all.collect::<Vec<_>>()) else {
            return Ok(None);
        };
        let (end, factor) = self.end(&self.honest, benchmark, case, &honest, false)?;
        if end.is_lost() || matches!(end, End::Doubted(_)) {
            let (row, said) = (case.suffix(), end.said());
            println!("{CONTROL:<24}{}{row}: {said} x {factor:.2}", benchmark.id);
        }
        let control = self.kinds.entry(CONTROL.to_owned()).or_default();
        control.add(&end, is_apart(factor));
        Ok(Some(honest))
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
        let both = counted.iter().zip(timed);
        let timed: Vec<_> = both
            .map(|(counted, timed)| beside(counted.as_ref().ok(), timed))
            .collect();
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
fn of_slips(kinds: &Kinds) -> Tally {
    let slips = kinds.iter().filter(|(kind, _)| *kind != CONTROL);
    slips.fold(Tally::default(), |sum, (_, one)| sum.plus(*one))
}

fn table(kinds: &Kinds) -> String {
    let mut text = format!("\n{:<24}  slips  {}", "kind", Tally::NAMES);
    let all = ("all slips".to_owned(), of_slips(kinds));
    for (kind, one) in kinds.iter().chain([(&all.0, &all.1)]) {
        text += &format!("\n{kind:<24}{:>7}  {}", one.all(), one.columns());
    }
    text
}
