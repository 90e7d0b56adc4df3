//! File systems: reading, writing, names, and what lies below.

mod nfs;
mod nfs_mount;
mod read;
mod remote;
#[allow(dead_code)] // its rows are being written
mod space;

use syscost_harness::directory;
use syscost_harness::prelude::*;

pub(super) const GROUP: Group = Group {
    name: "fs",
    title: "File systems: what reading, writing and naming files costs, cached and not",
    benchmarks: &[
        read::BENCHMARK,
        nfs::BENCHMARK,
        nfs_mount::BENCHMARK,
        remote::BENCHMARK,
    ],
    hidden: false,
};

/// The given cases in each directory: `dir` comes first.
fn in_each_directory(further: &[Case]) -> Vec<Case> {
    let directories = directory::given();
    directories
        .iter()
        .flat_map(|given| {
            further
                .iter()
                .map(|case| case.clone().with_first(directory::KEY, given.label.clone()))
        })
        .collect()
}
