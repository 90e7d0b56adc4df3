//! Bytes per second that arrive in datagrams, and how many datagrams do not.
//!
//! ## Measures
//! The bytes per second of content that the receiver gets in UDP datagrams of `size` bytes (goodput),
//! while the sender, a separate process like the receiver, sends `rate` datagrams per second, or
//! as many as it can (`max`). Sending goes on before a window begins and after it ends. UDP has no
//! flow control, and datagrams that find no room are dropped: `loss_percent`
//! of those sent did not arrive, `duplicated_count` arrived twice, `reordered_count` arrived out of
//! order. Loss is a result here, not a failure. On `path=loopback` the receiver is on this machine,
//! on a CPU whose relation to the sender's `cpus` names; with `remote` it is where `syscost serve`
//! runs.
//! ## Does not measure
//! Headers. The time a datagram takes: `net.udp.round_trip`. Datagrams larger than a device's
//! packet, 1472 bytes over IPv4 on most devices, are sent in fragments, each of which may be lost.
//! ## Interpretation
//! Without a rate and with small datagrams the result depends on the calls per datagram.
//! `sent_datagrams_per_s` is what the sender did; the evidence compares it with the rate in the
//! row's name, which a busy machine may not reach (then the row is marked `?`). A receiver that is
//! slower than the sender loses the difference: on one CPU nearly all, since it does not run while
//! the sender does.
//! ## Source
//! iperf3 -u, netperf's UDP_STREAM, qperf udp_bw.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_net::service::{ServiceError, datagram};
use syscost_net::{Account, Content, Service};
use syscost_sys::audit::uncounted;
use syscost_sys::process;

use super::round_trip::pair;
use crate::ipc::traffic::same_and_nearest;
use crate::net::connection_cpus::ConnectionCpus;
use crate::net::far_end::{Destination, Family, Networked, OverNetwork, Path, Route, session_with};
use crate::net::interface::InterfaceCounters;
use crate::net::tcp::bandwidth::content;
use crate::net::transfer::{Transfer, Transferred};
use crate::net::workers::{IsOver, MAX_WINDOW, MIN_WINDOW, Tally, Until, Workers, again};
use crate::witness::messages::{self, Strays};
use crate::witness::{sockets, tasks};

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    title: "UDP goodput",
    tags: "udp bandwidth, network bandwidth, network throughput, packet loss, packet rate, \
        datagrams, iperf, iperf3, netperf UDP_STREAM, qperf udp_bw",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    ..Benchmark::of::<OverNetwork<UdpBandwidth>>()
};

/// Datagrams whose calls are counted.
const AUDITED: u64 = 256;

/// Maximum number of farewells to a receiver that may be late, and the pause before each.
const FAREWELLS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(1);

/// Maximum deviation of the sender from the rate that the row names, as a share of it.
const NEAR: f64 = 0.02;

/// The size that is measured with a rate as well.
const PLAIN: Bytes = Bytes::kib(1);

/// How many datagrams are sent per second.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Rate {
    /// As many as possible.
    Max,
    /// What any machine should sustain.
    #[value("10000/s")]
    Moderate,
}

impl Rate {
    /// Datagrams per second; `None` without a limit.
    fn per_s(self) -> Option<u32> {
        match self {
            Rate::Max => None,
            Rate::Moderate => Some(10_000),
        }
    }
}

static PACE: Witness = Witness::of(
    "datagrams sent per second while the sender was not late",
    "sender",
);

static SENT_PER_S: Witness = Witness::of("datagrams sent per second", "sender and clock");

#[derive(Params, Clone)]
struct UdpBandwidth {
    path: Path,
    family: Family,
    cpus: Option<Placement>,
    /// Bytes of a datagram.
    size: Bytes,
    rate: Rate,
}

impl Networked for UdpBandwidth {
    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let mut places = same_and_nearest(here);
        let mut rows = Vec::new();
        let mut add =
            |Destination { path, family, cpus }: Destination, sizes: &[Bytes], plain: &[Rate]| {
                rows.extend(rows!(UdpBandwidth {
                    path: [path],
                    family: [family],
                    cpus: [cpus],
                    size: sizes.iter().copied(),
                    rate: if size == PLAIN { plain } else { &[Rate::Max] }
                        .iter()
                        .copied()
                }));
            };
        let sizes = [Bytes(64), PLAIN, Bytes::kib(8)];
        let local = |place| Destination::new(Path::Loopback, Family::Ipv4, Some(place));
        if let Some(nearest) = places.pop() {
            add(local(nearest), &sizes, &Rate::ALL);
        }
        if let Some(same) = places.pop() {
            add(local(same), &[PLAIN], &[Rate::Max]);
        }
        if let Some(remote) = Destination::remote(here) {
            add(remote, &sizes, &Rate::ALL);
        }
        rows
    }

    fn destination(&self) -> Destination {
        Destination::new(self.path, self.family, self.cpus)
    }

    fn profile(&self) -> Profile {
        match self.path {
            Path::Loopback if self.size != PLAIN => Profile::Full,
            Path::Loopback | Path::Remote => Profile::Standard,
        }
    }

    fn proofs(&self) -> UdpBandwidthProofs<Proof> {
        // One to send each, none to wait if there is no rate to keep, and one to receive it.
        let waits = match self.rate {
            Rate::Max => 0.05,
            Rate::Moderate => 1.05,
        };
        let mut calls = vec![
            together(Sysno::SENDTO, 1.0),
            at_most(Counter::Syscall(Sysno::CLOCK_NANOSLEEP), waits),
            at_most(Counter::OtherSyscalls, 0.05),
        ];
        if self.path == Path::Loopback {
            // Datagrams that find no room never reach the receiver: how few it takes is a result.
            calls.push(at_most(Counter::Syscall(Sysno::RECVFROM), 1.05));
        }
        let near = |rate: u32| {
            let rate = f64::from(rate);
            Bound::Within((1.0 - NEAR) * rate, (1.0 + NEAR) * rate)
        };
        let rate = self.rate.per_s().map_or_else(Proof::default, |rate| {
            PACE.within(near(rate)).and(SENT_PER_S.within(near(rate)))
        });
        UdpBandwidthProofs {
            path: sockets::path(self.path),
            family: sockets::family(self.family),
            cpus: tasks::placement(self.cpus),
            size: messages::size(self.size, None),
            rate: rate.and(Proof::counted(calls)),
        }
    }

    fn measure(self, route: Route, mut plan: Plan) -> Result<Outcome, Failure> {
        let spec = FlowSpec {
            places: ConnectionCpus::of(&route, 1, &plan)?.remove(0),
            route,
            size: self.size.get(),
            rate: self.rate.per_s(),
            content: content(&plan),
        };
        plan.audit_apart(AUDITED, |messages| {
            let flow = Flow::start(&spec, Until::Messages(messages))?;
            flow.finish().map(drop)
        })?;
        let mut flow = Flow::start(&spec, Until::Stopped)?;
        let window = Duration::from_nanos(plan.case_ns() as u64).clamp(MIN_WINDOW, MAX_WINDOW);
        flow.warm_up(window)?;
        let mut outcome = plan.measure(Observed::of(|| flow.transfer.window(window)))?;
        tasks::see_placement(&mut outcome, &flow.transfer.tasks());
        let (delivered, near) = flow.finish()?;
        sockets::see_family(&mut outcome, [&near]);
        claim(&mut outcome, &delivered);
        delivered.claim_rates(&mut outcome);
        Ok(outcome)
    }
}

/// The parameters of a flow.
#[derive(Debug, Clone)]
struct FlowSpec {
    route: Route,
    /// Bytes of a datagram.
    size: usize,
    /// Datagrams per second; as many as possible if `None`.
    rate: Option<u32>,
    places: ConnectionCpus,
    content: Content,
}

/// A running flow, and this end's socket.
struct Flow {
    transfer: Transfer,
    near: UdpSocket,
}

impl Flow {
    /// Starts the flow, which continues as long as `until` says.
    fn start(spec: &FlowSpec, until: Until) -> Result<Self, Failure> {
        let mut workers = Workers::new()?;
        let (size, content, rate) = (spec.size, spec.content, spec.rate);
        let (near, session, interface, has_ended) = match &spec.route {
            Route::Loopback(..) => {
                let own = spec.route.address();
                let interface = InterfaceCounters::begin(own, own);
                let (near, far) = pair(own)?;
                let has_ended = Shared::new(AtomicBool::new(false))?;
                let ended = has_ended.clone();
                let receive = move |far: &mut UdpSocket, is_over: IsOver<'_>| {
                    let account = datagram::sink(&*far, &mut vec![0; size], content, is_over);
                    ended.store(true, Ordering::Release);
                    account.map(Tally::from)
                };
                let meter = Workers::meter()?;
                workers.add(&spec.places.far, Until::OtherEnd, meter, far, receive)?;
                (near, None, interface, Some(has_ended))
            }
            // The session ends the receiver.
            Route::Remote(given) => {
                let size = size as u32;
                let (session, opened) =
                    session_with(given, &Service::DatagramSink { size, content })?;
                let interface = InterfaceCounters::of_session(&session)?;
                (opened.datagram()?, Some(session), interface, None)
            }
        };
        let send =
            move |near: &mut UdpSocket, is_over: IsOver<'_>| -> Result<Tally, ServiceError> {
                let mut tally = Tally::default();
                if !is_over(&Account::default()) {
                    tally = datagram::source(&*near, &mut vec![0; size], content, rate, is_over)?
                        .into();
                }
                if let Some(has_ended) = &has_ended {
                    // How many farewells it takes depends on when the receiver gets its CPU.
                    uncounted(|| say_goodbye(near, has_ended));
                }
                Ok(tally)
            };
        workers.add(
            &spec.places.near,
            until,
            Workers::meter()?,
            again(&near)?,
            send,
        )?;
        let transfer = Transfer::new(workers, session, interface, false);
        Ok(Self { transfer, near })
    }

    /// Lets the flow run for a window, and until something has arrived.
    fn warm_up(&mut self, window: Duration) -> Result<(), Failure> {
        let begun = Instant::now();
        while self.transfer.window(window)? == 0.0 {
            if begun.elapsed() > process::patience() {
                return Err(Failure::late(
                    "no datagram has arrived: a firewall may drop UDP, or the path fragments of such datagrams",
                ));
            }
        }
        self.transfer.begin_usage()
    }

    /// Ends the flow and returns its result, and this end's socket.
    fn finish(mut self) -> Result<(Transferred, UdpSocket), Failure> {
        let usage = self.transfer.usage()?;
        let mut transferred = self.transfer.finish(usage, true)?;
        transferred.interface.end();
        Ok((transferred, self.near))
    }
}

/// Sends farewells until the receiver has ended. Datagrams still in its queue come first, and a
/// full queue drops the farewell as well.
fn say_goodbye(near: &UdpSocket, has_ended: &AtomicBool) {
    for _ in 0..FAREWELLS {
        thread::sleep(PAUSE);
        if has_ended.load(Ordering::Acquire) {
            return;
        }
        // Refused if the receiver has just ended.
        let _ = near.send(&[]);
    }
}

fn claim(b: &mut Bencher, delivered: &Transferred) {
    let (sent, received) = (&delivered.sent, &delivered.received);
    let order = received.order.unwrap_or_default();
    let bound = Bound::Within(1.0, sent.messages as f64);
    let claim = "different datagrams that came, of those sent";
    b.claim_within(claim, bound, order.distinct as f64, "both ends");
    let claim = "highest number that came, counted from 1";
    b.claim_within(claim, bound, order.expected as f64, "receiver");
    let claim = "bytes that are not what was sent at their place";
    b.claim_equal(claim, 0, received.wrong, "receiver");
    if order.distinct == sent.messages && order.duplicated == 0 {
        // The sum lacks what was lost.
        let what = "that the receiver got";
        let (sent, received) = (sent.moved(), received.moved());
        messages::claim_same(b, what, &sent, &received, Strays::default());
    }
    messages::see_size(b, &received.moved());
    sockets::see_far_end(b, delivered.is_partner);
    see_pace(b, sent);
    // What a queue dropped was sent, but never carried by the interface.
    let carried = received.bytes.min(sent.bytes);
    delivered.interface.claim(b, carried, 0);
    let Some(usage) = delivered.usage else {
        return b.unobserved(&SENT_PER_S, "nothing was measured");
    };
    let per_s = usage.sent as f64 * 1e9 / usage.passed_ns as f64;
    // Only a sender that gets its CPU can achieve a rate.
    let doubt = "the sender was late: its CPU did something else";
    b.observe_unless(&SENT_PER_S, per_s, Some(doubt));
    let claim = "datagrams that arrived meanwhile";
    let arrived = Evidence::judged(
        claim,
        Bound::Within(1.0, (sent.messages + order.duplicated) as f64),
        usage.received as f64,
        "receiver",
    );
    // Before they were measured, some had.
    b.add_evidence(arrived.tolerated(|| Some("the receiver did not get its CPU")));
    if !b.is_timed() {
        return;
    }
    b.detail("sent_datagrams_per_s", per_s);
    let lost = sent.messages.saturating_sub(order.distinct);
    b.detail(
        "loss_percent",
        100.0 * lost as f64 / sent.messages.max(1) as f64,
    );
    b.detail("lost_count", lost as f64);
    b.detail("duplicated_count", order.duplicated as f64);
    b.detail("reordered_count", order.reordered as f64);
    usage.detail(b);
}

/// Reports how many datagrams were sent per second whenever the sender had its CPU: other tasks on
/// that CPU make it late, but change nothing here. The last one may have been stopped just before.
fn see_pace(b: &mut Bencher, sent: &Tally) {
    match sent.messages {
        few if (few as f64) < 1.0 / NEAR => {
            b.unobserved(&PACE, format!("{few} datagrams are too few"))
        }
        _ => b.observe(&PACE, pace(sent)),
    }
}

fn pace(sent: &Account) -> f64 {
    let in_time = sent.elapsed_ns.saturating_sub(sent.forfeited_ns).max(1);
    sent.messages as f64 * 1e9 / in_time as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_that_is_late_keeps_its_pace_and_one_at_another_rate_does_not() {
        let holds = |rate: u32, messages, elapsed_ms: u64, forfeited_ms: u64| {
            let sent = Account {
                messages,
                elapsed_ns: elapsed_ms * 1_000_000,
                forfeited_ns: forfeited_ms * 1_000_000,
                ..Account::default()
            };
            (pace(&sent) / f64::from(rate) - 1.0).abs() <= NEAR
        };
        assert!(holds(10_000, 1_000, 100, 0));
        assert!(holds(10_000, 300, 100, 70), "its CPU did something else");
        assert!(!holds(10_000, 300, 100, 0));
        assert!(!holds(10_000, 2_000, 100, 0));
    }

    #[test]
    fn what_arrives_is_what_was_sent_also_if_that_is_nothing() {
        let allowed = syscost_sys::cpu::allowed().unwrap();
        let places = ConnectionCpus::here(Placement::Free, 1, allowed[0], &allowed);
        let mut spec = FlowSpec {
            route: Route::Loopback(Placement::Free, Family::Ipv4),
            size: 100,
            rate: Some(20_000),
            places: places.unwrap().remove(0),
            content: Content::Whole,
        };
        for content in [Content::Whole, Content::Sparse] {
            spec.content = content;
            for messages in [50, 0] {
                let flow = Flow::start(&spec, Until::Messages(messages)).unwrap();
                let (delivered, _) = flow.finish().unwrap();
                let order = delivered.received.order.unwrap();
                assert_eq!(delivered.sent.messages, messages);
                // A busy machine may lose some.
                assert!(
                    order.distinct <= messages && order.duplicated == 0,
                    "{order:?}"
                );
                assert_eq!(delivered.received.wrong, 0);
            }
        }
    }
}
