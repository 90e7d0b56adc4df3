//! What proves the parameters of a row. A row's name is a claim: for each of its parameters its
//! benchmark says what would notice the neighbouring value, or why nothing can.
//!
//! Expectations are evaluated of the row that is *named*; a benchmark is given the row to *measure*
//! and reports what its witnesses saw. `cargo lab swap` gives it a neighbouring one.

use syscost_results::{Bound, Claim, Evidence, Fact, RefutedBy, Verdict};
use syscost_sys::raw::Sysno;

use crate::arguments::{Argument, ArgumentClaim, ArgumentValue};
use crate::expect::Expect;
use crate::pass::Pass;

/// Something that can be seen of the world while a row is measured: what the kernel says of a
/// descriptor, the pages of a mapping, bytes that arrived. It never reads the row's name.
#[derive(Debug)]
pub struct Witness {
    sentence: &'static str,
    source: &'static str,
    refuted_by: RefutedBy,
    only_in: Option<Pass>,
}

impl Witness {
    /// What it sees, as a phrase that identifies the claim, and who says so: a call, a file of the
    /// kernel's, `both ends`.
    pub const fn of(sentence: &'static str, source: &'static str) -> Self {
        Self {
            sentence,
            source,
            refuted_by: RefutedBy::One,
            only_in: None,
        }
    }

    /// The same, of what other programs can break at times: most processes must refute it.
    #[must_use]
    pub const fn by_most(self) -> Self {
        Self {
            refuted_by: RefutedBy::Most,
            ..self
        }
    }

    /// The same, which looks in one pass only.
    #[must_use]
    pub const fn only_in(self, pass: Pass) -> Self {
        Self {
            only_in: Some(pass),
            ..self
        }
    }

    /// Proof by its seeing exactly this: a count, or a name. Measured quantities are never exactly
    /// equal.
    pub fn expects(&'static self, value: impl Into<Fact>) -> Proof {
        self.awaits(Wanted::Equal(value.into()))
    }

    /// Proof by its seeing a number within this bound.
    pub fn within(&'static self, bound: Bound) -> Proof {
        self.awaits(Wanted::Within(bound))
    }

    fn awaits(&'static self, wanted: Wanted) -> Proof {
        let witness = self;
        Proof {
            awaited: vec![Awaited { witness, wanted }],
            ..Proof::default()
        }
    }

    pub(crate) fn looks_in(&self, pass: Pass) -> bool {
        self.only_in.is_none_or(|only| only == pass)
    }

    pub(crate) fn sentence(&self) -> &'static str {
        self.sentence
    }

    fn claim(&self) -> Claim {
        Claim {
            refuted_by: self.refuted_by,
            ..Claim::from(self.sentence)
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Wanted {
    Equal(Fact),
    Within(Bound),
}

/// A witness with what it must see.
#[derive(Debug, Clone)]
pub(crate) struct Awaited {
    pub(crate) witness: &'static Witness,
    wanted: Wanted,
}

impl Awaited {
    pub(crate) fn is_of(&self, witness: &Witness) -> bool {
        std::ptr::eq(self.witness, witness)
    }

    /// The evidence when it saw this.
    pub(crate) fn judge(&self, seen: Fact) -> Evidence {
        let (claim, source) = (self.witness.claim(), self.witness.source);
        match (&self.wanted, seen) {
            (Wanted::Within(bound), Fact::Number(seen)) => {
                Evidence::judged(claim, *bound, seen, source)
            }
            (wanted, seen) => {
                let holds = matches!(wanted, Wanted::Equal(expected) if *expected == seen);
                Evidence::new(claim, wanted.fact(), seen, source, Verdict::of(holds))
            }
        }
    }

    /// The evidence when it could not look.
    pub(crate) fn unobserved(&self, reason: impl Into<String>) -> Evidence {
        let (claim, source) = (self.witness.claim(), self.witness.source);
        Evidence::unobserved(claim, self.wanted.fact(), source).because(reason)
    }
}

impl Wanted {
    fn fact(&self) -> Fact {
        match self {
            Wanted::Equal(fact) => fact.clone(),
            Wanted::Within(bound) => bound.fact(),
        }
    }
}

/// What proves one parameter of a row.
#[derive(Debug, Clone, Default)]
pub struct Proof {
    pub(crate) awaited: Vec<Awaited>,
    pub(crate) expect: Vec<Expect>,
    pub(crate) arguments: Vec<ArgumentClaim>,
    unprovable: Option<&'static str>,
}

impl Proof {
    /// Proof by where the row's tasks run, how many there are and what they are to each other: the
    /// harness compares that with what the values of such parameters say, whatever they are called.
    pub fn by_tasks() -> Self {
        Self::default()
    }

    /// Proof by what is counted.
    pub fn counted(expect: impl IntoIterator<Item = Expect>) -> Self {
        Self {
            expect: expect.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Proof by an argument of every such system call of the operation ([`ArgumentValue`]).
    pub fn argument(call: Sysno, argument: Argument, given: ArgumentValue) -> Self {
        Self {
            arguments: vec![ArgumentClaim {
                call,
                argument,
                given,
            }],
            ..Self::default()
        }
    }

    /// There is none, for this reason: the row shows `?` with it.
    pub fn none(reason: &'static str) -> Self {
        Self {
            unprovable: Some(reason),
            ..Self::default()
        }
    }

    /// Both.
    #[must_use]
    pub fn and(mut self, other: Proof) -> Self {
        self.awaited.extend(other.awaited);
        self.expect.extend(other.expect);
        self.arguments.extend(other.arguments);
        self.unprovable = self.unprovable.or(other.unprovable);
        self
    }

    /// What all of these count, each once.
    pub(crate) fn counts(proofs: &[Proof]) -> Vec<Expect> {
        let mut all = Vec::new();
        for expect in proofs.iter().flat_map(|proof| &proof.expect) {
            if !all.contains(expect) {
                all.push(*expect);
            }
        }
        all
    }

    /// The evidence where a parameter of this name and value has no proof.
    pub(crate) fn lacking(&self, key: &str, value: &str) -> Option<Evidence> {
        let reason = self.unprovable?;
        let claim = Claim::new(
            &format!("{key} as named"),
            format!("{key} as the row names it"),
        );
        Some(Evidence::unobserved(claim, value, "nothing").because(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SIZE: Witness = Witness::of("bytes that arrived", "both ends");

    fn verdict(proof: &Proof, seen: impl Into<Fact>) -> Verdict {
        proof.awaited[0].judge(seen.into()).verdict
    }

    #[test]
    fn a_witness_that_saw_something_else_refutes() {
        let exact = SIZE.expects(64_u64);
        assert_eq!(verdict(&exact, 64_u64), Verdict::Confirmed);
        for lie in [Fact::from(63_u64), Fact::from("64")] {
            assert_eq!(verdict(&exact, lie), Verdict::Refuted);
        }
        let about = SIZE.within(Bound::AtMost(64.0));
        assert_eq!(verdict(&about, 1_u64), Verdict::Confirmed);
        for lie in [Fact::from(65_u64), Fact::from("1")] {
            assert_eq!(verdict(&about, lie), Verdict::Refuted);
        }
    }

    #[test]
    fn what_nothing_proves_is_unverified_with_the_reason() {
        let proof = SIZE.expects(64_u64).and(Proof::none("nothing tells"));
        let evidence = proof.lacking("order", "random").expect("a reason");
        assert_eq!(evidence.verdict, Verdict::Unverified);
        assert_eq!(evidence.reason.as_deref(), Some("nothing tells"));
        assert_eq!(SIZE.expects(64_u64).lacking("size", "64").map(|_| ()), None);
    }
}
