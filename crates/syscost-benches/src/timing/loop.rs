//! One iteration of a loop that does nothing, by the shape of the loop.
//!
//! ## Measures
//! Counting and the branch back, in assembly: a register counting down, a register counting up to a
//! limit, the same with one `nop`, and counter and limit in memory, as a compiler leaves them
//! without optimisation.
//! ## Does not measure
//! Any body. A loop that a compiler optimises is usually gone altogether.
//! ## Interpretation
//! One core cycle per iteration is the rule: the branch back is taken at most once per cycle, on
//! some cores twice in the smallest loops. The counter in memory adds a store-to-load round trip of
//! 4 to 5 cycles on cores that do not rename memory, and nothing on those that do: what an "empty
//! loop" at `-O0` costs is a property of the core, not a baseline to subtract.
//! ## Source
//! The empty loops of the call-and-switch and switch-costs experiments; lmbench's `loop_o`.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{LoopShape, empty_loop};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Empty loop, one iteration",
    tags: "loop overhead, loop_o",
    ..Benchmark::of::<TimingLoop>()
};

#[derive(Params, Clone)]
struct TimingLoop {
    shape: LoopShape,
}

impl Measured for TimingLoop {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(TimingLoop {
            shape: LoopShape::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.shape {
            LoopShape::CountDown => Profile::Standard,
            LoopShape::CountUp | LoopShape::Nop | LoopShape::Memory => Profile::Full,
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        code::measure(plan, &empty_loop(self.shape))
    }

    fn proofs(&self) -> TimingLoopProofs<Proof> {
        TimingLoopProofs {
            shape: code::consists_of(self.shape.instructions()),
        }
    }
}
