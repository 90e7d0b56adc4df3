//! Querying the flags of a descriptor and of an open file.
//!
//! ## Measures
//! fcntl F_GETFD (flags of the descriptor) and F_GETFL (flags of its open file), on a pipe.
//! ## Does not measure
//! Locks, which fcntl also provides (`sync.file_lock`).
//! ## Interpretation
//! Two of the shortest calls that take a descriptor: close to a null call.
//! ## Source
//! libMicro `fcntl_tmp` and `fcntl_ndelay`.

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{FdFlags, fcntl_getfd};
use syscost_harness::prelude::*;

use super::{Bad, must, subject};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "fcntl: descriptor and file flags",
    tags: "f_getfd, f_getfl, file descriptor",
    expect: &[calls(Sysno::FCNTL)],
    ..Benchmark::of::<Fcntl>()
};

const COMMAND: Argument = Argument::at(1, "command");

/// Which flags are queried.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Getfd,
    Getfl,
}

#[derive(Params, Clone)]
struct Fcntl {
    op: Op,
}

impl Measured for Fcntl {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Fcntl { op: Op::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.op {
            Op::Getfd => Profile::Full,
            Op::Getfl => Profile::Standard,
        }
    }

    fn proofs(&self) -> FcntlProofs<Proof> {
        let command = match self.op {
            Op::Getfd => libc::F_GETFD,
            Op::Getfl => libc::F_GETFL,
        };
        let given = ArgumentValue::Always(command as u64);
        FcntlProofs {
            op: Proof::argument(Sysno::FCNTL, COMMAND, given),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let (_reader, writer) = subject::pipe()?;
        match self.op {
            Op::Getfd => plan.measure(Loop::each(|| -> Result<(), Bad> {
                must(fcntl_getfd(&writer)?.contains(FdFlags::CLOEXEC))
            })),
            Op::Getfl => plan.measure(Loop::each(|| -> Result<(), Bad> {
                must(fcntl_getfl(&writer)?.contains(OFlags::WRONLY))
            })),
        }
    }
}
