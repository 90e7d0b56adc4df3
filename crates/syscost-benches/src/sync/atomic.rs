//! Atomic additions to one number by several threads simultaneously.
//!
//! ## Measures
//! Several threads, each on a separate CPU, add one to the same number as fast as they can:
//! `fetch_add` by the instruction of that name, `compare_exchange` by a loop of
//! compare-and-exchange that tries until it succeeds. `exchange` takes the number and puts what it
//! took before, plus one, in its place; after 31 of these it adds what it still holds and draws the
//! next 32 from a counter, so that one addition in 32 is to another line. The result is the time
//! per addition of all threads together.
//! ## Does not measure
//! Uncontended additions
//! (`op.atomic`). Plain loads and stores: a line that one core writes and another reads is a message of `memory.core_to_core`,
//! one that two cores write is `memory.false_sharing`.
//! ## Interpretation
//! Compare with `op.atomic`: the difference is what it costs to move the cache line between cores,
//! shared by as many additions as a core makes before it loses the line again. The details
//! `least_share_percent` and `largest_share_percent` are the shares of the least and the most
//! served thread, in percent of an equal share of the additions.
//! ## Source
//! The contended counter of many talks on scaling. The final count shows that no addition was lost;
//! an exchange that is not atomic would lose what it took.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use syscost_harness::prelude::*;

use super::Padded;
use super::contention::{self, Adder};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Atomic addition, contended",
    tags: "atomic contention, shared counter, fetch and add, compare and swap, cas, \
        cache line bouncing, lock-free",
    expect: &[contention::KEEP_RUNNING],
    ..Benchmark::of::<SyncAtomic>()
};

static OPERATION: Witness = Witness::of("operation of all threads", "the adder");

/// How a thread adds to the number.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    FetchAdd,
    CompareExchange,
    Exchange,
}

#[derive(Params, Clone)]
struct SyncAtomic {
    op: Op,
    cpus: Placement,
    /// How many threads add at once, each on a separate CPU.
    threads: Copies,
}

impl Measured for SyncAtomic {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(SyncAtomic {
            op: Op::ALL,
            cpus: contention::placements(here),
            threads: contention::threads(cpus, here)
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.op {
            Op::FetchAdd => Profile::Quick,
            Op::CompareExchange | Op::Exchange => Profile::Standard,
        }
    }

    fn proofs(&self) -> SyncAtomicProofs<Proof> {
        let operation = match self.op {
            Op::FetchAdd => "fetch_add",
            Op::CompareExchange => "compare_exchange",
            Op::Exchange => "swap",
        };
        SyncAtomicProofs {
            op: OPERATION.expects(operation),
            cpus: Proof::by_tasks(),
            threads: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        match self.op {
            Op::FetchAdd => self.add::<FetchAdd>(plan),
            Op::CompareExchange => self.add::<CompareExchange>(plan),
            Op::Exchange => self.add::<Exchange>(plan),
        }
    }
}

impl SyncAtomic {
    fn add<A: Named>(self, plan: Plan) -> Result<Outcome, Failure> {
        let mut outcome = contention::measure(plan, self.cpus, self.threads, A::default)?;
        outcome.observe(&OPERATION, A::OPERATION);
        Ok(outcome)
    }
}

/// What an adder adds by.
trait Named: Adder + Default {
    /// The name of the operation that it calls.
    const OPERATION: &str;
}

/// Has an adder call this operation by the very word that it tells: no count distinguishes them.
macro_rules! adds_by {
    ($adder:ident: $operation:ident($($argument:ident),+)($($ordering:ident),+) -> $result:ty) => {
        impl Named for $adder {
            const OPERATION: &str = stringify!($operation);
        }

        impl $adder {
            #[inline(always)]
            fn operate(number: &AtomicU64, $($argument: u64),+) -> $result {
                number.$operation($($argument),+, $($ordering),+)
            }
        }
    };
}

adds_by! { FetchAdd: fetch_add(added)(Relaxed) -> u64 }
adds_by! { CompareExchange: compare_exchange(found, new)(Relaxed, Relaxed) -> Result<u64, u64> }
adds_by! { Exchange: swap(held)(Relaxed) -> u64 }

#[derive(Default)]
#[repr(align(128))]
struct FetchAdd(AtomicU64);

impl Adder for FetchAdd {
    type Error = Infallible;

    #[inline(always)]
    fn add(&self) -> Result<u64, Infallible> {
        Ok(Self::operate(&self.0, 1) + 1)
    }

    fn number(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

#[derive(Default)]
#[repr(align(128))]
struct CompareExchange(AtomicU64);

impl Adder for CompareExchange {
    type Error = Infallible;

    #[inline(always)]
    fn add(&self) -> Result<u64, Infallible> {
        let mut found = self.0.load(Relaxed);
        loop {
            match Self::operate(&self.0, found, found + 1) {
                Ok(_) => return Ok(found + 1),
                Err(other) => found = other,
            }
        }
    }

    fn number(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Adds in stretches, because an exchange alone does not return the current number.
#[derive(Default)]
struct Exchange {
    sum: Padded<AtomicU64>,
    stretches: Padded<AtomicU64>,
}

impl Adder for Exchange {
    type Error = Infallible;
    /// Additions of a stretch.
    const OPERATIONS: u64 = 32;

    #[inline(always)]
    fn add(&self) -> Result<u64, Infallible> {
        let stretch = self.stretches.0.fetch_add(1, Relaxed) + 1;
        let mut held = 0;
        for _ in 1..Self::OPERATIONS {
            held = Self::operate(&self.sum.0, held + 1);
        }
        self.sum.0.fetch_add(held + 1, Relaxed);
        Ok(stretch)
    }

    fn number(&self) -> u64 {
        self.sum.0.load(Relaxed) / Self::OPERATIONS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_lose_nothing_between_threads() {
        let adder = Exchange::default();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..1000).try_for_each(|_| adder.add().map(drop)));
            }
        });
        assert_eq!(
            (adder.number(), adder.stretches.0.load(Relaxed)),
            (2000, 2000)
        );
    }
}
