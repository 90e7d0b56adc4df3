//! Switching between tasks.

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "switch",
    title: "switching between tasks",
    benchmarks: &[],
    hidden: false,
};
