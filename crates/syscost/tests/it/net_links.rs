//! The network rows on links with known delay, rate, loss and MTU, between two network namespaces.
//!
//! docs/testing-networks.md shows how to run these tests.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use syscost_net::socket::Tcp;
use syscost_net::wire::Streams;
use syscost_net::{Content, Service, Session};

use crate::common::Json;
use crate::links::pair::{
    ICMP_ROUND_TRIP, OTHER_TOKEN, Pair, Rows, TCP_BANDWIDTH, TCP_ROUND_TRIP, TOKEN, UDP_BANDWIDTH,
    UDP_ROUND_TRIP,
};
use crate::links::{Running, Shape, Side, assert_ten_milliseconds};

/// Round trips over every protocol.
const ROUND_TRIPS: [Rows; 3] = [ICMP_ROUND_TRIP, TCP_ROUND_TRIP, UDP_ROUND_TRIP];

/// Maximum memory of the far end, in bytes.
const MAX_MEMORY: u64 = 64 << 20;
/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often something is measured that a busy machine may spoil.
const TRIES: usize = 5;
/// The claim that names what limits the streams.
const LIMITER: &str = "what limits the streams";

/// A link with this shape and, at its far end, a server with these options.
fn served(shape: Shape, options: &[&str]) -> Option<(Pair, Running)> {
    let pair = Pair::new(shape)?;
    let far = pair.serve(options);
    Some((pair, far))
}

/// Asserts that the far end is alive and serves.
fn assert_serves(pair: &Pair, far: &mut Running) {
    assert!(far.is_alive(), "the far end has ended: {}", far.output());
    let run = pair.measure(&[TCP_ROUND_TRIP]);
    assert!(!TCP_ROUND_TRIP.medians(&run).is_empty());
}

#[test]
#[ignore = "machine suite"]
fn a_far_end_that_serves_once_exits_successfully() {
    let Some((pair, mut far)) = served(Shape::PLAIN, &["--once"]) else {
        return;
    };
    let run = pair.measure(&ROUND_TRIPS);
    for rows in ROUND_TRIPS {
        assert!(!rows.medians(&run).is_empty());
    }
    let status = far.wait();
    assert!(status.success(), "{status}: {}", far.output());
}

#[test]
#[ignore = "machine suite"]
fn five_milliseconds_each_way_are_ten_over_every_protocol() {
    let shape = Shape {
        delay: Some(Duration::from_millis(5)),
        ..Shape::PLAIN
    };
    let Some((pair, _far)) = served(shape, &[]) else {
        return;
    };
    assert_ten_milliseconds(|| {
        let run = pair.measure(&ROUND_TRIPS);
        let of = |rows: Rows| {
            let medians = rows.medians(&run).into_iter();
            medians.map(move |ns| (rows.id, ns / 1e6))
        };
        ROUND_TRIPS.into_iter().flat_map(of).collect()
    });
}

#[test]
#[ignore = "machine suite"]
fn a_shaped_links_rate_is_measured_and_the_network_named_as_the_limiter() {
    let shape = Shape {
        megabits: Some(100),
        ..Shape::PLAIN
    };
    let Some((pair, _far)) = served(shape, &[]) else {
        return;
    };
    let mut seen = Vec::new();
    // On a busy machine the sender may occasionally be the limit, or its rate unsteady.
    for _ in 0..TRIES {
        let run = pair.measure(&[TCP_BANDWIDTH]);
        let rates = TCP_BANDWIDTH.medians(&run).into_iter();
        let megabits: Vec<f64> = rates.map(|rate| rate * 8.0 / 1e6).collect();
        assert!(
            megabits.iter().all(|rate| *rate <= 100.0),
            "{megabits:?} Mbit/s"
        );
        let limiters = TCP_BANDWIDTH.observed(&run, LIMITER);
        println!("{megabits:?} Mbit/s: {limiters:?}");
        let is_named = |limiter: &Value| {
            let limiter = limiter.text();
            limiter.starts_with("network, shaped by qdisc tbf of link0")
        };
        if megabits.iter().all(|rate| *rate >= 95.0) && limiters.iter().all(is_named) {
            return;
        }
        seen.push((megabits, limiters));
    }
    panic!("never 95 to 100 Mbit/s and named: {seen:?}");
}

#[test]
#[ignore = "machine suite"]
fn a_plain_link_is_not_called_shaped() {
    let Some((pair, _far)) = served(Shape::PLAIN, &[]) else {
        return;
    };
    let run = pair.measure(&[TCP_BANDWIDTH]);
    for limiter in TCP_BANDWIDTH.observed(&run, LIMITER) {
        let limiter = limiter.text();
        println!("{limiter}");
        assert!(!limiter.contains("shape"), "{limiter}");
    }
}

#[test]
#[ignore = "machine suite"]
fn the_offloads_of_the_interface_are_read_back() {
    let delayed = Shape {
        delay: Some(Duration::from_millis(1)),
        ..Shape::PLAIN
    };
    // A veth device leaves segments whole; by default a TUN device does not.
    for (shape, tso) in [(Shape::PLAIN, "on"), (delayed, "off")] {
        let Some((pair, _far)) = served(shape, &[]) else {
            return;
        };
        let run = pair.measure(&[TCP_BANDWIDTH, UDP_BANDWIDTH]);
        for rows in [TCP_BANDWIDTH, UDP_BANDWIDTH] {
            let claim = "offloads of that interface, before and after";
            for offloads in rows.observed(&run, claim) {
                let offloads = offloads.text();
                println!("{offloads}");
                let expected = format!("link0: tso {tso}, gso ");
                assert!(offloads.starts_with(&expected), "{offloads}");
            }
        }
    }
}

#[test]
#[ignore = "machine suite"]
fn loss_is_seen_as_retransmits_and_as_lost_datagrams() {
    let shape = Shape {
        loss_percent: Some(5),
        ..Shape::PLAIN
    };
    let Some((pair, _far)) = served(shape, &[]) else {
        return;
    };
    let run = pair.measure(&[TCP_BANDWIDTH, UDP_BANDWIDTH]);
    for retransmits in TCP_BANDWIDTH.details(&run, "retransmits_count") {
        assert!(retransmits > 0.0);
    }
    for lost in UDP_BANDWIDTH.details(&run, "loss_percent") {
        assert!((2.0..=9.0).contains(&lost), "{lost} %");
    }
}

#[test]
#[ignore = "machine suite"]
fn the_mtu_of_the_path_is_read_back() {
    for mtu in [576, 9000] {
        let shape = Shape {
            mtu,
            ..Shape::PLAIN
        };
        let Some((pair, _far)) = served(shape, &[]) else {
            return;
        };
        let run = pair.measure(&[TCP_BANDWIDTH]);
        for read in TCP_BANDWIDTH.details(&run, "mtu_bytes") {
            assert_eq!(read, f64::from(mtu));
        }
    }
}

#[test]
#[ignore = "machine suite"]
fn a_far_end_killed_in_the_middle_costs_the_row_and_no_more() {
    let Some((pair, mut far)) = served(Shape::PLAIN, &[]) else {
        return;
    };
    let ended = pair.run_disturbed(TCP_BANDWIDTH, || far.kill());
    ended.assert_clear();
    // The first one leaves nothing that would disturb a second one.
    let mut far = pair.serve(&[]);
    assert_serves(&pair, &mut far);
}

#[test]
#[ignore = "machine suite"]
fn a_link_cut_in_the_middle_costs_the_row_and_not_the_far_end() {
    let Some((pair, mut far)) = served(Shape::PLAIN, &[]) else {
        return;
    };
    let ended = pair.run_disturbed(TCP_BANDWIDTH, || pair.link.cut());
    ended.assert_clear();
    pair.link.restore();
    assert_serves(&pair, &mut far);
}

#[test]
#[ignore = "machine suite"]
fn an_error_names_a_wrong_token() {
    let Some((pair, mut far)) = served(Shape::PLAIN, &[]) else {
        return;
    };
    let ended = pair.run(&[TCP_BANDWIDTH], "other");
    ended.assert_clear();
    assert!(ended.said.contains("token"), "{}", ended.said);
    for secret in [TOKEN, OTHER_TOKEN] {
        assert!(!ended.said.contains(secret), "{}", ended.said);
        assert!(!far.output().contains(secret), "{}", far.output());
    }
    assert_serves(&pair, &mut far);
}

#[test]
#[ignore = "machine suite"]
fn silent_and_wrong_clients_get_no_more_than_they_sent() {
    /// Number of concurrent connections, half of them silent.
    const CLIENTS: usize = 200;
    let Some((pair, mut far)) = served(Shape::PLAIN, &[]) else {
        return;
    };
    let address = pair.address();
    let garbage = [0xa5; 1000];
    let connect = |index: usize| {
        let mut client = TcpStream::connect_timeout(&address, Duration::from_secs(5)).ok()?;
        let message = if index.is_multiple_of(2) {
            &garbage[..]
        } else {
            &[]
        };
        // The server may have closed or refused the connection already.
        let _ = client.write_all(message);
        Some((client, message.len()))
    };
    let clients: Vec<(TcpStream, usize)> = pair
        .link
        .end(Side::Near)
        .within(|| (0..CLIENTS).filter_map(connect).collect());
    sleep(Duration::from_secs(1));
    for (client, sent) in &clients {
        let received = available(client);
        assert!(received <= *sent, "{received} bytes for {sent}");
    }
    drop(clients);
    assert_serves(&pair, &mut far);
    let peak = peak_memory(far.id());
    assert!(peak < MAX_MEMORY, "{peak} bytes");
}

#[test]
#[ignore = "machine suite"]
fn a_client_that_never_reads_gets_a_window_and_blocks_no_others() {
    /// The maximum size that a session may request.
    const SIZE: u32 = 1 << 20;
    const STREAMS: u32 = 8;
    /// Once all windows are full, nothing arrives for this long except window probes.
    const QUIET: Duration = Duration::from_millis(300);
    const PROBES: u64 = 20_000;
    let Some((pair, mut far)) = served(Shape::PLAIN, &[]) else {
        return;
    };
    let address = pair.address();
    let source = Service::StreamSource(Streams {
        size: SIZE,
        streams: STREAMS,
        content: Content::Sparse,
        tcp: Tcp::default(),
    });
    let near = pair.link.end(Side::Near);
    let (session, unread) = near.within(|| {
        let token = TOKEN.parse().expect("a token");
        let mut session = Session::connect(address, &token, PATIENCE).expect("a session");
        let opened = session.open(&source).expect("a service");
        let streams = (0..STREAMS).map(|_| opened.stream(&Tcp::default()).expect("a stream"));
        let streams: Vec<TcpStream> = streams.collect();
        (session, streams)
    });
    let received = || pair.link.received_bytes(Side::Near);
    loop {
        let before = received();
        sleep(QUIET);
        if received() - before <= PROBES {
            break;
        }
    }
    let came: usize = unread.iter().map(available).sum();
    assert!(came > 0, "the far end sends");
    // While it is connected, and after it has gone.
    assert_serves(&pair, &mut far);
    drop((session, unread));
    assert_serves(&pair, &mut far);
    let peak = peak_memory(far.id());
    assert!(peak < MAX_MEMORY, "{peak} bytes");
    assert!(!far.output().contains("panicked"), "{}", far.output());
}

/// The number of bytes that have arrived, up to a few thousand.
fn available(mut client: &TcpStream) -> usize {
    client.set_nonblocking(true).expect("a non-blocking socket");
    let mut buffer = [0; 4096];
    match client.read(&mut buffer) {
        Ok(length) => length,
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        // The far end closed the connection before it read everything.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
        Err(error) => panic!("reading: {error}"),
    }
}

/// The peak memory of a process, in bytes.
fn peak_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let peak = status.lines().find_map(|line| {
        let kibibytes = line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?;
        kibibytes.trim().parse::<u64>().ok()
    });
    peak.expect("a peak") * 1024
}
