//! Atomic operations of one thread on a cache line that no other core uses.

use syscost_params::Value;

use super::{Checksum, Kernel, machine};
use crate::Unsupported;

/// The atomic operation, on 64 bits, always at the same address.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomic {
    /// Sequentially consistent load.
    Load,
    /// Relaxed store: the machine's plain store.
    Store,
    /// Sequentially consistent store.
    StoreSequential,
    /// Add, returning the value before it.
    FetchAdd,
    /// Exchange.
    Exchange,
    /// Compare and exchange that finds what it expects; each expects what the one before it wrote.
    CompareExchange,
    /// Compare and exchange that finds another value and writes nothing.
    CompareExchangeFailure,
    /// Full fence with nothing to order (`mfence`, `dmb ish`).
    Fence,
    /// Full fence as x86-64 compilers write it: a locked operation that changes nothing on the stack.
    FenceByLock,
}

impl Atomic {
    /// The instructions that its name stands for here, as [`Kernel::instructions`] lists them.
    pub fn instructions(self) -> &'static str {
        machine::atomic::instructions(self)
    }
}

/// The cell's value where the kernel only reads it.
const FOUND: u64 = 3;

/// Returns the kernel of an atomic operation.
///
/// # Errors
/// The processor has no such operation.
pub fn atomic(atomic: Atomic) -> Result<Kernel, Unsupported> {
    let code = machine::atomic::atomic(atomic)?;
    let per_iteration = match atomic {
        Atomic::Load | Atomic::CompareExchangeFailure => FOUND,
        Atomic::FetchAdd | Atomic::CompareExchange => code.operations(),
        // The last value stored is the number of the iteration; a fence only leaves a count.
        _ => 1,
    };
    let floor_cycles = match atomic {
        Atomic::Load | Atomic::Store | Atomic::StoreSequential => 0.2,
        _ => 0.8,
    };
    Ok(Kernel::new(
        code,
        &[FOUND],
        Checksum::PerTurn(per_iteration),
        floor_cycles,
    ))
}
