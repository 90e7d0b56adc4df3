//! Querying the attributes of an open file.
//!
//! ## Measures
//! The system call fstat, of a file in memory and of a pipe: looking up the descriptor and filling
//! in the answer. `call=newfstatat`: the same question by newfstatat with an empty name, which is
//! what the C library's fstat does in glibc since 2.33; in musl it is the system call fstat.
//! ## Does not measure
//! Walking a path (`syscall.stat`).
//! ## Interpretation
//! `syscall.stat` minus this is the price of the name. Recent kernels take a shortcut for an
//! empty name; older ones copy it and look it up.
//! ## Source
//! lmbench `lat_syscall fstat`.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, Stat, fstat, statat};
use syscost_harness::prelude::*;

use super::subject::{self, Object};
use super::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "fstat",
    tags: "file attributes, file descriptor, newfstatat, empty path, lat_syscall",
    ..Benchmark::of::<Fstat>()
};

/// What the descriptor refers to.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    File,
    Pipe,
}

/// The system call, where it is not fstat itself.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Newfstatat,
}

#[derive(Params, Clone)]
struct Fstat {
    of: Of,
    call: Option<Call>,
}

impl Measured for Fstat {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Fstat {
            call: [None, Some(Call::Newfstatat)],
            of: Of::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.of, self.call) {
            (Of::File, None) => Profile::Standard,
            (Of::Pipe, None) | (_, Some(Call::Newfstatat)) => Profile::Full,
        }
    }

    fn proofs(&self) -> FstatProofs<Proof> {
        FstatProofs {
            of: match self.of {
                Of::File => Object::FileInMemory,
                Of::Pipe => Object::Pipe,
            }
            .proof(),
            call: Proof::counted([calls(match self.call {
                None => Sysno::FSTAT,
                Some(Call::Newfstatat) => Sysno::NEWFSTATAT,
            })]),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let (fd, kind) = match self.of {
            Of::File => (subject::file_in_memory()?, FileType::RegularFile),
            Of::Pipe => (subject::pipe()?.0, FileType::Fifo),
        };
        subject::show_kind(&mut plan, fd.as_fd());
        let is_right = |stat: Stat| must(FileType::from_raw_mode(stat.st_mode) == kind);
        match self.call {
            None => plan.measure(Loop::each(|| -> Result<(), Bad> { is_right(fstat(&fd)?) })),
            Some(Call::Newfstatat) => plan.measure(Loop::each(|| -> Result<(), Bad> {
                is_right(statat(&fd, c"", AtFlags::EMPTY_PATH)?)
            })),
        }
    }
}
