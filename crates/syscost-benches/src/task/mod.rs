//! Creating processes and threads.

mod cgroup_attach;
pub(crate) mod child;
mod clone3;
mod clone_thread;
mod clone_vm;
pub(crate) mod command;
mod exec;
mod first_child;
mod fork;
mod fork_by_rss;
pub(crate) mod ids;
mod lean;
pub(crate) mod marked;
mod namespace;
mod posix_spawn;
mod pthread;
mod shell;
pub(crate) mod until;
mod vfork;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "task",
    title: "making processes and threads",
    benchmarks: &[
        fork::BENCHMARK,
        vfork::BENCHMARK,
        clone3::BENCHMARK,
        clone_vm::BENCHMARK,
        clone_thread::BENCHMARK,
        pthread::BENCHMARK,
        posix_spawn::BENCHMARK,
        exec::BENCHMARK,
        shell::BENCHMARK,
        first_child::BENCHMARK,
        fork_by_rss::BENCHMARK,
        namespace::BENCHMARK,
        cgroup_attach::BENCHMARK,
    ],
    hidden: false,
};
