//! The claims about streams, and their evidence.

use std::collections::BTreeSet;

use syscost_harness::prelude::*;
use syscost_net::service::TcpSide;
use syscost_sys::tcp::TcpInfo;

use super::limiter::{Bottleneck, Limiter, Shares};
use super::method::Method;
use super::streams::Delivered;
use super::{Direction, Row, StreamSpec};
use crate::net::far_end::Family;
use crate::net::tcp::stream::claim_retransmits;

/// Maximum bytes that a connection carries besides its payload: TCP counts the SYN and the FIN, and
/// a server requires a cookie.
const MAX_EXTRA: u64 = 64;

const BOTH: &str = "both ends";
const TCP_INFO: &str = "TCP_INFO";
const RETRANSMITS: &str = "segments retransmitted";

/// The congestion control of sockets that do not choose one.
const DEFAULT_CONGESTION: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Claims that streams had the properties that the case names, and that what was sent has arrived.
pub(in crate::net) fn claim(b: &mut Bencher, spec: &StreamSpec, delivered: &Delivered) {
    let streams = spec.places.len();
    claim_content(b, spec, delivered);
    claim_connections(b, spec, delivered);
    let carried = delivered.received.bytes;
    match spec.direction {
        Direction::Send => delivered.interface.claim(b, carried, 0),
        Direction::Receive => delivered.interface.claim(b, 0, carried),
    }
    if delivered.usage.is_some() {
        let claim = "streams that moved bytes before the first window and after the last";
        b.claim_equal(claim, streams, delivered.steady, BOTH);
    }
    if spec.method == Method::ZeroCopy {
        claim_zero_copy(b, delivered);
    }
    if let Some(usage) = delivered.usage.filter(|_| b.is_timed()) {
        usage.detail(b, usage.bytes as f64);
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

/// Claims that what arrived is what was sent, in messages of the case's size.
fn claim_content(b: &mut Bencher, spec: &StreamSpec, delivered: &Delivered) {
    let (sent, received) = (&delivered.sent, &delivered.received);
    let claim = "bytes received, of those sent";
    let holds = sent.bytes == received.bytes && received.bytes > 0;
    b.claim(claim, sent.bytes, received.bytes, BOTH, holds);
    let [expected, found] = [sent, received].map(|tally| format!("{:016x}", tally.checksum));
    b.claim_equal("checksum of their stamps", expected, found, BOTH);
    let claim = "bytes that differ from what was sent";
    b.claim_equal(claim, 0, received.wrong, "receiver");
    claim_size(b, "bytes of a message", Bytes(spec.size as u64), delivered);
}

/// Claims that what was counted matches the row's name.
pub(super) fn claim_named(b: &mut Bencher, row: &Row, delivered: &Delivered) {
    let (streams, used) = (row.streams as u64, connections(delivered) as u64);
    b.claim_equal("connections, by the row's name", streams, used, TCP_INFO);
    claim_size(
        b,
        "bytes of a message, by the row's name",
        row.size,
        delivered,
    );
    if let Some(near) = &delivered.near {
        let seen = match near.bytes_received > MAX_EXTRA * streams {
            true => Direction::Receive,
            false => Direction::Send,
        };
        let (named, seen) = (row.direction.name(), seen.name());
        b.claim_equal("direction of the bytes", named, seen, TCP_INFO);
    }
}

/// Claims that messages have this size; the last one may be incomplete.
fn claim_size(b: &mut Bencher, claim: &str, size: Bytes, delivered: &Delivered) {
    let (sent, size) = (&delivered.sent, size.0 as f64);
    let per_message = sent.bytes as f64 / sent.messages.max(1) as f64;
    let bound = Bound::Within(0.999 * size, size);
    b.claim_within(claim, bound, per_message, "sender");
}

/// The number of connections with distinct ports that carried bytes.
fn connections(delivered: &Delivered) -> usize {
    let addresses: BTreeSet<_> = delivered
        .sockets
        .iter()
        .filter_map(|socket| socket.local_addr().ok())
        .collect();
    let carried = |socket: &&std::net::TcpStream| {
        TcpInfo::of(socket).is_ok_and(|info| info.bytes_acked.max(info.bytes_received) > MAX_EXTRA)
    };
    let used = delivered.sockets.iter().filter(carried).count();
    used.min(addresses.len())
}

/// Claims that there were as many connections as the case says, between addresses of its family,
/// and that they carried the bytes.
fn claim_connections(b: &mut Bencher, spec: &StreamSpec, delivered: &Delivered) {
    let addresses: BTreeSet<_> = delivered
        .sockets
        .iter()
        .filter_map(|socket| socket.local_addr().ok())
        .collect();
    let streams = spec.places.len();
    let claim = "connections with distinct ports that carried bytes";
    b.claim_equal(claim, streams, connections(delivered), TCP_INFO);
    let families: BTreeSet<_> = addresses
        .iter()
        .map(|address| Family::of_address(address.ip()).name())
        .collect();
    let families: Vec<_> = families.into_iter().collect();
    b.claim_equal(
        "family of their addresses",
        spec.family.name().to_owned(),
        families.join(" "),
        "getsockname",
    );
    let Some(near) = &delivered.near else {
        return;
    };
    let payload = delivered.received.bytes.max(1) as f64;
    let came = near.bytes_received as f64 / payload;
    let bound = match spec.direction {
        Direction::Send => Bound::AtMost(MAX_EXTRA as f64 * streams as f64 / payload),
        Direction::Receive => Bound::AtLeast(1.0),
    };
    let claim = "bytes received by this end, per byte of payload";
    b.claim_within(claim, bound, came, TCP_INFO);
    let nodelay = near.nodelay as usize;
    b.claim_equal("sockets with TCP_NODELAY", streams, nodelay, "getsockopt");
    if let Some(far) = &delivered.far {
        let claim = "sockets of the far end with TCP_NODELAY";
        b.claim_equal(claim, streams, far.nodelay as usize, "getsockopt");
    }
}

/// Claims that every zero-copy send has completed; whether the kernel copied it after all is a detail.
fn claim_zero_copy(b: &mut Bencher, delivered: &Delivered) {
    let sent = &delivered.sent;
    let claim = "MSG_ZEROCOPY sends that the kernel completed";
    let holds = sent.sends == sent.completed && sent.sends >= sent.messages;
    b.claim(claim, sent.sends, sent.completed, "error queue", holds);
    let copied = 100.0 * sent.copied as f64 / sent.completed.max(1) as f64;
    b.detail("zerocopy_copied_percent", copied);
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
    claim_congestion(b, spec, delivered, sender);
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
        .then(|| Bottleneck::find(&delivered.rates, delivered.round_trips, shaper()))
        .flatten();
    match found {
        Some(bottleneck) => format!("{limiter}, {bottleneck}"),
        None => limiter.to_string(),
    }
}

/// Claims that the congestion control is the chosen one, or the default of the sender's system. Of
/// another machine's default only the name is claimed.
fn claim_congestion(b: &mut Bencher, spec: &StreamSpec, delivered: &Delivered, sender: &TcpSide) {
    let default = || {
        let default = std::fs::read_to_string(DEFAULT_CONGESTION);
        let default = default.ok().filter(|_| spec.sends_here())?;
        Some(default.trim().to_owned())
    };
    let chosen = b.targets().congestion.clone();
    let claim = "congestion control of the sender";
    let found = sender.congestion.clone();
    match chosen.clone().or_else(default) {
        Some(expected) => b.claim_equal(claim, expected, found, "TCP_CONGESTION"),
        None => b.note(claim, found, "TCP_CONGESTION"),
    }
    if let (Some(chosen), Some(near), Some(far)) = (chosen, &delivered.near, &delivered.far) {
        let both = format!("{} {}", near.congestion, far.congestion);
        let claim = "congestion control of this end and of the far end";
        b.claim_equal(claim, format!("{chosen} {chosen}"), both, "TCP_CONGESTION");
    }
}
