//! A link treats packets as its shape says.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::Duration;

use syscost_results::stats::order;

use super::GRANTED;
use super::namespace::existing;
use super::traffic::{tcp_megabits, tcp_round_trips, udp, udp_arrivals, udp_round_trips};
use super::{DEVICE, Link, Running, Shape, Side, assert_ten_milliseconds, turn};
use crate::tool::{require, unless_skipped};

/// 5 ms each way.
const DELAYED: Shape = Shape {
    delay: Some(Duration::from_millis(5)),
    ..Shape::PLAIN
};
/// Round trips of which the median is taken.
const ROUND_TRIPS: usize = 100;

/// The median, in ms.
fn median(times: &[f64]) -> f64 {
    order::median(times).expect("there were round trips")
}

#[test]
fn five_milliseconds_each_way_are_ten_over_udp_and_tcp() {
    let Some(link) = Link::new(DELAYED) else {
        return;
    };
    let _turn = turn();
    let four = Side::BOTH.map(|side| link.address(side));
    let six = Side::BOTH.map(|side| link.address_v6(side).expect("an MTU of 1500"));
    let udp = |[near, far]: [_; 2]| median(&udp_round_trips(&link, near, far, ROUND_TRIPS));
    assert_ten_milliseconds(|| {
        let tcp = median(&tcp_round_trips(&link, four[1], ROUND_TRIPS));
        vec![("UDP", udp(four)), ("TCP", tcp), ("UDP, IPv6", udp(six))]
    });
}

#[test]
fn five_milliseconds_each_way_are_ten_over_icmp() {
    let Some(link) = unless_skipped(require("ping"), GRANTED).and_then(|()| Link::new(DELAYED))
    else {
        return;
    };
    let _turn = turn();
    let far = link.address(Side::Far).to_string();
    let count = ROUND_TRIPS.to_string();
    let end = link.end(Side::Near);
    assert_ten_milliseconds(|| {
        let printed = end.run(&["ping", "-n", "-i", "0.02", "-c", &count, &far]);
        let printed = printed.expect("ping ends well");
        let round_trips: Vec<f64> = printed
            .split("time=")
            .skip(1)
            .map(|rest| rest.split(' ').next().expect("a number"))
            .map(|number| number.parse().expect("a number"))
            .collect();
        assert_eq!(round_trips.len(), ROUND_TRIPS, "{printed}");
        vec![("ICMP", median(&round_trips))]
    });
}

#[test]
fn a_link_of_100_megabits_passes_95_to_100_of_payload() {
    let shape = Shape {
        megabits: Some(100),
        ..Shape::PLAIN
    };
    let Some(link) = Link::new(shape) else {
        return;
    };
    let _turn = turn();
    let before = link.received_bytes(Side::Far);
    let far = link.address(Side::Far);
    let Some(megabits) = unless_skipped(tcp_megabits(&link, far, "cubic", 4), GRANTED) else {
        return;
    };
    println!("{megabits:.2?} Mbit/s");
    // A busy machine may delay its tasks: the best window shows the link's rate.
    let mean = megabits.iter().sum::<f64>() / megabits.len() as f64;
    let best = megabits.into_iter().fold(0.0, f64::max);
    // What the queue held while the receiver was delayed comes on top in that window; the link's mean
    // is no faster than the link.
    assert!((95.0..=101.0).contains(&best), "{best} Mbit/s");
    assert!(mean <= 100.0, "{mean} Mbit/s");
    // The bytes came over this link.
    let received = link.received_bytes(Side::Far) - before;
    assert!(received as f64 > best * 1e6 / 8.0, "{received} B");
}

#[test]
fn five_percent_of_datagrams_are_lost() {
    let shape = Shape {
        loss_percent: Some(5),
        ..Shape::PLAIN
    };
    let Some(link) = Link::new(shape) else {
        return;
    };
    let _turn = turn();
    const SENT: usize = 4000;
    let of = |addresses: [_; 2]| {
        let arrived = udp_arrivals(&link, addresses[0], addresses[1], SENT);
        100.0 * (1.0 - arrived as f64 / SENT as f64)
    };
    let six = |side| link.address_v6(side).expect("an MTU of 1500");
    for addresses in [
        Side::BOTH.map(|side| link.address(side)),
        Side::BOTH.map(six),
    ] {
        let percent = of(addresses);
        println!("{percent:.2} % of {addresses:?}");
        assert!((2.0..=9.0).contains(&percent), "{percent} %");
    }
}

#[test]
fn a_link_may_be_slow_lossy_and_delayed_at_once() {
    let shape = Shape {
        mtu: 1400,
        megabits: Some(100),
        loss_percent: Some(5),
        ..DELAYED
    };
    let Some(link) = Link::new(shape) else {
        return;
    };
    let _turn = turn();
    let [near, far] = Side::BOTH.map(|side| link.address(side));
    let arrived = udp_arrivals(&link, near, far, 1000);
    assert!((900..1000).contains(&arrived), "{arrived} of 1000");
    let round_trips = tcp_round_trips(&link, far, 20);
    assert!(round_trips.into_iter().all(|time| time >= 10.0));
    assert_eq!(link.mtu(Side::Far), 1400);
}

#[test]
fn a_plain_link_loses_nothing() {
    let Some(link) = Link::new(Shape::PLAIN) else {
        return;
    };
    let _turn = turn();
    let [near, far] = Side::BOTH.map(|side| link.address(side));
    assert_eq!(udp_arrivals(&link, near, far, 1000), 1000);
}

/// The number of fragments that this end has made of packets exceeding the MTU.
fn fragments(link: &Link, side: Side) -> u64 {
    // Not /proc/net, which shows the namespace of the process.
    let read = || fs::read_to_string("/proc/thread-self/net/snmp");
    let text = link.end(side).within(read).expect("the counters");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Ip: "));
    let [names, values] = [lines.next(), lines.next()].map(|line| line.expect("a line of IP"));
    let index = names.split(' ').position(|name| name == "FragCreates");
    let value = values.split(' ').nth(index.expect("a column"));
    value.and_then(|value| value.parse().ok()).expect("a count")
}

#[test]
fn the_mtu_is_the_longest_packet_that_is_not_fragmented() {
    for (mtu, delay) in [
        (576, None),
        (1500, None),
        (9000, None),
        (9000, DELAYED.delay),
    ] {
        let shape = Shape {
            mtu,
            delay,
            ..Shape::PLAIN
        };
        let Some(link) = Link::new(shape) else {
            return;
        };
        assert_eq!(Side::BOTH.map(|side| link.mtu(side)), [u64::from(mtu); 2]);
        let six = link.address_v6(Side::Near);
        assert_eq!(six.is_some(), mtu >= 1280);
        let [near, far] = Side::BOTH.map(|side| udp(&link, side, link.address(side)));
        let to = far.local_addr().expect("an address");
        let mut buffer = vec![0; 10_000];
        let before = fragments(&link, Side::Near);
        // The IP and UDP headers take 28 bytes.
        for (length, expected) in [(mtu as usize - 28, 0), (mtu as usize - 27, 2)] {
            near.send_to(&buffer[..length], to).expect("it is sent");
            assert_eq!(far.recv(&mut buffer).expect("it arrives"), length);
            let made = fragments(&link, Side::Near) - before;
            assert_eq!(made, expected, "{length} bytes, MTU {mtu}");
        }
    }
}

#[test]
fn links_at_the_same_time_are_apart() {
    let (Some(one), Some(other)) = (Link::new(Shape::PLAIN), Link::new(DELAYED)) else {
        return;
    };
    for link in [&one, &other] {
        let [near, far] = Side::BOTH.map(|side| link.address(side));
        assert_eq!(udp_round_trips(link, near, far, 3).len(), 3);
    }
    let far = (other.address(Side::Far), 9);
    let socket = udp(&one, Side::Near, one.address(Side::Near));
    let error = socket
        .send_to(&[1], far)
        .expect_err("there is no way there");
    assert_eq!(error.kind(), std::io::ErrorKind::NetworkUnreachable);
}

#[test]
fn a_link_that_is_cut_is_silent_until_it_is_restored() {
    for shape in [Shape::PLAIN, DELAYED] {
        let Some(link) = Link::new(shape) else {
            return;
        };
        let six = |side| link.address_v6(side).expect("an MTU of 1500");
        for [near, far] in [
            Side::BOTH.map(|side| link.address(side)),
            Side::BOTH.map(six),
        ] {
            assert_eq!(udp_arrivals(&link, near, far, 50), 50);
            link.cut();
            assert_eq!(udp_arrivals_on_cut_link(&link, near, far), 0);
            link.restore();
            assert_eq!(udp_arrivals(&link, near, far, 50), 50);
        }
    }
}

/// Like `udp_arrivals`, for one datagram that may fail to be sent.
fn udp_arrivals_on_cut_link(link: &Link, near: std::net::IpAddr, far: std::net::IpAddr) -> usize {
    let [near, far] = [udp(link, Side::Near, near), udp(link, Side::Far, far)];
    far.set_read_timeout(Some(Duration::from_millis(100)))
        .expect("a timeout");
    let _ = near.send_to(&[7], far.local_addr().expect("an address"));
    usize::from(far.recv(&mut [0; 8]).is_ok())
}

#[test]
fn a_panic_leaves_nothing() {
    let mut made = None;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let Some(link) = Link::new(DELAYED) else {
            return;
        };
        let mut sleeper = link.command(Side::Far, "sleep");
        sleeper.arg("600");
        let running = Running::start(sleeper);
        let names = Side::BOTH.map(|side| link.end(side).name().to_owned());
        assert!(names.iter().all(|name| existing().contains(name)));
        made = Some((names, running.id()));
        panic!("as a test that fails");
    }));
    let Some((names, pid)) = made else {
        // Skipped, or it failed because a link is required.
        return panicked.unwrap_or_else(|panic| resume_unwind(panic));
    };
    assert!(panicked.is_err());
    assert!(!existing().iter().any(|name| names.contains(name)));
    assert!(!Path::new("/proc").join(pid.to_string()).exists());
    assert!(!Path::new("/sys/class/net").join(DEVICE).exists());
}
