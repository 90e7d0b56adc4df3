//! The kernel's list of queueing disciplines.

use std::io;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

/// RTM_GETQDISC of linux/rtnetlink.h.
const RTM_GETQDISC: u16 = 38;

/// NLM_F_REQUEST and NLM_F_DUMP of linux/netlink.h.
const REQUEST_OF_ALL: u16 = 0x301;

/// The message type of an error, in linux/netlink.h.
const NLMSG_ERROR: u16 = 2;

/// Bytes of a request: `struct nlmsghdr` and `struct tcmsg`.
const REQUEST: usize = 36;

/// Upper bound for the length of one part of an answer, in bytes.
const MAX_PART: usize = 64 << 10;

/// All messages of the kernel's answer to RTM_GETQDISC for every interface of this task's network namespace.
pub(crate) fn queue_dump() -> io::Result<Vec<u8>> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    // Protocol 0 is NETLINK_ROUTE.
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    let mut request = [0; REQUEST];
    request[..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&RTM_GETQDISC.to_ne_bytes());
    request[6..8].copy_from_slice(&REQUEST_OF_ALL.to_ne_bytes());
    send(&socket, &request, SendFlags::empty())?;
    let mut dump = Vec::new();
    let mut part = vec![0; MAX_PART];
    // The kernel has each part ready when the one before is received, and nothing after the last.
    loop {
        let count = match recv(&socket, &mut part[..], RecvFlags::DONTWAIT) {
            Ok((count, _)) => count,
            Err(Errno::AGAIN) => return Ok(dump),
            Err(errno) => return Err(errno.into()),
        };
        if part[..count].get(4..6) == Some(&NLMSG_ERROR.to_ne_bytes()) {
            return Err(refusal(&part[..count]));
        }
        dump.extend_from_slice(&part[..count]);
    }
}

/// The error that a message reports: a negative errno follows its header.
fn refusal(message: &[u8]) -> io::Error {
    match message.get(16..20) {
        Some(&[a, b, c, d]) => io::Error::from_raw_os_error(-i32::from_ne_bytes([a, b, c, d])),
        _ => io::ErrorKind::InvalidData.into(),
    }
}
