//! The catalogue: every benchmark of syscost, one file per operation.
//!
//! `syscall.null` is `syscall/null.rs`, `net.tcp.connect` is `net/tcp/connect.rs`. A group's `mod.rs` lists its benchmarks in the report's order; a descriptor that
//! is not listed is dead code and does not compile.

mod call;
mod fs;
mod ipc;
mod liar;
mod lmbench;
mod memory;
mod net;
mod op;
mod scale;
pub mod selftest;
mod sides;
mod signal;
mod study;
mod switch;
mod sync;
mod syscall;
mod task;
#[cfg(test)]
mod testing;
mod timing;

use syscost_harness::{Catalogue, Group};

pub use liar::{FILE_BYTES, FILE_LIARS, LIARS, TWO_CPU_LIARS};
pub use lmbench::{LMBENCH, Program};
pub use selftest::TRUTHS;
pub use study::STUDIES;

/// Every group, in the report's order.
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
    study::GROUP,
    selftest::GROUP,
    liar::GROUP,
];

/// Every benchmark of this program.
pub const CATALOGUE: Catalogue = Catalogue::new(GROUPS);

#[cfg(test)]
mod tests {
    use syscost_harness::Cases;

    use super::*;

    /// A quick run gives each of its rows many processes within seconds: that is so for some eighty
    /// rows, half of which are on every machine.
    #[test]
    fn a_quick_run_has_some_rows_of_every_group_and_not_many() {
        let mut on_every_machine = 0;
        for group in GROUPS.iter().filter(|group| !group.hidden) {
            let mut of_group = 0;
            for benchmark in group.benchmarks {
                let cases = benchmark.cases.list();
                let quick = cases.iter().filter(|case| (benchmark.quick)(case)).count();
                of_group += quick;
                if !matches!(benchmark.cases, Cases::Here(_)) {
                    on_every_machine += quick;
                }
            }
            assert!(of_group > 0, "{}", group.name);
        }
        assert!((35..=80).contains(&on_every_machine), "{on_every_machine}");
    }
}
