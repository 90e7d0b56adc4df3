//! The network rows on links whose delay, rate, loss and MTU are known, between two network
//! namespaces.
//!
//! What a link itself does is tested in `links/figures.rs`. docs/testing-networks.md shows how to
//! run these tests.

mod common;
mod links;

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use links::pair::{
    ICMP_ROUND_TRIP, OTHER_TOKEN, Pair, Rows, TCP_BANDWIDTH, TCP_ROUND_TRIP, TOKEN, UDP_BANDWIDTH,
    UDP_ROUND_TRIP,
};
use links::{Running, Shape, Side, assert_ten_milliseconds};

/// Round trips over every protocol.
const ROUND_TRIPS: [Rows; 3] = [ICMP_ROUND_TRIP, TCP_ROUND_TRIP, UDP_ROUND_TRIP];

/// A link of this shape and, at its far end, a server with these options.
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
fn a_shaped_links_rate_is_measured_and_the_network_named_as_the_limiter() {
    let shape = Shape {
        megabits: Some(100),
        ..Shape::PLAIN
    };
    let Some((pair, _far)) = served(shape, &[]) else {
        return;
    };
    let run = pair.measure(&[TCP_BANDWIDTH]);
    for bytes_per_second in TCP_BANDWIDTH.medians(&run) {
        let megabits = bytes_per_second * 8.0 / 1e6;
        assert!((95.0..=100.0).contains(&megabits), "{megabits} Mbit/s");
    }
    for limiter in TCP_BANDWIDTH.observed(&run, "what limits the streams") {
        assert_eq!(limiter, "network");
    }
}

#[test]
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
fn a_far_end_killed_in_the_middle_costs_the_row_and_no_more() {
    let Some((pair, mut far)) = served(Shape::PLAIN, &[]) else {
        return;
    };
    let ended = pair.run_disturbed(TCP_BANDWIDTH, || far.kill());
    ended.assert_clear();
    // The first leaves nothing that would disturb a second.
    let mut far = pair.serve(&[]);
    assert_serves(&pair, &mut far);
}

#[test]
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
fn silent_and_wrong_clients_get_no_more_than_they_sent() {
    /// Connections at once, half of them silent.
    const CLIENTS: usize = 200;
    /// Maximum memory of the far end, in bytes.
    const MAX_MEMORY: u64 = 64 << 20;
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
        // The server may have closed or refused the connection before.
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

/// Bytes that have arrived, up to a few thousand.
fn available(mut client: &TcpStream) -> usize {
    client.set_nonblocking(true).expect("a non-blocking socket");
    let mut buffer = [0; 4096];
    match client.read(&mut buffer) {
        Ok(length) => length,
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        // The far end has closed before it read everything.
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
