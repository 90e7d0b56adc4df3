//! The same work on many CPUs simultaneously.

pub(crate) mod copies;
mod fault;
mod futex;
mod law;
mod open;
mod pipe;
mod syscall;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "scale",
    title: "the same work on many CPUs at once",
    benchmarks: &[
        syscall::BENCHMARK,
        fault::BENCHMARK,
        futex::BENCHMARK,
        pipe::BENCHMARK,
        open::BENCHMARK,
        law::BENCHMARK,
    ],
    hidden: false,
};
