//! A spin that ends when the kernel's clock has advanced by a known time.
//!
//! ## Measures
//! Whether the calibrated counter agrees with CLOCK_MONOTONIC_RAW, read in the operation itself.
//! ## Does not measure
//! Anything about this machine.
//! ## Interpretation
//! The row must show the time in its name, plus less than one clock reading.
//! ## Source
//! CLOCK_MONOTONIC_RAW through the vDSO.

use rustix::time::{ClockId, clock_gettime};
use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Spin of a known time",
    ..Benchmark::of::<SelftestSpin>()
};

/// Of the batch in which spins took the shortest: others only make them longer.
static LASTED: Witness = Witness::of("time of a spin in ns", "CLOCK_MONOTONIC_RAW").by_most();

#[derive(Params, Clone)]
pub(super) struct SelftestSpin {
    /// How long it spins.
    pub(super) delay: Nanoseconds,
}

impl Measured for SelftestSpin {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(SelftestSpin {
            delay: [Nanoseconds(5_000), Nanoseconds(50_000)]
        })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        let ns = self.delay.0 as f64;
        SelftestSpinProofs {
            delay: LASTED.within(Bound::Within(ns, 4.0 * ns)),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let Nanoseconds(length_ns) = self.delay;
        // One deadline after the other, so that overshoots of spins do not add up over a batch.
        let mut shortest_ns = f64::INFINITY;
        let mut outcome = plan.measure(Loop::batches(1, |n| {
            let start = now_ns();
            let mut now = start;
            for spin in 1..=n {
                while now - start < spin * length_ns {
                    now = now_ns();
                }
            }
            shortest_ns = shortest_ns.min((now - start) as f64 / n as f64);
            Ok(())
        }))?;
        outcome.observe(&LASTED, shortest_ns);
        Ok(outcome)
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::MonotonicRaw);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
