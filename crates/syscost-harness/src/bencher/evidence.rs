//! The evidence pass: counts what the operation does, in a process that times nothing for the record.

mod allocations;
mod audit;
mod growth;
mod price;
mod scaling;

use std::time::{Duration, Instant};

use syscost_results::Claim;
use syscost_sys::Unsupported;
use syscost_sys::audit::uncounted;
use syscost_sys::counters::Usage;
use syscost_sys::perf;

use super::body::Body;
use super::counts::{Counted, plus, since};
use super::plan::Plan;
use crate::expect::{Bound, Counter, Expect};
use crate::failure::Failure;

pub(in crate::bencher) use audit::{Audited, Without};
use growth::Growth;

/// How long the counted operations should last together, in ns: long enough for counts to be exact
/// per operation. No test fails with a quarter of it.
pub(super) const COUNTED_NS: f64 = 250_000.0;

/// Minimum number of operations to count, if that takes no longer than `COUNTED_FOR`: among fewer, one stray
/// fault would be many.
const MIN_COUNTED: u64 = 128;
const COUNTED_FOR: Duration = Duration::from_millis(10);

/// Operations in the audited child, where a system call costs a signal as well.
pub(super) const AUDITED: u64 = 32;

/// Operations in the audited child that several tasks do together: enough for a partner's extra or
/// missing call not to matter.
pub(super) const AUDITED_TOGETHER: u64 = 64;

/// Minimum number of counted operations of several tasks.
pub(super) const COUNTED_TOGETHER: u64 = 100;

/// Minimum number of counted operations per task: tasks that do not take turns may be an operation
/// ahead or behind at either end.
pub(super) const COUNTED_PER_TASK: u64 = 32;

/// Minimum number of audited operations.
const MIN_AUDITED: u64 = 4;

/// Minimum number of switches that an operation declares for it to be one that sleeps: of messages that are
/// sent together each declares a thousandth. No test fails with a quarter of it.
const MIN_SLEEPS: f64 = 0.5;

thread_local! {
    /// Opened once per worker: the kernel takes tens of milliseconds to arm and disarm it.
    static TRACEPOINT: Option<perf::SyscallCounter> = perf::SyscallCounter::open().ok();
}

impl Plan<'_> {
    /// Whether the operation may give up the CPU, according to its own expectations.
    pub(super) fn may_block(&self) -> bool {
        self.declared
            .iter()
            .any(|expect| match (expect.counter, expect.bound) {
                (Counter::VoluntarySwitches, Bound::Exactly(n) | Bound::AtMost(n)) => n > 0.01,
                (Counter::VoluntarySwitches, _) => true,
                _ => false,
            })
    }

    /// Whether a task of the operation may sleep, according to its own expectations.
    pub(super) fn sleeps(&self) -> bool {
        let is_switched = |expect: &Expect| {
            expect.counter == Counter::Switches && expect.bound.max().is_none_or(|most| most > 0.01)
        };
        self.may_block() || self.declared.iter().any(is_switched)
    }

    /// Whether each operation of its tasks includes sleeps, according to its own expectations.
    pub(super) fn must_sleep(&self) -> bool {
        self.declared
            .iter()
            .any(|expect| expect.counter == Counter::Switches && expect.bound.min() >= MIN_SLEEPS)
    }

    pub(super) fn count_batches(
        &mut self,
        per_iteration: u64,
        body: &mut dyn Body,
    ) -> Result<(), Failure> {
        let iterations = self
            .iterations_lasting(COUNTED_NS, per_iteration, body)?
            .min(1 << 20);
        let operations = iterations * per_iteration;
        let (mut sum, mut counted) = (Ok(Usage::default()), 0);
        let mut growth = Growth::new(self.find(|counter| counter == Counter::ResidentBytes));
        let begun = Instant::now();
        while counted == 0 || (counted < MIN_COUNTED && begun.elapsed() < COUNTED_FOR) {
            body.before(iterations);
            growth.begin();
            let before = used(body);
            body.run(iterations)?;
            let one = used(body).and_then(|now| Ok(now - before?));
            growth.end();
            body.after(iterations)?;
            sum = sum.and_then(|sum| Ok(plus(sum, one?)));
            counted += operations;
        }
        self.done.operations += counted;
        self.judge_counts(sum.map(Counted::from), counted);
        self.findings.evidence.extend(growth.judge(counted));
        // It counts this task's calls, not those of another process.
        if body.usage().is_none() {
            self.count_by_tracepoint(iterations, per_iteration, body)?;
        }
        self.judge_allocations(operations, |counted| {
            body.before(iterations);
            counted(&mut || body.run(iterations))?;
            body.after(iterations)
        })?;
        // Before the audited child, which shares this memory and leaves in the caches what it read
        // last, where this process would find it.
        if let Some(expect) = self.find(|counter| counter == Counter::TimeScaling) {
            let evidence = self.judge_scaling(expect, per_iteration, body)?;
            self.findings.evidence.push(evidence);
        }
        self.audit_batches(operations, per_iteration, body)
    }

    /// Audits operations of batches: at most `most`, as a single one may take long.
    pub(super) fn audit_batches(
        &mut self,
        most: u64,
        per_iteration: u64,
        body: &mut dyn Body,
    ) -> Result<(), Failure> {
        // Another process may wait again when the audit ends, or not yet: one call more or less
        // among many.
        let most = match body.usage() {
            Some(_) => AUDITED,
            None => AUDITED.min(most),
        };
        let audited = most
            .max(MIN_AUDITED)
            .div_ceil(per_iteration)
            .min(body.max_iterations());
        // What asking another process costs is subtracted.
        let without = match body.usage() {
            Some(_) => Without::Preparation,
            None => Without::Nothing,
        };
        self.judge_audit_without(without, audited * per_iteration, &mut |what| {
            uncounted(|| body.before(audited));
            match what {
                Audited::Operations => body.run(audited).and_then(|()| body.after(audited)),
                Audited::Nothing => body.idle(),
            }
        })
    }

    pub(super) fn count_singles(
        &mut self,
        prepare: &mut dyn FnMut() -> Result<(), Failure>,
        op: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let count = 16;
        self.done.operations += 1 + count;
        let mut used = Ok(Usage::default());
        for number in 0..=count {
            prepare()?;
            let before = Usage::thread();
            op()?;
            let one = since(before);
            // The first may fault on this loop's own code.
            if number > 0 {
                used = used.and_then(|sum| Ok(plus(sum, one?)));
            }
        }
        self.judge_counts(used.map(Counted::from), count);
        self.judge_allocations(count, |counted| {
            (0..count).try_for_each(|_| {
                prepare()?;
                counted(op)
            })
        })?;
        self.audit_singles(prepare, op)
    }

    /// Audits single operations.
    pub(super) fn audit_singles(
        &mut self,
        prepare: &mut dyn FnMut() -> Result<(), Failure>,
        op: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // What the last operation left, e.g. a child to wait for, must not be inherited by the
        // audited copy of this process.
        prepare()?;
        self.judge_audit_without(Without::EachPreparation, AUDITED, &mut |audited| {
            for _ in 0..AUDITED {
                prepare()?;
                if audited == Audited::Operations {
                    op()?;
                }
            }
            Ok(())
        })
    }

    pub(super) fn find(&self, matches: impl Fn(Counter) -> bool) -> Option<Expect> {
        self.declared
            .iter()
            .copied()
            .find(|expect| matches(expect.counter))
    }

    /// Where the kernel permits it, counts the same calls with its own tracepoint: a second witness.
    fn count_by_tracepoint(
        &mut self,
        iterations: u64,
        per_iteration: u64,
        body: &mut dyn Body,
    ) -> Result<(), Failure> {
        let operations = iterations * per_iteration;
        let expected: f64 = self
            .declared
            .iter()
            .filter_map(|expect| match (expect.counter, expect.bound) {
                (Counter::Syscall(_), Bound::Exactly(value)) => Some(value),
                _ => None,
            })
            .sum();
        let alone = self
            .declared
            .contains(&crate::expect::exactly(Counter::OtherSyscalls, 0.0));
        if expected == 0.0 || !alone || !self.given.effort.second_witness {
            return Ok(());
        }
        let mut result = Ok(());
        let counted = TRACEPOINT.with(|tracepoint| {
            let tracepoint = tracepoint.as_ref()?;
            body.before(iterations);
            Some(tracepoint.count(|| result = body.run(iterations)))
        });
        let Some(counted) = counted else {
            return Ok(()); // The audit suffices as a witness.
        };
        self.done.operations += operations;
        result?;
        body.after(iterations)?;
        let Ok(count) = counted else { return Ok(()) };
        let observed = count as f64 / operations as f64;
        // An interrupt's signal or a timer may add a call: one in a thousand is not a lie.
        let holds = (observed - expected).abs() <= 0.001 * expected;
        self.claim(
            Claim::by_most("system calls per operation"),
            expected,
            observed,
            "raw_syscalls tracepoint",
            holds,
        );
        Ok(())
    }
}

/// What the kernel has counted for the task that makes the operations.
fn used(body: &dyn Body) -> Result<Usage, Unsupported> {
    body.usage().unwrap_or_else(Usage::thread)
}
