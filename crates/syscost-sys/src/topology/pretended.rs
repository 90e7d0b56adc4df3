//! Another machine in the place of this one, for tests of what lists its processors.

use std::cell::RefCell;

use super::Topology;

/// A machine, and the processors of it that may be used.
type Pretended = (&'static Topology, Vec<u32>);

thread_local! {
    static PRETENDED: RefCell<Option<Pretended>> = const { RefCell::new(None) };
}

/// Does work for which this thread takes that machine for its own, in [`Topology::here`] and
/// [`crate::cpu::allowed`]. For tests: a topology is kept for ever, and nothing can be pinned.
pub fn pretending<T>(topology: Topology, allowed: &[u32], work: impl FnOnce() -> T) -> T {
    let machine: Pretended = (Box::leak(Box::new(topology)), allowed.to_vec());
    let before = PRETENDED.replace(Some(machine));
    let done = work();
    PRETENDED.set(before);
    done
}

/// The topology that this thread takes for that of its machine.
pub(super) fn topology() -> Option<&'static Topology> {
    PRETENDED.with_borrow(|machine| Some(machine.as_ref()?.0))
}

/// The processors that this thread believes it may use.
pub(crate) fn allowed() -> Option<Vec<u32>> {
    PRETENDED.with_borrow(|machine| Some(machine.as_ref()?.1.clone()))
}
