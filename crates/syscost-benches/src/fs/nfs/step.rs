//! How far up the ladder a row goes: each operation is one step.

use syscost_harness::prelude::*;

/// A step of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Icmp,
    Connect,
    Null,
    Getattr,
    Lookup,
    Read,
}

impl Step {
    pub(super) const ALL: [Step; 6] = [
        Step::Icmp,
        Step::Connect,
        Step::Null,
        Step::Getattr,
        Step::Lookup,
        Step::Read,
    ];

    /// The key of the case parameter that names it.
    pub(super) const KEY: &str = "op";

    pub(super) const fn name(self) -> &'static str {
        match self {
            Step::Icmp => "icmp",
            Step::Connect => "connect",
            Step::Null => "null",
            Step::Getattr => "getattr",
            Step::Lookup => "lookup",
            Step::Read => "read",
        }
    }

    /// The step that a case names.
    pub(super) fn of(case: &Case) -> Result<Self, Failure> {
        let name = case.get(Self::KEY);
        let found = Self::ALL.into_iter().find(|step| step.name() == name);
        found.ok_or_else(|| case.unknown(Self::KEY))
    }
}
