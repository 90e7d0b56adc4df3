//! A second descriptor for an open file.
//!
//! ## Measures
//! `dup` and the close of its result (two calls), and `dup3` onto a descriptor that is open, which
//! closes that one in the same call (one call). The open file is a pipe.
//! ## Does not measure
//! Growing the descriptor table: there is always room.
//! ## Interpretation
//! `call=dup_close` contains a close that only drops a reference: the file stays open. What a real
//! close costs is in `syscall.open_close`.
//! ## Source
//! libMicro `dup`.
#![allow(unsafe_code)] // close, checked

use std::os::fd::IntoRawFd;

use rustix::io::{DupFlags, dup, dup3};
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall1;

use super::{Bad, checked, subject};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Duplicate a descriptor: dup and close, dup3",
    tags: "file descriptor, dup2",
    ..Benchmark::of::<Dup>()
};

/// The system call.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    DupClose,
    Dup3,
}

#[derive(Params, Clone)]
struct Dup {
    call: Call,
}

impl Measured for Dup {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Dup { call: Call::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.call {
            Call::DupClose => Profile::Standard,
            Call::Dup3 => Profile::Full,
        }
    }

    fn proofs(&self) -> DupProofs<Proof> {
        DupProofs {
            call: match self.call {
                Call::DupClose => Proof::counted([calls(Sysno::DUP), calls(Sysno::CLOSE)]),
                Call::Dup3 => Proof::counted([calls(Sysno::DUP3)]),
            },
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let (reader, mut writer) = subject::pipe()?;
        match self.call {
            Call::Dup3 => {
                plan.measure(Loop::each(|| dup3(&reader, &mut writer, DupFlags::CLOEXEC)))
            }
            Call::DupClose => plan.measure(Loop::each(|| -> Result<usize, Bad> {
                let second = dup(&reader)?;
                // SAFETY: the descriptor is given up here and not used again.
                checked(unsafe { syscall1(Sysno::CLOSE, second.into_raw_fd() as usize) })
            })),
        }
    }
}
