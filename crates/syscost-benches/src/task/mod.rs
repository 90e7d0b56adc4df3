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

pub(crate) const GROUP: Group = group! {
    task: "making processes and threads",
    fork,
    vfork,
    clone3,
    clone_vm,
    clone_thread,
    pthread,
    posix_spawn,
    exec,
    shell,
    first_child,
    fork_by_rss,
    namespace,
    cgroup_attach,
};
