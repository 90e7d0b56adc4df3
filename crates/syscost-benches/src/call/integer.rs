//! A call with 0 to 8 integer arguments, and its return.
//!
//! ## Measures
//! Putting constants where the calling convention wants them, the call, a procedure that returns
//! its last argument (or 1), the return, and adding up the results. In assembly, so that nothing is
//! inlined or folded.
//! ## Does not measure
//! Saving registers, a stack frame, any work, and cold code (`call.first`).
//! ## Interpretation
//! About the time of the two taken branches; the core overlaps the rest, so arguments in registers
//! hardly show. On x86-64 (System V) arguments 7 and 8 go over the stack: the callee reads what was
//! just stored. Calls that follow each other overlap, and how densely they lie matters to some
//! cores' branch predictors: more arguments can even be cheaper, and a row may have two modes.
//! Published costs of 30 cycles were mostly the timer around a single call.
//! ## Source
//! lmbench `lat_proc`; the call-and-switch (0, 1, 2 and 8 arguments), three-costs (0 to 5) and
//! whole-system (0 to 7) experiments, all without a loop's and a timer's own cost.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Call, call};

use crate::witness::code;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    title: "Function call, integer arguments",
    tags: "procedure call, call overhead, calling convention, argument passing, lat_proc",
    roles: roles!(CallInteger { arguments: 0 } => Role::FunctionCall),
    ..Benchmark::of::<CallInteger>()
};

#[derive(Params, Clone, PartialEq)]
pub(crate) struct CallInteger {
    /// Arguments of the procedure.
    pub(crate) arguments: u64,
}

impl Measured for CallInteger {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(CallInteger { arguments: 0..=8 })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.arguments {
            0 => Profile::Quick,
            6 | 8 => Profile::Standard,
            // They cost the same on every machine so far.
            1.. => Profile::Careful,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        call(Call::Integer(self.arguments)).map(drop)
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        code::measure(plan, &call(Call::Integer(self.arguments))?)
    }

    fn proofs(&self) -> CallIntegerProofs<Proof> {
        CallIntegerProofs {
            arguments: code::consists_of(Call::Integer(self.arguments).instructions()),
        }
    }
}
