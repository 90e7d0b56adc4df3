//! Families of internet addresses, and their names in cases.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use syscost_harness::prelude::*;

/// A family of internet addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Ipv4,
    Ipv6,
}

impl Family {
    /// Both families.
    pub(crate) const ALL: [Family; 2] = [Family::Ipv4, Family::Ipv6];

    /// The key of the parameter that names the family.
    pub(crate) const KEY: &str = "family";

    /// The name in cases.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Family::Ipv4 => "ipv4",
            Family::Ipv6 => "ipv6",
        }
    }

    /// The family of a case; IPv4 if it gives none.
    pub(crate) fn of(case: &Case) -> Result<Self, Failure> {
        let Some(name) = case.find(Self::KEY) else {
            return Ok(Family::Ipv4);
        };
        let found = Self::ALL.into_iter().find(|family| family.name() == name);
        found.ok_or_else(|| case.unknown(Self::KEY))
    }

    /// The family of an address.
    pub(crate) fn of_address(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(_) => Family::Ipv4,
            IpAddr::V6(_) => Family::Ipv6,
        }
    }

    /// The loopback address of this family.
    pub(crate) fn loopback(self) -> IpAddr {
        match self {
            Family::Ipv4 => Ipv4Addr::LOCALHOST.into(),
            Family::Ipv6 => Ipv6Addr::LOCALHOST.into(),
        }
    }
}
