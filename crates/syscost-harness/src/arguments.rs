//! What a benchmark claims of the arguments of its system calls: the number of calls does not show
//! how much each is asked to do.

use std::collections::BTreeSet;

use syscost_results::{Bound, Claim, Evidence};
use syscost_sys::audit::{self, Arguments};
use syscost_sys::raw::Sysno;

/// An argument of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Its position, from 0.
    pub position: usize,
    /// Its name in evidence, e.g. `length`.
    pub name: &'static str,
}

impl Argument {
    /// The argument at this position, from 0, with its name.
    pub const fn at(position: usize, name: &'static str) -> Self {
        Self { position, name }
    }

    /// A value of it as it is read: addresses and flags by their bits.
    fn shown(&self, value: u64) -> String {
        match self.name == "flags" || self.name.starts_with("address") {
            true => format!("{value:#x}"),
            false => value.to_string(),
        }
    }
}

/// Where a call was made: the address of the instruction after it.
pub const CALLED_FROM: Argument = Argument::at(audit::CALLED_FROM, "instruction");

/// Code of a known place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// What it is, e.g. `the C library's getppid`.
    pub name: &'static str,
    /// The address of its first byte.
    pub start: usize,
    /// Its bytes, or a few more than it has.
    pub bytes: usize,
}

impl Code {
    fn has(&self, address: u64) -> bool {
        (address as usize)
            .checked_sub(self.start)
            .is_some_and(|offset| offset < self.bytes)
    }
}

/// The values that an argument must have in the calls of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentValue {
    /// This value in every call.
    Always(u64),
    /// Any other value in every call.
    Never(u64),
    /// These two values alternately, this one first.
    InTurn(u64, u64),
    /// An address in this code in every call.
    In(Code),
    /// Addresses elsewhere than in this code in every call.
    NotIn(Code),
    /// In each call a value that no earlier call had.
    Different,
    /// In each call a value at least this far from that of the call before.
    Apart(u64),
    /// This value in every second call, beginning with the first.
    EverySecond(u64),
    /// In each call a step more than in the call before, and 0 again at the end.
    InOrder {
        /// The step.
        step: u64,
        /// The end, a multiple of it.
        end: u64,
    },
}

/// A claim that an argument of a system call has the values that the operation requires. Exact:
/// every audited call is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentClaim {
    /// The call.
    pub call: Sysno,
    /// Its argument.
    pub argument: Argument,
    /// The values it must have.
    pub given: ArgumentValue,
}

/// The share of the calls in which the argument must be as claimed.
const ALL: Bound = Bound::Exactly(1.0);

impl ArgumentClaim {
    /// The claim, e.g. `share of munmap calls whose length is 4096`; its id has no values.
    fn claim(&self) -> Claim {
        let shown = |value| self.argument.shown(value);
        let (id, given) = match self.given {
            ArgumentValue::Always(value) => ("is given", format!("is {}", shown(value))),
            ArgumentValue::Never(value) => ("is not", format!("is not {}", shown(value))),
            ArgumentValue::InTurn(one, other) => {
                let [one, other] = [one, other].map(shown);
                ("is in turn", format!("is {one} and {other} in turn"))
            }
            ArgumentValue::In(code) => ("is in", format!("is in {}", code.name)),
            ArgumentValue::NotIn(code) => ("is not in", format!("is not in {}", code.name)),
            ArgumentValue::Different => ("is another", "is another each time".to_owned()),
            ArgumentValue::Apart(least) => {
                ("is apart", format!("is {least} or more from the last"))
            }
            ArgumentValue::EverySecond(value) => {
                let value = shown(value);
                ("is every second", format!("is {value} in every second"))
            }
            ArgumentValue::InOrder { step, .. } => {
                ("is in order", format!("is {step} more than the last"))
            }
        };
        let of = format!("{} calls whose {}", self.call.name(), self.argument.name);
        Claim::new(&format!("{of} {id}"), format!("share of {of} {given}"))
    }

    /// Judges these calls, in their order. Without any call nothing is confirmed.
    pub(crate) fn judge(&self, calls: &[Arguments], source: &str) -> Evidence {
        let values: Vec<u64> = calls
            .iter()
            .map(|given| given[self.argument.position])
            .collect();
        let wrong = self.wrong(&values);
        let right = (values.len() - wrong.len()) as f64 / values.len().max(1) as f64;
        let evidence = Evidence::judged(self.claim(), ALL, right, source);
        match wrong.first() {
            Some((number, value)) => {
                let value = self.argument.shown(*value);
                evidence.because(format!("in call {} it is {value}", number + 1))
            }
            None if values.is_empty() => evidence.because("there was no such call"),
            None => evidence,
        }
    }

    /// The evidence when the preparation of single operations made this many such calls.
    pub(crate) fn anticipated(&self, calls: usize, source: &str) -> Evidence {
        Evidence::judged(self.claim(), ALL, 0.0, source)
            .because(format!("{calls} such calls prepare operations"))
    }

    pub(crate) fn unverified(&self, source: &str, reason: impl Into<String>) -> Evidence {
        Evidence::unobserved(self.claim(), ALL.fact(), source).because(reason)
    }

    /// The calls that break the claim, by their number from 0, with the argument's value.
    fn wrong(&self, values: &[u64]) -> Vec<(usize, u64)> {
        let (mut before, mut last) = (BTreeSet::new(), None);
        let mut holds = |number: usize, value: u64| {
            let is_new = before.insert(value);
            let last = last.replace(value);
            match self.given {
                ArgumentValue::Always(expected) => value == expected,
                ArgumentValue::Never(other) => value != other,
                ArgumentValue::InTurn(one, other) => value == [one, other][number % 2],
                ArgumentValue::In(code) => code.has(value),
                ArgumentValue::NotIn(code) => !code.has(value),
                ArgumentValue::Different => is_new,
                ArgumentValue::Apart(least) => {
                    last.is_none_or(|last| value.abs_diff(last) >= least)
                }
                ArgumentValue::EverySecond(expected) => number % 2 == 1 || value == expected,
                ArgumentValue::InOrder { step, end } => {
                    last.is_none_or(|last| value == (last + step) % end)
                }
            }
        };
        let numbered = values.iter().copied().enumerate();
        numbered
            .filter(|(number, value)| !holds(*number, *value))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::{Fact, Verdict};

    use super::*;

    #[test]
    fn addresses_and_flags_are_read_by_their_bits() {
        for (name, shown) in [
            ("address of the path", "0x88000"),
            ("flags", "0x88000"),
            ("length", "557056"),
        ] {
            let claim = ArgumentClaim {
                call: Sysno::OPENAT,
                argument: Argument::at(1, name),
                given: ArgumentValue::Always(0x88000),
            };
            let sentence = claim.claim().sentence;
            assert!(sentence.ends_with(&format!("is {shown}")), "{sentence}");
        }
    }

    const LENGTH: Argument = Argument::at(1, "length");

    fn judge(given: ArgumentValue, lengths: &[u64]) -> Evidence {
        let calls: Vec<Arguments> = lengths
            .iter()
            .map(|length| [7, *length, 7, 7, 7, 7, 7])
            .collect();
        let claim = ArgumentClaim {
            call: Sysno::MUNMAP,
            argument: LENGTH,
            given,
        };
        claim.judge(&calls, "seccomp audit")
    }

    #[test]
    fn what_is_always_given_must_always_be() {
        let evidence = judge(ArgumentValue::Always(4096), &[4096; 4]);
        assert_eq!(evidence.verdict, Verdict::Confirmed);
        assert_eq!(evidence.reason, None);
        assert_eq!(
            evidence.claim.sentence,
            "share of munmap calls whose length is 4096"
        );
        let evidence = judge(ArgumentValue::Always(4096), &[4096, 4096, 4096, 2048]);
        assert_eq!(evidence.verdict, Verdict::Refuted);
        assert_eq!(evidence.observed, Some(Fact::Number(0.75)));
        assert_eq!(evidence.reason.as_deref(), Some("in call 4 it is 2048"));
    }

    #[test]
    fn each_kind_of_value_is_checked_in_every_call() {
        use ArgumentValue::*;
        let code = Code {
            name: "a library's procedure",
            start: 100,
            bytes: 64,
        };
        let in_order = InOrder { step: 4, end: 16 };
        let cases: [(ArgumentValue, &[u64], bool); 28] = [
            (Never(4), &[3, 5], true),
            (Never(4), &[3, 4], false),
            (InTurn(1, 3), &[1, 3, 1, 3], true),
            (InTurn(1, 3), &[3, 3, 3, 3], false),
            (InTurn(1, 3), &[3, 1, 3, 1], false),
            (In(code), &[100, 163], true),
            (In(code), &[100, 164], false),
            (In(code), &[99], false),
            (NotIn(code), &[99, 164], true),
            (NotIn(code), &[110], false),
            (Different, &[1, 3, 2], true),
            (Different, &[1, 3, 1], false),
            (Apart(10), &[10, 20, 10], true),
            (Apart(10), &[10, 19, 10], false),
            (Apart(10), &[10, 20, 20], false),
            (EverySecond(1), &[1, 3, 1, 4, 1], true),
            (EverySecond(1), &[3, 1, 3, 1], false),
            (EverySecond(1), &[1, 3, 2], false),
            (in_order, &[8, 12, 0, 4], true),
            (in_order, &[8, 12, 16], false), // beyond the end
            (in_order, &[0, 8, 12], false),  // one left out
            (in_order, &[4, 4], false),
            // No call confirms nothing.
            (Always(1), &[], false),
            (InTurn(1, 3), &[], false),
            (Different, &[], false),
            (Apart(1), &[], false),
            (EverySecond(1), &[], false),
            (in_order, &[], false),
        ];
        for (given, lengths, holds) in cases {
            let verdict = judge(given, lengths).verdict;
            let is_as_given = verdict == Verdict::Confirmed;
            assert_eq!(is_as_given, holds, "{given:?}: {lengths:?}");
        }
    }
}
