//! Links between two hosts, which are network namespaces of this machine, with the delay, rate,
//! loss and MTU that a test needs.
//!
//! Creating one requires root (CAP_NET_ADMIN and CAP_SYS_ADMIN) and iproute2. If this machine does
//! not allow it, tests print `skipped: why`.

mod hold;
pub(crate) mod namespace;
pub(crate) mod pair;
mod ping;
mod relay;
mod running;

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use self::namespace::{Namespace, sweep};
use self::relay::Relay;
pub(crate) use self::running::Running;
use crate::tool::{Failure, is_installed, require, unless_required};

/// The variable that says that this machine can create links.
const GRANTED: &str = "SYSCOST_REQUIRE_LINKS";

/// Name of the device at both ends.
pub(crate) const DEVICE: &str = "link0";
/// The smallest MTU with which the kernel supports IPv6.
const MIN_MTU_IPV6: u32 = 1280;
/// Number of links of this process so far.
static COUNT: AtomicU8 = AtomicU8::new(0);

/// How often a time is measured that a busy machine may lengthen but never shorten.
const TRIES: usize = 6;

/// Asserts that these times are those of a link with a delay of five milliseconds each way: 10.0 to
/// 10.6 ms. They are measured again while the minimum of any of them is too long.
pub(crate) fn assert_ten_milliseconds(mut times: impl FnMut() -> Vec<(&'static str, f64)>) {
    let mut shortest = BTreeMap::new();
    for _ in 0..TRIES {
        for (by, ms) in times() {
            println!("{by}: {ms:.3} ms");
            assert!(ms >= 10.0, "{by}: {ms} ms");
            let shortest = shortest.entry(by).or_insert(ms);
            *shortest = ms.min(*shortest);
        }
        if shortest.values().all(|ms| *ms <= 10.6) {
            return;
        }
    }
    panic!("never within 10.6 ms: {shortest:?}");
}

/// An end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The end at which a test measures.
    Near,
    /// The end that answers.
    Far,
}

impl Side {
    const BOTH: [Self; 2] = [Self::Near, Self::Far];
}

/// What a link does to packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Maximum packet length in bytes. Below 1280 there is no IPv6.
    pub(crate) mtu: u32,
    /// Megabits per second, in each direction, limited by a token bucket that includes Ethernet
    /// headers.
    pub(crate) megabits: Option<u32>,
    /// Percentage of packets that the far end drops on arrival.
    pub(crate) loss_percent: Option<u32>,
    /// The delay of a packet, in each direction.
    pub(crate) delay: Option<Duration>,
}

impl Shape {
    /// A veth pair as the kernel makes it.
    pub(crate) const PLAIN: Self = Self {
        mtu: 1500,
        megabits: None,
        loss_percent: None,
        delay: None,
    };
}

/// Two namespaces connected by a pair of devices. Dropping it removes them.
#[derive(Debug)]
pub(crate) struct Link {
    number: u8,
    shape: Shape,
    // Fields are dropped in this order: the relay's thread and devices before the namespaces.
    _relay: Option<Relay>,
    ends: [Namespace; 2],
}

impl Link {
    /// Creates a link; an error if this machine does not allow it.
    pub(crate) fn new(shape: Shape) -> Result<Self, Failure> {
        unless_required(Self::try_new(shape), GRANTED)
    }

    fn try_new(shape: Shape) -> Result<Self, Failure> {
        sweep();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let near = Namespace::new(&format!("{number}-near"))?;
        let far = Namespace::new(&format!("{number}-far"))?;
        let relay = match shape.delay {
            Some(delay) => Some(Relay::new([near.path(), far.path()], DEVICE, delay)?),
            None => {
                let veth = [
                    "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE,
                ];
                near.ip(&[&veth[..], &["netns", far.name()]].concat())?;
                None
            }
        };
        let link = Self {
            number,
            shape,
            _relay: relay,
            ends: [near, far],
        };
        for side in Side::BOTH {
            link.set_up(side)?;
        }
        if let Some(percent) = shape.loss_percent {
            link.lose(percent)?;
        }
        link.settle();
        Ok(link)
    }

    /// Sets the addresses, MTU and rate of one end.
    fn set_up(&self, side: Side) -> Result<(), Failure> {
        let end = self.end(side);
        let mtu = self.shape.mtu.to_string();
        end.ip(&["link", "set", DEVICE, "mtu", &mtu])?;
        let address = format!("{}/24", self.address(side));
        end.ip(&["addr", "add", &address, "dev", DEVICE])?;
        if let Some(address) = self.address_v6(side) {
            // By default the kernel drops these addresses when a link goes down.
            let keep = format!("/proc/sys/net/ipv6/conf/{DEVICE}/keep_addr_on_down");
            let kept = end.within(|| fs::write(&keep, "1"));
            kept.map_err(|cause| Failure::of_call(&keep, cause))?;
            // No other host can have the address, so duplicate detection is unnecessary.
            let address = format!("{address}/64");
            end.ip(&["addr", "add", &address, "dev", DEVICE, "nodad"])?;
        }
        end.ip(&["link", "set", DEVICE, "up"])?;
        if let Some(megabits) = self.shape.megabits {
            let rate = format!("{megabits}mbit");
            let bucket = ["tbf", "rate", &rate, "burst", "64kb", "latency", "50ms"];
            let add = ["tc", "qdisc", "add", "dev", DEVICE, "root"];
            end.run(&[&add[..], &bucket].concat())?;
        }
        Ok(())
    }

    /// Makes the far end drop packets at random, except those of neighbour discovery.
    fn lose(&self, percent: u32) -> Result<(), Failure> {
        // Without this, a packet here may contain up to 64 KiB of a stream.
        for side in Side::BOTH {
            self.end(side)
                .ip(&["link", "set", DEVICE, "gso_max_segs", "1"])?;
        }
        // Debian has nft; some systems have iptables instead.
        match require("nft") {
            Ok(()) => self.lose_by_nft(percent),
            Err(_) if is_installed("iptables") => self.lose_by_iptables(percent),
            missing => missing,
        }
    }

    fn lose_by_nft(&self, percent: u32) -> Result<(), Failure> {
        let rules = format!(
            "add table inet loss; \
             add chain inet loss arriving {{ type filter hook input priority 0; }}; \
             add rule inet loss arriving icmpv6 type \
             {{ nd-neighbor-solicit, nd-neighbor-advert }} accept; \
             add rule inet loss arriving iifname {DEVICE} \
             numgen random mod 100 < {percent} counter drop"
        );
        self.end(Side::Far).run(&["nft", &rules])?;
        Ok(())
    }

    fn lose_by_iptables(&self, percent: u32) -> Result<(), Failure> {
        let probability = format!("{:.2}", f64::from(percent) / 100.0);
        let neighbours = "-A INPUT -p icmpv6 --icmpv6-type neighbour-solicitation -j ACCEPT";
        let drop = format!(
            "-A INPUT -i {DEVICE} -m statistic --mode random --probability {probability} -j DROP"
        );
        for (program, rule) in [
            ("ip6tables", neighbours),
            (
                "ip6tables",
                &neighbours.replace("solicitation", "advertisement"),
            ),
            ("ip6tables", &drop),
            ("iptables", &drop),
        ] {
            let words: Vec<&str> = rule.split(' ').collect();
            self.end(Side::Far)
                .run(&[&[program], &words[..]].concat())?;
        }
        Ok(())
    }

    /// The namespace at this end.
    pub(crate) fn end(&self, side: Side) -> &Namespace {
        &self.ends[side as usize]
    }

    /// The IPv4 address of this end, different for all links of a process (up to 256 of them).
    pub(crate) fn address(&self, side: Side) -> IpAddr {
        Ipv4Addr::new(10, 77, self.number, host(side)).into()
    }

    /// The IPv6 address of this end, if the MTU allows one.
    pub(crate) fn address_v6(&self, side: Side) -> Option<IpAddr> {
        let [number, host] = [self.number, host(side)].map(u16::from);
        let address = Ipv6Addr::new(0xfd77, number, 0, 0, 0, 0, 0, host);
        (self.shape.mtu >= MIN_MTU_IPV6).then_some(address.into())
    }

    /// A command that runs a program at this end, in the process that is started, through `ip netns
    /// exec`.
    pub(crate) fn command(&self, side: Side, program: &str) -> Command {
        self.end(side).command(program)
    }

    /// Takes the far end down: the near one keeps its address and route, but receives nothing more.
    pub(crate) fn cut(&self) {
        self.set_far("down");
    }

    /// Undoes [`Link::cut`].
    pub(crate) fn restore(&self) {
        self.set_far("up");
        self.settle();
        // A failed neighbour entry would delay the next attempt.
        let flushed = self.end(Side::Near).ip(&["neigh", "flush", "dev", DEVICE]);
        flushed.unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// Waits until packets pass: the kernel takes up to a second to notice that the other end is
    /// up.
    fn settle(&self) {
        let passes = |side| {
            let state = self.device(side)["operstate"].clone();
            // The state of a TUN device is never known.
            state == "UP" || state == "UNKNOWN"
        };
        while !Side::BOTH.into_iter().all(passes) {
            sleep(Duration::from_millis(5));
        }
    }

    fn set_far(&self, state: &str) {
        let set = self.end(Side::Far).ip(&["link", "set", DEVICE, state]);
        set.unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// Bytes that have arrived at this end, headers included.
    pub(crate) fn received_bytes(&self, side: Side) -> u64 {
        let device = self.device(side);
        device["stats64"]["rx"]["bytes"].as_u64().expect("a count")
    }

    /// What ip(8) reports about the device at this end.
    fn device(&self, side: Side) -> Value {
        let shown = self.end(side).ip(&["-s", "-j", "link", "show", DEVICE]);
        let text = shown.unwrap_or_else(|failure| panic!("{failure}"));
        let devices: Value = serde_json::from_str(&text).expect("ip prints JSON");
        devices[0].clone()
    }
}

/// The last part of an address.
fn host(side: Side) -> u8 {
    side as u8 + 1
}
