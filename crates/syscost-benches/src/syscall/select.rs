//! Waiting with select for one of many descriptors.
//!
//! ## Measures
//! pselect6 without a time limit over 10, 100 and 500 descriptors, each its own pipe or loopback
//! connection, of which the first or the last is readable; and the copy of the set, since select
//! overwrites it.
//! ## Does not measure
//! Sleep and wake-up (`switch.*`): every call returns immediately.
//! ## Interpretation
//! Like `syscall.poll`, with bits instead of structures: the set is small, but every bit up to the
//! highest descriptor is looked at.
//! ## Source
//! lmbench `lat_select`; LEBench select.
#![allow(unsafe_code)] // select takes bare descriptor numbers

use std::os::fd::AsRawFd;

use rustix::event::{FdSetElement, FdSetIter, fd_set_insert, fd_set_num_elements};
use syscost_harness::prelude::*;

use super::subject::{Descriptors, Kind, Polling, Ready, Waiting};
use super::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "select of many descriptors",
    tags: "pselect, i/o multiplexing, event loop, lat_select",
    expect: &[calls(Sysno::PSELECT6)],
    ..Benchmark::by::<Polling, Select>()
};

static IN_SET: Witness = Witness::of("descriptors in the set", "the set");

const BOUND: Argument = Argument::at(0, "bound of the numbers");

struct Select;

impl Waiting for Select {
    fn waits_for(fds: u64) -> Proof {
        IN_SET.expects(fds)
    }

    fn profile(row: &Polling) -> Profile {
        match (row.of, row.ready) {
            (Kind::Tcp, Ready::Last) => Profile::Standard,
            (Kind::Pipe, _) | (_, Ready::First) => Profile::Full,
        }
    }

    fn measure(row: Polling, mut plan: Plan) -> Result<Outcome, Failure> {
        let descriptors = Descriptors::make(row.of, row.ready, row.fds)?;
        let numbers: Vec<i32> = descriptors
            .watched()
            .iter()
            .map(AsRawFd::as_raw_fd)
            .collect();
        let bound = numbers.iter().max().map_or(0, |highest| highest + 1);
        let mut wanted = vec![FdSetElement::default(); fd_set_num_elements(numbers.len(), bound)];
        for &number in &numbers {
            fd_set_insert(&mut wanted, number);
        }
        let mut found = wanted.clone();
        // The kernel looks at no number beyond it.
        let highest = FdSetIter::new(&wanted).max().map_or(0, |fd| fd as u64 + 1);
        plan.expect_argument(Sysno::PSELECT6, BOUND, ArgumentValue::Always(highest));
        let mut outcome = plan.measure(Loop::each(|| -> Result<(), Bad> {
            found.copy_from_slice(&wanted);
            // SAFETY: the set has room for all numbers below `bound`, and its descriptors are open.
            let ready =
                unsafe { rustix::event::select(bound, Some(&mut found), None, None, None)? };
            must(ready == 1)
        }))?;
        let first = FdSetIter::new(&found).next();
        let position = first.and_then(|fd| numbers.iter().position(|&number| number == fd));
        let asked = FdSetIter::new(&wanted).count() as u64;
        outcome.observe(&IN_SET, asked);
        descriptors.show(&mut outcome, position);
        Ok(outcome)
    }
}
