//! A queue that loses every hundredth message, and claims the bandwidth of all.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must fail: the partner finds that a message is missing.
//! ## Source
//! None: it is made up.

use syscost_harness::prelude::*;
use syscost_sys::partner::Between;

use crate::ipc::bandwidth::OneWay;
use crate::ipc::channel::streams::{Streams, pipes};
use crate::ipc::channel::{Channel, Ends};
use crate::ipc::message::Message;
use crate::ipc::traffic::{Tasks, Traffic};
use crate::syscall::Bad;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Queue that drops messages",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let tasks = Tasks {
        between: Between::Processes,
        placement: Placement::SAME,
        size: 4096,
        whole: plan.compares(),
    };
    OneWay::measure(plan, tasks, open)
}

struct Drops {
    pipe: Streams,
    sent: u64,
}

fn open(bytes: usize) -> Result<Ends<Drops>, Failure> {
    let (own, partner) = pipes(bytes)?;
    let end = |pipe| Drops { pipe, sent: 0 };
    Ok((end(own), end(partner)))
}

impl Channel for Drops {
    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        self.sent += 1;
        match self.sent.is_multiple_of(100) {
            true => Ok(message.bytes().len()),
            false => self.pipe.send(message),
        }
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        self.pipe.receive(message)
    }
}
