//! Shared: the path that messages take, the family of its addresses, and what shows that they took it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use syscost_harness::prelude::*;
use syscost_harness::{congestion, peer};
use syscost_net::socket::Tcp;
use syscost_sys::network::{Carried, carried, interface_of};

/// Where the far end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// On this machine, reached through its loopback interface.
    Loopback,
    /// Where `syscost serve` runs.
    Remote,
}

impl Path {
    /// The key of the parameter that names it.
    pub(super) const KEY: &str = "path";

    /// The names in cases.
    pub(super) const LOOPBACK: &str = "loopback";
    pub(super) const REMOTE: &str = "remote";

    /// The name in cases.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Path::Loopback => Self::LOOPBACK,
            Path::Remote => Self::REMOTE,
        }
    }

    /// The one that a case names.
    pub(super) fn of(case: &Case) -> Result<Path, Failure> {
        [Path::Loopback, Path::Remote]
            .into_iter()
            .find(|path| path.name() == case.get(Self::KEY))
            .ok_or_else(|| Failure::Broken("has no path in its case".into()))
    }

    /// Whether this machine can take that of a case with addresses of its family.
    pub(super) fn support(case: &Case) -> Result<(), Unsupported> {
        // What names nothing known can be measured nowhere.
        let unknown = |failure: Failure| Unsupported::new(failure.to_string());
        let family = Family::of(case).map_err(unknown)?;
        match Path::of(case).map_err(unknown)? {
            Path::Loopback => UdpSocket::bind((family.loopback(), 0))
                .map(drop)
                .map_err(|error| Unsupported::new(format!("{}: {error}", family.loopback()))),
            Path::Remote => match Family::of_address(peer::given()?.address.ip()) == family {
                true => Ok(()),
                false => Err(Unsupported::new(
                    "the far end's address is of another family",
                )),
            },
        }
    }
}

/// The family of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Ipv4,
    Ipv6,
}

impl Family {
    /// The key of the parameter that names it.
    pub(super) const KEY: &str = "family";

    /// The name in cases.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Family::Ipv4 => "ipv4",
            Family::Ipv6 => "ipv6",
        }
    }

    /// The one that a case names.
    pub(super) fn of(case: &Case) -> Result<Family, Failure> {
        [Family::Ipv4, Family::Ipv6]
            .into_iter()
            .find(|family| family.name() == case.get(Self::KEY))
            .ok_or_else(|| Failure::Broken("has no family of addresses in its case".into()))
    }

    /// The one of an address.
    pub(super) fn of_address(address: IpAddr) -> Family {
        match address {
            IpAddr::V4(_) => Family::Ipv4,
            IpAddr::V6(_) => Family::Ipv6,
        }
    }

    /// That of the far end that this run was given, if any.
    pub(super) fn of_peer() -> Option<Family> {
        Some(Self::of_address(peer::given().ok()?.address.ip()))
    }

    /// This machine's own address on loopback.
    pub(super) fn loopback(self) -> IpAddr {
        match self {
            Family::Ipv4 => Ipv4Addr::LOCALHOST.into(),
            Family::Ipv6 => Ipv6Addr::LOCALHOST.into(),
        }
    }

    /// The same with any free port.
    pub(super) fn any_port(self) -> SocketAddr {
        (self.loopback(), 0).into()
    }
}

/// Options of every TCP socket: no waiting for more to send, and the congestion control that was chosen.
pub(super) fn tcp_options() -> Tcp {
    Tcp {
        congestion: congestion::given(),
        ..Tcp::nodelay()
    }
}

/// What the interface of an address has carried before.
pub(super) struct Carriage {
    before: Carried,
}

impl Carriage {
    /// That of the interface which has this address of this machine.
    pub(super) fn of(own: IpAddr) -> Result<Carriage, Unsupported> {
        let missing = || Unsupported::new(format!("no interface has the address {own}"));
        let name = interface_of(own)?.ok_or_else(missing)?;
        let before = Self::now(&name)?;
        Ok(Carriage { before })
    }

    fn now(name: &str) -> Result<Carried, Unsupported> {
        let missing = || Unsupported::new(format!("the kernel tells nothing of {name}"));
        let mut all = carried()?.into_iter();
        all.find(|one| one.interface == name).ok_or_else(missing)
    }

    /// Claims that since then it has carried the payload, in the direction in which that went.
    pub(super) fn claim(&self, b: &mut Bencher, payload: u64, is_sent: bool) {
        let name = &self.before.interface;
        let claim = format!("bytes that {name} carried of each byte of payload");
        let source = "/proc/net/dev";
        match Self::now(name) {
            Ok(after) => {
                let grown = match is_sent {
                    true => after.sent_bytes.saturating_sub(self.before.sent_bytes),
                    false => after
                        .received_bytes
                        .saturating_sub(self.before.received_bytes),
                };
                let carried = grown as f64 / payload.max(1) as f64;
                b.claim_within(&claim, Bound::AtLeast(1.0), carried, source);
            }
            Err(reason) => {
                let reason = reason.to_string();
                b.claim_unverified(&claim, "at least 1", "unknown", source, &reason);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_names_no_path_or_family_is_a_defect() {
        let case = Case::new([(Path::KEY, "loopback"), (Family::KEY, "ipv6")]);
        assert_eq!(Path::of(&case), Ok(Path::Loopback));
        assert_eq!(Family::of(&case), Ok(Family::Ipv6));
        let wrong = Case::new([(Path::KEY, "loop"), (Family::KEY, "ipv5")]);
        assert!(matches!(Path::of(&wrong), Err(Failure::Broken(_))));
        assert!(matches!(Family::of(&wrong), Err(Failure::Broken(_))));
    }

    #[test]
    fn loopback_addresses_are_those_of_loopback() {
        for family in [Family::Ipv4, Family::Ipv6] {
            assert!(family.loopback().is_loopback());
            assert_eq!(Family::of_address(family.loopback()), family);
        }
    }
}
