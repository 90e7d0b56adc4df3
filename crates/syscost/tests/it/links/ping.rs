//! Whether a link is what its shape says, by ping(8), which owes nothing to what is measured over links.

use std::net::IpAddr;
use std::time::Duration;

use super::{Link, Shape, Side, assert_ten_milliseconds};
use crate::common::or_skip;
use crate::tool::{require, turn, unless_required};

/// The echoes that came back, of those that were sent, and the shortest round trip in milliseconds.
#[derive(Debug)]
struct Echoes {
    sent: u32,
    back: u32,
    shortest_ms: f64,
}

/// Pings the far end with these options.
fn ping(link: &Link, to: IpAddr, options: &str) -> Echoes {
    let mut command = link.command(Side::Near, "ping");
    let command = command.env("LC_ALL", "C").args(["-q", "-W", "1"]);
    let ended = command.args(options.split(' ')).arg(to.to_string());
    let text = ended.output().expect("it starts").stdout;
    let text = String::from_utf8(text).expect("text");
    let counts = text.lines().find(|line| line.contains("transmitted"));
    let mut counts = counts.expect("counts").split(", ").map(|count| {
        let number = count.split(' ').next().and_then(|one| one.parse().ok());
        number.unwrap_or_else(|| panic!("{text}"))
    });
    let times = text.lines().find_map(|line| line.split_once(" = "));
    let times = times.map_or("", |(_, times)| times).split('/');
    let times: Vec<f64> = times.filter_map(|time| time.parse().ok()).collect();
    Echoes {
        sent: counts.next().expect("a count"),
        back: counts.next().expect("a count"),
        shortest_ms: times.first().copied().unwrap_or(f64::NAN),
    }
}

#[test]
#[ignore = "machine suite"]
fn a_link_is_what_its_shape_says() {
    let _turn = turn();
    or_skip!(unless_required(require("ping"), "SYSCOST_REQUIRE_TOOLS"));
    let plain = Shape::PLAIN;
    let jumbo = Shape { mtu: 9000, ..plain };
    let delay = Some(Duration::from_millis(5));
    for shape in [
        plain,
        Shape { delay, ..jumbo },
        Shape {
            loss_percent: Some(5),
            ..plain
        },
    ] {
        let link = or_skip!(Link::new(shape));
        let far = [Some(link.address(Side::Far)), link.address_v6(Side::Far)];
        for far in far.into_iter().flatten() {
            let all_come_back = |options: &str| {
                let found = ping(&link, far, options);
                println!("{shape:?} to {far}, {options}: {found:?}");
                found.back == found.sent
            };
            if shape.loss_percent.is_some() {
                let Echoes { sent, back, .. } = ping(&link, far, "-c 2000 -i 0.002");
                let lost = 100.0 * f64::from(sent - back) / f64::from(sent);
                assert!((3.0..7.0).contains(&lost), "{lost} % of {sent} to {far}");
                continue;
            }
            assert!(all_come_back("-c 200 -i 0.002"));
            // The headers of IP and ICMP.
            let longest = shape.mtu - if far.is_ipv4() { 28 } else { 48 };
            let within = |bytes: u32| all_come_back(&format!("-c 3 -i 0.01 -M do -s {bytes}"));
            assert!(within(longest) && !within(longest + 1));
            let in_fragments = format!("-c 3 -i 0.01 -M dont -s {}", longest + 1);
            assert!(all_come_back(&in_fragments));
            if shape.delay.is_some() {
                assert_ten_milliseconds(|| {
                    vec![("ping", ping(&link, far, "-c 50 -i 0.01").shortest_ms)]
                });
            }
        }
        link.cut();
        let silent = ping(&link, link.address(Side::Far), "-c 3 -i 0.01");
        assert_eq!(silent.back, 0, "{silent:?}");
        link.restore();
        let again = ping(&link, link.address(Side::Far), "-c 20 -i 0.01");
        assert!(again.back > 10, "{again:?}");
    }
}
