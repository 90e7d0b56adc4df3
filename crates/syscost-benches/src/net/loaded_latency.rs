//! TCP round trip while other streams fill the path.
//!
//! ## Measures
//! The round trip of a 64-byte message over a dedicated connection, while `streams` other connections
//! stream to the far end as fast as possible (as
//! `net.tcp.bandwidth{size=64K,direction=send,via=write}` does); `streams=0` is the round trip without
//! them. The value is the mean of the round trips of a sample; the distribution is of all of them.
//! `load_bytes_per_s` is the streams' bandwidth meanwhile: in every sample each stream must have
//! moved bytes.
//! ## Does not measure
//! Streams from the far end. On loopback the senders run on the CPU of the measuring task and the
//! receivers on that of the far end (`cpus`), as they would on machines with one CPU each: most of
//! the time is spent waiting for a turn on these CPUs.
//! ## Interpretation
//! The excess over `streams=0` is the time that a message waits behind others: in the send queue of a
//! network card, in the buffers of the bottleneck link (a path with large buffers and a congestion
//! control that fills them adds tens of milliseconds: bufferbloat), or, on loopback, for a CPU.
//! ## Source
//! flent's rrul and tcp_upload tests; Gettys and Nichols, Bufferbloat (2011).

use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_net::Wait;
use syscost_sys::process;

use super::exchange::Exchange;
use super::far_end::{Destination, Family, Networked, OverNetwork, Path, Route};
use super::round_trip::{EchoSpec, Echoed};
use super::tcp::bandwidth::{self, StreamSpec, Streams};
use super::tcp::stream::Stream;
use super::workers::Until;
use crate::implied::{Implied, Shares};
use crate::ipc::traffic::same_and_nearest;
use crate::witness::{sockets, tasks};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "TCP round-trip latency under load",
    tags: "bufferbloat, loaded latency, working latency, queueing delay, rtt, flent",
    ..Benchmark::of::<OverNetwork<NetLoadedLatency>>()
};

static MOVING: Witness = Witness::of("streams that moved bytes in every sample", "both ends");

/// Bytes of a message.
const SIZE: usize = 64;

/// Round trips whose calls are counted.
const AUDITED: u64 = 256;

/// Minimum time and minimum round trips of a sample: under load a round trip may take as long as
/// the time slices of all other tasks on the CPU.
const MIN_WINDOW: Duration = Duration::from_millis(5);
const MIN_ROUND_TRIPS: usize = 10;
/// From this time on fewer round trips are enough: the queue of a slow path may hold each for a
/// tenth of a second, and a row has a time limit.
const LONG_WINDOW: Duration = Duration::from_millis(200);

/// Whether this many round trips in this time suffice for a sample.
fn is_enough(passed: Duration, round_trips: usize) -> bool {
    passed >= MIN_WINDOW && (round_trips >= MIN_ROUND_TRIPS || passed >= LONG_WINDOW)
}

#[derive(Params, Clone)]
struct NetLoadedLatency {
    path: Path,
    family: Family,
    cpus: Option<Placement>,
    /// How many other connections stream meanwhile.
    streams: usize,
}

impl Networked for NetLoadedLatency {
    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let near = same_and_nearest(here);
        rows!(NetLoadedLatency {
            path: Path::each(here),
            family: path.families(here).into_iter().take(1),
            cpus: path.cpus(&near[near.len() - 1..]),
            streams: [0, 1, 2]
        })
    }

    fn destination(&self) -> Destination {
        Destination::new(self.path, self.family, self.cpus)
    }

    fn proofs(&self) -> NetLoadedLatencyProofs<Proof> {
        let ends = self.path.own_ends();
        let calls = [
            together(Sysno::SENDTO, ends),
            together(Sysno::RECVFROM, ends),
            at_most(Counter::OtherSyscalls, 0.05),
        ];
        NetLoadedLatencyProofs {
            path: sockets::path(self.path).and(Proof::counted(calls)),
            family: sockets::family(self.family),
            cpus: tasks::placement(self.cpus),
            streams: MOVING.expects(self.streams as u64),
        }
    }

    fn measure(self, route: Route, mut plan: Plan) -> Result<Outcome, Failure> {
        let load = self.streams;
        let mut spec = StreamSpec::plain(route, 1, &plan)?;
        let places = std::mem::take(&mut spec.places);
        spec.places = places.iter().cycle().take(load).cloned().collect();
        let exchange = Exchange::new(&mut plan, SIZE, true);
        let echo = EchoSpec {
            route: spec.route.clone(),
            wait: Wait::Block,
            size: SIZE,
            tcp: spec.tcp.clone(),
        };
        let connect = || {
            let (far, near, interface) = Stream::connected(&echo, &places[0].far)?;
            Ok::<_, Failure>((far, exchange.over(near, interface)))
        };
        plan.audit_apart(AUDITED, |messages| {
            let (far, mut near) = connect()?;
            (0..messages).try_for_each(|_| near.round_trip())?;
            near.end()?;
            far.account().map(drop)
        })?;
        let start = || Streams::start(&spec, Until::Stopped);
        let mut streams = (load > 0).then(start).transpose()?;
        let (far, mut near) = connect()?;
        if let Some(streams) = &mut streams {
            streams.warm_up(plan.case_ns(), &spec)?;
        }
        let clock = *plan.clock();
        let (mut laps, mut fewest) = (Vec::new(), load);
        let mut implied = Implied::default();
        let observed = Observed::of(|| {
            let before = streams.as_ref().map(Streams::moved).unwrap_or_default();
            let (begun, first) = (clock.start(), laps.len());
            let (since, trips) = (Instant::now(), near.tally.answered);
            loop {
                let sent = clock.start();
                near.round_trip()?;
                let came = clock.stop().ticks;
                laps.push(clock.to_ns(came - sent));
                let passed = Duration::from_nanos(clock.to_ns(came - begun) as u64);
                if !is_enough(passed, laps.len() - first) {
                    continue;
                }
                let moving = streams
                    .as_ref()
                    .map_or(0, |streams| streams.going_on(&before));
                if moving == load || passed > process::patience() {
                    fewest = fewest.min(moving);
                    let of_sample = &laps[first..];
                    let mean = of_sample.iter().sum::<f64>() / of_sample.len() as f64;
                    let done = near.tally.answered - trips;
                    implied.note(mean * done as f64, since);
                    return Ok(mean);
                }
            }
        });
        let mut outcome = plan.measure(observed)?;
        let b = &mut outcome;
        implied.claim(b, Shares::WHOLE);
        if b.is_timed() {
            laps.iter().for_each(|ns| b.record_single(*ns));
            let claim = "round trips in the distribution, of those that were made";
            let singles = b.singles();
            b.claim_equal(claim, near.tally.answered, singles, "near end");
        }
        b.observe(&MOVING, fewest as u64);
        if let Some(streams) = streams {
            let delivered = streams.finish()?;
            bandwidth::claim(b, &spec, &delivered);
            if let Some(usage) = delivered.usage.filter(|_| b.is_timed()) {
                let rate = usage.bytes as f64 * 1e9 / usage.passed_ns.max(1) as f64;
                b.detail("load_bytes_per_s", rate);
            }
        }
        // Both tasks, if both are on this machine.
        let both = far.task().map(|far| (TaskId::own(), far));
        tasks::see_placement(b, both.as_slice());
        near.end()?;
        let account = far.account()?;
        near.claim(b, &account);
        sockets::see_family(b, [&near.link]);
        sockets::see_far_end(b, account.is_partner);
        near.link.claim_options(b, account.tcp.as_ref());
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_ten_round_trips_or_those_of_a_fifth_of_a_second() {
        let after = |ms, round_trips| is_enough(Duration::from_millis(ms), round_trips);
        assert!(!after(4, 100) && !after(5, 9) && !after(199, 9));
        assert!(after(5, 10) && after(200, 1));
    }
}
