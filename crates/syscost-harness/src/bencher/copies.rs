//! The same operation on several CPUs simultaneously: the throughput of all copies together.

mod running;

use std::fmt::Display;

use syscost_results::measurement::Cause;
use syscost_results::{Claim, Evidence, Fact, Verdict};
use syscost_stats::order::median;
use syscost_sys::Unsupported;
use syscost_sys::audit::uncounted;
use syscost_sys::counters::{TaskReading, TaskStat};
use syscost_sys::partner::Between;

use super::core_probes::CoreProbes;
use super::counts::Counted;
use super::evidence::{AUDITED, COUNTED_NS};
use super::findings::Over;
use super::plan::{Plan, Shape};
use super::team::groups_of;
use super::timed::warm_up::WarmUp;
use crate::expect::{Counter, Manner};
use crate::failure::Failure;
use crate::pass::Pass;
use crate::placement::spread_from;
use running::{CopyInterval, MAX_COPIES, RunningCopies};

/// A window has this many chunks, and a chunk lasts this many timer pairs: neither ragged ends nor
/// looks at the clock are more than about a hundredth of it, unless a single iteration takes
/// longer.
const CHUNKS: f64 = 100.0;

/// Copies that overlap by this share of a window count as simultaneous.
const OVERLAP: f64 = 0.9;

/// If no window overlaps by more than this share, noise is no explanation: the copies work one after the
/// other.
const NO_OVERLAP: f64 = 0.5;

/// By what factor copies are counted longer than one task: operations on much memory are few, and a
/// stray fault weighs more among few.
const LONG: f64 = 40.0;

/// Maximum number of windows until one of them overlaps.
const MAX_WINDOWS: usize = 200;

/// What each copy did in each window.
type Log = Vec<Vec<CopyInterval>>;

/// Copies that work in windows of one length.
struct Course<O> {
    running: RunningCopies<O>,
    window_ns: f64,
    /// Iterations between two looks at the clock.
    chunk: u64,
    /// Iterations of all copies so far, including untimed ones.
    iterations: u64,
}

impl<O, E> Course<O>
where
    O: FnMut() -> Result<(), E>,
    E: Display,
{
    fn window(
        &mut self,
        core_probes: &mut Option<CoreProbes>,
    ) -> Result<Vec<CopyInterval>, Failure> {
        let intervals = self
            .running
            .window(self.window_ns, self.chunk, core_probes)?;
        self.iterations += intervals.iter().map(CopyInterval::iterations).sum::<u64>();
        Ok(intervals)
    }
}

/// The same operation on several CPUs simultaneously: the value is how many of them all copies do
/// per second.
pub struct Copied<M> {
    between: Between,
    count: usize,
    per_iteration: u64,
    make: M,
}

impl<O, E, M> Copied<M>
where
    M: Fn(usize) -> Result<O, Failure> + Clone + Send + 'static,
    O: FnMut() -> Result<(), E>,
    E: Display,
{
    /// `count` copies, each pinned to a CPU of its own: as processes or as threads. The measuring
    /// task is one of them. CPUs are taken in the order of
    /// [`syscost_sys::topology::Topology::spread`].
    ///
    /// `make` is called within each copy, with its number, and sets up what the copy calls; an
    /// iteration is this many operations. All copies begin together and go on until a common end.
    /// The value is the sum of their rates, each over its own time, so that ragged ends do not
    /// count as contention.
    pub fn of(between: Between, count: usize, per_iteration: u64, make: M) -> Self {
        Self {
            between,
            count,
            per_iteration,
            make,
        }
    }

    /// Has a pass made, and claims where and when the copies worked.
    fn carry_out(
        &self,
        plan: &mut Plan,
        pass: impl FnOnce(&Self, &mut Plan, &[u32]) -> Result<Log, Failure>,
    ) -> Result<(), Failure> {
        plan.findings.copies = Some(self.count as u32);
        let cpus = plan.cpus_of_copies(self.count)?;
        let log = pass(self, plan, &cpus)?;
        plan.claim_cpus(&log);
        if cpus.len() > 1 {
            plan.claim_overlap(&log);
            plan.detail_shares(&log);
        }
        Ok(())
    }

    fn timed(&self, plan: &mut Plan, cpus: &[u32]) -> Result<Log, Failure> {
        let mut course = self.course(plan, cpus)?;
        let mut iterations = Vec::new();
        let mut warm_up = WarmUp::new(plan.given.effort);
        while iterations.is_empty() || warm_up.goes_on() {
            let intervals = course.window(&mut plan.core_probes)?;
            let done = iterations_of(&intervals) as f64;
            let ns = plan.given.clock.to_ns(span(&intervals));
            warm_up.note(ns / done.max(1.0), ns);
            iterations.push(done);
        }
        let typical = median(&iterations).unwrap_or(0.0) as u64;
        let mut log = Vec::new();
        plan.sample(typical * self.per_iteration, |plan| {
            plan.wait_before_sample();
            let intervals = course.window(&mut plan.core_probes)?;
            let rate = iterations_per_tick(&intervals) * plan.given.clock.ticks_per_ns() * 1e9;
            let number = plan.findings.samples.values.len() as u32;
            if overlap(&intervals) < OVERLAP {
                plan.disturbed(number, Cause::RunDelay);
            }
            // The caller probes the measuring task's own core.
            if let Some(core_probes) = &mut plan.core_probes {
                let others = intervals[1..].iter().map(|interval| interval.slowdown);
                core_probes.note_others(others.fold(0.0, f64::max));
            }
            log.push(intervals);
            let bytes = plan.findings.bytes.unwrap_or(1.0);
            Ok((rate * self.per_iteration as f64 * bytes, None))
        })?;
        plan.done.operations += course.iterations * self.per_iteration;
        plan.claim_tasks([&groups_of(course.running.tasks())]);
        course.running.dismiss()?;
        plan.audit_timed(|plan| self.audited(plan, cpus))?;
        Ok(log)
    }

    /// What the last copy calls: a partner's, if there is one.
    fn last(&self, cpus: &[u32]) -> Result<O, Failure> {
        (self.make)(cpus.len() - 1)
    }

    /// Audits a copy, while this process has no other thread that a fork would lose.
    fn audited(&self, plan: &mut Plan, cpus: &[u32]) -> Result<(), Failure> {
        plan.judge_audit(AUDITED * self.per_iteration, &mut || {
            let mut op = uncounted(|| {
                let mut op = self.last(cpus)?;
                op().map_err(failed)?;
                Ok::<_, Failure>(op)
            })?;
            (0..AUDITED).try_for_each(|_| op().map_err(failed))?;
            uncounted(|| drop(op));
            Ok(())
        })
    }

    fn counted(&self, plan: &mut Plan, cpus: &[u32]) -> Result<Log, Failure> {
        let one = || self.last(cpus);
        // Before the audit, whose child leaves in the caches what this process reads next.
        if let Some(expect) = plan.find(|counter| counter == Counter::TimeScaling) {
            let mut op = one()?;
            let mut body = |iterations: u64| (0..iterations).try_for_each(|_| op().map_err(failed));
            let evidence = plan.judge_scaling(expect, self.per_iteration, &mut body)?;
            plan.findings.evidence.push(evidence);
        }
        self.audited(plan, cpus)?;
        let mut course = self.course(plan, cpus)?;
        course.window(&mut None)?;
        let stats: Vec<TaskStat> = course
            .running
            .tasks()
            .into_iter()
            .map(TaskStat::of)
            .collect::<Result<_, _>>()?;
        let read = || -> Vec<Result<TaskReading, Unsupported>> {
            stats.iter().map(TaskStat::read).collect()
        };
        let before = read();
        let mut log = Vec::new();
        let mut counted_ns = 0.0;
        let mut have_met = false;
        while counted_ns < LONG * COUNTED_NS || (!have_met && log.len() < MAX_WINDOWS) {
            let intervals = course.window(&mut None)?;
            have_met |= overlap(&intervals) >= OVERLAP;
            counted_ns += plan.given.clock.to_ns(span(&intervals));
            log.push(intervals);
        }
        // Each copy is judged separately; only the worst is reported.
        let known = plan.findings.evidence.len();
        for (number, (before, after)) in before.into_iter().zip(read()).enumerate() {
            let iterations: u64 = log
                .iter()
                .map(|intervals| intervals[number].iterations())
                .sum();
            let used = before.and_then(|before| Ok(after? - before));
            plan.judge_counts(used.map(Counted::from), iterations * self.per_iteration);
        }
        let of_all = plan.findings.evidence.split_off(known);
        plan.findings.evidence.extend(worst(of_all));
        plan.done.operations += course.iterations * self.per_iteration;
        plan.claim_tasks([&groups_of(course.running.tasks())]);
        course.running.dismiss()?;
        Ok(log)
    }

    /// Starts the copies, runs the first windows with them, and finds how many iterations they make
    /// between two looks at the clock.
    fn course(&self, plan: &Plan, cpus: &[u32]) -> Result<Course<O>, Failure> {
        let share = plan.given.effort.case_ns / f64::from(plan.given.effort.samples.max(1));
        let window_ns = share
            .max(plan.given.effort.batch_ns)
            .max(CHUNKS * CHUNKS * plan.given.clock_cost.read_ns);
        let mut course = Course {
            running: RunningCopies::start(
                self.between,
                cpus,
                *plan.given.clock,
                plan.given.cores,
                self.make.clone(),
            )?,
            window_ns: window_ns / 4.0,
            chunk: 1,
            iterations: 0,
        };
        // What disturbs a window only lengthens it, and the first is cold.
        let mut shortest = f64::INFINITY;
        for _ in 0..4 {
            let own = course.window(&mut None)?[0];
            let iteration_ns =
                plan.given.clock.to_ns(own.ended - own.began) / own.operations as f64;
            shortest = shortest.min(iteration_ns);
            course.chunk = ((window_ns / CHUNKS / shortest) as u64).max(1);
        }
        course.window_ns = window_ns;
        Ok(course)
    }
}

impl<O, E, M> Shape for Copied<M>
where
    M: Fn(usize) -> Result<O, Failure> + Clone + Send + 'static,
    O: FnMut() -> Result<(), E>,
    E: Display,
{
    type Output = ();

    const MANNER: Manner = Manner::Copies;
    const MAY_BE_RATE: bool = true;

    fn time(self, plan: &mut Plan) -> Result<(), Failure> {
        self.carry_out(plan, Self::timed)
    }

    fn count(self, plan: &mut Plan) -> Result<(), Failure> {
        self.carry_out(plan, Self::counted)
    }
}

impl Plan<'_> {
    /// The CPUs of this many copies, the measuring task's first.
    fn cpus_of_copies(&self, count: usize) -> Result<Vec<u32>, Failure> {
        let mut cpus = spread_from(self.cpu, self.allowed());
        if count == 0 || count > cpus.len().min(MAX_COPIES) {
            let reason = format!(
                "{count} copies need as many CPUs; {} may be used",
                cpus.len()
            );
            return Err(Failure::Unsupported(reason));
        }
        cpus.truncate(count);
        Ok(cpus)
    }

    /// Claims that at the end of each window copies were on as many CPUs as the row's name says,
    /// and on these.
    fn claim_cpus(&mut self, log: &[Vec<CopyInterval>]) {
        let cpus = self.named_cpus(log.first().map_or(0, Vec::len));
        let on = |intervals: &[CopyInterval]| -> Vec<u32> {
            intervals.iter().map(|interval| interval.cpu).collect()
        };
        let listed = |cpus: &[u32]| {
            let numbers: Vec<String> = cpus.iter().map(u32::to_string).collect();
            numbers.join(" ")
        };
        let strayed = log.iter().find(|intervals| on(intervals) != cpus);
        let seen = strayed.or(log.last()).map(|intervals| on(intervals));
        let seen = seen.unwrap_or_default();
        let holds = seen == cpus;
        self.claim(
            "CPUs of its copies",
            listed(&cpus),
            listed(&seen),
            "clock",
            holds,
        );
    }

    /// The CPUs of as many copies as the row's name says, or else of this many.
    fn named_cpus(&self, count: usize) -> Vec<u32> {
        let mut cpus = spread_from(self.cpu, self.allowed());
        cpus.truncate(self.named_copies().map_or(count, |count| count as usize));
        cpus
    }

    /// Claims that the copies worked at the same time: in the evidence pass that they can, in the
    /// timed one that they mostly did.
    fn claim_overlap(&mut self, log: &[Vec<CopyInterval>]) {
        let shares: Vec<f64> = log.iter().map(|intervals| overlap(intervals)).collect();
        let share = match self.given.pass {
            Pass::Timed => median(&shares),
            Pass::Evidence => shares.into_iter().reduce(f64::max),
        };
        let share = share.unwrap_or(0.0);
        let verdict = if share >= OVERLAP {
            Verdict::Confirmed
        } else if self.given.pass == Pass::Timed || share > NO_OVERLAP {
            Verdict::Unverified
        } else {
            Verdict::Refuted
        };
        let reason = "other tasks of the machine kept the copies apart";
        self.claim_verdict(
            Claim::by_most("share of a window in which all copies worked"),
            format!("at least {OVERLAP}"),
            share,
            "clock",
            verdict,
            (verdict == Verdict::Unverified).then_some(reason),
        );
    }

    /// Adds details: how evenly the work was shared, in percent of an equal share.
    fn detail_shares(&mut self, log: &[Vec<CopyInterval>]) {
        let copies = log.first().map_or(0, Vec::len);
        let of = |number: usize| -> u64 {
            log.iter()
                .map(|intervals| intervals[number].operations)
                .sum()
        };
        let iterations: Vec<u64> = (0..copies).map(of).collect();
        let equal = iterations.iter().sum::<u64>() as f64 / copies.max(1) as f64;
        let percent =
            |iterations: Option<&u64>| 100.0 * iterations.copied().unwrap_or(0) as f64 / equal;
        self.detail_over(
            Over::Min,
            "least_share_percent",
            percent(iterations.iter().min()),
        );
        self.detail_over(
            Over::Max,
            "largest_share_percent",
            percent(iterations.iter().max()),
        );
    }
}

/// For each claim, the evidence with the worst verdict and, among these, the largest count.
fn worst(evidence: Vec<Evidence>) -> Vec<Evidence> {
    let badness = |one: &Evidence| {
        let count = one.observed.as_ref().and_then(Fact::number);
        (one.verdict, count.unwrap_or(f64::INFINITY))
    };
    let mut worst: Vec<Evidence> = Vec::new();
    for one in evidence {
        match worst
            .iter_mut()
            .find(|known| known.claim.id == one.claim.id)
        {
            Some(known) if badness(&one) > badness(known) => *known = one,
            Some(_) => {}
            None => worst.push(one),
        }
    }
    worst
}

fn failed(cause: impl Display) -> Failure {
    Failure::Failed(format!("an operation failed: {cause}"))
}

/// Timed iterations of all copies.
fn iterations_of(intervals: &[CopyInterval]) -> u64 {
    intervals.iter().map(|interval| interval.operations).sum()
}

/// Iterations of all copies per tick, each counted over its own time.
fn iterations_per_tick(intervals: &[CopyInterval]) -> f64 {
    let rates = intervals.iter().map(|interval| {
        let ticks = interval.ended.saturating_sub(interval.began).max(1);
        interval.operations as f64 / ticks as f64
    });
    rates.sum()
}

/// The time from the first beginning to the last end, in ticks.
fn span(intervals: &[CopyInterval]) -> u64 {
    let began = intervals
        .iter()
        .map(|interval| interval.began)
        .min()
        .unwrap_or(0);
    let ended = intervals
        .iter()
        .map(|interval| interval.ended)
        .max()
        .unwrap_or(0);
    ended.saturating_sub(began).max(1)
}

/// The share of that span in which all copies worked.
fn overlap(intervals: &[CopyInterval]) -> f64 {
    let last_began = intervals
        .iter()
        .map(|interval| interval.began)
        .max()
        .unwrap_or(0);
    let first_ended = intervals
        .iter()
        .map(|interval| interval.ended)
        .min()
        .unwrap_or(0);
    first_ended.saturating_sub(last_began) as f64 / span(intervals) as f64
}

#[cfg(test)]
mod tests;
