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

mod flow;

use std::time::Duration;

use syscost_harness::prelude::*;
use syscost_results::Verdict;

use crate::ipc::traffic::same_and_nearest;
use crate::net::connection_cpus::ConnectionCpus;
use crate::net::far_end::{Destination, Family, Networked, OverNetwork, Path, Route};
use crate::net::tcp::bandwidth::content;
use crate::net::windows::Windows;
use crate::net::workers::{Tally, Until};
use flow::{Delivered, Flow, FlowSpec};

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    title: "UDP goodput",
    tags: &[
        "udp bandwidth",
        "network bandwidth",
        "network throughput",
        "packet loss",
        "packet rate",
        "datagrams",
        "iperf",
        "iperf3",
        "netperf UDP_STREAM",
        "qperf udp_bw",
    ],
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    ..Benchmark::of::<OverNetwork<Row>>()
};

/// Datagrams whose calls are counted.
const AUDITED: u64 = 256;

/// Length of a window: several turns of tasks that share a CPU, and some datagrams at a moderate rate.
const MIN_WINDOW: Duration = Duration::from_millis(5);
const MAX_WINDOW: Duration = Duration::from_millis(25);

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

#[derive(Params, Clone)]
struct Row {
    path: Path,
    family: Family,
    cpus: Option<Placement>,
    /// Bytes of a datagram.
    size: Bytes,
    rate: Rate,
}

impl Networked for Row {
    fn rows(here: &Here) -> Vec<Case<Self>> {
        let mut places = same_and_nearest(here);
        let mut rows = Vec::new();
        let mut add =
            |Destination { path, family, cpus }: Destination, sizes: &[Bytes], plain: &[Rate]| {
                rows.extend(rows!(Row {
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

    fn measure(self, route: Route, mut plan: Plan) -> Result<Outcome, Failure> {
        let spec = FlowSpec {
            places: ConnectionCpus::of(&route, 1, &plan)?.remove(0),
            route,
            family: self.family,
            size: self.size.get(),
            rate: self.rate.per_s(),
            content: content(&plan),
        };
        audit(&mut plan, &spec)?;
        let mut flow = Flow::start(&spec, Until::Stopped)?;
        let window = Duration::from_nanos(plan.case_ns() as u64).clamp(MIN_WINDOW, MAX_WINDOW);
        flow.warm_up(window)?;
        let mut windows = Windows::default();
        let rates = Observed::of(|| windows.add(window, || flow.window(window)));
        let mut outcome = plan.measure(rates)?;
        if spec.route.is_loopback() {
            flow.workers().claim_cpus(&mut outcome);
        }
        let delivered = flow.finish()?;
        claim(&mut outcome, &spec, &delivered);
        ConnectionCpus::claim(std::slice::from_ref(&spec.places), &mut outcome, self.cpus);
        if let Some(traffic) = &delivered.traffic {
            windows.claim(&mut outcome, &traffic.usage, delivered.received.bytes);
        }
        Ok(outcome)
    }
}

/// Counts the system calls of some datagrams: one to send each, none to wait if there is no rate to
/// keep, and one to receive it.
fn audit(plan: &mut Plan, spec: &FlowSpec) -> Result<(), Failure> {
    let waits = match spec.rate {
        Some(_) => 1.05,
        None => 0.05,
    };
    let mut calls = vec![
        together(Sysno::SENDTO, 1.0),
        at_most(Counter::Syscall(Sysno::CLOCK_NANOSLEEP), waits),
        at_most(Counter::OtherSyscalls, 0.05),
    ];
    if spec.route.is_loopback() {
        // Datagrams that find no room never reach the receiver: how few it takes is a result.
        calls.push(at_most(Counter::Syscall(Sysno::RECVFROM), 1.05));
    }
    plan.audit_apart(&calls, AUDITED, |messages| {
        let flow = Flow::start(spec, Until::Messages(messages))?;
        flow.finish().map(drop)
    })
}

fn claim(b: &mut Bencher, spec: &FlowSpec, delivered: &Delivered) {
    let (sent, received) = (&delivered.sent, &delivered.received);
    let order = received.order.unwrap_or_default();
    let claim = "different datagrams that came, of those sent";
    let bound = Bound::Within(1.0, sent.messages as f64);
    b.claim_within(claim, bound, order.distinct as f64, "both ends");
    let claim = "highest number that came, counted from 1";
    let bound = Bound::Within(1.0, sent.messages as f64);
    b.claim_within(claim, bound, order.expected as f64, "receiver");
    let claim = "bytes that are not what was sent at their place";
    b.claim_equal(claim, 0, received.wrong, "receiver");
    if order.distinct == sent.messages {
        // The sum lacks what was lost.
        let [expected, found] = [sent, received].map(|tally| format!("{:016x}", tally.checksum));
        b.claim_equal(
            "checksum of all stamps in them",
            expected,
            found,
            "both ends",
        );
    }
    let per_datagram = received.bytes as f64 / received.messages.max(1) as f64;
    let size = spec.size as f64;
    b.claim_equal("bytes of a datagram", size, per_datagram, "receiver");
    b.claim_equal(
        "family of its addresses",
        spec.family.name(),
        Family::of_address(delivered.own.ip()).name(),
        "getsockname",
    );
    // What a queue dropped was sent, but never carried by the interface.
    delivered
        .interface
        .claim(b, received.bytes.min(sent.bytes), 0);
    let Some(traffic) = delivered.traffic else {
        return;
    };
    let usage = traffic.usage;
    let seconds = usage.passed_ns as f64 / 1e9;
    let per_s = traffic.sent as f64 / seconds;
    if let Some(rate) = spec.rate {
        claim_pace(b, rate, sent);
        claim_rate(b, rate, per_s);
    }
    b.claim(
        "datagrams that arrived meanwhile",
        "at least 1",
        traffic.received,
        "receiver",
        traffic.received > 0,
    );
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
    usage.detail(b, traffic.received as f64 * size);
}

/// Claims that the sender sent at the rate in the row's name whenever it had its CPU: other tasks
/// on that CPU make it late, but change nothing here.
fn claim_pace(b: &mut Bencher, rate: u32, sent: &Tally) {
    let (bound, share) = pace(rate, sent);
    let claim = "datagrams sent, of those due while the sender was not late";
    b.claim_within(claim, bound, share, "sender");
}

/// The datagrams sent as a share of those that were due, and the bound of this share: the last one may have
/// been stopped just before.
fn pace(rate: u32, sent: &Tally) -> (Bound, f64) {
    let due = |ns: u64| f64::from(rate) * ns as f64 / 1e9;
    let all = due(sent.elapsed_ns.saturating_sub(sent.forfeited_ns)).max(1.0);
    let slack = NEAR + 1.0 / all;
    let bound = Bound::Within(1.0 - slack, 1.0 + slack);
    (bound, sent.messages as f64 / all)
}

/// Claims that the windows' rate of datagrams sent is the one in the row's name. Only a sender that
/// gets its CPU can achieve it.
fn claim_rate(b: &mut Bencher, rate: u32, per_s: f64) {
    let share = per_s / f64::from(rate);
    let (verdict, reason) = match (share - 1.0).abs() <= NEAR {
        true => (Verdict::Confirmed, None),
        false => (
            Verdict::Unverified,
            Some("the sender was late: its CPU did something else"),
        ),
    };
    b.claim_verdict(
        "datagrams sent in a second, of those that the row names",
        format!("{} to {}", 1.0 - NEAR, 1.0 + NEAR),
        share,
        "sender and clock",
        verdict,
        reason,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_that_is_late_keeps_its_pace_and_one_at_another_rate_does_not() {
        let holds = |rate, messages, elapsed_ms: u64, forfeited_ms: u64| {
            let sent = Tally {
                messages,
                elapsed_ns: elapsed_ms * 1_000_000,
                forfeited_ns: forfeited_ms * 1_000_000,
                ..Tally::default()
            };
            let (bound, share) = pace(rate, &sent);
            bound.holds(share)
        };
        assert!(holds(10_000, 1_000, 100, 0));
        assert!(holds(10_000, 300, 100, 70), "its CPU did something else");
        assert!(!holds(10_000, 300, 100, 0));
        assert!(!holds(10_000, 2_000, 100, 0));
    }
}
