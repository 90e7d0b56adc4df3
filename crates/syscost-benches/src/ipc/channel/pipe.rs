//! Two pipes.

use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;

use super::by_stream::Stream;
use super::mechanism::{ALL, LARGE, LINE, LONG, Mark, Mechanism, Rows, SOME, SOME_LONG};
use super::{Ends, crossed};

pub(super) const MECHANISM: Mechanism = Mechanism {
    mark: Mark::Descriptors("pipe"),
    limit: None,
    round_trips: Rows {
        same: ALL,
        other: SOME,
        far: &[LINE],
        free: &[LINE],
        threads: &[LINE],
        ..Rows::ROUND_TRIPS
    },
    bandwidths: Rows {
        same: LONG,
        other: SOME_LONG,
        free: &[LARGE],
        threads: &[LARGE],
        profile: Profile::Quick,
        ..Rows::BANDWIDTHS
    },
};

pub(crate) struct Pipe;

impl Stream for Pipe {
    fn open() -> Result<Ends<OwnedFd>, Failure> {
        crossed(|| pipe_with(PipeFlags::CLOEXEC).map_err(|error| Failure::of("make a pipe", error)))
    }
}
