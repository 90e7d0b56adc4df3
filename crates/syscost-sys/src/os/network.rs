//! Interfaces by their addresses, and sockets that receive only the kernel's echo replies.
#![allow(unsafe_code)] // getifaddrs(3) and ICMP's filters have no wrapper in rustix

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// Types of an answer to an echo request, as IPv4 and IPv6 number them.
const ECHO_REPLY: u8 = 0;
const ECHO_REPLY_V6: u8 = 129;

/// ICMP_FILTER of linux/icmp.h: a set bit blocks the messages of this type.
const ICMP_FILTER: libc::c_int = 1;

/// ICMPV6_FILTER of linux/icmpv6.h: the same with a bit for each of 256 types.
const ICMPV6_FILTER: libc::c_int = 1;

/// The names of the interfaces, each with one of its addresses.
pub(crate) fn interface_addresses() -> io::Result<Vec<(String, IpAddr)>> {
    let mut list: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: the call puts a list there, which is freed below.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut next = list;
    // SAFETY: the list's entries are valid until it is freed, and each points at the next or at nothing.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: an entry's name is a C string, its address null or one of the family it states.
        if let Some(address) = unsafe { address_of(entry.ifa_addr) } {
            // SAFETY: as above.
            let name = unsafe { CStr::from_ptr(entry.ifa_name) };
            found.push((name.to_string_lossy().into_owned(), address));
        }
        next = entry.ifa_next;
    }
    // SAFETY: the list that the call made, freed once.
    unsafe { libc::freeifaddrs(list) };
    Ok(found)
}

/// An address of the Internet families.
///
/// # Safety
/// The pointer is null, or points at an address of the family that it states.
unsafe fn address_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: null or valid, as the caller guarantees.
    let family = unsafe { address.as_ref() }?.sa_family;
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: the family says that this is its type.
            let address = unsafe { &*address.cast::<libc::sockaddr_in>() };
            let bits = u32::from_be(address.sin_addr.s_addr);
            Some(Ipv4Addr::from_bits(bits).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { &*address.cast::<libc::sockaddr_in6>() };
            Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

/// Blocks everything but answers to echo requests on a raw ICMP socket.
pub(crate) fn only_echo_replies(socket: BorrowedFd<'_>, is_ipv6: bool) -> io::Result<()> {
    if is_ipv6 {
        let filter = all_but(ECHO_REPLY_V6);
        set(socket, libc::IPPROTO_ICMPV6, ICMPV6_FILTER, &filter)
    } else {
        let [filter, ..] = all_but(ECHO_REPLY);
        set(socket, libc::SOL_RAW, ICMP_FILTER, &[filter])
    }
}

/// A filter that passes this type only.
fn all_but(kind: u8) -> [u32; 8] {
    let mut filter = [u32::MAX; 8];
    filter[usize::from(kind / 32)] &= !(1 << (kind % 32));
    filter
}

fn set(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: &[u32],
) -> io::Result<()> {
    // SAFETY: the kernel reads the value's own bytes.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            value.as_ptr().cast(),
            size_of_val(value) as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
