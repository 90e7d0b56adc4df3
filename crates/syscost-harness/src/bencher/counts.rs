//! Judging what the kernel counted for the tasks of an operation.

use syscost_results::{Claim, Evidence};
use syscost_sys::Unsupported;
use syscost_sys::clock::Source;
use syscost_sys::counters::{TaskReading, Usage};

use super::background;
use super::body::Body;
use super::plan::{Plan, Timed};
use crate::expect::{Bound, Counter, Expect};
use crate::placement::Placed;

pub(super) const RUSAGE: &str = "getrusage";
const NOT_COUNTED: &str = "this kernel does not count them";
const BACKGROUND_TASKS: &str = "other tasks of the machine may have preempted them";
const EARLY: &str = "on separate CPUs, some were served before they had fallen asleep";
const YIELDS_TO_OTHERS: &str =
    "other tasks of the machine wanted their CPU, so some yields did not switch to the partner";
const FEW: &str = "they took less than 1 % of the time";

/// Minimum running time, in ns, between two preemptions by other tasks: builds on all CPUs
/// preempted every four milliseconds, but tasks with a mebibyte of work a hop were switched out
/// every 0.23 ms beside a build and every 0.11 ms beside two busy loops. Tasks that preempt each
/// other do so every ten microseconds.
const PREEMPTED_EVERY_NS: u64 = 100_000;

/// A task that always wants the CPU keeps it for longer than this, in ns, each time it is switched
/// to.
const MIN_SLICE_NS: u64 = 1_000_000;

/// Whatever preempts a task has its CPU for longer than this, in ns: the switch there and the one
/// back alone take about as long.
const MIN_PREEMPTION_NS: u64 = 1_000;

/// Minimum share of the expected sleeps of tasks that wait for each other on separate CPUs: one
/// side may find its answer there already, where the call that woke the other took longer than the
/// other's turn, but then the other has slept.
const MIN_ASLEEP: f64 = 0.5;

/// Minimum share of the yields of tasks on one CPU that lead to a switch although others want the
/// CPU: the task that runs next is seldom the one that has just yielded; 0.875 was the minimum
/// seen. A task that yields only to others switches once, half as often as two that yield to each
/// other.
const MIN_YIELDED: f64 = 0.7;

/// Maximum share of the operations in which tasks that yield to each other sleep.
const MAX_ASLEEP: f64 = 0.01;

/// Maximum number of sleeps per operation that others add to a task that waits for a child or a
/// lock: a preempted program may hold a lock of the kernel that all programs take, as each fork and
/// exit takes those of the C library's mappings. Beside seven other runs 0.2 to 0.6 were added.
const MAX_ADDED_SLEEPS: f64 = 0.75;

/// Maximum number of faults or switches per timed operation that its timing adds: an operation that does
/// something else has one more or less.
const OF_TIMING: f64 = 0.25;

/// The approximate time of a page fault without a device, in ns.
const FAULT_NS: f64 = 2_000.0;

/// Maximum share of the time that unexpected faults may take without changing the cost.
const MAX_FAULTING: f64 = 0.01;

#[derive(Default)]
pub(super) struct Counted {
    minor_faults: u64,
    major_faults: u64,
    voluntary_switches: u64,
    switches: u64,
    migrations: Option<u64>,
    /// Time that the tasks ran, in ns.
    run_ns: Option<u64>,
    placed: Placed,
    /// Others' share of the time of the tasks' CPUs at most, where the kernel reports it.
    others: Option<f64>,
    /// How long it was counted, in ns.
    passed_ns: f64,
    /// How many of the tasks ran, if that was counted.
    ran: Option<u64>,
    source: &'static str,
}

impl From<Usage> for Counted {
    fn from(used: Usage) -> Self {
        Self {
            minor_faults: used.minor_faults,
            major_faults: used.major_faults,
            voluntary_switches: used.voluntary_switches,
            switches: used.voluntary_switches + used.involuntary_switches,
            source: RUSAGE,
            ..Self::default()
        }
    }
}

impl From<TaskReading> for Counted {
    fn from(used: TaskReading) -> Self {
        Self {
            minor_faults: used.minor_faults,
            major_faults: used.major_faults,
            voluntary_switches: used.voluntary_switches,
            switches: used.switches(),
            migrations: used.migrations,
            run_ns: used.run_ns,
            source: "/proc",
            ..Self::default()
        }
    }
}

impl Counted {
    pub(super) fn placed(self, placed: Placed) -> Self {
        Self { placed, ..self }
    }

    /// Sets the share of the time that others had of the tasks' one CPU.
    pub(super) fn beside(self, others: Option<f64>, passed_ns: f64) -> Self {
        Self {
            others,
            passed_ns,
            ..self
        }
    }

    /// What was counted for each of some tasks.
    pub(super) fn of_tasks(each: &[TaskReading]) -> Self {
        let ran = each.iter().filter(|task| task.run_ns != Some(0));
        Self {
            ran: Some(ran.count() as u64),
            ..Self::from(sum(each))
        }
    }

    /// The switches that the tasks may have caused themselves. On separate CPUs they cannot preempt
    /// each other, so only those count where one fell asleep: two tasks that spin beside busy
    /// programs are preempted as often as they pass a word on, where only one runs at a time.
    fn own_switches(&self) -> u64 {
        match self.placed {
            Placed::SeparateCpus => self.voluntary_switches,
            Placed::OneCpu | Placed::AnyCpu => self.switches,
        }
    }

    /// Whether other programs may have caused the switches beyond the bound: the tasks themselves
    /// made no more than it allows, and others can have caused the rest while they or the tasks
    /// ran. Beside others the kernel also decides anew who runs whenever a task is woken, which each
    /// sleep ends in, and then often takes the CPU from the waker for the task it has woken. Where the
    /// kernel does not report how long the tasks ran, nothing is excused.
    fn may_be_background_tasks(&self, bound: Bound, operations: u64) -> bool {
        let (Some(most), Some(run_ns)) = (bound.max(), self.run_ns) else {
            return false;
        };
        let allowed = most * operations as f64;
        let excess = self.own_switches() as f64 - allowed;
        let theirs_ns = self.others.unwrap_or(0.0) * self.passed_ns;
        // None of the tasks can have preempted the only one that ran.
        let min_ns = match self.ran {
            Some(1) => MIN_PREEMPTION_NS,
            Some(_) | None => MIN_SLICE_NS,
        };
        let by_others = run_ns / PREEMPTED_EVERY_NS + theirs_ns as u64 / min_ns;
        let is_at_most = |most: u64| (0.0..=most as f64).contains(&excess);
        // While the measuring task waits for its CPU in the middle of either reading, each of the tasks
        // that yield goes on.
        let beside_others = self.voluntary_switches + 2 * self.ran.unwrap_or_default();
        self.voluntary_switches as f64 <= allowed
            && (is_at_most(by_others)
                || (is_at_most(by_others + beside_others) && self.had_background_tasks()))
    }

    /// Whether switches are missing because tasks on several CPUs need not fall asleep each time
    /// they wait.
    fn may_be_early(&self, bound: Bound, operations: u64) -> bool {
        let per_operation = self.voluntary_switches as f64 / operations as f64;
        let least = bound.min();
        // Whoever was preempted before it could sleep may find its answer there. Never all of them:
        // tasks that spin are preempted, too.
        let preempted = (self.switches - self.voluntary_switches) as f64 / operations as f64;
        let fewest = MIN_ASLEEP * (least - preempted.min(MIN_ASLEEP * least));
        self.placed != Placed::OneCpu && (fewest..least).contains(&per_operation)
    }

    /// Whether switches are missing because tasks yield a CPU that others want as well.
    fn may_be_yields_to_others(&self, bound: Bound, operations: u64) -> bool {
        let per_operation = |count| count as f64 / operations as f64;
        let least = bound.min();
        per_operation(self.voluntary_switches) <= MAX_ASLEEP
            && (MIN_YIELDED * least..least).contains(&per_operation(self.switches))
    }

    /// Whether sleeps may be missing or too many because others were there when a task waited: it
    /// found what it waited for already done, or had to wait for a lock as well.
    fn may_be_sleeps(&self, bound: Bound, operations: u64) -> bool {
        let per_operation = self.voluntary_switches as f64 / operations as f64;
        let most = bound.max().unwrap_or(f64::INFINITY);
        let may_be = MIN_ASLEEP * bound.min()..=most + MAX_ADDED_SLEEPS;
        most >= MIN_ASLEEP && may_be.contains(&per_operation)
    }

    /// Whether the faults beyond the bound took next to no time. Where the kernel does not report
    /// how long the tasks ran, nothing is excused.
    fn are_harmless(&self, bound: Bound, operations: u64) -> bool {
        let (Some(most), Some(run_ns)) = (bound.max(), self.run_ns) else {
            return false;
        };
        let excess = self.minor_faults as f64 - most * operations as f64;
        excess * FAULT_NS <= MAX_FAULTING * run_ns as f64
    }

    /// Whether others wanted the one CPU of the tasks: they had it during the count or, as that may
    /// be shorter than a time slice, want it now.
    fn had_background_tasks(&self) -> bool {
        self.others
            .is_some_and(|others| others > background::MAX_BACKGROUND || background::is_there())
    }

    /// What may have led to a count beyond the bound, other than a wrong claim.
    fn excuse(&self, expect: &Expect, operations: u64) -> Option<&'static str> {
        let bound = expect.bound;
        match (expect.counter, bound) {
            (Counter::Switches, _) if self.may_be_background_tasks(bound, operations) => {
                Some(BACKGROUND_TASKS)
            }
            (Counter::Switches, _) if self.may_be_early(bound, operations) => Some(EARLY),
            (Counter::Switches, _) if self.may_be_yields_to_others(bound, operations) => {
                self.had_background_tasks().then_some(YIELDS_TO_OTHERS)
            }
            (Counter::VoluntarySwitches, _) if self.may_be_sleeps(bound, operations) => {
                background::is_there().then_some(background::WANTED)
            }
            (Counter::MinorFaults, Bound::AtMost(_)) if self.are_harmless(bound, operations) => {
                Some(FEW)
            }
            _ => None,
        }
    }
}

impl Plan<'_> {
    /// What the kernel has counted for the task that makes the operations, while batches are counted.
    pub(super) fn timed_usage(&self, body: &(impl Body + ?Sized)) -> Option<Usage> {
        self.done.timed.as_ref()?;
        body.usage().unwrap_or_else(Usage::thread).ok()
    }

    /// Adds a batch of so many iterations, all since the reading `before`, that took so long.
    pub(super) fn count_timed(
        &mut self,
        body: &(impl Body + ?Sized),
        before: Usage,
        iterations: u64,
        ns: f64,
    ) {
        let now = self.timed_usage(body);
        if let Some((timed, now)) = self.done.timed.as_mut().zip(now) {
            timed.used = plus(timed.used, now - before);
            timed.iterations += iterations;
            timed.batches += 1;
            timed.ns += ns;
        }
    }

    /// Begins to count around timed batches, between which the kernel's counters can be read.
    pub(super) fn begin_timed(&mut self) {
        let is_counted = !self.is_team && self.given.clock.source() != Source::Mock;
        self.done.timed = is_counted.then(Timed::default);
    }

    /// Judges what was counted around timed batches, for which another process was asked or not, as the counts of
    /// the evidence pass are.
    pub(super) fn judge_timed(&mut self, per_iteration: u64, is_asked: bool) {
        let Some(timed) = self.done.timed.take().filter(|timed| timed.iterations > 0) else {
            return;
        };
        let counted = Counted {
            run_ns: Some(timed.ns as u64),
            ..Counted::from(timed.used)
        };
        // A process that is asked again may not have begun to wait for that, and then waits once more.
        let edges = if is_asked { timed.batches } else { 0 };
        self.judge_timed_counts(counted, timed.iterations * per_iteration, edges);
    }

    /// The same of what was counted for tasks that made so many operations while they were timed. Some of it
    /// belongs to none of these: `edges` switches, and what the timing itself does.
    pub(super) fn judge_timed_counts(&mut self, counted: Counted, operations: u64, edges: u64) {
        let counted = Ok(counted);
        let judged = self.declared.iter().filter_map(|expect| {
            let edges = match expect.counter {
                Counter::MinorFaults => 0.0,
                Counter::VoluntarySwitches | Counter::Switches => edges as f64 / operations as f64,
                _ => return None,
            };
            let expect = expect.wider(OF_TIMING + edges);
            let mut evidence = judge_count(&expect, &counted, operations)?;
            let sentence = &evidence.claim.sentence;
            let sentence = sentence.replace("per operation", "per timed operation");
            evidence.claim = Claim::by_most(sentence);
            Some(evidence)
        });
        let judged: Vec<Evidence> = judged.collect();
        self.findings.evidence.extend(judged);
    }

    /// Judges the declared faults, switches and migrations.
    pub(super) fn judge_counts(&mut self, counted: Result<Counted, Unsupported>, operations: u64) {
        let judged = self.declared.iter();
        let judged = judged.filter_map(|expect| judge_count(expect, &counted, operations));
        self.bencher.findings.evidence.extend(judged);
    }
}

/// Judges faults, switches or migrations; `None` of what else is expected.
fn judge_count(
    expect: &Expect,
    counted: &Result<Counted, Unsupported>,
    operations: u64,
) -> Option<Evidence> {
    let count: fn(&Counted) -> Option<u64> = match expect.counter {
        Counter::MinorFaults => |counted| Some(counted.minor_faults),
        Counter::MajorFaults => |counted| Some(counted.major_faults),
        Counter::VoluntarySwitches => |counted| Some(counted.voluntary_switches),
        Counter::Switches => |counted| Some(counted.own_switches()),
        Counter::Migrations => |counted| counted.migrations,
        _ => return None,
    };
    let (source, seen) = match counted {
        Ok(counted) => (counted.source, count(counted).ok_or(NOT_COUNTED.to_owned())),
        Err(reason) => (RUSAGE, Err(reason.to_string())),
    };
    Some(match seen {
        Ok(count) => expect
            .judge_count(count, operations, source)
            .tolerated(|| counted.as_ref().ok()?.excuse(expect, operations)),
        Err(reason) => expect.unverified(source, reason),
    })
}

/// What was counted for all of these tasks together.
pub(super) fn sum(each: &[TaskReading]) -> TaskReading {
    let sum = each.iter().copied().reduce(|sum, task| sum + task);
    sum.unwrap_or_default()
}

pub(super) fn since(before: Result<Usage, Unsupported>) -> Result<Usage, Unsupported> {
    let now = Usage::thread()?;
    Ok(now - before?)
}

pub(super) fn plus(a: Usage, b: Usage) -> Usage {
    Usage {
        minor_faults: a.minor_faults + b.minor_faults,
        major_faults: a.major_faults + b.major_faults,
        voluntary_switches: a.voluntary_switches + b.voluntary_switches,
        involuntary_switches: a.involuntary_switches + b.involuntary_switches,
        max_rss_kib: a.max_rss_kib.max(b.max_rss_kib),
    }
}

#[cfg(test)]
mod tests;
