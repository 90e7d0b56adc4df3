//! Shared: round trips of messages over TCP or UDP: their rows, and what is measured and expected.

use std::os::fd::BorrowedFd;

use rustix::net::RecvFlags;
use syscost_harness::prelude::*;
use syscost_net::socket::Tcp;
use syscost_net::{Account, Wait};

use super::exchange::{Caller, Exchange, Link};
use super::far_end::{Destination, Family, FarEnd, Networked, Path, Route};
use super::interface::InterfaceCounters;
use crate::ipc::traffic::{same_and_nearest, sleeps};
use crate::net::tcp::stream::options;
use crate::witness::{messages, sockets};

/// A link over which round trips are measured.
pub(super) trait Echoed: Link + Sized + 'static {
    /// The sizes of its messages.
    const SIZES: Sizes;

    /// The flags of its receiving calls, beside that of those that do not wait.
    const FLAGS: RecvFlags;

    /// Whether no message may be lost or come twice, even on the way to another machine.
    const IS_RELIABLE: bool;

    fn connected(spec: &EchoSpec, cpus: &[u32]) -> Result<Ends<Self>, Failure>;

    fn socket(&self) -> BorrowedFd<'_>;

    /// Claims what the kernels counted of this kind of link.
    fn claim(_: &Caller<Self>, _: &mut Bencher, _: &Account) {}
}

/// Message sizes, by how both ends wait and where the far end is.
pub(super) struct Sizes {
    /// Blocking, on the measuring task's CPU.
    pub(super) same: &'static [Bytes],
    /// Blocking, on the nearest other CPU.
    pub(super) other: &'static [Bytes],
    /// Spinning, on the nearest other CPU.
    pub(super) spin: &'static [Bytes],
    /// Blocking, with the remote far end.
    pub(super) remote: &'static [Bytes],
}

/// The size that is measured for every family, placement and way to wait.
pub(super) const PLAIN: Bytes = Bytes(64);

/// The parameters of a round trip.
#[derive(Params, Debug, Clone, Copy)]
pub(super) struct NetRoundTrip {
    pub(super) path: Path,
    pub(super) family: Family,
    pub(super) cpus: Option<Placement>,
    pub(super) wait: Wait,
    /// Bytes of a message.
    pub(super) size: Bytes,
}

impl NetRoundTrip {
    pub(super) fn destination(&self) -> Destination {
        Destination::new(self.path, self.family, self.cpus)
    }

    /// The calls and switches of a round trip at those ends that are tasks of this machine. Each
    /// waits once, or once for each part of a message; one that spins never waits, but may be
    /// preempted.
    fn counts(&self) -> Vec<Expect> {
        let (ends, placement) = (self.path.own_ends(), self.destination().placement());
        // The number of parts that the kernel may split a message into.
        let parts = self.size.0.div_ceil(4096) as f64;
        let receives = Counter::Syscall(Sysno::RECVFROM);
        let (min, max) = (0.95 * ends, 1.05 * ends * parts);
        let mut all = match self.wait {
            Wait::Block => vec![together(Sysno::RECVFROM, ends)],
            Wait::Epoll => vec![
                within(receives, min, max),
                within(Counter::Syscall(Sysno::EPOLL_PWAIT), min, max),
            ],
            Wait::Spin => vec![
                at_least(receives, min, "it asks until the answer is there"),
                at_most(Counter::VoluntarySwitches, 0.05),
            ],
        };
        // Over a slow path the acknowledgement comes before the answer and wakes the waiting end
        // once more.
        let (min, wakes) = match (self.wait, self.path) {
            (Wait::Spin, Path::Loopback) => (0.0, 1.15),
            (Wait::Spin, Path::Remote) => (0.0, 2.3),
            (Wait::Block | Wait::Epoll, Path::Loopback) => (sleeps(placement), 1.15),
            // A nearby host may answer before this end has fallen asleep.
            (Wait::Block | Wait::Epoll, Path::Remote) => (0.5, 2.3),
        };
        all.extend([
            together(Sysno::SENDTO, ends),
            // Memory allocated anew for each message would fault once per page.
            at_most(Counter::MinorFaults, 0.01 * parts),
            within(Counter::Switches, min, wakes * ends * parts),
        ]);
        all
    }
}

impl<L: Echoed> Networked<L> for NetRoundTrip {
    /// All sizes over IPv4, the plain size over IPv6 and with epoll as well.
    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        use Family::{Ipv4, Ipv6};
        use Wait::{Block, Epoll, Spin};
        let near = same_and_nearest(here);
        let (same, other) = near.split_at(1);
        let mut elsewhere = Placement::among(&here.allowed);
        elsewhere.retain(|place| !near.contains(place) && *place != Placement::Free);
        let remote = Destination::remote(here);
        let mut rows = Vec::new();
        let mut add = |to: &[Destination], wait: Wait, sizes: &[Bytes]| {
            for Destination { path, family, cpus } in to.iter().copied() {
                rows.extend(rows!(NetRoundTrip {
                    path: [path],
                    family: [family],
                    cpus: [cpus],
                    wait: [wait],
                    size: sizes.iter().copied()
                }));
            }
        };
        let local = |family, places: &[Placement]| -> Vec<Destination> {
            let to = |place: &Placement| Destination::new(Path::Loopback, family, Some(*place));
            places.iter().map(to).collect()
        };
        add(&local(Ipv4, same), Block, L::SIZES.same);
        add(&local(Ipv4, other), Block, L::SIZES.other);
        add(&local(Ipv4, &near), Epoll, &[PLAIN]);
        // Two tasks that spin on the same CPU would wait for each other's time slices.
        add(&local(Ipv4, other), Spin, L::SIZES.spin);
        add(&local(Ipv4, &elsewhere), Spin, &[PLAIN]);
        add(&local(Ipv6, &near), Block, &[PLAIN]);
        add(&local(Ipv6, other), Spin, &[PLAIN]);
        add(remote.as_slice(), Block, L::SIZES.remote);
        add(remote.as_slice(), Epoll, &[PLAIN]);
        add(remote.as_slice(), Spin, &[PLAIN]);
        rows
    }

    fn destination(&self) -> Destination {
        self.destination()
    }

    /// Other sizes on loopback are for the full profile, and so are all of IPv6 but one.
    fn profile(&self) -> Profile {
        let NetRoundTrip {
            path, wait, size, ..
        } = *self;
        let (is_usual, is_plain) = (self.destination().is_usual(), size == PLAIN);
        let is_first = wait == Wait::Block && self.cpus.is_none_or(|at| at == Placement::SAME);
        match path {
            _ if is_usual && is_plain && is_first => Profile::Quick,
            Path::Loopback if !is_plain || !(is_usual || is_first) => Profile::Full,
            Path::Loopback | Path::Remote => Profile::Standard,
        }
    }

    fn proofs(&self) -> NetRoundTripProofs<Proof> {
        let flags = match self.wait {
            Wait::Block => L::FLAGS,
            Wait::Epoll | Wait::Spin => L::FLAGS | RecvFlags::DONTWAIT,
        };
        NetRoundTripProofs {
            path: sockets::path(self.path),
            family: sockets::family(self.family),
            cpus: Proof::by_tasks(),
            wait: Proof::counted(self.counts()).and(sockets::receives_with(flags.bits())),
            size: messages::size(self.size, Some(Sysno::SENDTO)),
        }
    }

    fn measure(self, route: Route, mut plan: Plan) -> Result<Outcome, Failure> {
        let spec = EchoSpec {
            route,
            wait: self.wait,
            size: self.size.get(),
            tcp: options(plan.targets()),
        };
        spec.route.announce(&mut plan, spec.size)?;
        let is_lossless = L::IS_RELIABLE || spec.route.is_loopback();
        let exchange = Exchange::new(&mut plan, spec.size, is_lossless);
        let shape = Together::of(spec.route.placement(), |cpus| {
            let (far, near, interface) = L::connected(&spec, cpus)?;
            Ok(far.driven_by(exchange.over(near, interface)))
        });
        let (mut outcome, (caller, account)) = plan.measure(shape)?.split();
        caller.claim(&mut outcome, &account);
        sockets::see_family(&mut outcome, [caller.link.socket()]);
        sockets::see_far_end(&mut outcome, account.is_partner);
        L::claim(&caller, &mut outcome, &account);
        Ok(outcome)
    }
}

/// The far end, the near end, and what the interface between them counts.
pub(super) type Ends<L> = (FarEnd, L, InterfaceCounters);

/// What both ends of a round trip are made by.
#[derive(Debug, Clone)]
pub(super) struct EchoSpec {
    pub(super) route: Route,
    pub(super) wait: Wait,
    /// Bytes of a message.
    pub(super) size: usize,
    /// The options of both ends, where they are connected.
    pub(super) tcp: Tcp,
}
