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
use crate::net::far_end::{Destination, Family, Networked, OverNetwork, Path, Route};
use crate::net::round_trip::PLAIN;
use crate::witness::messages::{self, LENGTH};
use crate::witness::sockets;

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    title: "ICMP echo round-trip time (ping)",
    tags: "rtt, network latency",
    expect: &[calls(Sysno::SENDTO), calls(Sysno::RECVFROM)],
    ..Benchmark::of::<OverNetwork<IcmpRoundTrip>>()
};

#[derive(Params, Clone)]
struct IcmpRoundTrip {
    path: Path,
    family: Family,
    /// Bytes of an echo's payload.
    size: Bytes,
}

impl Networked for IcmpRoundTrip {
    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(IcmpRoundTrip {
            path: Path::each(here),
            family: path.families(here),
            size: [PLAIN, Bytes::kib(1)]
        })
    }

    fn destination(&self) -> Destination {
        Destination::new(self.path, self.family, None)
    }

    fn profile(&self) -> Profile {
        match self.path {
            _ if self.size == PLAIN && self.destination().is_usual() => Profile::Quick,
            Path::Loopback if self.size != PLAIN => Profile::Full,
            Path::Loopback | Path::Remote => Profile::Standard,
        }
    }

    fn support(&self) -> Result<(), Unsupported> {
        may_ping(self.family)
    }

    fn proofs(&self) -> IcmpRoundTripProofs<Proof> {
        let path = match self.path {
            Path::Loopback => Proof::default(),
            // One, unless a nearby host answers before this end has fallen asleep; none where the
            // far end is another network namespace of this kernel, which answers within the
            // sending call; two where packets for other programs wake a raw socket as well.
            Path::Remote => Proof::counted([at_most(Counter::Switches, 2.3)]),
        };
        let length = ArgumentValue::Always(HEAD as u64 + self.size.0);
        IcmpRoundTripProofs {
            path: path.and(sockets::path(self.path)),
            family: sockets::family(self.family),
            size: messages::size(self.size, None).and(Proof::argument(
                Sysno::SENDTO,
                LENGTH,
                length,
            )),
        }
    }

    fn measure(self, route: Route, mut plan: Plan) -> Result<Outcome, Failure> {
        let size = self.size.get();
        route.announce(&mut plan, size)?;
        let limit = match self.path {
            Path::Loopback => None,
            Path::Remote => Some(LOST_AFTER),
        };
        let exchange = Exchange::new(&mut plan, size, route.is_loopback());
        let shape = Together::of(route.placement(), |_| {
            let (pinger, interface) = Pinger::open(route.address(), size, limit)?;
            let caller = exchange.over(pinger, interface);
            Ok(Team::new(Vec::new(), caller))
        });
        let (mut outcome, pinger) = plan.measure(shape)?.split();
        pinger.claim_deliveries(&mut outcome);
        pinger.claim_interface(&mut outcome);
        let answered = pinger.answered();
        messages::see_size(&mut outcome, &answered);
        let (pinger, answered) = (&pinger.link, answered.messages);
        pinger.see(&mut outcome);
        pinger.claim(&mut outcome, answered, route.is_loopback());
        Ok(outcome)
    }
}
