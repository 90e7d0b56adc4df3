//! Two pipes.

use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;

use super::by_stream::Stream;
use super::{Ends, crossed};

pub(crate) struct Pipe;

impl Stream for Pipe {
    fn open() -> Result<Ends<OwnedFd>, Failure> {
        crossed(|| pipe_with(PipeFlags::CLOEXEC).map_err(|error| Failure::of("make a pipe", error)))
    }
}
