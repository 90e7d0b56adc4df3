//! Making processes and threads.

mod child;
mod fork;
mod ids;
mod until;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "task",
    title: "making processes and threads",
    benchmarks: &[fork::BENCHMARK],
    hidden: false,
};
