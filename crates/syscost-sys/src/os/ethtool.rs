//! What an interface does in place of the CPU.
#![allow(unsafe_code)] // SIOCETHTOOL has no wrapper in rustix

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};

use crate::network::Offloads;

/// The ioctl's number in linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;

/// Commands of linux/ethtool.h, each of which reads one value.
const ETHTOOL_GRXCSUM: u32 = 0x14;
const ETHTOOL_GTXCSUM: u32 = 0x16;
const ETHTOOL_GTSO: u32 = 0x1e;
const ETHTOOL_GGSO: u32 = 0x23;
const ETHTOOL_GFLAGS: u32 = 0x25;
const ETHTOOL_GGRO: u32 = 0x2b;

/// The flag of ETHTOOL_GFLAGS for large receive offload.
const ETH_FLAG_LRO: u32 = 1 << 15;

/// `struct ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

pub(crate) fn offloads(interface: &str) -> io::Result<Offloads> {
    let socket = any_socket()?;
    let is_on = |command| Ok::<_, io::Error>(read(&socket, interface, command)? != 0);
    Ok(Offloads {
        tso: is_on(ETHTOOL_GTSO)?,
        gso: is_on(ETHTOOL_GGSO)?,
        gro: is_on(ETHTOOL_GGRO)?,
        lro: read(&socket, interface, ETHTOOL_GFLAGS)? & ETH_FLAG_LRO != 0,
        tx_checksum: is_on(ETHTOOL_GTXCSUM)?,
        rx_checksum: is_on(ETHTOOL_GRXCSUM)?,
    })
}

pub(crate) fn interface_index(interface: &str) -> io::Result<u32> {
    Ok(netdevice::name_to_index(any_socket()?, interface)?)
}

fn any_socket() -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
    Ok(socket_with(family, kind, SocketFlags::CLOEXEC, None)?)
}

fn read(socket: &OwnedFd, interface: &str, command: u32) -> io::Result<u32> {
    let mut value = Value { command, data: 0 };
    // SAFETY: a structure of numbers, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero: the name ends there.
    let room = request.ifr_name.len() - 1;
    if interface.is_empty() || interface.len() > room || interface.contains('\0') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = ptr::from_mut(&mut value).cast();
    // SAFETY: these commands read and write one `ethtool_value`, which lives until the call returns.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &mut request) };
    match result {
        0 => Ok(value.data),
        _ => Err(io::Error::last_os_error()),
    }
}
