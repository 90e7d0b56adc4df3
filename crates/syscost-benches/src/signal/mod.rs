//! Signals: installing handlers, blocking signals, catching them.

mod catch;
mod install;
mod mask;
pub(crate) mod own;
mod protection_fault;
mod sigwait;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "signal",
    title: "signals",
    benchmarks: &[
        install::BENCHMARK,
        mask::BENCHMARK,
        catch::BENCHMARK,
        protection_fault::BENCHMARK,
        sigwait::BENCHMARK,
    ],
    hidden: false,
};
