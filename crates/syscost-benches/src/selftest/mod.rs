//! The self-test's positive controls: operations of known cost, measured by `syscost selftest`.

mod chain;
mod ratio;
mod slowdown;
mod spin;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    hidden: true,
    ..SHOWN
};

const SHOWN: Group = group! {
    selftest: "operations of known cost",
    chain,
    spin,
    ratio,
    slowdown,
};

/// The true cost of an operation of the group.
pub struct PositiveControl {
    /// The name of the row.
    pub row: &'static str,
    /// The cost.
    pub cost: Cost,
}

/// A known cost.
pub enum Cost {
    /// This many core cycles.
    CoreCycles(f64),
    /// This many nanoseconds.
    Nanoseconds(f64),
    /// This ratio, computed from other rows.
    Ratio(f64),
}

/// Every row of the group and its true cost.
pub const POSITIVE_CONTROLS: &[PositiveControl] = &[
    PositiveControl {
        row: "selftest.chain{adds=1}",
        cost: Cost::CoreCycles(1.0),
    },
    PositiveControl {
        row: "selftest.chain{adds=10}",
        cost: Cost::CoreCycles(10.0),
    },
    PositiveControl {
        row: "selftest.chain{adds=100}",
        cost: Cost::CoreCycles(100.0),
    },
    PositiveControl {
        row: "selftest.spin{delay=5us}",
        cost: Cost::Nanoseconds(5_000.0),
    },
    PositiveControl {
        row: "selftest.spin{delay=50us}",
        cost: Cost::Nanoseconds(50_000.0),
    },
    PositiveControl {
        row: "selftest.ratio",
        cost: Cost::Ratio(10.0),
    },
];
