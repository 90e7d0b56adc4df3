//! Peers of the network rows, on loopback.

use super::read::{iperf3, ping, qperf_round_trip, sockperf};
use super::{Cpus, Peer};

/// A server that runs as long as its client.
macro_rules! beside {
    ($server:literal, $client:literal) => {
        concat!(
            $server,
            " >/dev/null 2>&1 & trap 'kill $!' EXIT; sleep 0.5; ",
            $client
        )
    };
}

/// The peers, in the order of their rows.
pub(super) const NET: &[Peer] = &[
    Peer {
        row: "net.tcp.round_trip{path=loopback,family=ipv4,cpus=same,wait=block,size=64}",
        name: "sockperf ping-pong --tcp",
        command: beside!(
            "sockperf server --tcp -i 127.0.0.1 -p 17718",
            "sockperf ping-pong --tcp -i 127.0.0.1 -p 17718 -m 64 -t 1 --full-rtt"
        ),
        placement: Cpus::One,
        invocations: 3,
        read: sockperf,
        differs: SOCKPERF,
        options: &[],
    },
    Peer {
        row: "net.tcp.round_trip{path=loopback,family=ipv4,cpus=same,wait=block,size=64}",
        name: "qperf tcp_lat",
        command: beside!(
            "qperf --listen_port 17720",
            "qperf --listen_port 17720 --time 1 --unify_units --unify_nodes --msg_size 64 127.0.0.1 tcp_lat"
        ),
        placement: Cpus::One,
        invocations: 3,
        read: qperf_round_trip,
        differs: QPERF,
        options: &[],
    },
    Peer {
        row: "net.udp.round_trip{path=loopback,family=ipv4,cpus=same,wait=block,size=64}",
        name: "sockperf ping-pong",
        command: beside!(
            "sockperf server -i 127.0.0.1 -p 17718",
            "sockperf ping-pong -i 127.0.0.1 -p 17718 -m 64 -t 1 --full-rtt"
        ),
        placement: Cpus::One,
        invocations: 3,
        read: sockperf,
        differs: SOCKPERF,
        options: &[],
    },
    Peer {
        row: "net.udp.round_trip{path=loopback,family=ipv4,cpus=same,wait=block,size=64}",
        name: "qperf udp_lat",
        command: beside!(
            "qperf --listen_port 17720",
            "qperf --listen_port 17720 --time 1 --unify_units --unify_nodes --msg_size 64 127.0.0.1 udp_lat"
        ),
        placement: Cpus::One,
        invocations: 3,
        read: qperf_round_trip,
        differs: QPERF,
        options: &[],
    },
    Peer {
        row: "net.icmp.round_trip{path=loopback,family=ipv4,size=64}",
        name: "ping -U",
        command: "ping -U -A -n -s 56 -c 4000 127.0.0.1",
        placement: Cpus::One,
        invocations: 3,
        read: ping,
        differs: "ping's clock has microseconds, so its figure is the mean of the middle half of 4000 round trips, each right to one of \
                  them; ours is a median. With -U both go from before sending to after receiving, as a program sees it; with \
                  the kernel's time of arrival, which ping takes otherwise, a third less. -A sends when the answer is there, \
                  but two milliseconds apart at least unless root runs it.",
        options: &[],
    },
    Peer {
        row: "net.tcp.bandwidth{path=loopback,family=ipv4,cpus=same,streams=1,size=64K,direction=send,via=write}",
        name: "iperf3 -C cubic",
        command: beside!(
            "iperf3 --server --bind 127.0.0.1 --port 17719",
            "iperf3 --client 127.0.0.1 --port 17719 --json --congestion cubic --window 2M --length 64K --omit 1 --time 2"
        ),
        placement: Cpus::One,
        invocations: 1,
        read: iperf3,
        differs: "iperf3's figure is what its receiver counted in 2 s, the mean, after 1 s that is left out; it looks at no byte. Both \
                  have the congestion control cubic, whatever the system's is. iperf3 asks for buffers of 2 MiB, which the kernel \
                  doubles: as large as ours grow by themselves. With growing buffers, iperf3's receiver, which also waits in select, \
                  keeps a window of some 0.3 MB, and its figure is half of this one.",
        options: &["--congestion", "cubic"],
    },
];

const SOCKPERF: &str = "sockperf's own latency is half of a round trip; its figure here is the whole (--full-rtt), the median over 3 processes \
     of medians over half a second. Both echo 64 bytes between two processes, each by one recvfrom that blocks and one \
     sendto, over TCP without Nagle's delay.";

const QPERF: &str = "qperf's latency is half of a round trip, so its figure here is twice that: the median over 3 processes of means over a \
     second. Both send 64 bytes to and fro between two processes that block; over TCP qperf calls read and write, with Nagle's \
     algorithm, which has nothing to wait for here.";
