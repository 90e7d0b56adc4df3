//! Reading no bytes from a device, a pipe and a file.
//!
//! ## Measures
//! A read call whose length is 0: entry, looking up the descriptor, permission, the way to the
//! file's own read function, and back. Nothing is copied.
//! ## Does not measure
//! Any transfer (`syscall.read_zero` moves one byte).
//! ## Interpretation
//! A pipe notices the length of 0 before it takes its lock; a file in memory looks up its position
//! first. The experiment that measured this kept the shortest run of 100, 1000 and 10000 reads:
//! compare it with the row's minimum.
//! ## Source
//! The clock-read-switch experiment.

use std::os::fd::AsFd;

use rustix::io::read;
use syscost_harness::prelude::*;

use super::subject::{self, Object};
use super::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "read of 0 bytes",
    tags: "system call, file descriptor",
    expect: &[calls(Sysno::READ)],
    ..Benchmark::of::<ReadZeroBytes>()
};

/// What is read.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Zero,
    Pipe,
    File,
}

#[derive(Params, Clone)]
struct ReadZeroBytes {
    of: Of,
}

impl Measured for ReadZeroBytes {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(ReadZeroBytes { of: Of::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.of {
            Of::Zero => Profile::Full,
            Of::Pipe | Of::File => Profile::Standard,
        }
    }

    fn proofs(&self) -> ReadZeroBytesProofs<Proof> {
        ReadZeroBytesProofs {
            of: match self.of {
                Of::Zero => Object::Zero,
                Of::Pipe => Object::Pipe,
                Of::File => Object::FileInMemory,
            }
            .proof(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        // The pipe's other end stays open: without a writer, a read returns the end of the file.
        let (fd, _writer) = match self.of {
            Of::Zero => (subject::ZERO.open()?, None),
            Of::File => (subject::file_in_memory()?, None),
            Of::Pipe => {
                let (reader, writer) = subject::pipe()?;
                (reader, Some(writer))
            }
        };
        let fd = fd.as_fd();
        let mut outcome = plan.measure(Loop::each(|| -> Result<(), Bad> {
            must(read(fd, &mut [0_u8; 0])? == 0)
        }))?;
        // Afterwards: a look at a file changes what its next reads do with its access time.
        subject::show_kind(&mut outcome, fd);
        Ok(outcome)
    }
}
