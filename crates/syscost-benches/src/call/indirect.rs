//! A call to a procedure that is only known at run time.
//!
//! ## Measures
//! `pointer`: through a register. `plt`: to another library's procedure, by a stub that jumps
//! through a slot, as linkers make it, the slot being filled already. `virtual`: from the object to
//! its table of methods, to the method, which reads a field. `table`: through one of sixteen
//! pointers, by a table of bytes made anew for every round: always the same one
//! (`predicted`), or a random one (`unpredicted`); the instructions of these two are the same.
//! ## Does not measure
//! Resolving a symbol at its first call, and what a compiler loses because it cannot inline.
//! ## Interpretation
//! A correctly predicted target costs hardly more than a direct call
//! (`call.integer`). An unpredictable one costs a misprediction (`op.branch_miss`) 15 times in 16,
//! whatever the call goes through. The returns are predicted in every case.
//! ## Source
//! libMicro's calls of a local and of a library's procedure.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Call, Targets, call};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Indirect function call",
    tags: "procedure call, function pointer, virtual function, virtual call, vtable, plt, \
        dynamic linking, shared library",
    ..Benchmark::of::<CallIndirect>()
};

/// How the procedure is found.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Pointer,
    Plt,
    Virtual,
    Table,
}

/// Whether the core can predict which procedure is called.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Predicted,
    Unpredicted,
}

#[derive(Params, Clone)]
struct CallIndirect {
    via: Via,
    target: Target,
}

impl Measured for CallIndirect {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let predicted = rows!(CallIndirect {
            via: Via::ALL,
            target: [Target::Predicted]
        });
        let unpredicted = rows!(CallIndirect {
            via: [Via::Table],
            target: [Target::Unpredicted]
        });
        [predicted, unpredicted].concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.via {
            Via::Virtual => Profile::Quick,
            Via::Pointer | Via::Plt | Via::Table => Profile::Standard,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        call(self.call(0)).map(drop)
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let seed = plan.random().u64(..);
        code::measure(plan, &call(self.call(seed))?)
    }

    fn proofs(&self) -> CallIndirectProofs<Proof> {
        CallIndirectProofs {
            via: code::consists_of(self.call(0).instructions()),
            target: code::leads_elsewhere(self.target == Target::Unpredicted),
        }
    }
}

impl CallIndirect {
    fn call(&self, seed: u64) -> Call {
        let targets = match self.target {
            Target::Predicted => Targets::Same,
            Target::Unpredicted => Targets::Random(seed),
        };
        match self.via {
            Via::Pointer => Call::Pointer,
            Via::Plt => Call::LinkageStub,
            Via::Virtual => Call::Virtual,
            Via::Table => Call::PointerByTable(targets),
        }
    }
}
