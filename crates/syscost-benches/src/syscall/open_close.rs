//! Opening a file and closing it again.
//!
//! ## Measures
//! openat for reading and close, together: walking the path, a file structure, a free descriptor,
//! and giving both back. `file` is this program's own executable, named within its directory;
//! `device` is /dev/null.
//! ## Does not measure
//! Creation of a file (`fs.metadata`), or names that are not in the kernel's cache.
//! ## Interpretation
//! Two calls, and named so: the cost is not split between them. The file system's own open is in
//! `file`, the search for a driver in `device`.
//! ## Source
//! lmbench `lat_syscall open`; libMicro `open` and `close`.
#![allow(unsafe_code)] // close, checked

use std::os::fd::IntoRawFd;

use rustix::fs::{Mode, OFlags, openat};
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall1;

use super::subject::{self, Named};
use super::{Bad, checked};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "openat and close",
    tags: "path lookup, file descriptor, lat_syscall",
    expect: &[calls(Sysno::OPENAT), calls(Sysno::CLOSE)],
    roles: roles!(SyscallOpenClose { of: Named::File } => Role::OpenClose),
    ..Benchmark::of::<SyscallOpenClose>()
};

#[derive(Params, Clone)]
struct SyscallOpenClose {
    of: Named,
}

impl Measured for SyscallOpenClose {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(SyscallOpenClose {
            of: [Named::File, Named::Device]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.of {
            Named::File => Profile::Quick,
            Named::Device | Named::Root => Profile::Full,
        }
    }

    fn proofs(&self) -> SyscallOpenCloseProofs<Proof> {
        SyscallOpenCloseProofs {
            of: self.of.proof(),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let own = subject::own_executable()?;
        let (directory, name) = own.place(self.of)?;
        subject::show_path(&mut plan, Sysno::OPENAT, (directory, name));
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::LARGEFILE;
        let named = ArgumentValue::Always(flags.bits().into());
        plan.expect_argument(Sysno::OPENAT, Argument::at(2, "flags"), named);
        plan.measure(Loop::each(|| -> Result<usize, Bad> {
            let fd = openat(
                directory,
                name,
                OFlags::RDONLY | OFlags::CLOEXEC,
                Mode::empty(),
            )?;
            // SAFETY: the descriptor is given up here and not used again.
            checked(unsafe { syscall1(Sysno::CLOSE, fd.into_raw_fd() as usize) })
        }))
    }
}
