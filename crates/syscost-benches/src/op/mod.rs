//! Operations of the core itself: arithmetic, vectors, branches and atomic operations.

mod atomic;
mod branch;
mod branch_miss;
mod branch_targets;
mod float;
mod flops;
mod indirect;
mod integer;
mod ramp_up;
mod reorder_buffer;
mod reorder_buffer_size;
mod simd;
mod store_forwarding;

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Kernel, Kind, Operation, Shape, arithmetic};

pub(crate) const GROUP: Group = Group {
    name: "op",
    title: "operations of the core",
    benchmarks: &[
        integer::BENCHMARK,
        float::BENCHMARK,
        simd::BENCHMARK,
        flops::BENCHMARK,
        branch::BENCHMARK,
        branch_miss::BENCHMARK,
        branch_targets::BENCHMARK,
        indirect::BENCHMARK,
        atomic::BENCHMARK,
        store_forwarding::BENCHMARK,
        reorder_buffer::BENCHMARK,
        reorder_buffer_size::BENCHMARK,
        ramp_up::BENCHMARK,
    ],
    hidden: false,
};

/// The element of `all` whose name the case gives for `parameter`.
fn chosen<T: Copy>(
    case: &Case,
    parameter: &str,
    all: impl IntoIterator<Item = T>,
    name: impl Fn(T) -> &'static str,
) -> Result<T, Unsupported> {
    let wanted = case.get(parameter);
    all.into_iter()
        .find(|&one| name(one) == wanted)
        .ok_or_else(|| Unsupported::new(format!("there is no {parameter} `{wanted}`")))
}

/// The kernel of a case with the parameters `op`, `type` and `shape`.
fn arithmetic_kernel(case: &Case) -> Result<Kernel, Unsupported> {
    let operation = chosen(case, "op", Operation::ALL, Operation::name)?;
    let kind = chosen(case, "type", Kind::ALL, Kind::name)?;
    let shape = chosen(case, "shape", Shape::ALL, Shape::name)?;
    arithmetic(operation, kind, shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_reported() {
        let case = Case::new([("op", "guess"), ("type", "i64"), ("shape", "latency")]);
        let reason = arithmetic_kernel(&case).expect_err("no such operation");
        assert_eq!(reason.to_string(), "there is no op `guess`");
    }
}
