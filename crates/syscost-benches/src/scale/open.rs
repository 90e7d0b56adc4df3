//! Opening and closing files on many CPUs simultaneously.
//!
//! ## Measures
//! How many openat for reading with a close all copies make per second together. `of=same`: all
//! open one file. `of=different`: each opens a separate file in the same directory. The files are
//! empty and lie in the temporary directory.
//! ## Does not measure
//! How long one takes: `syscall.open_close`; creation: `fs.metadata`.
//! ## Interpretation
//! An open file is counted in its name (dentry) and inode: copies that open the `same` file pass
//! the cache line with these counts to each other. Threads also share the file descriptor table and
//! its lock, so that they get in each other's way with `different` files, too. The first copy runs
//! on the measured CPU, the others as in `scale.syscall`.
//! ## Source
//! will-it-scale `open1` and `open2`.
#![allow(unsafe_code)] // close, checked

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::fs;
use std::os::fd::IntoRawFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall1;
use syscost_sys::scratch;

use super::copies::{self, MAX_COPIES};
use crate::syscall::{Bad, checked};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "openat and close throughput on many CPUs",
    tags: "scalability, kernel scalability, lock contention, file descriptor, dentry, \
        will-it-scale",
    unit: Unit::OperationsPerSecond,
    better: Better::Higher,
    expect: &[calls(Sysno::OPENAT), calls(Sysno::CLOSE)],
    ..Benchmark::of::<Open>()
};

static FILES: Witness = Witness::of("different files that the copies open", "fstat");

/// The file of each copy.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Same,
    Different,
}

#[derive(Params, Clone)]
pub(super) struct Open {
    pub(super) of: Of,
    /// What the copies are: processes or threads.
    pub(super) r#as: Between,
    pub(super) copies: Copies,
}

impl Measured for Open {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(Open {
            of: Of::ALL,
            r#as: Between::ALL,
            copies: copies::copies(here)
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.r#as {
            Between::Processes => Profile::Standard,
            Between::Threads => Profile::Full,
        }
    }

    fn proofs(&self) -> OpenProofs<Proof> {
        let files = match self.of {
            Of::Same => 1,
            Of::Different => self.copies.0,
        };
        OpenProofs {
            of: FILES.expects(files),
            r#as: Proof::by_tasks(),
            copies: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let Copies(copies) = self.copies;
        let wanted = match self.of {
            Of::Same => 1,
            Of::Different => copies as usize,
        };
        let files = (0..wanted)
            .map(|_| empty_file())
            .collect::<Result<Vec<_>, _>>()?;
        let paths: Vec<CString> = files
            .iter()
            .map(|file| CString::new(file.path().as_os_str().as_bytes()))
            .collect::<Result<_, _>>()
            .tried("name a file")?;
        // The copies know only the paths: the files are removed once, by the measuring task.
        let paths = Arc::new(paths);
        let path_of = move |number: usize| paths[number % paths.len()].clone();
        let inodes = Shared::new([const { AtomicU64::new(0) }; MAX_COPIES])?;
        let theirs = inodes.clone();
        let mut outcome = copies::measure(plan, self.r#as, self.copies, move |number| {
            let path = path_of(number);
            theirs[number].store(inode_of(&path)?, Relaxed);
            Ok(move || -> Result<(), Bad> {
                let fd = openat(CWD, &*path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
                // SAFETY: the descriptor is given up here and not used again.
                checked(unsafe { syscall1(Sysno::CLOSE, fd.into_raw_fd() as usize) }).map(drop)
            })
        })?;
        let opened = inodes.iter().map(|inode| inode.load(Relaxed));
        let opened: BTreeSet<u64> = opened.filter(|inode| *inode > 0).collect();
        outcome.observe(&FILES, opened.len());
        Ok(outcome)
    }
}

fn inode_of(path: &CStr) -> Result<u64, Failure> {
    let failed = |cause| Failure::of("open a file", cause);
    let file =
        openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
    Ok(fstat(&file).map_err(failed)?.st_ino)
}

fn empty_file() -> Result<scratch::File, Failure> {
    let file = scratch::file("open")?;
    fs::write(file.path(), "")
        .map_err(|cause| Failure::of(&format!("write {}", file.path().display()), cause))?;
    Ok(file)
}
