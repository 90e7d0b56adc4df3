//! The signal that stops the tasks of a team.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use syscost_sys::partner::Shared;

use crate::failure::Failure;

/// Set for all tasks of a team when its work is over, because it has ended or one of them has failed. On
/// separate cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Stop {
    is_set: AtomicBool,
    /// The kind of the failure, if a partner has failed: an index into [`KINDS`].
    kind: AtomicUsize,
}

/// The kinds of failures. If several occur, the last in this list counts.
const KINDS: [fn(String) -> Failure; 3] = [Failure::Failed, Failure::Unsupported, Failure::Refuted];

impl Stop {
    /// Whether the work is over.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Stops all tasks.
    pub fn set(&self) {
        self.is_set.store(true, Ordering::Release);
    }

    /// Returns an error once the work is over. For the measuring task, which ends it itself: if it is over
    /// before, a partner has failed, whose own error says why.
    #[inline(always)]
    pub fn check(&self) -> Result<(), Failure> {
        match self.is_set() {
            false => Ok(()),
            true => Err(Failure::Failed("a partner failed".into())),
        }
    }

    /// Stops all tasks because of a partner's failure, and returns the failure.
    pub(super) fn fail(&self, error: impl Into<Failure>) -> Failure {
        let failure = error.into();
        let kind = match failure {
            Failure::Failed(_) | Failure::Broken(_) | Failure::Deferred => 0,
            Failure::Unsupported(_) => 1,
            Failure::Refuted(_) => 2,
        };
        self.kind.fetch_max(kind, Ordering::Relaxed);
        self.set();
        failure
    }
}

/// Stops a team's partners when dropped, or they would run forever.
#[derive(Debug)]
pub(super) struct Stopper(pub(super) Shared<Stop>);

impl Stopper {
    /// The failure of a partner with these words, of the recorded kind.
    pub(super) fn failure(&self, words: String) -> Failure {
        KINDS[self.0.kind.load(Ordering::Relaxed)](words)
    }
}

impl Drop for Stopper {
    fn drop(&mut self) {
        self.0.set();
    }
}
