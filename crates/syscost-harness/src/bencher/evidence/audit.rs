//! The system calls of operations, counted and named by an audit in a forked child.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::pipe;
use std::mem;
use std::time::Duration;

use syscost_results::{Claim, Evidence, Fact, Verdict};
use syscost_sys::audit::{self, AuditError, SyscallCounts};
use syscost_sys::process::LONGER;
use syscost_sys::raw::Sysno;
use syscost_sys::scratch;

use crate::arguments::ArgumentClaim;
use crate::bencher::Plan;
use crate::bencher::body::Body;
use crate::bencher::published::UNMARKED;
use crate::expect::{Counter, Expect};
use crate::failure::Failure;
use crate::pass::Pass;

const AUDIT: &str = "seccomp audit";

/// How often the time is read that user space cannot read here: by the harness, or by the operation
/// where no row claims to.
const READINGS: &str =
    "readings of the time by system calls, which are not counted as such, per operation";

/// What an audited child does besides the preparation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::bencher) enum Audited {
    Operations,
    Nothing,
}

/// Whose calls are subtracted, after another child has made them alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::bencher) enum Without {
    Nothing,
    /// Those of one preparation.
    Preparation,
    /// Those of a preparation of each single operation. Claims about arguments then apply to all
    /// such calls, of which it must make none.
    EachPreparation,
}

impl Plan<'_> {
    /// Counts system calls by number in a forked child, and checks their arguments. What belongs
    /// to no operation, `body` does [uncounted](audit::uncounted): how many calls that takes may
    /// depend on what others do meanwhile.
    pub(in crate::bencher) fn judge_audit(
        &mut self,
        operations: u64,
        body: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.judge_audit_without(Without::Nothing, operations, &mut |_| body())
    }

    /// As [`Plan::judge_audit`], without the calls of a preparation that ends what the
    /// operations begin.
    pub(in crate::bencher) fn judge_audit_without(
        &mut self,
        without: Without,
        operations: u64,
        body: &mut dyn FnMut(Audited) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let expected: Vec<Expect> = self.declared.iter().copied().filter(is_of_calls).collect();
        let arguments = self.arguments.clone();
        if expected.is_empty() && arguments.is_empty() {
            return Ok(());
        }
        self.audit(&expected, &arguments, operations, without, body)
    }

    /// Counts, in the evidence pass, the system calls that are expected of operations that are
    /// [`Observed`](crate::bencher::Observed): theirs, not those of an observation. `body(n)` sets
    /// up, makes `n` of them and ends, in a forked child; the calls of `body(0)` are subtracted.
    ///
    /// # Errors
    /// The error of the child.
    pub fn audit_apart(
        &mut self,
        operations: u64,
        mut body: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.respect_proofs()?;
        let declared = mem::take(&mut self.declared).into_iter();
        let (expected, others) = declared.partition::<Vec<_>, _>(is_of_calls);
        self.declared = others;
        if self.given.pass == Pass::Timed || expected.is_empty() {
            return Ok(());
        }
        self.audit(
            &expected,
            &[],
            operations,
            Without::Preparation,
            &mut |audited| {
                body(match audited {
                    Audited::Operations => operations,
                    Audited::Nothing => 0,
                })
            },
        )
    }

    /// Audits, where this is asked for, what this process has timed, once all samples are taken: the
    /// claims of the evidence pass, as a single one.
    pub(in crate::bencher) fn audit_timed(
        &mut self,
        audit: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // Beyond its time limit the process would lose the samples, too; and it audits two children where
        // the calls of a preparation are subtracted.
        let has_time = self.begun.elapsed() + 2 * self.audit_limit() <= self.given.time_limit;
        if !self.given.is_audited || !has_time {
            return Ok(());
        }
        let known = self.findings.evidence.len();
        audit(self)?;
        let all = self.findings.evidence.split_off(known);
        self.findings.evidence.extend(of_timed(all));
        Ok(())
    }

    /// The same of operations of batches.
    pub(in crate::bencher) fn audit_timed_batches(
        &mut self,
        per_iteration: u64,
        body: &mut dyn Body,
    ) -> Result<(), Failure> {
        let most = self.findings.samples.iterations;
        self.audit_timed(|plan| plan.audit_batches(most, per_iteration, body))
    }

    fn audit(
        &mut self,
        expected: &[Expect],
        arguments: &[ArgumentClaim],
        operations: u64,
        without: Without,
        body: &mut dyn FnMut(Audited) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let noted: Vec<Sysno> = arguments.iter().map(|claim| claim.call).collect();
        let limit = self.audit_limit();
        let mut count = |what| audited(limit, &noted, &mut || body(what));
        let idle = match without {
            Without::Nothing => Ok(SyscallCounts::default()),
            Without::Preparation | Without::EachPreparation => count(Audited::Nothing)?,
        };
        let counted = match idle {
            Ok(idle) => count(Audited::Operations)?.map(|busy| (idle, busy)),
            Err(error) => Err(error),
        };
        let per_operation = |calls: u64| calls as f64 / operations as f64;
        let evidence: Vec<Evidence> = match counted {
            Ok((idle, busy)) => {
                let calls = |call: Sysno| busy.get(call).saturating_sub(idle.get(call));
                let others = others(&idle, &busy, expected);
                let counts = expected.iter().map(|expect| match named_call(expect) {
                    Some(call) => expect.judge(per_operation(calls(call)), AUDIT),
                    None => {
                        let seen = per_operation(others.values().sum());
                        naming(&others, operations, expect.judge(seen, AUDIT))
                    }
                });
                let given = arguments.iter().map(|claim| {
                    // Calls made before the operations come first.
                    let before = idle.arguments(claim.call).len();
                    if without == Without::EachPreparation && before > 0 {
                        return claim.anticipated(before, AUDIT);
                    }
                    let calls = busy.arguments(claim.call).get(before..);
                    claim.judge(calls.unwrap_or_default(), AUDIT)
                });
                let readings = busy.readings().saturating_sub(idle.readings());
                let readings = (readings > 0)
                    .then(|| Evidence::note(READINGS, per_operation(readings), AUDIT));
                counts.chain(given).chain(readings).collect()
            }
            Err(error) if let Some(reason) = unknown(&error) => {
                let counts = expected
                    .iter()
                    .map(|expect| expect.unverified(AUDIT, &reason));
                let given = arguments
                    .iter()
                    .map(|claim| claim.unverified(AUDIT, &reason));
                counts.chain(given).collect()
            }
            Err(error) => return Err(Failure::Failed(format!("under the {AUDIT}: {error}"))),
        };
        self.findings.evidence.extend(evidence);
        Ok(())
    }

    /// Notes what system calls a program makes between its marks, each per operation of those that
    /// it says it makes there; of the `asked` ones also that it makes none.
    pub(in crate::bencher) fn note_calls(
        &mut self,
        asked: &[Sysno],
        body: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let counted = match audited(self.audit_limit(), &[], body)? {
            Ok(counts) if counts.operations() > 0 => Ok(counts),
            Ok(_) => Err(UNMARKED.to_owned()),
            Err(AuditError::TimedOut(limit)) => Err(format!(
                "it takes more than {} s where each call is counted: operations() of result.h makes \
                 fewer there",
                limit.as_secs()
            )),
            Err(error) => Err(error.to_string()),
        };
        let claim = |call: Sysno| Counter::Syscall(call).claim();
        match counted {
            Ok(counts) => {
                let each = |calls: u64| calls as f64 / counts.operations() as f64;
                let made = counts.iter().map(|(number, _)| Sysno::from_number(number));
                let mut known: Vec<Sysno> = made.flatten().collect();
                known.retain(|call| counts.of_started(*call) > 0);
                let never = asked.iter().filter(|call| !known.contains(call));
                let named: u64 = known.iter().map(|call| counts.of_started(*call)).sum();
                let unnamed = counts.total_of_started() - named;
                for call in known.iter().chain(never) {
                    self.note(claim(*call), each(counts.of_started(*call)), AUDIT);
                }
                if unnamed > 0 {
                    self.note(Counter::OtherSyscalls.claim(), each(unnamed), AUDIT);
                }
                self.note(TASKS, counts.started() as f64, AUDIT);
            }
            Err(reason) => {
                let claims: Vec<String> = match asked {
                    [] => vec!["system calls of the program".to_owned()],
                    asked => asked.iter().map(|call| claim(*call)).collect(),
                };
                for claim in claims {
                    self.claim_unobserved(claim, ASKED, AUDIT, &reason);
                }
            }
        }
        Ok(())
    }
}

/// What an audit of timed operations found, as one claim: the worst of it. What it could not verify, the
/// evidence pass reports, if it cannot either.
fn of_timed(all: Vec<Evidence>) -> Option<Evidence> {
    let is_judged = |one: &Evidence| !one.is_note() && one.verdict != Verdict::Unverified;
    let judged = all.into_iter().filter(is_judged);
    let worst = judged.max_by_key(|one| one.verdict)?;
    let sentence = worst.claim.sentence;
    let said = |fact: Fact| match worst.verdict {
        Verdict::Refuted => Fact::from(format!("{sentence}: {fact}")),
        Verdict::Confirmed | Verdict::Unverified => Fact::from(AS_DECLARED),
    };
    Some(Evidence {
        expected: worst.expected.map(&said),
        observed: worst.observed.map(&said),
        claim: Claim {
            refuted_by: worst.claim.refuted_by,
            ..Claim::from(OF_TIMED)
        },
        ..worst
    })
}

const OF_TIMED: &str = "system calls of what was timed";
const AS_DECLARED: &str = "as declared";

const TASKS: &str = "tasks that made system calls";

/// What a user's own program does is for its study to judge.
const ASKED: &str = "as its study says";

/// The system calls that `body` makes in a forked child, and the arguments of those to be `noted`.
///
/// # Errors
/// The failure of `body` in the child.
fn audited(
    limit: Duration,
    noted: &[Sysno],
    body: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<Result<SyscallCounts, AuditError>, Failure> {
    let (failures, report) = pipe().map_err(|cause| Failure::of("make a pipe", cause))?;
    let counted = audit::note_syscalls(limit, noted, || {
        // The child's conditions differ from ours, so it may fail alone; it must not pass
        // as making no calls.
        if let Err(failure) = body() {
            let _ = serde_json::to_writer(&report, &failure);
            panic!("{failure}");
        }
    });
    drop(report);
    // The audited child ended without dropping what it owned.
    scratch::sweep();
    match counted {
        Err(AuditError::Died(_)) => match serde_json::from_reader(failures) {
            Ok(failure) => Err(failure),
            Err(_) => Ok(counted),
        },
        counted => Ok(counted),
    }
}

/// Why nothing is known of the calls; `None` if the operation itself failed.
fn unknown(error: &AuditError) -> Option<String> {
    match error {
        AuditError::SeccompUnavailable(reason) => Some(reason.to_string()),
        AuditError::TimedOut(_) => Some(format!("{error}; {LONGER}")),
        _ => None,
    }
}

/// The number of calls that no expectation names, by call; those that only the idle pass made hide
/// no others. Whoever reads the time makes no call of the operation's, also where this machine's
/// kernel has to serve it: only a row that names the call counts those.
fn others(
    idle: &SyscallCounts,
    busy: &SyscallCounts,
    expected: &[Expect],
) -> BTreeMap<String, u64> {
    let before: BTreeMap<u32, u64> = idle.iter().collect();
    let named: Vec<u32> = expected
        .iter()
        .filter_map(named_call)
        .filter_map(Sysno::number)
        .collect();
    let seen = busy.iter().filter(|(number, _)| !named.contains(number));
    let readings = |call| match call {
        Some(Sysno::CLOCK_GETTIME) => busy.readings().saturating_sub(idle.readings()),
        _ => 0,
    };
    let seen = seen.map(|(number, count)| {
        let call = Sysno::from_number(number);
        let name = call.map_or_else(|| format!("number {number}"), |call| call.name().to_owned());
        let before = *before.get(&number).unwrap_or(&0);
        (name, count.saturating_sub(before + readings(call)))
    });
    let foreign = busy.foreign().saturating_sub(idle.foreign());
    let seen = seen.chain([("of another architecture".to_owned(), foreign)]);
    seen.filter(|(_, count)| *count > 0).collect()
}

/// Names the calls that refute a claim, most frequent first.
fn naming(calls: &BTreeMap<String, u64>, operations: u64, mut evidence: Evidence) -> Evidence {
    if evidence.verdict == Verdict::Refuted {
        let mut calls: Vec<(&String, &u64)> = calls.iter().collect();
        calls.sort_by_key(|(_, count)| Reverse(**count));
        let calls = calls.iter().map(|(name, count)| format!("{name} {count}"));
        let calls = calls.collect::<Vec<_>>().join(", ");
        evidence.reason = Some(format!("{calls} in {operations} operations"));
    }
    evidence
}

fn is_of_calls(expect: &Expect) -> bool {
    matches!(expect.counter, Counter::Syscall(_) | Counter::OtherSyscalls)
}

fn named_call(expect: &Expect) -> Option<Sysno> {
    match expect.counter {
        Counter::Syscall(call) => Some(call),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
