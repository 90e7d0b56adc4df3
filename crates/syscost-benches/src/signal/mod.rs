//! Signals: installing handlers, blocking signals, catching them.

mod catch;
mod install;
mod mask;
pub(crate) mod own;
mod protection_fault;
mod sigwait;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    signal: "signals",
    install,
    mask,
    catch,
    protection_fault,
    sigwait,
};
