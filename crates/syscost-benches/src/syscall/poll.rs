//! Waiting with poll for one of many descriptors.
//!
//! ## Measures
//! ppoll without a time limit over 10, 100 and 500 descriptors, each its own pipe or loopback
//! connection, of which the first or the last is readable.
//! ## Does not measure
//! Sleep and wake-up (`switch.*`): every call returns immediately.
//! ## Interpretation
//! All descriptors are copied in, looked up and polled, so the cost grows with their number; the
//! slope is the price of one. `last` is more expensive than `first`: until something readable is
//! found, the caller is put on each descriptor's wait queue, and removed again at the end. Tools
//! that poll with a time limit of 0 never pay for queues: compare them with `first`.
//! ## Source
//! lmbench `lat_select`; LEBench poll; libMicro `poll_100`.

use rustix::event::{PollFd, PollFlags};
use syscost_harness::prelude::*;

use super::subject::{Descriptors, FDS, Kind, Ready, profile};
use super::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "syscall.poll",
    title: "poll of many descriptors",
    tags: &["ppoll", "i/o multiplexing", "event loop", "lat_select"],
    expect: &[calls(Sysno::PPOLL)],
    source: include_str!("poll.rs"),
    ..Benchmark::of::<Row>()
};

const COUNT: Argument = Argument {
    position: 1,
    name: "number of descriptors",
};

#[derive(Params, Clone)]
struct Row {
    of: Kind,
    ready: Ready,
    /// Descriptors that are waited for.
    fds: u64,
}

impl Measured for Row {
    fn rows(_: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            of: Kind::ALL,
            ready: Ready::ALL,
            fds: FDS
        })
    }

    fn profile(&self, _: &Here) -> Profile {
        profile(self.of, self.ready, self.fds)
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        let descriptors = Descriptors::make(self.of, self.ready, self.fds)?;
        let mut fds: Vec<PollFd<'_>> = descriptors
            .watched()
            .iter()
            .map(|fd| PollFd::new(fd, PollFlags::IN))
            .collect();
        b.expect_argument(Sysno::PPOLL, COUNT, ArgumentValue::Always(self.fds));
        b.try_iter(|| -> Result<(), Bad> { must(rustix::event::poll(&mut fds, None)? == 1) })?;
        let found = fds
            .iter()
            .position(|fd| fd.revents().contains(PollFlags::IN));
        descriptors.claim(b, self.of, self.fds, found);
        Ok(())
    }
}
