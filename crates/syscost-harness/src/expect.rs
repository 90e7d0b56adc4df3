//! What a benchmark claims, and what a count says about it.

pub use syscost_results::Bound;
use syscost_results::{Claim, ClaimId, Evidence};
use syscost_sys::raw::Sysno;

/// What is counted, always per operation unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Counter {
    /// One system call by number, counted exactly by an audit in an untimed child.
    Syscall(Sysno),
    /// All system calls that no other expectation names, by the same audit.
    OtherSyscalls,
    /// Page faults served without I/O.
    MinorFaults,
    /// Page faults that waited for I/O.
    MajorFaults,
    /// Growth of resident anonymous memory per operation, in bytes: negative if the operation gives
    /// memory back. Only for batches.
    ResidentBytes,
    /// Blocks of memory that the measuring task asks the C library's allocator for. Only for batches and
    /// single operations.
    Allocations,
    /// Times the task gave up its CPU.
    VoluntarySwitches,
    /// Times any task of the operation was switched out, waiting or preempted.
    Switches,
    /// Times any task of the operation was moved to another CPU.
    Migrations,
    /// Cost in core cycles: a floor that no real execution can be below.
    CoreCycles,
    /// System calls that are timed: their number times the price of the cheapest call is another floor.
    TimedCalls,
    /// Time of 2n operations divided by the time of n, not per operation.
    TimeScaling,
    /// A count of the benchmark's own, passed to `Outcome::report`.
    Reported(&'static str),
}

impl Counter {
    /// The claim in words, e.g. `getppid system calls per operation`.
    pub fn claim(&self) -> String {
        match self {
            Counter::Syscall(call) => format!("{} system calls per operation", call.name()),
            Counter::OtherSyscalls => "other system calls per operation".to_owned(),
            Counter::MinorFaults => "minor page faults per operation".to_owned(),
            Counter::MajorFaults => "major page faults per operation".to_owned(),
            Counter::ResidentBytes => {
                "resident bytes of anonymous memory gained per operation".to_owned()
            }
            Counter::Allocations => "allocations per operation".to_owned(),
            Counter::VoluntarySwitches => "voluntary switches per operation".to_owned(),
            Counter::Switches => "switches of all its tasks per operation".to_owned(),
            Counter::Migrations => "migrations of all its tasks per operation".to_owned(),
            Counter::CoreCycles => "core cycles per operation".to_owned(),
            Counter::TimedCalls => "timed system calls per operation".to_owned(),
            Counter::TimeScaling => "time of 2n operations over time of n".to_owned(),
            Counter::Reported(name) => format!("{name} per operation"),
        }
    }

    /// The system call that a claim counts, by its words or its id.
    pub fn call_claimed(claim: &str) -> Option<Sysno> {
        let claimed = |call: &&Sysno| ClaimId::of(&Counter::Syscall(**call).claim());
        let id = ClaimId::of(claim);
        Sysno::ALL.iter().find(|call| claimed(call) == id).copied()
    }
}

/// One expectation of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expect {
    /// What is counted.
    pub counter: Counter,
    /// What the count must be.
    pub bound: Bound,
    /// Why it has no upper bound, where the true count is not known.
    pub open: Option<&'static str>,
}

/// Exactly one such system call per operation.
pub const fn calls(call: Sysno) -> Expect {
    exactly(Counter::Syscall(call), 1.0)
}

/// Such a system call `count` times per operation, over all tasks of the operation. The partner may
/// be one call ahead or behind when the audit ends, so a twentieth is allowed for.
pub const fn together(call: Sysno, count: f64) -> Expect {
    within(Counter::Syscall(call), 0.95 * count, 1.05 * count)
}

/// This many switches per operation, over all tasks of the operation. A twentieth is allowed
/// for: other tasks of the machine preempt, too.
pub const fn switches(count: f64) -> Expect {
    within(Counter::Switches, 0.95 * count, 1.05 * count)
}

/// Exactly `value` per operation.
pub const fn exactly(counter: Counter, value: f64) -> Expect {
    Expect::of(counter, Bound::Exactly(value))
}

/// At most `value` per operation.
pub const fn at_most(counter: Counter, value: f64) -> Expect {
    Expect::of(counter, Bound::AtMost(value))
}

/// At least `value` per operation; `open` says why no more are too many.
pub const fn at_least(counter: Counter, value: f64, open: &'static str) -> Expect {
    Expect {
        open: Some(open),
        ..Expect::of(counter, Bound::AtLeast(value))
    }
}

/// A floor under the cost of an operation, in core cycles or in timed system calls.
pub const fn costs(counter: Counter, value: f64) -> Expect {
    Expect::of(counter, Bound::AtLeast(value))
}

/// From `low` to `high` per operation.
pub const fn within(counter: Counter, low: f64, high: f64) -> Expect {
    Expect::of(counter, Bound::Within(low, high))
}

/// Either `one` or `other`, which is larger, per operation: where a machine decides which, but never a
/// mixture.
pub const fn either(counter: Counter, one: f64, other: f64) -> Expect {
    Expect::of(counter, Bound::Either(one, other))
}

impl Expect {
    const fn of(counter: Counter, bound: Bound) -> Self {
        Self {
            counter,
            bound,
            open: None,
        }
    }

    /// The same of counts of which each may be off by this much.
    pub(crate) fn wider(self, by: f64) -> Self {
        let bound = self.bound.wider(by);
        Self { bound, ..self }
    }

    /// Its claim: other programs can break it at times.
    fn claim(&self) -> Claim {
        Claim::by_most(self.counter.claim())
    }

    /// Judges a count per operation.
    pub fn judge(&self, observed: f64, source: &str) -> Evidence {
        Evidence::judged(self.claim(), self.bound, observed, source)
    }

    /// Judges what was counted in all of some operations.
    pub(crate) fn judge_count(&self, count: u64, operations: u64, source: &str) -> Evidence {
        Evidence::counted(self.claim(), self.bound, (count, operations), source)
    }

    /// The evidence where the counter is not available.
    pub fn unverified(&self, source: &str, reason: impl Into<String>) -> Evidence {
        Evidence::unobserved(self.claim(), self.bound.fact(), source).because(reason)
    }
}

/// Minimum core cycles of one system call on any processor known to run this program.
///
/// Entry and exit alone cost more than 50 cycles on every x86-64 and arm64 core measured so far, so
/// a cheaper "system call" entered no kernel. Where the evidence pass can, it takes half of what its own
/// getppid costs instead.
pub const SYSCALL_FLOOR_CYCLES: f64 = 50.0;

/// Minimum core cycles of one operation of any kind: an operation of Rust code is an instruction
/// and its share of a loop at the very least. What is cheaper was removed by the compiler. Kernels
/// know their own floor.
pub const OPERATION_FLOOR_CYCLES: f64 = 0.2;

/// How a benchmark was measured, which determines its default expectations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Batches of operations: time must grow with their number.
    Batches,
    /// Batches of operations that several tasks do together: their switches are counted, too.
    Together,
    /// Copies of one operation running simultaneously on several CPUs, each of which is counted separately.
    Copies,
    /// Operations timed individually.
    Singles,
    /// Operations timed individually in which other tasks take part.
    SinglesTogether,
    /// Values that the benchmark observes itself: nothing is expected by default.
    Observations,
}

impl Manner {
    /// Whether this is counted of what is measured so.
    pub(crate) fn counts(self, counter: Counter) -> bool {
        match counter {
            Counter::ResidentBytes => self == Manner::Batches,
            Counter::Allocations => matches!(self, Manner::Batches | Manner::Singles),
            _ => true,
        }
    }

    /// Whether several tasks work together, so that all of them are counted.
    pub fn is_together(self) -> bool {
        matches!(self, Manner::Together | Manner::SinglesTogether)
    }
}

/// The declared expectations, completed by what every honest benchmark satisfies unless it says
/// otherwise: no system calls other than those it names, no page faults, no sleep, time in
/// proportion to work, and a floor under system calls. What several tasks do together is expected
/// not to switch and not to migrate, copies not to migrate.
///
/// `cpus` is how many CPUs the tasks of an operation may use: this many of its calls can be made at
/// the same time.
pub fn complete(declared: &[Expect], manner: Manner, cpus: usize) -> Vec<Expect> {
    let mut all = declared.to_vec();
    if manner == Manner::Observations {
        return all;
    }
    let named: f64 = declared
        .iter()
        .filter(|expect| matches!(expect.counter, Counter::Syscall(_)))
        .map(|expect| match expect.bound {
            Bound::Exactly(value) => value,
            // Partners make theirs outside the time that is measured.
            _ if manner == Manner::SinglesTogether => 0.0,
            bound => bound.min(),
        })
        .sum();
    let mut defaults = vec![
        at_most(Counter::MinorFaults, 0.01),
        at_most(Counter::MajorFaults, 0.0),
    ];
    if manner.is_together() {
        defaults.extend([
            // A partner may be between two calls when the audit ends.
            at_most(Counter::OtherSyscalls, 0.05),
            at_most(Counter::Switches, 0.001),
            exactly(Counter::Migrations, 0.0),
        ]);
    } else {
        defaults.extend([
            exactly(Counter::OtherSyscalls, 0.0),
            at_most(Counter::VoluntarySwitches, 0.001),
        ]);
    }
    if manner == Manner::Copies {
        defaults.push(exactly(Counter::Migrations, 0.0));
    }
    if matches!(manner, Manner::Batches | Manner::Together | Manner::Copies) {
        defaults.push(within(Counter::TimeScaling, 1.9, 2.1));
    }
    defaults.push(costs(Counter::CoreCycles, OPERATION_FLOOR_CYCLES));
    if named > 0.0 {
        let timed = named / cpus.max(1) as f64;
        defaults.push(costs(Counter::TimedCalls, timed));
    }
    for default in defaults {
        if !all.iter().any(|expect| expect.counter == default.counter) {
            all.push(default);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use syscost_results::{Fact, Verdict};

    use super::*;

    fn bound(all: &[Expect], counter: Counter) -> Option<Bound> {
        let mut all = all.iter();
        let found = all.find(|expect| expect.counter == counter);
        found.map(|expect| expect.bound)
    }

    #[test]
    fn what_is_declared_is_completed_as_it_is_measured() {
        use Bound::{AtLeast, Exactly, Within};
        use Counter::{CoreCycles, OtherSyscalls, TimeScaling, TimedCalls};
        use Manner::{Batches, Singles, SinglesTogether, Together};
        let call = [calls(Sysno::GETPPID)];
        let pair = [together(Sysno::READ, 2.0), together(Sysno::WRITE, 2.0)];
        let declared = [exactly(OtherSyscalls, 3.0)];
        let least = Some(AtLeast(OPERATION_FLOOR_CYCLES));
        for (declared, manner, cpus, counter, expected) in [
            (&call[..], Batches, 1, TimedCalls, Some(AtLeast(1.0))),
            (&call, Batches, 1, OtherSyscalls, Some(Exactly(0.0))),
            (&call, Batches, 1, TimeScaling, Some(Within(1.9, 2.1))),
            // Calls of several tasks have a floor on all their CPUs.
            (&pair, Together, 1, TimedCalls, Some(AtLeast(3.8))),
            (&pair, Together, 2, TimedCalls, Some(AtLeast(1.9))),
            // Whose calls they are is not said.
            (&pair, SinglesTogether, 2, TimedCalls, None),
            // What is declared replaces the default.
            (&declared, Singles, 1, OtherSyscalls, Some(Exactly(3.0))),
            (&declared, Singles, 1, TimeScaling, None),
            (&declared, Singles, 1, CoreCycles, least),
        ] {
            let all = complete(declared, manner, cpus);
            assert_eq!(bound(&all, counter), expected, "{manner:?} {counter:?}");
        }
        assert_eq!(complete(&[], Manner::Observations, 1), []);
    }

    #[test]
    fn evidence_shows_what_was_expected_and_seen() {
        let evidence = calls(Sysno::GETPPID).judge(0.0, "seccomp audit");
        assert_eq!(
            evidence.claim.sentence,
            "getppid system calls per operation"
        );
        assert_eq!(evidence.expected, Some(Fact::Number(1.0)));
        assert_eq!(evidence.observed, Some(Fact::Number(0.0)));
        assert_eq!(evidence.verdict, Verdict::Refuted);
        let unknown = calls(Sysno::GETPPID).unverified("seccomp audit", "not here");
        assert_eq!(
            (unknown.verdict, unknown.observed),
            (Verdict::Unverified, None)
        );
    }
}
