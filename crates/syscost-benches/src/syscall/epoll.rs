//! Waiting with epoll for one of many descriptors.
//!
//! ## Measures
//! epoll_pwait without a time limit on a set of 10, 100 and 500 descriptors, registered beforehand,
//! each its own pipe or loopback connection, of which the first or the last is readable
//! (level-triggered; one event is taken).
//! ## Does not measure
//! Registration, and sleep and wake-up: every call returns immediately.
//! ## Interpretation
//! The kernel keeps a list of ready descriptors: neither the number of the others nor the order should
//! matter. The ready one is checked again by every call, which is where a connection costs more than a pipe.
//! ## Source
//! lmbench `lat_select`, with epoll; LEBench epoll.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::event::epoll;
use syscost_harness::prelude::*;

use super::subject::{Descriptors, Kind, Polling, Ready, Waiting};
use super::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "epoll_wait on many descriptors",
    tags: "epoll_pwait, i/o multiplexing, event loop, lat_select",
    expect: &[calls(Sysno::EPOLL_PWAIT)],
    ..Benchmark::by::<Polling, Epoll>()
};

static IN_SET: Witness = Witness::of("descriptors in the set", "/proc/self/fdinfo");

struct Epoll;

impl Waiting for Epoll {
    /// Neither which is ready nor how many there are makes a difference: one row of each kind is enough to show it.
    fn profile(row: &Polling) -> Profile {
        match (row.of, row.ready, row.fds) {
            (Kind::Tcp, Ready::Last, 100) => Profile::Quick,
            (Kind::Tcp, Ready::Last, _) => Profile::Standard,
            (Kind::Pipe, Ready::Last, 500) => Profile::Full,
            (Kind::Tcp | Kind::Pipe, ..) => Profile::Careful,
        }
    }

    fn waits_for(fds: u64) -> Proof {
        IN_SET.expects(fds)
    }

    fn measure(row: Polling, plan: Plan) -> Result<Outcome, Failure> {
        let descriptors = Descriptors::make(row.of, row.ready, row.fds)?;
        let set = epoll::create(epoll::CreateFlags::CLOEXEC).tried("make an epoll set")?;
        for (index, fd) in descriptors.watched().iter().enumerate() {
            let data = epoll::EventData::new_u64(index as u64);
            epoll::add(&set, fd, data, epoll::EventFlags::IN).tried("add to an epoll set")?;
        }
        let empty = epoll::Event {
            flags: epoll::EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        };
        let mut events = [empty];
        let mut outcome = plan.measure(Loop::each(|| -> Result<(), Bad> {
            must(epoll::wait(&set, &mut events, None)? == 1)
        }))?;
        let epoll::Event { flags, data } = events[0];
        let found = flags
            .contains(epoll::EventFlags::IN)
            .then(|| data.u64() as usize);
        show_registered(&mut outcome, &set);
        descriptors.show(&mut outcome, found);
        Ok(outcome)
    }
}

fn show_registered(b: &mut Bencher, set: &OwnedFd) {
    match fs::read_to_string(format!("/proc/self/fdinfo/{}", set.as_raw_fd())) {
        Ok(text) => match registered(&text) {
            0 => b.unobserved(&IN_SET, "the kernel lists none of an epoll set"),
            count => b.observe(&IN_SET, count),
        },
        Err(cause) => b.unobserved(&IN_SET, cause),
    }
}

/// The number of descriptors that this file of proc(5) lists.
fn registered(text: &str) -> u64 {
    let lines = text.lines().filter(|line| line.starts_with("tfd:"));
    lines.count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_set_has_is_a_line_each() {
        let text = "pos:\t0\nflags:\t02\ntfd:        5 events:       19 data: 0\n";
        assert_eq!(registered(text), 1);
        assert_eq!(registered("pos:\t0\n"), 0);
    }
}
