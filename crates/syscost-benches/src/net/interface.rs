//! Shared: the interface that carried the messages, by its own counters, and what it does to them.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{getpeername, getsockname};
use syscost_harness::prelude::*;
use syscost_net::Session;
use syscost_sys::network::{self, Carried, Offloads, Queue};

use super::far_end::Family;

const TABLE: &str = "/proc/net/dev";

const ETHTOOL: &str = "SIOCETHTOOL";

/// The reason where an interface other than loopback has counted too little.
const LATE: &str = "some drivers count late, and no other interface has counted as much";

/// What the interfaces of this machine carry while messages go over one of them.
#[derive(Debug)]
pub(crate) struct InterfaceCounters {
    /// The interface that has this end's address: `lo` where both ends are on this machine.
    name: Result<String, Unsupported>,
    before: State,
    after: State,
}

/// What the kernel reports of the interfaces at one moment.
#[derive(Debug)]
struct State {
    carried: Result<Vec<Carried>, Unsupported>,
    /// Those of the path's interface alone.
    offloads: Result<Offloads, Unsupported>,
    queue: Result<Option<Queue>, Unsupported>,
}

impl State {
    fn read(name: &Result<String, Unsupported>) -> Self {
        let known = || name.as_deref().map_err(Clone::clone);
        Self {
            carried: network::carried(),
            offloads: known().and_then(|name| Ok(Offloads::of(name)?)),
            queue: known().and_then(|name| Ok(Queue::of(name)?)),
        }
    }

    fn unknown() -> Self {
        let reason = Unsupported::new("it was not read at the end");
        Self {
            carried: Err(reason.clone()),
            offloads: Err(reason.clone()),
            queue: Err(reason),
        }
    }
}

impl InterfaceCounters {
    /// Begins now, for a connected socket.
    pub(crate) fn of(socket: impl AsFd) -> Result<Self, Failure> {
        let addresses = || {
            let own = SocketAddr::try_from(getsockname(&socket)?)?;
            let far = getpeername(&socket)?.ok_or(Errno::NOTCONN)?;
            Ok((own, SocketAddr::try_from(far)?))
        };
        let failed = |errno: Errno| Failure::of("read a socket's addresses", errno);
        let (own, far) = addresses().map_err(failed)?;
        Ok(Self::begin(own.ip(), far.ip()))
    }

    /// Begins now, for what goes to the far end of a session.
    pub(crate) fn of_session(session: &Session) -> Result<Self, Failure> {
        let own = session.local().tried("getsockname")?;
        Ok(Self::begin(own.ip(), session.peer().ip()))
    }

    /// Begins now, for the addresses of a connected socket.
    pub(crate) fn begin(own: IpAddr, far: IpAddr) -> Self {
        // Messages to an address of this machine pass through `lo`, whichever interface has the address.
        let own = own.to_canonical();
        let address = match own == far.to_canonical() {
            true => Family::of_address(own).loopback(),
            false => own,
        };
        let name = match network::interface_of(address) {
            Ok(Some(name)) => Ok(name),
            Ok(None) => Err(Unsupported::new(format!("no interface has {address}"))),
            Err(error) => Err(error.into()),
        };
        Self {
            before: State::read(&name),
            after: State::unknown(),
            name,
        }
    }

    pub(crate) fn end(&mut self) {
        self.after = State::read(&self.name);
    }

    /// The shaper at the interface, which held packets back meanwhile; `None` where there is none,
    /// as far as is known. Packets of other programs may be among them.
    pub(crate) fn shaper(&self) -> Option<Shaper> {
        let of = |state: &State| state.queue.clone().ok().flatten();
        let (before, after) = (of(&self.before)?, of(&self.after)?);
        let held_back = after.overlimits.wrapping_sub(before.overlimits);
        (before.kind == after.kind && held_back > 0).then_some(Shaper {
            interface: self.name.clone().ok()?,
            kind: after.kind,
            held_back,
        })
    }

    /// Claims that the interface carried at least these bytes of content, sent and received.
    pub(crate) fn claim(&self, b: &mut Bencher, sent: u64, received: u64) {
        self.claim_offloads(b);
        const CLAIM: &str = "bytes carried by the interface of its path, sent and received";
        let expected = |name: &str| format!("{name}: at least {sent} and {received}");
        let known = || -> Result<_, Unsupported> {
            let name = self.name.as_ref().map_err(Unsupported::clone)?;
            Ok((name, self.changes()?))
        };
        let (name, changes) = match known() {
            Ok(known) => known,
            Err(reason) => return b.claim_unobserved(CLAIM, expected("?"), TABLE, reason),
        };
        let (verdict, seen) = judge(name, &changes, sent, received);
        let seen = match seen {
            Some(one) => format!(
                "{}: {} and {}",
                one.interface, one.sent_bytes, one.received_bytes
            ),
            None => "nothing".to_owned(),
        };
        let reason = (verdict == Verdict::Unverified).then_some(LATE);
        b.claim_verdict(CLAIM, expected(name), seen, TABLE, verdict, reason);
    }

    /// Reports what the interface does in place of the CPU, and claims that it did so all the time.
    fn claim_offloads(&self, b: &mut Bencher) {
        const CLAIM: &str = "offloads of that interface, before and after";
        let known = [&self.before, &self.after].map(|state| state.offloads.as_ref());
        match (self.name.as_ref(), known) {
            (Ok(name), [Ok(before), Ok(after)]) => {
                let [before, after] = [before, after].map(|all| format!("{name}: {all}"));
                b.claim_equal(CLAIM, before, after, ETHTOOL);
            }
            (Err(reason), _) | (_, [Err(reason), _] | [_, Err(reason)]) => {
                b.claim_unobserved(CLAIM, "the same", ETHTOOL, reason)
            }
        }
    }

    /// What each interface has carried between the beginning and the end.
    fn changes(&self) -> Result<Vec<Carried>, Unsupported> {
        let [before, after] =
            [&self.before, &self.after].map(|state| state.carried.as_ref().map_err(Clone::clone));
        let before = before?;
        let changes = after?.iter().filter_map(|now| {
            let then = before.iter().find(|then| then.interface == now.interface)?;
            Some(Carried {
                interface: now.interface.clone(),
                received_bytes: now.received_bytes.saturating_sub(then.received_bytes),
                sent_bytes: now.sent_bytes.saturating_sub(then.sent_bytes),
            })
        });
        Ok(changes.collect())
    }
}

/// A queueing discipline that holds packets back to keep to a rate, and how often it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shaper {
    pub(crate) interface: String,
    pub(crate) kind: String,
    pub(crate) held_back: u32,
}

impl fmt::Display for Shaper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            interface,
            kind,
            held_back,
        } = self;
        write!(
            f,
            "qdisc {kind} of {interface}, over its rate {held_back} times"
        )
    }
}

/// Judges whether the interface of this name carried that much; returns the interface to report:
/// another one that did, if this one has not.
fn judge<'c>(
    name: &str,
    changes: &'c [Carried],
    sent: u64,
    received: u64,
) -> (Verdict, Option<&'c Carried>) {
    // Each message on loopback is sent and received by the same interface.
    let is_loopback = name == "lo";
    let enough = |one: &Carried| match one.interface == "lo" {
        true => one.sent_bytes.min(one.received_bytes) >= sent + received,
        false => one.sent_bytes >= sent && one.received_bytes >= received,
    };
    let own = changes.iter().find(|one| one.interface == name);
    if own.is_some_and(enough) {
        return (Verdict::Confirmed, own);
    }
    let other = changes.iter().find(|one| enough(one));
    match (other, is_loopback) {
        (None, false) => (Verdict::Unverified, own),
        (other, _) => (Verdict::Refuted, other.or(own)),
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn what_another_interface_carried_refutes() {
        use Verdict::{Confirmed, Refuted, Unverified};
        let quiet = ("eth0", 80, 60);
        let busy = ("eth0", 1000, 500);
        for (name, changes, verdict, seen) in [
            (
                "lo",
                &[("lo", 1500, 1500), quiet][..],
                Confirmed,
                Some("lo"),
            ),
            // Loopback counts each message twice.
            ("lo", &[("lo", 1000, 500)], Refuted, Some("lo")),
            ("eth0", &[busy], Confirmed, Some("eth0")),
            ("lo", &[("lo", 0, 0), busy], Refuted, Some("eth0")),
            ("eth0", &[quiet, ("lo", 5, 5)], Unverified, Some("eth0")),
            ("eth0", &[quiet, ("lo", 2000, 2000)], Refuted, Some("lo")),
            ("wlan0", &[], Unverified, None),
        ] {
            let carried = |(interface, sent_bytes, received_bytes): &(&str, u64, u64)| Carried {
                interface: (*interface).to_owned(),
                received_bytes: *received_bytes,
                sent_bytes: *sent_bytes,
            };
            let all: Vec<Carried> = changes.iter().map(carried).collect();
            let (judged, by) = judge(name, &all, 1000, 500);
            let by = by.map(|one| &*one.interface);
            assert_eq!((judged, by), (verdict, seen), "{name}: {changes:?}");
        }
    }

    #[test]
    fn the_interface_of_an_address_of_this_machine_is_loopback() {
        let own = IpAddr::from([127, 0, 0, 1]);
        let name = or_skip!(InterfaceCounters::begin(own, own).name);
        assert_eq!(name, "lo");
    }

    #[test]
    fn a_queue_that_held_packets_back_meanwhile_is_a_shaper() {
        let queue = |kind: &str, overlimits| {
            let kind = kind.to_owned();
            Ok(Some(Queue { kind, overlimits }))
        };
        let state = |queue| State {
            queue,
            ..State::unknown()
        };
        let shaper = |before, after| {
            let interface = InterfaceCounters {
                name: Ok("link0".to_owned()),
                before: state(before),
                after: state(after),
            };
            interface.shaper().map(|shaper| shaper.to_string())
        };
        let found = shaper(queue("tbf", 7), queue("tbf", 10));
        let expected = "qdisc tbf of link0, over its rate 3 times";
        assert_eq!(found.as_deref(), Some(expected));
        assert_eq!(shaper(queue("tbf", 7), queue("tbf", 7)), None);
        assert_eq!(shaper(queue("tbf", 7), queue("htb", 9)), None);
        assert_eq!(shaper(Ok(None), queue("tbf", 9)), None);
    }
}
