//! Uncontended atomic operations on 64 bits, and fences.
//!
//! ## Measures
//! One operation after the other on the same cache line, which stays in the core's first-level
//! cache. A `fetch_add` and a `compare_exchange` each find what the one before wrote;
//! `compare_exchange_failure` finds something else and writes nothing. `fence` is the full fence
//! instruction with nothing to order, `fence_by_lock` the locked operation that compilers for
//! x86-64 use instead.
//! ## Does not measure
//! Contention: a line that another core holds costs ten to a hundred times more
//! (`memory.core_to_core`). Fences that wait for pending stores.
//! ## Interpretation
//! On x86-64 `load` and `store` are plain moves, since the processor keeps them in order anyway,
//! and every read-modify-write operation (which includes `store_sequential`, an exchange) drains
//! the store buffer: about 20 core cycles on most cores, whichever it is. Without contention an
//! atomic counter costs these cycles and no more.
//! ## Source
//! Not part of any published experiment; the checksum is the value that the operations left in the cell.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Atomic, Kernel, atomic};

use super::chosen;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "op.atomic",
    title: "Atomic operation, uncontended",
    tags: &[
        "compare and swap",
        "cas",
        "fetch and add",
        "lock prefix",
        "memory fence",
        "memory barrier",
        "mfence",
        "lock-free",
    ],
    cases: Cases::Grid(&[(
        "op",
        &[
            "load",
            "store",
            "store_sequential",
            "fetch_add",
            "exchange",
            "compare_exchange",
            "compare_exchange_failure",
            "fence",
            "fence_by_lock",
        ],
    )]),
    quick: |case| ["fetch_add", "compare_exchange", "fence"].contains(&case.get("op")),
    support: |case| kernel(case).map(drop),
    run: |b| {
        let kernel = kernel(b.case())?;
        b.kernel(&kernel)
    },
    source: include_str!("atomic.rs"),
    ..Benchmark::DEFAULT
};

fn kernel(case: &Case) -> Result<Kernel, Unsupported> {
    atomic(chosen(case, "op", Atomic::ALL, Atomic::name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_atomic_operation_is_a_case() {
        let cases = BENCHMARK.cases.list(&syscost_harness::Here::now());
        let names: Vec<&str> = cases.iter().map(|case| case.get("op")).collect();
        assert_eq!(names, Atomic::ALL.map(Atomic::name));
    }
}
