//! Shared: the parameters of a round trip, and its rows.

use syscost_harness::prelude::*;
use syscost_net::socket::Tcp;
use syscost_net::{Account, Wait};

use super::exchange::{Caller, Exchange, Link};
use super::far_end::{Family, FarEnd, Path, remote_family};
use super::interface::Way;
use super::waiting;
use crate::ipc::setting::{same_and_nearest, sleeps};
use crate::net::tcp::stream::options;

/// The key of the parameter with the size of a message, in bytes.
pub(crate) const SIZE: &str = "size";

/// The value of a parameter that must be a number greater than 0.
pub(crate) fn positive(case: &Case, key: &str) -> Result<usize, Failure> {
    let number = case.find_number(key).filter(|number| *number > 0);
    let number = number.ok_or_else(|| case.unknown(key))?;
    Ok(number as usize)
}

/// A case over this path, with the placement of a partner on this machine and further parameters.
pub(crate) fn case<const N: usize>(
    path: &'static str,
    family: Family,
    placement: Option<Placement>,
    further: [(&'static str, String); N],
) -> Case {
    let first = [(Path::KEY, path), (Family::KEY, family.name())];
    let first = first.map(|(key, value)| (key, value.to_owned()));
    let placement = placement.map(|placement| (Placement::KEY, placement.name().to_owned()));
    Case::new(first.into_iter().chain(placement).chain(further))
}

/// The far end, the near end, and the path between them.
pub(crate) type Ends<L> = (FarEnd, L, Way);

/// The parameters of a round trip.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) path: Path,
    pub(crate) wait: Wait,
    /// Bytes of a message.
    pub(crate) size: usize,
    /// The options of both ends, where they are connected.
    pub(crate) tcp: Tcp,
}

impl Setting {
    /// The setting of a case.
    pub(crate) fn of(b: &Bencher) -> Result<Self, Failure> {
        let case = b.case();
        Ok(Self {
            path: Path::of(case, b.targets())?,
            wait: waiting::of(case)?,
            size: positive(case, SIZE)?,
            tcp: options(b.targets()),
        })
    }

    /// Measures round trips between the ends that `connect` makes, and claims what both counted.
    /// `is_lossless` says that no message may be lost or come twice.
    pub(crate) fn measure<L: Link + 'static>(
        &self,
        b: &mut Bencher,
        is_lossless: bool,
        connect: fn(&Self, &[u32]) -> Result<Ends<L>, Failure>,
    ) -> Result<(Caller<L>, Account), Failure> {
        self.path.announce(b, self.size)?;
        self.expect(b);
        let exchange = Exchange::new(b, self.size, is_lossless);
        let (caller, account) = b.together(self.path.placement(), |cpus| {
            let (far, near, way) = connect(self, cpus)?;
            Ok(far.led_by(exchange.over(near, way)))
        })?;
        caller.claim(b, &account);
        Ok((caller, account))
    }

    /// The number of parts that the kernel may split a message into.
    fn parts(&self) -> f64 {
        self.size.div_ceil(4096) as f64
    }

    /// Expects the calls and switches of a round trip at those ends that are tasks of this machine.
    /// Each waits once, or once for each part of a message; one that spins never waits, but may be
    /// preempted.
    fn expect(&self, b: &mut Bencher) {
        let ends = self.path.own_ends();
        b.expect(together(Sysno::SENDTO, ends));
        let length = Argument {
            position: 2,
            name: "length",
        };
        // From the row's name, not from what was set up.
        let named = b.case().number(SIZE);
        b.expect_argument(Sysno::SENDTO, length, Given::Always(named));
        let receives = Counter::Syscall(Sysno::RECVFROM);
        let (min, max) = (0.95 * ends, 1.05 * ends * self.parts());
        match self.wait {
            Wait::Block => b.expect(together(Sysno::RECVFROM, ends)),
            Wait::Epoll => {
                b.expect(within(receives, min, max));
                b.expect(within(Counter::Syscall(Sysno::EPOLL_PWAIT), min, max));
            }
            Wait::Spin => b.expect(at_least(receives, min)),
        }
        // Memory allocated anew for each message would fault once per page.
        b.expect(at_most(Counter::MinorFaults, 0.01 * self.parts()));
        // Over a slow path the acknowledgement comes before the answer and wakes the waiting end
        // once more.
        let wakes = if self.path.is_loopback() { 1.15 } else { 2.3 };
        let max = wakes * ends * self.parts();
        let min = match (self.wait, self.path.is_loopback()) {
            (Wait::Spin, _) => 0.0,
            (_, true) => sleeps(self.path.placement()),
            // A nearby host may answer before this end has fallen asleep.
            (_, false) => 0.5,
        };
        b.expect(within(Counter::Switches, min, max));
        if self.wait == Wait::Spin {
            b.expect(at_most(Counter::VoluntarySwitches, 0.05));
        }
    }
}

/// Message sizes in bytes, by how both ends wait and where the far end is.
pub(crate) struct Sizes {
    /// Blocking, on the measuring task's CPU.
    pub(crate) same: &'static [usize],
    /// Blocking, on the nearest other CPU.
    pub(crate) other: &'static [usize],
    /// Spinning, on the nearest other CPU.
    pub(crate) spin: &'static [usize],
    /// Blocking, with the remote far end.
    pub(crate) remote: &'static [usize],
}

/// The size that is measured for every family, placement and way to wait.
pub(crate) const PLAIN: usize = 64;

/// The cases of a round trip: all sizes over IPv4, the plain size over IPv6 and with epoll as well.
pub(crate) fn cases(here: &Here, sizes: &Sizes) -> Vec<Case> {
    let near = same_and_nearest();
    let (same, other) = near.split_at(1);
    let elsewhere: Vec<Placement> = Placement::here()
        .into_iter()
        .filter(|placement| !near.contains(placement) && *placement != Placement::Free)
        .collect();
    let mut cases = Vec::new();
    let further = |wait: Wait, size| {
        [
            (waiting::KEY, wait.name().to_owned()),
            (SIZE, size_name(size)),
        ]
    };
    let mut add = |family, placements: &[Placement], wait, sizes: &[usize]| {
        for placement in placements {
            let near = |size| {
                let further = further(wait, size);
                case(Path::LOOPBACK, family, Some(*placement), further)
            };
            cases.extend(sizes.iter().copied().map(near));
        }
    };
    add(Family::Ipv4, same, Wait::Block, sizes.same);
    add(Family::Ipv4, other, Wait::Block, sizes.other);
    add(Family::Ipv4, &near, Wait::Epoll, &[PLAIN]);
    // Two tasks that spin on the same CPU would wait for each other's time slices.
    add(Family::Ipv4, other, Wait::Spin, sizes.spin);
    add(Family::Ipv4, &elsewhere, Wait::Spin, &[PLAIN]);
    add(Family::Ipv6, &near, Wait::Block, &[PLAIN]);
    add(Family::Ipv6, other, Wait::Spin, &[PLAIN]);
    if let Some(family) = remote_family(here) {
        let mut add = |wait, sizes: &[usize]| {
            let remote = |size| case(Path::REMOTE, family, None, further(wait, size));
            cases.extend(sizes.iter().copied().map(remote));
        };
        add(Wait::Block, sizes.remote);
        add(Wait::Epoll, &[PLAIN]);
        add(Wait::Spin, &[PLAIN]);
    }
    cases
}

/// Whether the quick profile includes the case.
pub(crate) fn is_plain(case: &Case) -> bool {
    let same = Placement::SAME.name();
    is_usual_path(case)
        && [None, Some(same)].contains(&case.find(Placement::KEY))
        && case.get(waiting::KEY) == Wait::Block.name()
        && case.number(SIZE) == PLAIN as u64
}

/// Whether a case is of loopback rather than of the given far end.
pub(crate) fn is_of_loopback(case: &Case) -> bool {
    case.get(Path::KEY) != Path::REMOTE
}

/// Whether only the full profile includes this round trip: other sizes on loopback, and all of IPv6
/// but one.
pub(crate) fn is_full(case: &Case) -> bool {
    let is_blocking = case.get(waiting::KEY) == Wait::Block.name();
    let same = Placement::here()[0].name();
    is_of_loopback(case)
        && (case.number(SIZE) != PLAIN as u64
            || !(is_usual_path(case) || (is_blocking && case.get(Placement::KEY) == same)))
}

/// Whether a case is of loopback over IPv4, or of the given far end.
pub(crate) fn is_usual_path(case: &Case) -> bool {
    case.get(Path::KEY) == Path::REMOTE || case.get(Family::KEY) == Family::Ipv4.name()
}
