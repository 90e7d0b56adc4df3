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

use super::subject::{Descriptors, Polling, Waiting};
use super::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "poll of many descriptors",
    tags: "ppoll, i/o multiplexing, event loop, lat_select",
    expect: &[calls(Sysno::PPOLL)],
    ..Benchmark::by::<Polling, Poll>()
};

const COUNT: Argument = Argument::at(1, "number of descriptors");

struct Poll;

impl Waiting for Poll {
    fn waits_for(fds: u64) -> Proof {
        Proof::argument(Sysno::PPOLL, COUNT, ArgumentValue::Always(fds))
    }

    fn measure(row: Polling, plan: Plan) -> Result<Outcome, Failure> {
        let descriptors = Descriptors::make(row.of, row.ready, row.fds)?;
        let mut fds: Vec<PollFd<'_>> = descriptors
            .watched()
            .iter()
            .map(|fd| PollFd::new(fd, PollFlags::IN))
            .collect();
        let mut outcome = plan.measure(Loop::each(|| -> Result<(), Bad> {
            must(rustix::event::poll(&mut fds, None)? == 1)
        }))?;
        let found = fds
            .iter()
            .position(|fd| fd.revents().contains(PollFlags::IN));
        descriptors.show(&mut outcome, found);
        Ok(outcome)
    }
}
