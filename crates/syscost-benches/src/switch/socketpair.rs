//! Two tasks that wake each other through a pair of sockets.
//!
//! ## Measures
//! A round trip: the measuring task writes a byte into its end of a connected pair of unix stream
//! sockets and reads from it, asleep; the partner does the same at its end. Two writes, two reads,
//! and two to four switches.
//! ## Does not measure
//! Larger messages, datagrams, the bandwidth (`ipc`).
//! ## Interpretation
//! A socket allocates a buffer for each message and frees it once it was read: the difference from
//! `switch.pipe` is mostly that. On Linux freeing it also notifies the sender that there is room
//! again, even one that is asleep in a read: a spurious wake-up, after which on the `same` CPU it
//! often runs for a moment. So half of a round trip is not a switch, and is not reported as one.
//! For `cpus` and `between` see `switch.pipe`.
//! ## Source
//! lmbench `lat_unix`.

use std::os::fd::OwnedFd;

use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use syscost_harness::prelude::*;

use super::ping_pong::{self, Mechanism, Side, Tasks, Wake};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Socketpair ping-pong, round trip",
    tags: "context switch latency, wakeup latency, task switch, unix socket, unix domain socket, \
        lat_unix",
    revision: 3,
    expect: &[
        // Two, and up to two spurious ones.
        within(Counter::Switches, 1.9, 4.2),
        together(Sysno::READ, 2.0),
        together(Sysno::WRITE, 2.0),
    ],
    ..Benchmark::by::<Tasks, Sockets>()
};

impl Mechanism for Sockets {
    fn measure(tasks: Tasks, plan: Plan) -> Result<Outcome, Failure> {
        let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
        ping_pong::measure_round_trip(plan, tasks, |_| {
            let (own, partner) = socketpair(family, kind, SocketFlags::CLOEXEC, None)
                .tried("make a pair of sockets")?;
            Ok(Sockets { own, partner })
        })
    }
}

/// The end that each side reads from; what it is to read is written into the other.
struct Sockets {
    own: OwnedFd,
    partner: OwnedFd,
}

impl Wake for Sockets {
    type Error = Errno;

    fn wake(&self, side: Side) -> Result<(), Errno> {
        let end = match side {
            Side::Own => &self.partner,
            Side::Partner => &self.own,
        };
        write(end, b".").map(drop)
    }

    fn sleep(&self, side: Side) -> Result<(), Errno> {
        let end = match side {
            Side::Own => &self.own,
            Side::Partner => &self.partner,
        };
        match retry_on_intr(|| read(end, &mut [0_u8]))? {
            1 => Ok(()),
            _ => Err(Errno::PIPE),
        }
    }
}
