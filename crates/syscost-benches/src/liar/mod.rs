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

/// A benchmark that lies.
pub struct NegativeControl {
    /// Its id, which is the name of its row.
    pub id: &'static str,
    /// The status that it must get.
    pub expected: Status,
    /// What it needs; where this is missing, it may say so.
    pub needs: &'static [Need],
}

/// What not every machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Two CPUs.
    TwoCpus,
    /// Room for a file of [`FILE_BYTES`].
    File,
}

/// Size of the file that some write, in bytes.
pub const FILE_BYTES: u64 = 256 << 10;

/// The group and its controls: each module with the status that it must get, and what it needs.
macro_rules! controls {
    ($($module:ident: $status:ident $(needs $need:ident)?,)+) => {
        pub(crate) const GROUP: Group = Group {
            hidden: true,
            ..group! { liar: "benchmarks that lie", $($module,)+ }
        };

        /// Each negative control, in the order of the group.
        pub const NEGATIVE_CONTROLS: &[NegativeControl] = &[$(NegativeControl {
            id: id!(liar::$module),
            expected: Status::$status,
            needs: &[$(Need::$need)?],
        }),+];
    };
}

controls! {
    nothing: Withheld,
    vdso: Withheld,
    fails_later: Failed,
    folded: Withheld,
    sleeps: Withheld,
    faults: Withheld,
    not_huge: Withheld,
    warm_file: Withheld needs File,
    buffered_file: Withheld needs File,
    wrong_sum: Withheld,
    spins: Withheld needs TwoCpus,
    elsewhere: Withheld needs TwoCpus,
    yields_alone: Withheld,
    yields_often: Withheld,
    drops: Failed,
    discards: Withheld,
    empty_echo: Withheld,
    full_backlog: Withheld,
    skips_lines: Withheld,
    untouched: Withheld,
    crash: Failed,
    hang: Failed,
    fork_fails: Failed,
    exec_missing: Failed,
}
