//! Creating processes and threads.
//!
//! Creating and ending processes and threads: from a thread that shares everything to a shell that
//! starts a program. A row says until when it counts: until the call returns, until the new task
//! runs, or until it has ended and was waited for.
//!
//! ## First look
//! - `task.pthread{until=reaped}`: a thread's whole life.
//! - `task.fork{until=reaped}`: a process that exits immediately.
//! - `task.exec{via=vfork}`: a process that starts a program.
//! - `task.fork_by_rss{size=256M,pages=4K}`: how much dearer a fork gets with the memory to be
//!   copied.
//!
//! ## Benchmarks
//! `fork`, `vfork`, `clone_vm` and `clone_thread` are system calls, which differ in what
//! the child shares; `pthread` and `posix_spawn` are the C library's ways; `exec` and `shell`
//! start programs. `first_child` is who runs first, `fork_by_rss` the parent's size, `namespace`
//! and `cgroup_attach` what containers add.
//!
//! ## Disturbances
//! Where the scheduler puts the child: on the same processor or on one that must be woken. Control
//! groups, security modules and huge pages. Children are made by a small process, so that the size
//! of syscost itself plays no part.

mod cgroup_attach;
pub(crate) mod child;
pub(crate) mod clone_thread;
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
