//! The measuring task's side of a team.

use std::cell::Cell;
use std::rc::Rc;

use crate::bencher::body;
use crate::bencher::laps::Laps;
use crate::failure::Failure;

/// What the measuring task does in a team. A closure `|iterations| ...` is a driver that only makes
/// iterations.
///
/// Everything but the iterations is untimed. After a failure the driver is only dropped.
pub trait Driver {
    /// Maximum iterations of a batch, at least [`Together`](super::Together)'s
    /// hundred: as many as are prepared together.
    const MAX_ITERATIONS: u64 = body::MAX_ITERATIONS;

    /// Whether [`Driver::prepare`] does anything. A batch is then more than its operations, and
    /// none of them is timed individually.
    const IS_PREPARED: bool = false;

    /// Makes exactly this many iterations together with the partners, with as many operations each
    /// as [`Together::per_iteration`](crate::bencher::Together::per_iteration) says.
    fn run(&mut self, iterations: u64) -> Result<(), Failure>;

    /// Called before each batch of [`Together`](super::Together) and before each
    /// operation of [`Together::own_share`](super::Together::own_share). It returns when
    /// every partner has finished the last one and is ready for the next.
    fn prepare(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Called right after each timed batch of [`Together`](super::Together), not
    /// after batches that are only counted.
    fn check(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether others kept the tasks from doing the last batch together, once [`Driver::check`] has
    /// looked: its sample is then tagged.
    fn was_disturbed(&self) -> bool {
        false
    }

    /// The times of the last batch's operations, where its iterations note them at one more reading of
    /// the clock each. Every timed operation then enters the row's histogram, for its tail, and a
    /// iteration is one operation.
    fn laps(&mut self) -> Option<&mut Laps> {
        None
    }

    /// Probes the core of a partner on another machine, before and after what is timed: whether it
    /// is undisturbed. `None` where there is no such partner, or the core cannot be probed.
    fn far_core_is_exclusive(&mut self) -> Result<Option<bool>, Failure> {
        Ok(None)
    }

    /// Ends the partners, which are waited for afterwards. [`Stop`](super::Stop) is already set,
    /// where there is one; partners that sleep have to be woken.
    fn end(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

impl<F: FnMut(u64) -> Result<(), Failure>> Driver for F {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self(iterations)
    }
}

/// A shared place for a result.
pub(super) struct Slot<T>(Rc<Cell<Option<T>>>);

impl<T> Slot<T> {
    pub(super) fn empty() -> Self {
        Self(Rc::default())
    }

    pub(super) fn share(&self) -> Self {
        Self(Rc::clone(&self.0))
    }

    pub(super) fn put(&self, value: T) {
        self.0.set(Some(value));
    }

    pub(super) fn take(&self) -> Result<T, Failure> {
        let missing = || Failure::Broken("has a team that never ended".into());
        self.0.take().ok_or_else(missing)
    }
}

/// A driver of any type, at one indirect call per batch.
pub(super) trait AnyDriver {
    fn run(&mut self, iterations: u64) -> Result<(), Failure>;
    fn prepare(&mut self) -> Result<(), Failure>;
    fn check(&mut self) -> Result<(), Failure>;
    fn was_disturbed(&self) -> bool;
    fn laps(&mut self) -> Option<&mut Laps>;
    fn far_core_is_exclusive(&mut self) -> Result<Option<bool>, Failure>;
    fn end(&mut self) -> Result<(), Failure>;
    /// Puts the driver into its place for the caller.
    fn return_driver(self: Box<Self>);
}

/// A driver that is handed back in the end.
pub(super) struct ReturnedDriver<L> {
    pub(super) driver: L,
    pub(super) back: Slot<L>,
}

impl<L: Driver> AnyDriver for ReturnedDriver<L> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.driver.run(iterations)
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        self.driver.prepare()
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.driver.check()
    }

    fn was_disturbed(&self) -> bool {
        self.driver.was_disturbed()
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        self.driver.laps()
    }

    fn far_core_is_exclusive(&mut self) -> Result<Option<bool>, Failure> {
        self.driver.far_core_is_exclusive()
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.driver.end()
    }

    fn return_driver(self: Box<Self>) {
        self.back.put(self.driver);
    }
}
