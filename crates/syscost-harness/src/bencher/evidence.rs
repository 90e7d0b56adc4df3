//! The evidence pass: counts what the operation does, in a process that times nothing for the record.

mod growth;
mod scaling;

use std::collections::BTreeMap;
use std::io::pipe;
use std::time::{Duration, Instant};

use syscost_results::{Evidence, Verdict};
use syscost_sys::audit::{self, AuditError, SyscallCounts};
use syscost_sys::counters::Usage;
use syscost_sys::perf;
use syscost_sys::raw::Sysno;
use syscost_sys::scratch;

use super::Bencher;
use super::body::Body;
use super::counts::{Counted, plus, since};
use super::pass::Pass;
use crate::arguments::ArgumentClaim;
use crate::expect::{Bound, Counter, Expect};
use crate::failure::Failure;

use growth::Growth;

/// How long the counted operations should last together, in ns: long enough for counts to be exact
/// per operation.
pub(super) const COUNTED_NS: f64 = 250_000.0;

/// Minimum number of operations to count, if that takes no longer than `COUNTED_FOR`: among fewer, one stray
/// fault would be many.
const MIN_COUNTED: u64 = 128;
const COUNTED_FOR: Duration = Duration::from_millis(10);

/// Operations in the audited child, where a system call costs a signal as well.
const AUDITED: u64 = 32;

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

/// Minimum number of switches per operation for it to be one that sleeps.
const MIN_SLEEPS: f64 = 0.5;

/// An audit that takes longer than this hangs.
const AUDIT_LIMIT: Duration = Duration::from_secs(5);

const AUDIT: &str = "seccomp audit";

thread_local! {
    /// Opened once per worker: the kernel takes tens of milliseconds to arm and disarm it.
    static TRACEPOINT: Option<perf::Counter> = perf::Counter::open(perf::Event::Syscalls).ok();
}

impl Bencher<'_> {
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

    /// Whether each operation of its tasks includes sleeps, according to its own expectations.
    pub(super) fn must_sleep(&self) -> bool {
        self.declared
            .iter()
            .any(|expect| expect.counter == Counter::Switches && expect.bound.min() >= MIN_SLEEPS)
    }

    pub(super) fn count_batches(
        &mut self,
        per_turn: u64,
        body: &mut dyn Body,
    ) -> Result<(), Failure> {
        let turns = self.turns_lasting(COUNTED_NS, per_turn, body)?.min(1 << 20);
        let operations = turns * per_turn;
        let (mut used, mut counted) = (Ok(Usage::default()), 0);
        let mut growth = Growth::new(self.find(|counter| counter == Counter::ResidentBytes));
        let begun = Instant::now();
        while counted == 0 || (counted < MIN_COUNTED && begun.elapsed() < COUNTED_FOR) {
            body.before(turns);
            growth.begin();
            let before = Usage::thread();
            body.run(turns)?;
            let one = since(before);
            growth.end();
            body.after(turns)?;
            used = used.and_then(|sum| Ok(plus(sum, one?)));
            counted += operations;
        }
        self.operations += counted;
        self.judge_counts(used.map(Counted::from), counted);
        self.findings.evidence.extend(growth.judge(counted));
        self.count_by_tracepoint(turns, per_turn, body)?;
        // Before the audited child, which shares this memory and leaves in the caches what it read
        // last, where this process would find it.
        if let Some(expect) = self.find(|counter| counter == Counter::TimeScaling) {
            let evidence = self.judge_scaling(expect, per_turn, body)?;
            self.findings.evidence.push(evidence);
        }
        // Fewer if a single operation takes long.
        let audited = AUDITED
            .min(operations)
            .max(MIN_AUDITED)
            .div_ceil(per_turn)
            .min(body.max_turns());
        self.judge_audit(audited * per_turn, &mut |audited_body| {
            // The preparation's calls are not part of the operation.
            body.before(audited);
            match audited_body {
                Audited::Operations => body.run(audited).and_then(|()| body.after(audited)),
                Audited::Nothing => Ok(()),
            }
        })?;
        Ok(())
    }

    pub(super) fn count_singles(
        &mut self,
        prepare: &mut dyn FnMut() -> Result<(), Failure>,
        op: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let count = 16;
        self.operations += 1 + count;
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
        // What the last operation left, e.g. a child to wait for, must not be inherited by the
        // audited copy of this process.
        prepare()?;
        self.judge_prepared_audit(AUDITED, true, &mut |audited| {
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

    /// Counts system calls by number in a forked child, and checks their arguments; the calls of
    /// `Audited::Nothing` are subtracted.
    pub(super) fn judge_audit(
        &mut self,
        operations: u64,
        body: &mut dyn FnMut(Audited) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.judge_prepared_audit(operations, false, body)
    }

    /// As [`Bencher::judge_audit`], where each operation may be prepared: claims about arguments
    /// then apply to all such calls, of which the preparation must make none.
    fn judge_prepared_audit(
        &mut self,
        operations: u64,
        is_each_prepared: bool,
        body: &mut dyn FnMut(Audited) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let expected: Vec<Expect> = self
            .declared
            .iter()
            .copied()
            .filter(|e| matches!(e.counter, Counter::Syscall(_) | Counter::OtherSyscalls))
            .collect();
        let arguments = self.arguments.clone();
        if expected.is_empty() && arguments.is_empty() {
            return Ok(());
        }
        self.audit(&expected, &arguments, operations, is_each_prepared, body)
    }

    /// Counts, in the evidence pass, the system calls of operations that are measured by
    /// [`Bencher::observe`]. `body(n)` sets up, makes `n` of them and ends, in a forked child; the
    /// calls of `body(0)` are subtracted. To be called before the measurement.
    ///
    /// # Errors
    /// The error of the child.
    pub fn audit_apart(
        &mut self,
        expected: &[Expect],
        operations: u64,
        mut body: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.pass == Pass::Timed {
            return Ok(());
        }
        self.set_too_late |= self.measured;
        self.audit(expected, &[], operations, false, &mut |audited| {
            body(match audited {
                Audited::Operations => operations,
                Audited::Nothing => 0,
            })
        })
    }

    fn audit(
        &mut self,
        expected: &[Expect],
        arguments: &[ArgumentClaim],
        operations: u64,
        is_each_prepared: bool,
        body: &mut dyn FnMut(Audited) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (failures, report) = pipe().map_err(|cause| Failure::of("make a pipe", cause))?;
        let noted: Vec<Sysno> = arguments.iter().map(|claim| claim.call).collect();
        let mut count = |audited| -> Result<SyscallCounts, AuditError> {
            audit::note_syscalls(AUDIT_LIMIT, &noted, || {
                // The child's conditions differ from ours, so it may fail alone; it must not pass
                // as making no calls.
                if let Err(failure) = body(audited) {
                    let _ = serde_json::to_writer(&report, &failure);
                    panic!("{failure}");
                }
            })
        };
        let counted =
            count(Audited::Nothing).and_then(|idle| Ok((idle, count(Audited::Operations)?)));
        // The audited children ended without dropping what they owned.
        scratch::sweep();
        let evidence: Vec<Evidence> = match counted {
            Ok((idle, busy)) => {
                let calls = |call: Sysno| busy.get(call).saturating_sub(idle.get(call));
                let named: Vec<Sysno> = expected.iter().filter_map(named_call).collect();
                let named_total: u64 = named.iter().map(|call| calls(*call)).sum();
                // By number: calls that only the idle pass made must not hide others.
                let before: BTreeMap<u32, u64> = idle.iter().collect();
                let total: u64 = busy
                    .iter()
                    .map(|(number, count)| count.saturating_sub(*before.get(&number).unwrap_or(&0)))
                    .sum();
                let counts = expected.iter().map(|expect| {
                    let seen = match named_call(expect) {
                        Some(call) => calls(call),
                        None => total.saturating_sub(named_total),
                    };
                    let evidence = expect.judge(seen as f64 / operations as f64, AUDIT);
                    let idle = named_call(expect).map_or(0, |call| idle.get(call));
                    doubted(evidence, expect, idle as f64 / operations as f64)
                });
                let given = arguments.iter().map(|claim| {
                    // Calls made before the operations come first.
                    let before = idle.arguments(claim.call).len();
                    if is_each_prepared && before > 0 {
                        return claim.anticipated(before, AUDIT);
                    }
                    let calls = busy.arguments(claim.call).get(before..);
                    claim.judge(calls.unwrap_or_default(), AUDIT)
                });
                counts.chain(given).collect()
            }
            Err(AuditError::SeccompUnavailable(reason)) => {
                let reason = reason.to_string();
                let counts = expected
                    .iter()
                    .map(|expect| expect.unverified(AUDIT, &reason));
                let given = arguments
                    .iter()
                    .map(|claim| claim.unverified(AUDIT, &reason));
                counts.chain(given).collect()
            }
            Err(error) => {
                drop(report);
                let died = |_| Failure::Failed(format!("under the {AUDIT}: {error}"));
                return Err(serde_json::from_reader(failures).unwrap_or_else(died));
            }
        };
        self.findings.evidence.extend(evidence);
        Ok(())
    }

    /// Where the kernel permits it, counts the same calls with its own tracepoint: a second witness.
    fn count_by_tracepoint(
        &mut self,
        turns: u64,
        per_turn: u64,
        body: &mut dyn Body,
    ) -> Result<(), Failure> {
        let operations = turns * per_turn;
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
        if expected == 0.0 || !alone || !self.effort.second_witness {
            return Ok(());
        }
        let mut result = Ok(());
        let counted = TRACEPOINT.with(|tracepoint| {
            let tracepoint = tracepoint.as_ref()?;
            body.before(turns);
            Some(tracepoint.count(|| result = body.run(turns)))
        });
        let Some(counted) = counted else {
            return Ok(()); // The audit suffices as a witness.
        };
        self.operations += operations;
        result?;
        body.after(turns)?;
        let Ok(count) = counted else { return Ok(()) };
        let observed = count as f64 / operations as f64;
        // An interrupt's signal or a timer may add a call: one in a thousand is not a lie.
        let holds = (observed - expected).abs() <= 0.001 * expected;
        self.claim(
            "system calls per operation",
            expected,
            observed,
            "raw_syscalls tracepoint",
            holds,
        );
        Ok(())
    }
}

/// Makes a shortage of calls unverified if the calls that were subtracted could account for it: a task that
/// spins makes a varying number of calls before and after the operations.
fn doubted(mut evidence: Evidence, expect: &Expect, taken_off: f64) -> Evidence {
    let is_short = evidence.verdict == Verdict::Refuted;
    if let (true, Bound::AtLeast(least)) = (is_short, expect.bound)
        && taken_off >= least
    {
        evidence.verdict = Verdict::Unverified;
        let reason = "as many were made before and after the operations, and that number varies";
        evidence.reason = Some(reason.to_owned());
    }
    evidence
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Audited {
    Operations,
    Nothing,
}

fn named_call(expect: &Expect) -> Option<Sysno> {
    match expect.counter {
        Counter::Syscall(call) => Some(call),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expect::{at_least, exactly};

    #[test]
    fn calls_that_spinning_before_the_operations_may_hide_refute_nothing() {
        let verdict = |expect: Expect, seen, taken_off| {
            doubted(expect.judge(seen, AUDIT), &expect, taken_off).verdict
        };
        let spins = at_least(Counter::Syscall(Sysno::RECVFROM), 1.9);
        assert_eq!(verdict(spins, 0.0, 40.0), Verdict::Unverified);
        assert_eq!(verdict(spins, 0.0, 0.1), Verdict::Refuted, "none before");
        assert_eq!(verdict(spins, 2.0, 40.0), Verdict::Confirmed);
        let calls = exactly(Counter::Syscall(Sysno::RECVFROM), 1.0);
        assert_eq!(verdict(calls, 0.0, 40.0), Verdict::Refuted, "never varies");
    }
}
