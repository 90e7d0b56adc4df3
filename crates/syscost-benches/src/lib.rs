//! The catalogue: every benchmark of syscost, one file per operation.
//!
//! `syscall.null` is `syscall/null.rs`, `net.tcp.connect` is `net/tcp/connect.rs`. A group's
//! `mod.rs` lists its benchmarks in the report's order, by their modules, which are also their ids;
//! a descriptor that is not listed is dead code and does not compile.

#[macro_use]
mod catalogue;

mod call;
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
mod study;
mod switch;
mod sync;
mod syscall;
mod task;
#[cfg(test)]
mod testing;
mod timing;
mod witness;

use syscost_harness::{Catalogue, Group};

pub use liar::{FILE_BYTES, NEGATIVE_CONTROLS, Need, NegativeControl};
pub use lmbench::{LMBENCH, Program};
pub use selftest::POSITIVE_CONTROLS;
pub use study::{HEADER, PROCEDURES, STUDIES, sources as study_sources};

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

/// Every benchmark of this program. A static, so that what it calls is compiled here, in full: a
/// constant would have generic benchmarks compiled where it is used, in a crate that need not be
/// fast (a message between two spinning tasks took 850 ns instead of 600).
pub static CATALOGUE: Catalogue = Catalogue::new(GROUPS);

#[cfg(test)]
mod tests {
    use syscost_harness::session::Profile;
    use syscost_harness::{Case, Entry, Row};
    use syscost_results::{Role, numbers, summary};

    use super::*;

    /// A quick run gives each of its rows many processes within seconds, which is possible for some eighty
    /// rows, half of which exist on every machine.
    #[test]
    fn a_quick_run_has_some_rows_of_every_group_and_not_many() {
        let mut on_every_machine = 0;
        for group in GROUPS.iter().filter(|group| !group.hidden) {
            let mut of_group = 0;
            for benchmark in group.benchmarks {
                let cases = (benchmark.cases)(&syscost_harness::Here::plain());
                let is_quick =
                    |case: &&Case| Profile::first_with(benchmark, case) == Profile::Quick;
                let quick = cases.iter().filter(is_quick).count();
                of_group += quick;
                if !benchmark.depends_on_machine {
                    on_every_machine += quick;
                }
            }
            assert!(of_group > 0, "{}", group.name);
        }
        assert!((35..=80).contains(&on_every_machine), "{on_every_machine}");
    }

    /// A default run measures what people read, with several processes a row within its budget; every
    /// benchmark has some row in it, besides those that only compute what a full run measures, and one
    /// that takes long.
    #[test]
    fn a_default_run_has_a_part_of_every_benchmark() {
        let rows = Catalogue::rows(CATALOGUE.benchmarks(), &syscost_harness::Here::plain());
        let usual: Vec<&Row> = rows
            .iter()
            .filter(|row| Profile::Standard.measures(row))
            .collect();
        for benchmark in CATALOGUE.benchmarks() {
            let left_out = ["net.model", "fs.contention_law", "fs.cache_size"];
            let is_left_out = left_out.contains(&benchmark.id);
            let is_there = usual.iter().any(|row| row.benchmark.id == benchmark.id);
            assert_eq!(is_there, !is_left_out, "{}", benchmark.id);
        }
        let of_every_machine = usual
            .iter()
            .filter(|row| !row.benchmark.depends_on_machine)
            .count();
        assert!(
            (180..=260).contains(&of_every_machine),
            "{of_every_machine}"
        );
    }

    #[test]
    fn a_computed_row_has_sources_in_each_profile_that_measures_it() {
        let rows = Catalogue::rows(CATALOGUE.benchmarks(), &syscost_harness::Here::plain());
        for row in rows
            .iter()
            .filter(|row| row.benchmark.computation.is_some())
        {
            let sources = || rows.iter().filter(|other| row.is_computed_from(other));
            // Those of a far end or of several CPUs are only where these are.
            if sources().next().is_none() {
                continue;
            }
            for profile in Profile::ALL.into_iter().filter(|one| one.measures(row)) {
                let is_measured = sources().any(|source| profile.measures(source));
                assert!(is_measured, "{} {}", profile.name(), row.name());
            }
        }
    }

    /// What reports ask for is some row's. Without a second CPU or a far end some rows are not there.
    #[test]
    fn every_role_is_declared_by_one_benchmark_and_is_one_row_s() {
        // Points of curves, CPUs and pairs of them, sets of vector instructions.
        let repeated = [
            Role::Load,
            Role::RandomLoad,
            Role::Readers,
            Role::ReadersLaw,
            Role::CoreToCore,
            Role::ReadBandwidth,
            Role::NfsServer,
            Role::Noise,
            Role::SharedCore,
            Role::CoreFrequency,
        ];
        let rows = Catalogue::rows(CATALOGUE.benchmarks(), &syscost_harness::Here::plain());
        for role in Role::ALL {
            let declaring = CATALOGUE.benchmarks().filter(|one| one.stands_for(role));
            let declaring: Vec<&Entry> = declaring.collect();
            let [benchmark] = *declaring else {
                panic!("{role:?} is declared {} times", declaring.len());
            };
            let count = rows.iter().filter(|row| row.stands_for(role)).count();
            let may_lack_it = benchmark.depends_on_machine;
            assert!(count > 0 || may_lack_it, "no row stands for {role:?}");
            assert!(count <= 1 || repeated.contains(&role), "{role:?}: {count}");
        }
    }

    #[test]
    fn lists_of_numbers_have_rows_in_the_runs_that_show_them() {
        let rows = Catalogue::rows(CATALOGUE.benchmarks(), &syscost_harness::Here::plain());
        let measured_in = |role: Role| {
            let of_role = rows.iter().filter(|row| row.stands_for(role));
            of_role.map(Row::profile).min()
        };
        for (role, title) in numbers::titles() {
            let is_of_far_end = [Role::FarEndRoundTrip, Role::FarEndStream].contains(&role);
            let first = measured_in(role);
            let is_there = first.is_some_and(|profile| profile <= Profile::Standard);
            assert!(is_there || is_of_far_end, "{title}: {first:?}");
        }
        // What no machine without a second CPU has, can only be known on one that has.
        for (role, title) in summary::titles() {
            let instead = role.stand_in().and_then(measured_in);
            let first = measured_in(role).into_iter().chain(instead).min();
            assert!(
                first.is_none_or(|first| first == Profile::Quick),
                "{title}: {first:?}"
            );
        }
    }
}
