//! Waiting with epoll for one of many descriptors.
//!
//! ## Measures
//! epoll_pwait without a time limit on a set of 10, 100 and 500 descriptors, registered beforehand, each its own pipe or
//! loopback connection, of which the first or the last is readable (level-triggered; one event is taken).
//! ## Does not measure
//! Registration, and sleep and wake-up: every call returns at once.
//! ## Reading it
//! The kernel keeps a list of those that are ready: neither the number of the others nor the order should
//! matter. The one that is ready is asked again by every call, which is where a connection costs more than a pipe.
//! ## Source
//! lmbench `lat_select`'s question, put to epoll; LEBench epoll.

use rustix::event::epoll;
use syscost_harness::prelude::*;

use super::subject::{Descriptors, is_quick_readiness, readiness_cases};
use super::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "syscall.epoll",
    title: "epoll_wait on many descriptors",
    tags: &[
        "epoll_pwait",
        "i/o multiplexing",
        "event loop",
        "lat_select",
    ],
    cases: readiness_cases(),
    expect: &[calls(Sysno::EPOLL_PWAIT)],
    quick: is_quick_readiness,
    run,
    source: include_str!("epoll.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let descriptors = Descriptors::of(b.case())?;
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)
        .map_err(|error| Failure::of("make an epoll set", error))?;
    for (index, fd) in descriptors.watched().iter().enumerate() {
        let data = epoll::EventData::new_u64(index as u64);
        epoll::add(&set, fd, data, epoll::EventFlags::IN)
            .map_err(|error| Failure::of("add to an epoll set", error))?;
    }
    let empty = epoll::Event {
        flags: epoll::EventFlags::empty(),
        data: epoll::EventData::new_u64(0),
    };
    let mut events = [empty];
    b.try_iter(|| -> Result<(), Bad> { must(epoll::wait(&set, &mut events, None)? == 1) })?;
    let epoll::Event { flags, data } = events[0];
    let found = flags
        .contains(epoll::EventFlags::IN)
        .then(|| data.u64() as usize);
    descriptors.claim_ready(b, found);
    Ok(())
}
