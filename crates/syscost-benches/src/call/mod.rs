//! Procedure calls and their returns.

mod double;
mod first;
mod indirect;
pub(crate) mod integer;
mod recursion;
mod struct_argument;
mod struct_return;

use syscost_harness::prelude::*;
use syscost_sys::kernel::{self, Call, call};

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
    fn kernel<P: Passing>(&self) -> Result<kernel::Kernel, Unsupported> {
        let [small, large] = P::CALLS;
        call(match self.size {
            Size::Small => small,
            Size::Large => large,
        })
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
        self.kernel::<P>().map(drop)
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        plan.measure(Kernel::of(&self.kernel::<P>()?))
    }
}
