//! Locks and wake-ups.

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "sync",
    title: "locks and wake-ups",
    benchmarks: &[],
    hidden: false,
};
