//! Checking whether a file exists.
//!
//! ## Measures
//! faccessat, the system call of access(2): walking the path as the real user, and checking for
//! existence (F_OK). `file` is this program's own executable, named within its directory; `device`
//! is /dev/null.
//! ## Does not measure
//! Names that are not in the kernel's cache.
//! ## Interpretation
//! Compared to `syscall.stat` of the same name no answer is filled in, but credentials of the real
//! user may have to be created first.
//! ## Source
//! libMicro `access`.

use rustix::fs::{Access, AtFlags, accessat};
use syscost_harness::prelude::*;

use super::subject::{self, Named};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "access by path",
    tags: "faccessat, path lookup, path walk, file permissions",
    expect: &[calls(Sysno::FACCESSAT)],
    ..Benchmark::of::<SyscallAccess>()
};

#[derive(Params, Clone)]
struct SyscallAccess {
    of: Named,
}

impl Measured for SyscallAccess {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(SyscallAccess {
            of: [Named::File, Named::Device]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.of {
            Named::File => Profile::Standard,
            Named::Device | Named::Root => Profile::Full,
        }
    }

    fn proofs(&self) -> SyscallAccessProofs<Proof> {
        SyscallAccessProofs {
            of: self.of.proof(),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let own = subject::own_executable()?;
        let (directory, name) = own.place(self.of)?;
        subject::show_path(&mut plan, Sysno::FACCESSAT, (directory, name));
        plan.measure(Loop::each(|| {
            accessat(directory, name, Access::EXISTS, AtFlags::empty())
        }))
    }
}
