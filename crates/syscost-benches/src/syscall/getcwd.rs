//! Querying the name of the working directory.
//!
//! ## Measures
//! The raw getcwd call in `/` and in `/proc/sys/kernel`, three components and one mount deep. The
//! kernel walks from the directory up to the root and copies each name.
//! ## Does not measure
//! The C library's allocation of the result.
//! ## Interpretation
//! The difference between the cases is three names and a mount point.
//! ## Source
//! libMicro `getcwd`.
#![allow(unsafe_code)] // a raw system call: the safe wrapper allocates

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{chdir, fchdir};
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall2;

use super::{Bad, checked, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "getcwd",
    tags: "working directory, current directory",
    expect: &[calls(Sysno::GETCWD)],
    ..Benchmark::of::<Getcwd>()
};

static DEPTH: Witness = Witness::of(
    "names in the directory that the last call names",
    "getcwd's answer",
);

/// How many directories below the root the working directory is.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    #[value("0")]
    Root,
    #[value("3")]
    Three,
}

#[derive(Params, Clone)]
struct Getcwd {
    depth: Depth,
}

impl Measured for Getcwd {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Getcwd { depth: Depth::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.depth {
            Depth::Root => Profile::Full,
            Depth::Three => Profile::Standard,
        }
    }

    fn proofs(&self) -> GetcwdProofs<Proof> {
        GetcwdProofs {
            depth: DEPTH.expects(match self.depth {
                Depth::Root => 0_u64,
                Depth::Three => 3,
            }),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let path = match self.depth {
            Depth::Root => c"/",
            Depth::Three => c"/proc/sys/kernel",
        };
        let _back = Moved::to(path)?;
        let expected = path.to_bytes_with_nul();
        let mut buffer = [0_u8; 64];
        let mut outcome = plan.measure(Loop::each(|| -> Result<(), Bad> {
            // SAFETY: the buffer has this length, and the kernel writes no more than that.
            let length = checked(unsafe {
                syscall2(Sysno::GETCWD, buffer.as_mut_ptr().addr(), buffer.len())
            })?;
            must(length == expected.len())
        }))?;
        let named = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
        let names = named.to_bytes().split(|&byte| byte == b'/');
        outcome.observe(&DEPTH, names.filter(|name| !name.is_empty()).count());
        Ok(outcome)
    }
}

/// Another working directory until dropped.
struct Moved {
    before: OwnedFd,
}

impl Moved {
    fn to(path: &CStr) -> Result<Self, Failure> {
        let before = open(c".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .tried("open the working directory")?;
        chdir(path).map_err(|error| {
            Failure::Unsupported(format!("cannot go to {}: {error}", path.to_string_lossy()))
        })?;
        Ok(Self { before })
    }
}

impl Drop for Moved {
    fn drop(&mut self) {
        // If it cannot be entered any more, there is nothing to go back to.
        let _ = fchdir(&self.before);
    }
}
