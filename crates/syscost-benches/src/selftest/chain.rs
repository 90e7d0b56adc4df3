//! A chain of dependent register additions, one core cycle each by the definition of every core this runs on.
//!
//! ## Measures
//! Whether the clock, the batches and the frequency estimate together reproduce a cost that is
//! known beforehand.
//! ## Does not measure
//! Anything about this machine.
//! ## Interpretation
//! The row must show as many core cycles as the operation has additions.
//! ## Source
//! The idea of avx-turbo: a core's latency of one cycle as its ruler.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{self, Work};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Chain of dependent additions",
    ..Benchmark::of::<SelftestChain>()
};

/// Each addition adds one.
static ADDED: Witness = Witness::of("what an operation adds up to", "kernel");

#[derive(Params, Clone)]
struct SelftestChain {
    /// Additions of the chain.
    adds: u64,
}

impl Measured for SelftestChain {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(SelftestChain { adds: [1, 10, 100] })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        SelftestChainProofs {
            adds: ADDED.expects(self.adds),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let chain = kernel::dependent_adds(self.adds)?;
        let mut outcome = plan.measure(Kernel::of(&chain))?;
        outcome.observe(&ADDED, chain.run(1) / chain.operations_per_iteration());
        Ok(outcome)
    }
}
