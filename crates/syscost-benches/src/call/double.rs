//! A call with 1 or 8 floating-point arguments, and its return.
//!
//! ## Measures
//! Loading 64-bit floating-point numbers from the first-level cache into the registers that the
//! calling convention names, the call, a procedure that doubles its argument (or returns the
//! eighth), the return, and adding up the results.
//! ## Does not measure
//! Arguments past the registers, saving registers, and cold code (`call.first`).
//! ## Interpretation
//! Compare with `call.integer`: the convention costs the same, the loads are hidden by the branches
//! or limited by how many the core does in a cycle.
//! ## Source
//! The call-and-switch experiment's f(double).

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Call, call};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Function call, floating-point arguments",
    tags: "procedure call, call overhead, calling convention",
    ..Benchmark::of::<CallDouble>()
};

/// Arguments of the procedure.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Arguments {
    #[value("1")]
    One,
    #[value("8")]
    Eight,
}

#[derive(Params, Clone)]
struct CallDouble {
    arguments: Arguments,
}

impl Measured for CallDouble {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(CallDouble {
            arguments: Arguments::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.arguments {
            Arguments::One => Profile::Full,
            Arguments::Eight => Profile::Standard,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        call(self.call()).map(drop)
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        code::measure(plan, &call(self.call())?)
    }

    fn proofs(&self) -> CallDoubleProofs<Proof> {
        CallDoubleProofs {
            arguments: code::consists_of(self.call().instructions()),
        }
    }
}

impl CallDouble {
    fn call(&self) -> Call {
        match self.arguments {
            Arguments::One => Call::Double,
            Arguments::Eight => Call::EightDoubles,
        }
    }
}
