//! Talking between tasks.

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "ipc",
    title: "talking between tasks",
    benchmarks: &[],
    hidden: false,
};
