//! The same work on many CPUs at once.

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "scale",
    title: "the same work on many CPUs at once",
    benchmarks: &[],
    hidden: false,
};
