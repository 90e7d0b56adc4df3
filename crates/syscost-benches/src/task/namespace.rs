//! Creating a namespace and entering one.
//!
//! ## Measures
//! One unshare of one kind of namespace, or one setns into a namespace of another process, timed in
//! a new child each, whose end then frees it. For `pid` and `time` the namespace is that of the
//! caller's future children. Without privilege the child first enters a user namespace, untimed, in
//! which it may create the others. The clock's own cost is subtracted.
//! ## Does not measure
//! Freeing a namespace, which the kernel does later and elsewhere: a network takes milliseconds. So
//! only as many are created as there are samples.
//! ## Interpretation
//! `net` builds a network with its own loopback, tables and /proc files, `mnt` copies the existing
//! mounts (`mounts_count`), `ipc` mounts a file system for message queues; the others are small
//! objects. setns only changes pointers, except for `mnt`, which looks up root and working
//! directory anew. Each is the first such call of a young process; a child that had to enter a user
//! namespace before (`user_namespaces_entered_before_count`) has warmed the caches, so compare like
//! with like.
//! ## Source
//! unshare(2), setns(2): the calls that start a container.

mod kind;
mod trial;

use syscost_harness::prelude::*;

use self::kind::Kind;
use self::trial::{Call, Trial};
use super::ids::{DISTINCT, Ids};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Namespace creation and entry",
    tags: "container, unshare, setns, container startup, isolation",
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::WAIT4),
        calls(Sysno::EXIT_GROUP),
        // The child's calls: looking at its namespaces before and after, reporting, and those of
        // the C library in a fork.
        at_most(Counter::OtherSyscalls, 8.0),
        exactly(Counter::Reported(DISTINCT), 1.0),
        exactly(Counter::Reported(CHANGED), 1.0),
    ],
    ..Benchmark::of::<Row>()
};

const CHANGED: &str = "children that were in the namespace afterwards";

static NAMESPACE: Witness = Witness::of("namespace that each child changed", "/proc/self/ns");

#[derive(Params, Clone)]
struct Row {
    op: Call,
    kind: Kind,
}

impl Measured for Row {
    fn rows(_: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            op: Call::ALL,
            kind: Kind::ALL
        })
    }

    fn profile(&self, _: &Here) -> Profile {
        match self.op {
            Call::Setns if self.kind != Kind::Net => Profile::Full,
            Call::Setns | Call::Unshare => Profile::Standard,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        let (call, other) = match self.op {
            Call::Unshare => (Sysno::UNSHARE, Sysno::SETNS),
            Call::Setns => (Sysno::SETNS, Sysno::UNSHARE),
        };
        // Another one where the child first enters a user namespace.
        let calls = either(Counter::Syscall(call), 1.0, 2.0);
        let file = match self.kind {
            Kind::Pid | Kind::Time => format!("{}_for_children", self.kind.name()),
            Kind::User | Kind::Mnt | Kind::Net | Kind::Ipc | Kind::Uts | Kind::Cgroup => {
                self.kind.name().to_owned()
            }
        };
        RowProofs {
            op: Proof::counted([calls, exactly(Counter::Syscall(other), 0.0)]),
            kind: NAMESPACE.sees(file),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let Row { op: call, kind } = self;
        kind.exists()?;
        let clock = *plan.clock();
        let trial = Trial::possible(kind, call, &clock)?;
        let calls = if trial.is_within_user { 2.0 } else { 1.0 };
        plan.expect(exactly(Counter::Syscall(call.number()), calls));
        let (mut ids, mut changed) = (Ids::default(), 0);
        let mut outcome = plan.measure(Observed::of(|| {
            let tried = trial.run(&clock)?;
            tried.succeeded(call)?;
            ids.note(tried.child);
            changed += u64::from(tried.has_changed);
            Ok(tried.ns)
        }))?;
        outcome.report(DISTINCT, ids.distinct());
        outcome.report(CHANGED, changed as f64);
        outcome.saw(&NAMESPACE, kind.file());
        if trial.is_within_user {
            outcome.detail("user_namespaces_entered_before_count", 1.0);
        }
        if kind == Kind::Mnt {
            let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
            outcome.detail("mounts_count", mounts.lines().count() as f64);
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::found_by;
    use syscost_harness::bencher::Pass;
    use syscost_results::Fact;

    #[test]
    fn as_many_calls_are_expected_as_the_child_has_to_make() {
        let rows = rows!(Row {
            op: Call::ALL,
            kind: [Kind::Uts]
        });
        for case in rows {
            let (row, case) = (Row::clone(&case.row), case.erased());
            let calls = Counter::Syscall(row.op.number()).claim();
            let (pass, expect) = (Pass::Evidence, BENCHMARK.expect);
            let Some(found) = found_by(&case, pass, expect, |plan| row.measure(plan)) else {
                return;
            };
            let within = found
                .details
                .contains_key("user_namespaces_entered_before_count");
            let mut evidence = found.evidence.iter();
            let counted = evidence.find(|one| one.claim.sentence == calls);
            let expected = counted.and_then(|counted| counted.expected.clone());
            let must_be = if within { 2.0 } else { 1.0 };
            assert_eq!(expected, Some(Fact::Number(must_be)), "{calls}");
        }
    }
}
