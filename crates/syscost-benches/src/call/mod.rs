//! Procedure calls and their returns.

mod double;
mod first;
mod indirect;
pub(crate) mod integer;
mod recursion;
mod struct_argument;
mod struct_return;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "call",
    title: "procedure calls",
    benchmarks: &[
        integer::BENCHMARK,
        double::BENCHMARK,
        struct_argument::BENCHMARK,
        struct_return::BENCHMARK,
        indirect::BENCHMARK,
        first::BENCHMARK,
        recursion::BENCHMARK,
    ],
    hidden: false,
};

/// The size of a structure in bytes.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    #[value("16")]
    Small,
    #[value("64")]
    Large,
}
