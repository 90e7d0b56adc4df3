//! Shared: programs that the scheduler places.

use syscost_harness::prelude::*;
use syscost_sys::cpu;

/// The task and those it starts may run on all CPUs of the run until this is dropped, as if they were
/// never pinned.
pub(crate) struct Unpinned {
    home: u32,
}

impl Unpinned {
    pub(crate) fn new(b: &Bencher) -> Result<Self, Failure> {
        cpu::pin_to(b.allowed()).map_err(|cause| Failure::Failed(cause.to_string()))?;
        Ok(Self { home: b.cpu() })
    }
}

impl Drop for Unpinned {
    fn drop(&mut self) {
        // If that fails, the following samples report that they have moved.
        let _ = cpu::pin(self.home);
    }
}
