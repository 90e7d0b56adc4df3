//! Operations that another process makes and times.

use syscost_sys::Unsupported;
use syscost_sys::counters::Usage;

use super::body::Body;
use crate::failure::Failure;

/// Another process on the measuring CPU, which makes the operations and times them itself, because
/// they would cost something else in this one. This process sleeps meanwhile, and probes the core
/// before and after.
pub trait Served {
    /// Maximum number of iterations at once, warm-up included.
    const MAX_ITERATIONS: u64;

    /// Called before each batch, untimed: starts the process where this one has none yet, as in the
    /// audited copies of this process.
    fn prepare(&mut self) -> Result<(), Failure>;

    /// Has it make `warm_up` iterations and then `iterations`; returns how long the latter took, in
    /// ns, or `None` if it cannot tell: then all of them are timed from here. With no iterations at
    /// all it is only asked and answers.
    fn run(&mut self, warm_up: u64, iterations: u64) -> Result<Option<f64>, Failure>;

    /// What the kernel has counted for the process.
    fn usage(&self) -> Result<Usage, Unsupported>;
}

/// A loop of such a process.
pub struct ServedBody<'s, S> {
    served: &'s mut S,
    prepared: Result<(), Failure>,
    warm_up: u64,
    took_ns: Option<f64>,
    /// How often it was asked.
    asked: u64,
}

impl<'s, S> ServedBody<'s, S> {
    pub(super) fn new(served: &'s mut S) -> Self {
        Self {
            served,
            prepared: Ok(()),
            warm_up: 0,
            took_ns: None,
            asked: 0,
        }
    }
}

impl<S: Served> Body for ServedBody<'_, S> {
    fn max_iterations(&self) -> u64 {
        S::MAX_ITERATIONS / 2
    }

    fn before(&mut self, _: u64) {
        self.prepared = self.served.prepare();
    }

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.prepared.clone()?;
        let warm_up = std::mem::take(&mut self.warm_up);
        self.asked += 1;
        self.took_ns = self.served.run(warm_up, iterations)?;
        Ok(())
    }

    fn idle(&mut self) -> Result<(), Failure> {
        self.run(0)
    }

    /// Those of the next batch: between them and the batch the process must not be asked again.
    fn warm_up(&mut self, iterations: u64) -> Result<(), Failure> {
        self.warm_up = iterations;
        Ok(())
    }

    fn took_ns(&self) -> Option<f64> {
        self.took_ns
    }

    fn usage(&self) -> Option<Result<Usage, Unsupported>> {
        // It sleeps until it is asked again, which is not of the operation.
        Some(self.served.usage().map(|used| Usage {
            voluntary_switches: used.voluntary_switches.saturating_sub(self.asked),
            ..used
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sleeps twice in each iteration, and once until it is asked again.
    #[derive(Default)]
    struct Sleeper(u64);

    impl Served for Sleeper {
        const MAX_ITERATIONS: u64 = 8;

        fn prepare(&mut self) -> Result<(), Failure> {
            Ok(())
        }

        fn run(&mut self, warm_up: u64, iterations: u64) -> Result<Option<f64>, Failure> {
            self.0 += 2 * (warm_up + iterations) + 1;
            Ok(None)
        }

        fn usage(&self) -> Result<Usage, Unsupported> {
            Ok(Usage {
                voluntary_switches: self.0,
                ..Usage::default()
            })
        }
    }

    #[test]
    fn a_sleep_until_it_is_asked_again_is_not_of_the_operation() {
        let mut sleeper = Sleeper::default();
        let mut body = ServedBody::new(&mut sleeper);
        for iterations in [1, 0, 4] {
            let slept =
                |body: &ServedBody<'_, Sleeper>| body.usage().unwrap().unwrap().voluntary_switches;
            let before = slept(&body);
            body.run(iterations).unwrap();
            assert_eq!(slept(&body) - before, 2 * iterations);
        }
    }
}
