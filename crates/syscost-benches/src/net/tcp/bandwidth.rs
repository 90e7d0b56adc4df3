//! Bytes per second of TCP streams in steady state, counted by the receiver.
//!
//! ## Measures
//! How many bytes per second the receivers take out of `streams` connections. Each end of each
//! connection has its own process, which only sends or only receives; the streams run before a
//! window begins and after it ends, so that neither connecting nor the growth of TCP's windows is
//! part of it. The sender hands over `size` bytes at a time: by sendto(2) (`via=write`), by the
//! same with MSG_ZEROCOPY (`zerocopy`), by sendfile(2) from a file in memory, or by splice(2) from
//! such a file through a pipe. With `direction=send` this end sends, with `receive` the far end.
//! With `path=loopback` both ends are on this machine, on the pair of CPUs that `cpus` names, and
//! no two streams share a CPU; with `remote` the far end is where `syscost serve` runs.
//! ## Does not measure
//! Reading what is sent from a disk, or using what was received. Headers are not counted. When
//! times are taken, one word in 4 KiB is stamped with its position in the stream and checked by the
//! receiver; where evidence is counted, every word is.
//! ## Interpretation
//! `cpu_ns_per_byte` and `far_cpu_ns_per_byte` are the CPU time of the tasks at either end. On
//! loopback the sender's task does much of the receiver's work in the kernel. The evidence names
//! what limits the streams, as the sender's kernel reports it: the receiver's window (it does not
//! read faster), the send buffer, the sender (its CPU), or the network (everything else: the path,
//! losses, the congestion control). Where the network is a bottleneck that is always full, at a
//! steady rate, it says so: shaped by the queueing discipline of this end's interface, which counts
//! what it held back, or elsewhere by a shaper or a slow link, which look the same from here; a
//! standing queue makes the round trip many times the shortest one. That is known of streams that
//! this end sends. The evidence also names the offloads of this end's interface, the congestion
//! control, which `syscost run --congestion NAME` chooses, and the number of retransmitted
//! segments. On loopback the kernel copies even what is sent by MSG_ZEROCOPY
//! (`zerocopy_copied_percent`): that the method is slower there than `write` says nothing about a
//! network card. On virtual CPUs the scheduling of senders and receivers, which wake each other all
//! the time, makes results vary from one second to the next.
//! ## Source
//! iperf3, nuttcp, netperf's TCP_STREAM and TCP_SENDFILE; lmbench `bw_tcp`; Linux
//! Documentation/networking/msg_zerocopy.rst.

mod claims;
mod limiter;
mod sender;
mod streams;

use syscost_harness::prelude::*;
use syscost_net::Content;

pub(in crate::net) use claims::claim;
use sender::Method;
pub(crate) use streams::StreamSpec;
pub(in crate::net) use streams::Streams;

use crate::ipc::traffic::same_and_nearest;
use crate::net::connection_cpus::ConnectionCpus;
use crate::net::far_end::{Destination, Family, Networked, OverNetwork, Path, Route};
use crate::net::workers::Until;
use crate::witness::{messages, sockets, tasks};

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    title: "TCP goodput: bulk throughput",
    tags: "tcp bandwidth, network bandwidth, network throughput, congestion control, sendfile, \
        zero copy, msg_zerocopy, loopback, bw_tcp, iperf, iperf3, nuttcp, netperf TCP_STREAM, \
        netperf TCP_SENDFILE",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    roles: roles!(
        TcpBandwidth {
            path: Path::Loopback,
            family: Family::Ipv4,
            cpus: Some(Placement::SAME),
            streams: 1,
            size: LARGE,
            direction: Direction::Send,
            via: Method::Write,
        } => Role::LoopbackStream,
        TcpBandwidth {
            path: Path::Remote,
            streams: 1,
            size: LARGE,
            direction: Direction::Send,
            via: Method::Write,
            ..
        } => Role::FarEndStream,
    ),
    ..Benchmark::of::<OverNetwork<TcpBandwidth>>()
};

/// Number of messages whose calls are counted: fewer large ones to another machine, since the path may be
/// slow, but enough that one more, sent before the check whether the stream is over, does not matter.
const AUDITED: u64 = 64;
const MIN_AUDITED: u64 = 32;
const AUDITED_BYTES_REMOTE: u64 = 1 << 20;

/// Message size that most tools use, and a small one.
const LARGE: Bytes = Bytes::kib(64);
const SMALL: Bytes = Bytes::kib(1);

/// Which end sends.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Direction {
    /// This end.
    Send,
    /// The far end.
    Receive,
}

#[derive(Params, Clone)]
pub(in crate::net) struct TcpBandwidth {
    path: Path,
    family: Family,
    cpus: Option<Placement>,
    /// How many connections stream at once.
    streams: usize,
    /// Bytes that a call sends.
    size: Bytes,
    direction: Direction,
    via: Method,
}

impl TcpBandwidth {
    /// Whether it is one stream of large messages that this end writes.
    pub(in crate::net) fn is_plain(&self) -> bool {
        let TcpBandwidth {
            streams,
            size,
            direction,
            via,
            ..
        } = self;
        (*streams, *size, *direction, *via) == (1, LARGE, Direction::Send, Method::Write)
    }
}

impl Networked for TcpBandwidth {
    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        use Direction::{Receive, Send};
        use Method::{SendFile, Splice, Write, ZeroCopy};
        const OTHERS: &[Method] = &[ZeroCopy, SendFile, Splice];
        let mut rows = Vec::new();
        let mut add = |to: Destination,
                       streams: &[usize],
                       sizes: &[Bytes],
                       directions: &[Direction],
                       methods: &[Method]| {
            rows.extend(rows!(TcpBandwidth {
                path: [to.path],
                family: [to.family],
                cpus: [to.cpus],
                streams: streams.iter().copied(),
                size: sizes.iter().copied(),
                direction: directions.iter().copied(),
                via: methods.iter().copied()
            }));
        };
        let local = |place| Destination::new(Path::Loopback, Family::Ipv4, Some(place));
        let near = same_and_nearest(here);
        for place in &near {
            add(
                local(*place),
                &[1],
                &[LARGE, SMALL],
                &[Send, Receive],
                &[Write],
            );
        }
        if let Some(place) = near.last() {
            let to = Destination::new(Path::Loopback, Family::Ipv6, Some(*place));
            add(to, &[1], &[LARGE], &[Send], &[Write]);
        }
        for place in &near {
            add(local(*place), &[1], &[LARGE], &[Send], OTHERS);
        }
        let own = here.allowed.first().copied().unwrap_or(0);
        for place in near {
            let mut streams = vec![2, 4];
            streams.retain(|count| ConnectionCpus::here(place, *count, own, &here.allowed).is_ok());
            add(local(place), &streams, &[LARGE], &[Send], &[Write]);
        }
        if here.allowed.len() > 1 {
            add(local(Placement::Free), &[1, 2], &[LARGE], &[Send], &[Write]);
        }
        if let Some(remote) = Destination::remote(here) {
            for direction in Direction::ALL {
                add(remote, &[1, 2, 4], &[LARGE], &[direction], &[Write]);
                add(remote, &[1], &[SMALL], &[direction], &[Write]);
            }
            add(remote, &[1], &[LARGE], &[Send], OTHERS);
        }
        rows
    }

    fn destination(&self) -> Destination {
        Destination::new(self.path, self.family, self.cpus)
    }

    /// On loopback, what differs in more than one way from a plain stream on one CPU is for the full profile.
    fn profile(&self) -> Profile {
        let ways = [
            self.cpus.is_some_and(|place| place != Placement::SAME),
            self.size != LARGE,
            self.direction != Direction::Send,
            self.via != Method::Write,
            self.streams != 1,
            !self.destination().is_usual(),
        ];
        match ways.into_iter().filter(|differs| *differs).count() {
            0 => Profile::Quick,
            2.. if self.path == Path::Loopback => Profile::Full,
            1.. => Profile::Standard,
        }
    }

    fn proofs(&self) -> TcpBandwidthProofs<Proof> {
        let is_here = self.path == Path::Loopback;
        let sends = is_here || self.direction == Direction::Send;
        let receives = is_here || self.direction == Direction::Receive;
        let zero_copies = match self.via {
            Method::ZeroCopy if sends => Bound::Exactly(1.0),
            Method::Write | Method::ZeroCopy | Method::SendFile | Method::Splice => {
                Bound::Exactly(0.0)
            }
        };
        TcpBandwidthProofs {
            path: sockets::path(self.path),
            family: sockets::family(self.family),
            cpus: tasks::placement(self.cpus),
            streams: claims::STREAMS.expects(self.streams as u64),
            size: messages::about(self.size),
            direction: claims::DIRECTION.expects(self.direction.name()),
            via: Proof::counted(self.via.calls(sends, receives))
                .and(claims::ZERO_COPIES.within(zero_copies)),
        }
    }

    fn measure(self, route: Route, plan: Plan<'_>) -> Result<Outcome<'_>, Failure> {
        let spec = StreamSpec {
            direction: self.direction,
            method: self.via,
            size: self.size.get(),
            ..StreamSpec::plain(route, self.streams, &plan)?
        };
        measure(plan, &spec)
    }
}

/// How much of the content is stamped and checked: all of it where evidence is counted.
pub(in crate::net) fn content(b: &Bencher) -> Content {
    match b.compares().all() {
        false => Content::Sparse,
        true => Content::Whole,
    }
}

/// Measures these streams; the negative control has streams of its own.
pub(crate) fn measure<'a>(mut plan: Plan<'a>, spec: &StreamSpec) -> Result<Outcome<'a>, Failure> {
    audit(&mut plan, spec)?;
    let mut streams = Streams::start(spec, Until::Stopped)?;
    let window = streams.warm_up(plan.case_ns(), spec)?;
    let mut outcome = plan.measure(Observed::of(|| streams.transfer.window(window)))?;
    tasks::see_placement(&mut outcome, &streams.transfer.tasks());
    let delivered = streams.finish()?;
    claim(&mut outcome, spec, &delivered);
    claims::see(&mut outcome, &delivered);
    delivered.claim_rates(&mut outcome);
    Ok(outcome)
}

/// Counts the system calls of a stream of some messages.
fn audit(plan: &mut Plan, spec: &StreamSpec) -> Result<(), Failure> {
    let mut one = spec.clone();
    one.places.truncate(1);
    let audited = match one.route.is_loopback() {
        true => AUDITED,
        false => (AUDITED_BYTES_REMOTE / one.size as u64).clamp(MIN_AUDITED, AUDITED),
    };
    plan.audit_apart(audited, |messages| {
        let streams = Streams::start(&one, Until::Messages(messages))?;
        streams.finish().map(drop)
    })
}
