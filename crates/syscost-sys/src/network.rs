//! Interfaces of this machine, what they do and have carried, and sockets for ICMP echoes.

mod offload;
mod queue;

use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};

pub use offload::Offloads;
pub use queue::Queue;

use crate::{SystemError, Unsupported, os};

/// What the kernel counted for the interfaces of this task's network namespace.
const COUNTERS: &str = "/proc/thread-self/net/dev";

/// What an interface has carried since it was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// Name of the interface, e.g. `lo`.
    pub interface: String,
    /// Bytes received, headers included.
    pub received_bytes: u64,
    /// Bytes sent, headers included.
    pub sent_bytes: u64,
}

/// What each interface of this task's network namespace has carried.
///
/// # Errors
/// When the kernel does not report it.
pub fn carried() -> Result<Vec<Carried>, Unsupported> {
    let text = std::fs::read_to_string(COUNTERS)
        .map_err(|error| Unsupported::new(format!("{COUNTERS}: {error}")))?;
    Ok(text.lines().filter_map(interface).collect())
}

/// Parses a line of the table: the name, a colon, eight numbers of what was received, as many of
/// what was sent. The two heading lines give `None`.
fn interface(line: &str) -> Option<Carried> {
    let (name, numbers) = line.split_once(':')?;
    let mut numbers = numbers.split_whitespace().map(str::parse);
    Some(Carried {
        interface: name.trim().to_owned(),
        received_bytes: numbers.next()?.ok()?,
        sent_bytes: numbers.nth(7)?.ok()?,
    })
}

/// The name of the interface that has this address; `None` where none has.
///
/// # Errors
/// When the system does not report it.
pub fn interface_of(address: IpAddr) -> Result<Option<String>, SystemError> {
    let all = os::interface_addresses()
        .map_err(|cause| SystemError::new("getifaddrs", address.to_string(), cause))?;
    let mut found = all.into_iter().filter(|(_, own)| *own == address);
    Ok(found.next().map(|(name, _)| name))
}

/// Makes a raw ICMP socket of this family receive only answers to echo requests: otherwise it
/// receives what comes for every program, and on loopback its own requests.
///
/// # Errors
/// When the socket is not of that kind.
pub fn only_echo_replies(socket: &OwnedFd, is_ipv6: bool) -> Result<(), SystemError> {
    os::only_echo_replies(socket.as_fd(), is_ipv6)
        .map_err(|cause| SystemError::new("setsockopt", "ICMP_FILTER", cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};

    #[test]
    fn the_kernel_s_table_is_understood() {
        let line = "    lo: 34622 3725  0    0    0     0          0         1 98765 42    0    0    0     0       0          0";
        let expected = Carried {
            interface: "lo".to_owned(),
            received_bytes: 34622,
            sent_bytes: 98765,
        };
        assert_eq!(interface(line), Some(expected));
        for no_line in [
            "Inter-|   Receive  |  Transmit",
            " face |bytes packets",
            "lo: 1 2 3",
        ] {
            assert_eq!(interface(no_line), None, "{no_line}");
        }
    }

    #[test]
    fn loopback_counts_what_is_sent_to_it() {
        let lo = |all: Vec<Carried>| all.into_iter().find(|one| one.interface == "lo");
        let before = or_skip!(carried());
        let socket = or_skip!(UdpSocket::bind("127.0.0.1:0"), "no loopback here");
        let name = interface_of(Ipv4Addr::LOCALHOST.into()).unwrap();
        assert_eq!(name.as_deref(), Some("lo"));
        socket
            .send_to(&[7; 1000], socket.local_addr().unwrap())
            .unwrap();
        let (before, after) = (lo(before).unwrap(), lo(carried().unwrap()).unwrap());
        assert!(after.sent_bytes >= before.sent_bytes + 1000);
        assert!(after.received_bytes >= before.received_bytes + 1000);
        // An address reserved for documentation belongs to no interface.
        let unused: Ipv6Addr = "2001:db8::1".parse().unwrap();
        assert_eq!(interface_of(unused.into()).unwrap(), None);
    }

    #[test]
    fn a_socket_that_is_not_of_icmp_has_no_such_filter() {
        let socket = or_skip!(UdpSocket::bind("127.0.0.1:0"), "no loopback here");
        let error = only_echo_replies(&socket.into(), false).unwrap_err();
        assert!(error.to_string().contains("ICMP_FILTER"), "{error}");
    }
}
