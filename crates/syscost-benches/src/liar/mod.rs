//! The self-test's negative controls: benchmarks that lie, each in its own way. `syscost selftest`
//! must catch every one of them. The group's and the rows' names, `liar.`, are identities and stay.

mod buffered_file;
mod crash;
mod discards;
mod drops;
mod elsewhere;
mod empty_echo;
mod exec_missing;
mod fails_later;
mod faults;
mod folded;
mod fork_fails;
mod full_backlog;
mod hang;
mod not_huge;
mod nothing;
mod skips_lines;
mod sleeps;
mod spins;
mod untouched;
mod vdso;
mod warm_file;
mod wrong_sum;
mod yields_alone;
mod yields_often;

use syscost_harness::prelude::*;
use syscost_results::Status;

pub(crate) const GROUP: Group = Group {
    name: "liar",
    title: "benchmarks that lie",
    benchmarks: &[
        nothing::BENCHMARK,
        vdso::BENCHMARK,
        fails_later::BENCHMARK,
        folded::BENCHMARK,
        sleeps::BENCHMARK,
        faults::BENCHMARK,
        not_huge::BENCHMARK,
        warm_file::BENCHMARK,
        buffered_file::BENCHMARK,
        wrong_sum::BENCHMARK,
        spins::BENCHMARK,
        elsewhere::BENCHMARK,
        yields_alone::BENCHMARK,
        yields_often::BENCHMARK,
        drops::BENCHMARK,
        discards::BENCHMARK,
        empty_echo::BENCHMARK,
        full_backlog::BENCHMARK,
        skips_lines::BENCHMARK,
        untouched::BENCHMARK,
        crash::BENCHMARK,
        hang::BENCHMARK,
        fork_fails::BENCHMARK,
        exec_missing::BENCHMARK,
    ],
    hidden: true,
};

/// The negative controls that need two CPUs; where there are none, they may say so.
pub const TWO_CPU_NEGATIVE_CONTROLS: &[&str] = &["liar.spins", "liar.elsewhere"];

/// The negative controls that write a file of [`FILE_BYTES`]; where there is no room for it, they
/// may say so.
pub const FILE_NEGATIVE_CONTROLS: &[&str] = &["liar.warm_file", "liar.buffered_file"];

/// Size of that file, in bytes.
pub const FILE_BYTES: u64 = 256 << 10;

/// Each negative control and the status that it must get.
pub const NEGATIVE_CONTROLS: &[(&str, Status)] = &[
    ("liar.nothing", Status::Withheld),
    ("liar.vdso", Status::Withheld),
    ("liar.fails_later", Status::Failed),
    ("liar.folded", Status::Withheld),
    ("liar.sleeps", Status::Withheld),
    ("liar.faults", Status::Withheld),
    ("liar.not_huge", Status::Withheld),
    ("liar.warm_file", Status::Withheld),
    ("liar.buffered_file", Status::Withheld),
    ("liar.wrong_sum", Status::Withheld),
    ("liar.spins", Status::Withheld),
    ("liar.elsewhere", Status::Withheld),
    ("liar.yields_alone", Status::Withheld),
    ("liar.yields_often", Status::Withheld),
    ("liar.drops", Status::Failed),
    ("liar.discards", Status::Withheld),
    ("liar.empty_echo", Status::Withheld),
    ("liar.full_backlog", Status::Withheld),
    ("liar.skips_lines", Status::Withheld),
    ("liar.untouched", Status::Withheld),
    ("liar.crash", Status::Failed),
    ("liar.hang", Status::Failed),
    ("liar.fork_fails", Status::Failed),
    ("liar.exec_missing", Status::Failed),
];
