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
use syscost_sys::kernel::{Atomic, atomic};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Atomic operation, uncontended",
    tags: "compare and swap, cas, fetch and add, lock prefix, memory fence, memory barrier, \
        mfence, lock-free",
    roles: roles!(OpAtomic { op: Atomic::FetchAdd } => Role::AtomicAddition),
    ..Benchmark::of::<OpAtomic>()
};

#[derive(Params, Clone)]
struct OpAtomic {
    op: Atomic,
}

impl Measured for OpAtomic {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(OpAtomic { op: Atomic::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.op {
            Atomic::FetchAdd | Atomic::CompareExchange | Atomic::Fence => Profile::Quick,
            Atomic::Load
            | Atomic::Store
            | Atomic::StoreSequential
            | Atomic::Exchange
            | Atomic::CompareExchangeFailure
            | Atomic::FenceByLock => Profile::Standard,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        atomic(self.op).map(drop)
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        code::measure(plan, &atomic(self.op)?)
    }

    fn proofs(&self) -> OpAtomicProofs<Proof> {
        OpAtomicProofs {
            op: code::consists_of(self.op.instructions()),
        }
    }
}
