//! An ICMP echo request goes to the kernel at the other end, which answers it.
//!
//! ## Measures
//! The time from before an ICMP echo request is sent until its reply has arrived, as `ping` does: with
//! `size` bytes of payload after its header of eight. With `path=loopback` this kernel answers,
//! with `path=remote` the kernel of the host that `--peer` names. The socket is an unprivileged ping
//! socket where the kernel allows one (net.ipv4.ping_group_range), else a raw one. The value is the
//! median of batches, and each operation is timed individually as well, as in `net.tcp.round_trip`.
//! ## Does not measure
//! Any program at the other end: the kernel there answers when it receives the packet.
//! ## Interpretation
//! What `net.udp.round_trip` takes in addition, on two CPUs or to another host, is the cost of waking a
//! program and of its socket calls. Rounds of all rows are interleaved, so the three protocols are
//! compared over the same minutes. On loopback the reply has arrived as soon as the request has been
//! sent: there is no context switch. Hosts and firewalls may rate-limit or drop echoes: the near
//! end waits 200 ms for a reply, and an operation without one does not count (`lost_count`).
//! ## Source
//! ping.

use syscost_harness::prelude::*;

use super::ping::{HEAD, Pinger, support as may_ping};
use crate::net::exchange::{Exchange, LOST_AFTER};
use crate::net::far_end::{self, Family, Path, remote_family};
use crate::net::setting::{self, PLAIN, SIZE};

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    id: "net.icmp.round_trip",
    title: "ICMP echo round-trip time (ping)",
    tags: &["rtt", "network latency"],
    cases: Cases::Here(cases),
    expect: &[calls(Sysno::SENDTO), calls(Sysno::RECVFROM)],
    quick: |case| setting::is_usual_path(case) && case.number(SIZE) == PLAIN as u64,
    full: |case| setting::is_of_loopback(case) && case.number(SIZE) != PLAIN as u64,
    support,
    run,
    source: include_str!("round_trip.rs"),
    ..Benchmark::DEFAULT
};

/// Payload of an echo, in bytes.
const SIZES: [usize; 2] = [PLAIN, 1 << 10];

fn cases(here: &Here) -> Vec<Case> {
    let near = Family::ALL.map(|family| (Path::LOOPBACK, family));
    let far = remote_family(here).map(|family| (Path::REMOTE, family));
    let paths = near.into_iter().chain(far);
    let cases = paths.flat_map(|(path, family)| {
        SIZES.map(|size| setting::case(path, family, None, [(SIZE, size_name(size))]))
    });
    cases.collect()
}

fn support(case: &Case, here: &Here) -> Result<(), Unsupported> {
    far_end::support(case, here)?;
    let family = Family::of(case);
    may_ping(family.map_err(|failure| Unsupported::new(failure.to_string()))?)
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let path = Path::of(b.case(), b.targets())?;
    let size = setting::positive(b.case(), SIZE)?;
    path.announce(b, size)?;
    let length = Argument {
        position: 2,
        name: "length",
    };
    // From the row's name, not from what was set up.
    let named = HEAD as u64 + b.case().number(SIZE);
    b.expect_argument(Sysno::SENDTO, length, Given::Always(named));
    let limit = match path {
        Path::Loopback(..) => None,
        Path::Remote(_) => {
            // One, unless a nearby host answers before this end has fallen asleep; none where the far
            // end is another network namespace of this kernel, which answers within the sending
            // call; two where packets for other programs wake a raw socket as well.
            b.expect(at_most(Counter::Switches, 2.3));
            Some(LOST_AFTER)
        }
    };
    let exchange = Exchange::new(b, size, path.is_loopback());
    let pinger = b.together(path.placement(), |_| {
        let (pinger, way) = Pinger::open(path.address(), size, limit)?;
        Ok(Team::new(Vec::new(), exchange.over(pinger, way)))
    })?;
    pinger.claim_deliveries(b);
    pinger.claim_way(b);
    pinger.link.claim_address(b, path.address());
    pinger
        .link
        .claim(b, pinger.tally.answered, path.is_loopback());
    Ok(())
}
