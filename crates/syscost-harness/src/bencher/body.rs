//! What a pass runs: a measured loop, and the checks around it that are not timed.

use syscost_sys::Unsupported;
use syscost_sys::counters::{TaskReading, Usage};
use syscost_sys::kernel::Work;

use super::laps::Laps;
use crate::failure::Failure;

/// Maximum number of iterations in a batch. A batch that is still too short does no work: the
/// compiler folded it.
pub(super) const MAX_ITERATIONS: u64 = 1 << 36;

/// A measured loop of a given number of iterations.
///
/// The timed pass is compiled for each of them, the evidence pass once, for `dyn Body`: an indirect
/// call shortly before a batch changes what the batch costs (docs/ARCHITECTURE.md, "Decisions").
pub(super) trait Body {
    /// Maximum number of iterations in one batch.
    fn max_iterations(&self) -> u64 {
        MAX_ITERATIONS
    }

    /// Before the clock is read.
    fn before(&mut self, _iterations: u64) {}

    /// Between the two readings.
    fn run(&mut self, iterations: u64) -> Result<(), Failure>;

    /// After the clock was read.
    fn after(&mut self, _iterations: u64) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether others disturbed the last batch, as the tasks of an operation noticed themselves.
    fn was_disturbed(&self) -> bool {
        false
    }

    /// Whether preparing a batch is work of its own, so that a batch is more than its operations.
    fn is_prepared(&self) -> bool {
        false
    }

    /// What it does with a process that it asks, without any iterations: what this costs is
    /// subtracted where calls are counted.
    fn idle(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// How long the last batch took, in ns, where another process makes and times it.
    fn took_ns(&self) -> Option<f64> {
        None
    }

    /// What the kernel has counted for that process.
    fn usage(&self) -> Option<Result<Usage, Unsupported>> {
        None
    }

    /// What the kernel has counted so far for all tasks of the operation, where all of them are on one CPU.
    fn counted(&self) -> Option<TaskReading> {
        None
    }

    /// The times of the last batch's operations, where they are recorded.
    fn laps(&mut self) -> Option<&mut Laps> {
        None
    }

    /// Whether the core of a task on another machine is undisturbed; `None` where there is no such
    /// task or its core cannot be observed.
    fn far_core_is_exclusive(&mut self) -> Result<Option<bool>, Failure> {
        Ok(None)
    }

    /// Makes iterations that warm up the caches for those that are timed next. Nothing is checked
    /// after them, since a check would leave its own data in the caches.
    fn warm_up(&mut self, iterations: u64) -> Result<(), Failure> {
        if iterations == 0 {
            return Ok(());
        }
        self.before(iterations);
        self.run(iterations)
    }
}

impl<F: FnMut(u64) -> Result<(), Failure>> Body for F {
    #[inline(always)]
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self(iterations)
    }
}

/// A loop with an untimed preparation before each batch.
pub struct PreparedBody<P, F> {
    prepare: P,
    body: F,
    max_iterations: u64,
    prepared: Result<(), Failure>,
}

impl<P, F> PreparedBody<P, F> {
    pub(super) fn new(max_iterations: u64, prepare: P, body: F) -> Self {
        Self {
            prepare,
            body,
            max_iterations,
            prepared: Ok(()),
        }
    }
}

impl<P, F> Body for PreparedBody<P, F>
where
    P: FnMut(u64) -> Result<(), Failure>,
    F: FnMut(u64) -> Result<(), Failure>,
{
    fn max_iterations(&self) -> u64 {
        self.max_iterations
    }

    fn before(&mut self, iterations: u64) {
        self.prepared = (self.prepare)(iterations);
    }

    #[inline(always)]
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        match &self.prepared {
            Ok(()) => (self.body)(iterations),
            Err(failure) => Err(failure.clone()),
        }
    }

    fn is_prepared(&self) -> bool {
        true
    }
}

/// A kernel whose checksum is compared after every batch.
pub(super) struct KernelBody<'a, W> {
    kernel: &'a W,
    expected: u64,
    sum: u64,
}

impl<'a, W: Work> KernelBody<'a, W> {
    pub(super) fn new(kernel: &'a W) -> Self {
        Self {
            kernel,
            expected: 0,
            sum: 0,
        }
    }
}

impl<W: Work> Body for KernelBody<'_, W> {
    fn before(&mut self, iterations: u64) {
        self.expected = self.kernel.expected(iterations);
    }

    #[inline(always)]
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.sum = self.kernel.run(iterations);
        Ok(())
    }

    fn after(&mut self, iterations: u64) -> Result<(), Failure> {
        if self.sum == self.expected {
            return self.kernel.check().map_err(Failure::Refuted);
        }
        Err(Failure::Refuted(format!(
            "the kernel's checksum is {}, expected {} (iterations: {iterations})",
            self.sum, self.expected
        )))
    }
}
