//! The catalogue: every benchmark of syscost, one file per operation.
//!
//! `syscall.null` is `syscall/null.rs`, `net.tcp.connect` is `net/tcp/connect.rs`. A group's
//! `mod.rs` lists its benchmarks in the report's order, by their modules, which are also their ids;
//! a descriptor that is not listed is dead code and does not compile.

#[macro_use]
mod catalogue;

pub mod bill;
mod call;
pub mod command;
mod fs;
mod implied;
mod ipc;
mod liar;
mod lmbench;
mod memory;
mod net;
mod op;
mod ratio;
mod scale;
pub mod selftest;
mod sides;
mod signal;
#[cfg(feature = "studies")]
mod study;
mod switch;
mod sync;
mod syscall;
mod task;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod timing;
mod witness;

use syscost_harness::{Catalogue, Group};

pub use liar::{FILE_BYTES, NEGATIVE_CONTROLS, Need, NegativeControl};
pub use lmbench::{LMBENCH, Program};
pub use selftest::POSITIVE_CONTROLS;
#[cfg(feature = "studies")]
pub use study::{HEADER, PROCEDURES, STUDIES, sources as study_sources};

/// The procedures of the published studies: none in this build.
#[cfg(not(feature = "studies"))]
pub const PROCEDURES: &[syscost_harness::Entry] = &[];

const GROUPS: &[Group] = &[
    timing::GROUP,
    call::GROUP,
    op::GROUP,
    memory::GROUP,
    syscall::GROUP,
    signal::GROUP,
    task::GROUP,
    switch::GROUP,
    ipc::GROUP,
    net::GROUP,
    fs::GROUP,
    sync::GROUP,
    scale::GROUP,
    #[cfg(feature = "studies")]
    study::GROUP,
    command::GROUP,
    bill::GROUP,
    selftest::GROUP,
    liar::GROUP,
];

/// Every benchmark of this program. A static, so that what it calls is compiled here, in full: a
/// constant would have generic benchmarks compiled where it is used, in a crate that need not be
/// fast (a message between two spinning tasks took 850 ns instead of 600).
pub static CATALOGUE: Catalogue = Catalogue::new(GROUPS);
