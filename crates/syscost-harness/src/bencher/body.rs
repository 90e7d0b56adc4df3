//! What a pass runs: a measured loop, and what is checked around it while no clock runs.

use syscost_sys::kernel::Work;

use crate::failure::Failure;

/// A measured loop of a given number of turns.
pub(super) trait Body {
    /// Before the clock is read.
    fn before(&mut self, _turns: u64) {}

    /// Between the two readings.
    fn run(&mut self, turns: u64) -> Result<(), Failure>;

    /// After the clock was read.
    fn after(&mut self, _turns: u64) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether a turn alone is what a turn of many is.
    fn has_singles(&self) -> bool {
        true
    }

    /// All three, where no time is taken.
    fn turns(&mut self, turns: u64) -> Result<(), Failure> {
        if turns == 0 {
            return Ok(());
        }
        self.before(turns);
        self.run(turns)?;
        self.after(turns)
    }
}

impl<F: FnMut(u64) -> Result<(), Failure>> Body for F {
    #[inline(always)]
    fn run(&mut self, turns: u64) -> Result<(), Failure> {
        self(turns)
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
    fn before(&mut self, turns: u64) {
        self.expected = self.kernel.expected(turns);
    }

    #[inline(always)]
    fn run(&mut self, turns: u64) -> Result<(), Failure> {
        self.sum = self.kernel.run(turns);
        Ok(())
    }

    fn after(&mut self, turns: u64) -> Result<(), Failure> {
        if self.sum == self.expected {
            return self.kernel.check().map_err(Failure::Refuted);
        }
        Err(Failure::Refuted(format!(
            "the kernel's checksum after {turns} turns is {}, expected {}",
            self.sum, self.expected
        )))
    }
}
