//! Shared: the tiny program, and the pipe through which each run of it leaves a marker.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;
use syscost_sys::tiny::{MARKER, TinyProgram};

use super::command::Command;

/// The program and its pipe.
pub(crate) struct Marked {
    program: TinyProgram,
    markers: OwnedFd,
    /// The program's end of the pipe, inherited by the task that executes it.
    _reports: OwnedFd,
}

impl Marked {
    /// The program, executed once as a trial.
    pub(crate) fn new() -> Result<Self, Failure> {
        // Reading from this pipe never waits: a marker has come when its program has ended, or never will.
        let (markers, reports) = pipe_with(PipeFlags::NONBLOCK).tried("make a pipe for markers")?;
        let marked = Self {
            program: TinyProgram::new(reports.as_raw_fd())?,
            markers,
            _reports: reports,
        };
        let trial = Command::plain(marked.path()).spawn();
        let refused = |cause| Failure::Unsupported(format!("execute a program in memory: {cause}"));
        trial.map_err(refused)?.ends_with(0)?;
        marked.take()?;
        Ok(marked)
    }

    pub(crate) fn path(&self) -> &CStr {
        self.program.path()
    }

    /// The descriptor from which markers are read.
    pub(crate) fn markers(&self) -> RawFd {
        self.markers.as_raw_fd()
    }

    /// Takes the marker of the one run that has ended.
    pub(crate) fn take(&self) -> Result<(), Failure> {
        let mut bytes = [0; 2];
        match rustix::io::read(&self.markers, &mut bytes) {
            Ok(1) if bytes[0] == MARKER => Ok(()),
            Ok(_) => Err(Failure::of("reading the marker", "other bytes were there")),
            Err(_) => Err(Failure::of("reading the marker", "the program left none")),
        }
    }
}
