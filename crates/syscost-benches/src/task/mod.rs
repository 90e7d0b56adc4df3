//! Making processes and threads.

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "task",
    title: "making processes and threads",
    benchmarks: &[],
    hidden: false,
};
