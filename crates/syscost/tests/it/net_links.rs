//! The network rows on links with known delay, rate, loss and MTU, between two network namespaces.
//!
//! docs/testing-networks.md shows how to run these tests.

use std::time::Duration;

use serde_json::Value;

use crate::common::{Json, or_skip};
use crate::links::pair::{
    ICMP_ROUND_TRIP, Pair, Rows, TCP_BANDWIDTH, TCP_ROUND_TRIP, UDP_BANDWIDTH, UDP_ROUND_TRIP,
};
use crate::links::{Running, Shape, assert_ten_milliseconds};
use crate::tool::Failure;

/// Round trips over every protocol.
const ROUND_TRIPS: [Rows; 3] = [ICMP_ROUND_TRIP, TCP_ROUND_TRIP, UDP_ROUND_TRIP];

/// How often something is measured that a busy machine may spoil.
const TRIES: usize = 5;
/// The claim that names what limits the streams.
const LIMITER: &str = "what limits the streams";

/// A link with this shape and, at its far end, a server.
fn served(shape: Shape) -> Result<(Pair, Running), Failure> {
    let pair = Pair::new(shape)?;
    let far = pair.serve();
    Ok((pair, far))
}

/// Asserts that the far end is alive and serves.
fn assert_serves(pair: &Pair, far: &mut Running) {
    assert!(far.is_alive(), "the far end has ended: {}", far.output());
    let run = pair.measure(&[TCP_ROUND_TRIP]);
    assert!(!TCP_ROUND_TRIP.medians(&run).is_empty());
}

#[test]
#[ignore = "machine suite"]
fn five_milliseconds_each_way_are_ten_over_every_protocol() {
    let shape = Shape {
        delay: Some(Duration::from_millis(5)),
        ..Shape::PLAIN
    };
    let (pair, _far) = or_skip!(served(shape));
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
    let (pair, _far) = or_skip!(served(shape));
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
    let (pair, _far) = or_skip!(served(Shape::PLAIN));
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
        let (pair, _far) = or_skip!(served(shape));
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
    let (pair, _far) = or_skip!(served(shape));
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
        let (pair, _far) = or_skip!(served(shape));
        let run = pair.measure(&[TCP_BANDWIDTH]);
        for read in TCP_BANDWIDTH.details(&run, "mtu_bytes") {
            assert_eq!(read, f64::from(mtu));
        }
    }
}

#[test]
#[ignore = "machine suite"]
fn a_far_end_killed_in_the_middle_costs_the_row_and_no_more() {
    let (pair, mut far) = or_skip!(served(Shape::PLAIN));
    let ended = pair.run_disturbed(TCP_BANDWIDTH, || far.kill());
    ended.assert_clear();
    // The first one leaves nothing that would disturb a second one.
    let mut far = pair.serve();
    assert_serves(&pair, &mut far);
}

#[test]
#[ignore = "machine suite"]
fn a_link_cut_in_the_middle_costs_the_row_and_not_the_far_end() {
    let (pair, mut far) = or_skip!(served(Shape::PLAIN));
    let ended = pair.run_disturbed(TCP_BANDWIDTH, || pair.link.cut());
    ended.assert_clear();
    pair.link.restore();
    assert_serves(&pair, &mut far);
}
