//! `cargo lab swap`: the label-swap test. Every row is measured under its own name and claims,
//! but with the neighbouring value of one of its parameters: such a row must lose its number, or be
//! marked as unproven, or be on the reviewed list of what nothing can distinguish.

use std::collections::{BTreeMap, BTreeSet};
use std::process;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use syscost_benches::CATALOGUE;
use syscost_harness::bencher::{Effort, Findings, Pass};
use syscost_harness::clock::RunClock;
use syscost_harness::worker::{ClockSettings, Job, JobCase, Launcher, Program as WorkerProgram};
use syscost_harness::{Case, Entry, Failure, Group, Here};
use syscost_results::stats::order::median;
use syscost_results::{ClaimId, Verdict};
use syscost_sys::cpu;

use crate::program::Given;

/// What nothing keeps apart from its neighbour: a benchmark, a parameter, the value of another
/// parameter where it is so (`copies=1`) or `all`, and why, separated by tabs.
const REVIEWED: &str = include_str!("swap/reviewed.txt");

/// Costs further apart than this make a false label worth a number.
const APART: f64 = 0.1;

const TIME_LIMIT: Duration = Duration::from_secs(10);

/// As little as shows a cost.
const EFFORT: Effort = Effort {
    samples: 5,
    warm_up_ns: 1e5,
    batch_ns: 2e4,
    case_ns: 2e7,
    patience_ns: 0.0,
    singles: 0,
    second_witness: false,
};

/// Arguments of `swap`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Groups or benchmarks; all without any
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    program: Given,
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
    let workers = Workers::new(Launcher::new(program, TIME_LIMIT, &interrupted))?;
    let reviewed = reviewed()?;
    let mut totals: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut unreviewed = 0;
    for benchmark in chosen(&arguments.ids)? {
        let cases = (benchmark.cases)(&workers.here);
        let honest = workers.honest(benchmark, &cases)?;
        let mut pairs = pairs(&cases);
        let all = pairs.len();
        pairs.retain(|pair| honest[pair.named].is_some() && honest[pair.measured].is_some());
        let untried = (all - pairs.len()) as u32;
        totals.entry(benchmark.group()).or_default().untried += untried;
        let ends = workers.swapped(benchmark, &cases, &pairs, &honest)?;
        for (pair, end) in pairs.iter().zip(ends) {
            let cost = |case: usize| honest[case].as_ref().and_then(|one| one.cost);
            let factor = cost(pair.measured).zip(cost(pair.named));
            let factor = factor.map(|(measured, named)| measured / named);
            let is_apart = factor.is_none_or(|factor| (factor - 1.0).abs() > APART);
            let is_reviewed = reviewed
                .iter()
                .any(|one| one.covers(benchmark, &cases[pair.named], pair));
            totals
                .entry(benchmark.group())
                .or_default()
                .add(&end, is_apart);
            let is_free = matches!(end, End::Kept);
            unreviewed += u32::from(is_free && !is_reviewed && is_apart);
            if is_free || arguments.all {
                let [named, measured] =
                    [pair.named, pair.measured].map(|case| cases[case].suffix());
                let factor = factor.map_or("?".to_owned(), |factor| format!("{factor:.3}"));
                let mark = if is_reviewed { " (reviewed)" } else { "" };
                println!(
                    "{}{named} from {measured}: {} x {factor}{mark}",
                    benchmark.id,
                    end.said()
                );
            }
        }
    }
    println!("{}", table(&totals));
    match unreviewed {
        0 => Ok(()),
        count => bail!("{count} rows keep their number under the label of another one"),
    }
}

/// The benchmarks that are measured, of these ids; of hidden groups only what is asked for.
fn chosen(ids: &[String]) -> Result<Vec<&'static Entry>> {
    let is_shown = |group: &&Group| !group.hidden || !ids.is_empty();
    let groups = CATALOGUE.groups().iter().filter(is_shown);
    let all = groups.flat_map(|group| group.benchmarks);
    let all = all.filter(|one| one.computation.is_none());
    let is_asked = |one: &&Entry| {
        let under = |id: &String| one.id == id || one.id.starts_with(&format!("{id}."));
        ids.is_empty() || ids.iter().any(under)
    };
    let chosen: Vec<_> = all.filter(is_asked).collect();
    if chosen.is_empty() {
        bail!("no benchmark is called {}", ids.join(" or "));
    }
    Ok(chosen)
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
    fn covers(&self, benchmark: &Entry, case: &Case, pair: &Pair) -> bool {
        let has = |(key, value): (&str, &str)| case.find(key) == Some(value);
        let is_there = self.value == "all" || self.value.split_once('=').is_some_and(has);
        self.id == benchmark.id && self.key == pair.key && is_there
    }
}

/// A row that is named, and one that differs in one parameter.
struct Pair {
    key: &'static str,
    named: usize,
    measured: usize,
}

/// Each row with the next one in the list, for each parameter, that differs in that one alone.
fn pairs(cases: &[Case]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (named, case) in cases.iter().enumerate() {
        for (key, value) in case.parameters() {
            let rest = |other: &Case| {
                let others = other.parameters().filter(|(known, _)| *known != key);
                others
                    .map(|(key, value)| (key, value.to_owned()))
                    .collect::<Vec<_>>()
            };
            let own = rest(case);
            let is_neighbour = |other: &usize| {
                let other = &cases[*other];
                other.find(key) != Some(value) && rest(other) == own
            };
            let after = named + 1..cases.len();
            if let Some(measured) = after.chain((0..named).rev()).find(is_neighbour) {
                pairs.push(Pair {
                    key,
                    named,
                    measured,
                });
            }
        }
    }
    pairs
}

/// How a row ended that was measured with the value of another.
enum End {
    /// Without a number, for this reason.
    Lost(String),
    /// Marked, since it lied.
    Doubted(String),
    /// Marked, as it is when it does not lie.
    Marked,
    /// As if nothing was wrong.
    Kept,
}

impl End {
    fn said(&self) -> String {
        match self {
            End::Lost(why) => format!("lost its number ({why})"),
            End::Doubted(why) => format!("? ({why})"),
            End::Marked => "? as ever".to_owned(),
            End::Kept => "KEPT".to_owned(),
        }
    }
}

/// What is known of a row that does not lie.
struct Honest {
    cost: Option<f64>,
    unverified: BTreeSet<ClaimId>,
}

/// Starts workers, on one CPU.
struct Workers<'a> {
    launcher: Launcher<'a>,
    here: Here,
    clock: ClockSettings,
    cpu: u32,
}

type Found = Result<Findings, Failure>;

impl<'a> Workers<'a> {
    fn new(launcher: Launcher<'a>) -> Result<Self> {
        let here = Here::plain();
        let cpu = *here.allowed.last().context("no CPU may be used")?;
        cpu::pin(cpu).context("pinning")?;
        let mut clock = RunClock::choose(&[cpu]);
        let calibrated = clock.calibrate();
        cpu::pin_to(&here.allowed).context("pinning")?;
        Ok(Self {
            clock: ClockSettings {
                source: calibrated.source().name().to_owned(),
                ticks_per_ns: calibrated.ticks_per_ns(),
                cost: clock.cost(),
            },
            launcher,
            here,
            cpu,
        })
    }

    /// Each row's own findings; `None` for those that have no number, or a claim refuted.
    fn honest(&self, benchmark: &Entry, cases: &[Case]) -> Result<Vec<Option<Honest>>> {
        let jobs: Vec<JobCase> = cases.iter().map(|case| job_case(case, None)).collect();
        let counted = self.found(benchmark, Pass::Evidence, &jobs)?;
        let timed = self.found(benchmark, Pass::Timed, &jobs)?;
        let both = counted.into_iter().zip(timed);
        Ok(both
            .map(|(counted, timed)| {
                let (counted, timed) = (counted.ok()?, timed.ok()?);
                let evidence = || counted.evidence.iter().chain(&timed.evidence);
                if evidence().any(|one| one.verdict == Verdict::Refuted) {
                    return None;
                }
                let unverified = evidence().filter(|one| one.verdict == Verdict::Unverified);
                Some(Honest {
                    cost: median(&timed.samples.values),
                    unverified: unverified.map(|one| one.claim.id.clone()).collect(),
                })
            })
            .collect())
    }

    /// How these pairs end.
    fn swapped(
        &self,
        benchmark: &Entry,
        cases: &[Case],
        pairs: &[Pair],
        honest: &[Option<Honest>],
    ) -> Result<Vec<End>> {
        let jobs: Vec<JobCase> = pairs
            .iter()
            .map(|pair| job_case(&cases[pair.named], Some(&cases[pair.measured])))
            .collect();
        let counted = self.found(benchmark, Pass::Evidence, &jobs)?;
        let mut ends: Vec<End> = pairs
            .iter()
            .zip(&counted)
            .map(|(pair, found)| end(found, honest[pair.named].as_ref()))
            .collect();
        let left = (0..ends.len()).filter(|index| !matches!(ends[*index], End::Lost(_)));
        let left: Vec<usize> = left.collect();
        let again: Vec<JobCase> = left.iter().map(|index| jobs[*index].clone()).collect();
        for (index, found) in left
            .into_iter()
            .zip(self.found(benchmark, Pass::Timed, &again)?)
        {
            let timed = end(&found, honest[pairs[index].named].as_ref());
            if timed.rank() < ends[index].rank() {
                ends[index] = timed;
            }
        }
        Ok(ends)
    }

    /// What workers find of these cases, in their order.
    fn found(&self, benchmark: &Entry, pass: Pass, cases: &[JobCase]) -> Result<Vec<Found>> {
        let mut all: Vec<Found> = Vec::new();
        while all.len() < cases.len() {
            let job = Job {
                benchmark: benchmark.id.to_owned(),
                cases: cases[all.len()..].to_vec(),
                keeps_order: true,
                targets: self.here.targets.clone(),
                pass,
                time_limit_s: self.launcher.time_limit().as_secs_f64(),
                effort: EFFORT,
                clock: self.clock.clone(),
                cpu: self.cpu,
                candidates: Vec::new(),
                allowed: self.here.allowed.clone(),
                cores: Default::default(),
                programs: Vec::new(),
                seed: 1,
                stack_offset: 0,
                parent: process::id(),
            };
            let outcome = self.launcher.run(&job, 0, None)?;
            // One that crashed costs its own row; the others go to another worker.
            let answered = outcome.results.into_iter().map_while(|result| result);
            let before = all.len();
            all.extend(answered);
            if all.len() == before {
                all.push(Err(Failure::Failed("no answer".to_owned())));
            }
        }
        Ok(all)
    }
}

impl End {
    /// The worst for the lie first.
    fn rank(&self) -> u8 {
        match self {
            End::Lost(_) => 0,
            End::Doubted(_) => 1,
            End::Marked => 2,
            End::Kept => 3,
        }
    }
}

fn job_case(named: &Case, measured: Option<&Case>) -> JobCase {
    JobCase {
        suffix: named.suffix(),
        iterations: None,
        may_defer: false,
        instead: measured.map(Case::suffix),
    }
}

/// How a pass over a row ended that lied.
fn end(found: &Found, honest: Option<&Honest>) -> End {
    let findings = match found {
        Ok(findings) => findings,
        Err(failure) => return End::Lost(failure.to_string()),
    };
    let with = |verdict| {
        findings
            .evidence
            .iter()
            .filter(move |one| one.verdict == verdict)
    };
    if let Some(refuted) = with(Verdict::Refuted).next() {
        return End::Lost(refuted.to_string());
    }
    let is_known = |id: &ClaimId| honest.is_some_and(|honest| honest.unverified.contains(id));
    match with(Verdict::Unverified).find(|one| !is_known(&one.claim.id)) {
        Some(new) => End::Doubted(new.to_string()),
        None if honest.is_some_and(|honest| !honest.unverified.is_empty()) => End::Marked,
        None => End::Kept,
    }
}

/// How the pairs of a group ended.
#[derive(Default)]
struct Tally {
    lost: u32,
    doubted: u32,
    marked: u32,
    kept: u32,
    apart: u32,
    /// Pairs of which one has no number here even under its own name.
    untried: u32,
}

impl Tally {
    fn add(&mut self, end: &End, is_apart: bool) {
        match end {
            End::Lost(_) => self.lost += 1,
            End::Doubted(_) => self.doubted += 1,
            End::Marked => self.marked += 1,
            End::Kept => {
                self.kept += 1;
                self.apart += u32::from(is_apart);
            }
        }
    }
}

fn table(totals: &BTreeMap<&str, Tally>) -> String {
    let mut text = format!(
        "{:<10}{:>7}{:>7}{:>12}{:>9}{:>7}{:>15}{:>11}",
        "group", "pairs", "lost", "? by lie", "? ever", "kept", "of these >10 %", "not tried"
    );
    let sum = |of: fn(&Tally) -> u32| totals.values().map(of).sum::<u32>();
    let all = Tally {
        lost: sum(|one| one.lost),
        doubted: sum(|one| one.doubted),
        marked: sum(|one| one.marked),
        kept: sum(|one| one.kept),
        apart: sum(|one| one.apart),
        untried: sum(|one| one.untried),
    };
    for (group, one) in totals.iter().chain([(&"all", &all)]) {
        let pairs = one.lost + one.doubted + one.marked + one.kept;
        text += &format!(
            "\n{group:<10}{pairs:>7}{:>7}{:>12}{:>9}{:>7}{:>15}{:>11}",
            one.lost, one.doubted, one.marked, one.kept, one.apart, one.untried
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use syscost_results::Evidence;

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
    fn each_parameter_that_varies_has_a_neighbour_that_differs_in_it_alone() {
        for benchmark in chosen(&[]).expect("some") {
            let cases = (benchmark.cases)(&Here::plain());
            for pair in pairs(&cases) {
                let [one, other] = [pair.named, pair.measured].map(|case| cases[case].to_map());
                let differ = |key: &&String| one.get(*key) != other.get(*key);
                let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
                let differing: Vec<_> = keys.into_iter().filter(differ).collect();
                assert_eq!(differing, [pair.key], "{}", benchmark.id);
            }
        }
    }

    #[test]
    fn a_lie_is_lost_doubted_marked_or_kept() {
        let of = |verdict| {
            let evidence = vec![Evidence::new("bytes", 1.0, 1.0, "kernel", verdict)];
            Ok(Findings {
                evidence,
                ..Findings::default()
            })
        };
        let honest = |unverified: &[&str]| Honest {
            cost: None,
            unverified: unverified.iter().map(|one| ClaimId::of(one)).collect(),
        };
        let rank = |found: &Found, unverified| end(found, Some(&honest(unverified))).rank();
        assert_eq!(rank(&of(Verdict::Refuted), &[]), 0);
        assert_eq!(rank(&Err(Failure::Failed("it crashed".to_owned())), &[]), 0);
        assert_eq!(rank(&of(Verdict::Unverified), &[]), 1);
        assert_eq!(rank(&of(Verdict::Unverified), &["bytes"]), 2);
        assert_eq!(rank(&of(Verdict::Confirmed), &[]), 3);
    }
}
