//! The same work on many CPUs simultaneously.

pub(crate) mod copies;
mod fault;
mod futex;
mod law;
mod open;
mod pipe;
mod syscall;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    scale: "the same work on many CPUs at once",
    syscall,
    fault,
    futex,
    pipe,
    open,
    law,
};
