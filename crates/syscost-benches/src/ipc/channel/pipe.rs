//! Two pipes.

use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;

use super::by_stream::{PLAIN, Stream};
use super::mechanism::{LARGE, Mechanism, Rows};
use super::{Ends, crossed};

pub(super) const MECHANISM: Mechanism = Mechanism {
    descriptors: "pipe",
    round_trips: Rows::ALL_ROUND_TRIPS,
    bandwidths: Rows {
        free: &[LARGE],
        threads: &[LARGE],
        profile: Profile::Quick,
        ..Rows::LONG_BANDWIDTHS
    },
    ..PLAIN
};

pub(crate) struct Pipe;

impl Stream for Pipe {
    fn open() -> Result<Ends<OwnedFd>, Failure> {
        crossed(|| pipe_with(PipeFlags::CLOEXEC).map_err(|error| Failure::of("make a pipe", error)))
    }
}
