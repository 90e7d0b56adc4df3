//! Procedure calls and their returns.
//!
//! What it costs to call a function within a program: by the number of arguments, the way in which
//! the callee is found, and whether its code is in the caches. These are the cheapest operations
//! of the catalogue, a few cycles each, and what a system call is to be compared with.
//!
//! ## First look
//! - `call.integer{arguments=0}`: a call and its return, a handful of cycles.
//! - `call.indirect{via=pointer,target=predicted}`: through a pointer, with a target that the
//!   processor foresees.
//! - `call.indirect{via=table,target=unpredicted}`: the same with targets that it cannot.
//! - `call.recursion{depth=64,from=two_places}`: calls nested deeper than the processor remembers
//!   returns.
//!
//! ## Benchmarks
//! `integer`, `double`, `struct_argument` and `struct_return` differ in what is passed; `indirect`
//! in how the callee is found; `first` is a function's first call, which loads or faults its code;
//! `recursion` is depth.
//!
//! ## Disturbances
//! Only the core's frequency: compare core cycles (`compare --cycles`) where it wanders.
//! Mitigations such as retpolines concern compiled code and the kernel; these calls are assembly
//! and have none.

mod double;
mod first;
mod indirect;
pub(crate) mod integer;
mod recursion;
mod struct_argument;
mod struct_return;

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Call, call};

use crate::witness::code;

pub(crate) const GROUP: Group = group! {
    call: "procedure calls",
    integer,
    double,
    struct_argument,
    struct_return,
    indirect,
    first,
    recursion,
};

/// The size of a structure in bytes.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    #[value("16")]
    Small,
    #[value("64")]
    Large,
}

/// A way to pass a structure that is a benchmark.
trait Passing {
    /// Its calls, of structures of 16 bytes and of 64.
    const CALLS: [Call; 2];
}

/// The row of a structure that is passed.
#[derive(Params, Clone)]
struct Structure {
    size: Size,
}

impl Structure {
    fn call<P: Passing>(&self) -> Call {
        let [small, large] = P::CALLS;
        match self.size {
            Size::Small => small,
            Size::Large => large,
        }
    }
}

impl<P: Passing> Measured<P> for Structure {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Structure { size: Size::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.size {
            Size::Small => Profile::Full,
            Size::Large => Profile::Standard,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        call(self.call::<P>()).map(drop)
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        code::measure(plan, &call(self.call::<P>())?)
    }

    fn proofs(&self) -> StructureProofs<Proof> {
        StructureProofs {
            size: code::consists_of(self.call::<P>().instructions()),
        }
    }
}
