//! The claims about streams, and their evidence.

use std::collections::BTreeSet;

use syscost_harness::prelude::*;
use syscost_net::service::TcpSide;
use syscost_sys::tcp::TcpInfo;

use super::Direction;
use super::limiter::{Bottleneck, Limiter, Shares};
use super::sender::Method;
use super::streams::{Delivered, StreamSpec};
use crate::net::tcp::stream::{claim_congestion, claim_retransmits};
use crate::witness::messages::{self, Strays};
use crate::witness::sockets;

/// Maximum bytes that a connection carries besides its payload: TCP counts the SYN and the FIN, and
/// a server requires a cookie.
const MAX_EXTRA: u64 = 64;

const BOTH: &str = "both ends";
const TCP_INFO: &str = "TCP_INFO";
const RETRANSMITS: &str = "segments retransmitted";

pub(super) static STREAMS: Witness = Witness::of(
    "connections with distinct ports that carried bytes",
    TCP_INFO,
);

pub(super) static DIRECTION: Witness = Witness::of("direction of the bytes", TCP_INFO);

pub(super) static ZERO_COPIES: Witness = Witness::of(
    "sends without a copy that completed, of those made and at least one per message",
    "error queue",
);

/// The congestion control of sockets that do not choose one.
const DEFAULT_CONGESTION: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Claims that streams had the properties that the case names, and that what was sent has arrived.
pub(in crate::net) fn claim(b: &mut Bencher, spec: &StreamSpec, delivered: &Delivered) {
    let streams = spec.places.len();
    let (sent, received) = (delivered.sent.moved(), delivered.received.moved());
    let what = "that the receivers got";
    messages::claim_same_content(b, what, &sent, &received, Strays::default());
    let claim = "bytes that differ from what was sent";
    b.claim_equal(claim, 0, delivered.received.wrong, "receiver");
    claim_options(b, spec, delivered);
    let carried = delivered.received.bytes;
    match spec.direction {
        Direction::Send => delivered.interface.claim(b, carried, 0),
        Direction::Receive => delivered.interface.claim(b, 0, carried),
    }
    if delivered.usage.is_some() {
        let claim = "streams that moved bytes before the first window and after the last";
        b.claim_equal(claim, streams, delivered.steady, BOTH);
    }
    let copies = &delivered.sent.zero_copies;
    if spec.method == Method::ZeroCopy {
        // Whether the kernel copied it after all.
        let copied = 100.0 * copies.copied as f64 / copies.completed.max(1) as f64;
        b.detail("zerocopy_copied_percent", copied);
    }
    if let Some(usage) = delivered.usage.filter(|_| b.is_timed()) {
        usage.detail(b);
    }
    let sender = match spec.direction {
        Direction::Send => &delivered.near,
        Direction::Receive => &delivered.far,
    };
    match sender {
        Some(sender) => claim_sender(b, spec, delivered, sender),
        None => {
            let reason = "the sender's kernel has no TCP_INFO";
            b.claim_unobserved(RETRANSMITS, 0.0, TCP_INFO, reason);
        }
    }
}

/// Reports what streams had of the properties that the row's name says.
pub(super) fn see(b: &mut Bencher, delivered: &Delivered) {
    sockets::see_far_end(b, delivered.is_partner);
    sockets::see_family(b, &delivered.sockets);
    messages::see_size(b, &delivered.sent.moved());
    match connections(delivered) {
        Ok(count) => b.observe(&STREAMS, count),
        Err(cause) => b.unobserved(&STREAMS, cause),
    }
    let (sent, copies) = (&delivered.sent, &delivered.sent.zero_copies);
    let due = copies.sends.max(sent.messages).max(1);
    b.observe(&ZERO_COPIES, copies.completed as f64 / due as f64);
    let Some(near) = &delivered.near else {
        return b.unobserved(&DIRECTION, "this kernel has no TCP_INFO");
    };
    let extra = MAX_EXTRA * delivered.sockets.len() as u64;
    b.observe(
        &DIRECTION,
        match near.bytes_received > extra {
            true => Direction::Receive.name(),
            false => Direction::Send.name(),
        },
    );
}

fn connections(delivered: &Delivered) -> Result<usize, Failure> {
    let (mut addresses, mut used) = (BTreeSet::new(), 0);
    for socket in &delivered.sockets {
        let address = socket.local_addr();
        addresses.insert(address.tried("getsockname")?);
        let info = TcpInfo::of(socket)?;
        used += usize::from(info.bytes_acked.max(info.bytes_received) > MAX_EXTRA);
    }
    Ok(used.min(addresses.len()))
}

fn claim_options(b: &mut Bencher, spec: &StreamSpec, delivered: &Delivered) {
    let ends = [&delivered.near, &delivered.far].into_iter().flatten();
    let expected = (spec.places.len() * ends.clone().count()) as u64;
    let nodelay: u32 = ends.map(|side| side.nodelay).sum();
    let claim = "sockets of both ends with TCP_NODELAY";
    b.claim_equal(claim, expected, u64::from(nodelay), "getsockopt");
}

/// Claims what the sender's kernel reports: acknowledged bytes, retransmitted segments, the congestion
/// control, and what limits the streams.
fn claim_sender(b: &mut Bencher, spec: &StreamSpec, delivered: &Delivered, sender: &TcpSide) {
    let streams = spec.places.len();
    let payload = delivered.sent.bytes;
    let max = (payload + MAX_EXTRA * streams as u64) as f64 / payload.max(1) as f64;
    // A remote sender reports on its sockets while the last bytes are under way.
    if spec.sends_here() {
        b.claim_within(
            "bytes acknowledged, per byte of payload",
            Bound::Within(1.0, max),
            sender.bytes_acked as f64 / payload.max(1) as f64,
            TCP_INFO,
        );
    }
    claim_retransmits(
        b,
        RETRANSMITS,
        sender.retransmits,
        "segments were lost or late: the rate is that of a path that loses some",
    );
    claim_sender_congestion(b, spec, delivered, sender);
    b.detail("mss_bytes", f64::from(sender.mss));
    b.detail("send_buffer_bytes", sender.send_buffer as f64);
    let mtu = delivered.sockets.first().map(TcpInfo::of);
    if let Some(Ok(info)) = mtu {
        b.detail("mtu_bytes", f64::from(info.path_mtu));
    }
    let Some(usage) = delivered.usage else {
        return;
    };
    let runs = match spec.direction {
        Direction::Send => usage.near_cpu_ns,
        Direction::Receive => usage.far_cpu_ns,
    };
    let runs = runs.map(|ns| ns as f64 / usage.passed_ns.max(1) as f64 / streams as f64);
    let shares = Shares::of(sender, streams, delivered.lasted.as_secs_f64() * 1e6, runs);
    let limiter = limiter(spec, delivered, &shares);
    b.note("what limits the streams", limiter, "the sender's TCP_INFO");
    if let Some(round_trips) = delivered.round_trips {
        b.detail("min_round_trip_us", round_trips.min_us);
        b.detail("loaded_round_trip_us", round_trips.loaded_us);
    }
    b.detail("busy_percent", 100.0 * shares.busy);
    b.detail(
        "receive_window_limited_percent",
        100.0 * shares.receive_window,
    );
    b.detail("send_buffer_limited_percent", 100.0 * shares.send_buffer);
}

/// What limits the streams; for a network between two machines, what limits the network.
fn limiter(spec: &StreamSpec, delivered: &Delivered, shares: &Shares) -> String {
    let limiter = shares.limiter();
    let is_path = limiter == Limiter::Network && !spec.route.is_loopback();
    // This end's interface holds back only what this end sends.
    let shaper = || match spec.direction {
        Direction::Send => delivered.interface.shaper(),
        Direction::Receive => None,
    };
    let found = is_path
        .then(|| Bottleneck::find(&delivered.windows.rates, delivered.round_trips, shaper()))
        .flatten();
    match found {
        Some(bottleneck) => format!("{limiter}, {bottleneck}"),
        None => limiter.to_string(),
    }
}

/// Claims that the congestion control is the chosen one, or the default of the sender's system. Of
/// another machine's default only the name is claimed.
fn claim_sender_congestion(
    b: &mut Bencher,
    spec: &StreamSpec,
    delivered: &Delivered,
    sender: &TcpSide,
) {
    let default = || {
        let default = std::fs::read_to_string(DEFAULT_CONGESTION);
        let default = default.ok().filter(|_| spec.sends_here())?;
        Some(default.trim().to_owned())
    };
    let chosen = b.targets().congestion.clone();
    let claim = "congestion control of the sender";
    let (found, source) = (sender.congestion.to_string(), "TCP_CONGESTION");
    match chosen.clone().or_else(default) {
        Some(expected) => b.claim_equal(claim, expected, found, source),
        None => b.note(claim, found, source),
    }
    if let (Some(_), Some(near), Some(far)) = (chosen, &delivered.near, &delivered.far) {
        claim_congestion(b, near, far);
    }
}
