//! Procedure calls and their returns.

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
    fn rows(_: &Here) -> Vec<Case<Self>> {
        rows!(Structure { size: Size::ALL })
    }

    fn profile(&self, _: &Here) -> Profile {
        match self.size {
            Size::Small => Profile::Full,
            Size::Large => Profile::Standard,
        }
    }

    fn support(&self, _: &Here) -> Result<(), Unsupported> {
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
