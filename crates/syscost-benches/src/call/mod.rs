//! Procedure calls and their returns.

mod double;
mod first;
mod indirect;
mod integer;
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

/// The error for a case that has no kernel.
fn no_such_case(case: &Case) -> Unsupported {
    Unsupported::new(format!("there is no case {}", case.suffix()))
}
