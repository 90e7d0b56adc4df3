//! Two stream sockets connected by a path, which is removed as soon as they are connected.

use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    socket_with,
};
use syscost_harness::prelude::*;
use syscost_sys::scratch;

use super::Ends;
use super::by_stream::{PLAIN, Stream};
use super::mechanism::{Mechanism, Rows};

/// A task that waits for a message is also woken, needlessly, when its own last message is taken:
/// that makes room to write.
pub(super) const MECHANISM: Mechanism = Mechanism {
    descriptors: "unix stream socket with a path",
    waits: 2.0,
    round_trips: Rows {
        profile: Profile::Quick,
        is_read_apart: true,
        ..Rows::ALL_ROUND_TRIPS
    },
    bandwidths: Rows::LONG_BANDWIDTHS,
    ..PLAIN
};

pub(super) struct UnixStream;

impl Stream for UnixStream {
    fn open() -> Result<Ends<OwnedFd>, Failure> {
        let (own, partner) = connected(SocketType::STREAM)?;
        both_ways(own, partner)
    }
}

/// A connected socket and the accepted one.
pub(super) fn connected(kind: SocketType) -> Result<(OwnedFd, OwnedFd), Failure> {
    let (listener, file, address) = bound(kind)?;
    let failed = |error| Failure::of("connect unix sockets", error);
    listen(&listener, 1).map_err(failed)?;
    let own = unix_socket(kind)?;
    connect(&own, &address).map_err(failed)?;
    let partner = accept_with(&listener, SocketFlags::CLOEXEC).map_err(failed)?;
    drop(file);
    Ok((own, partner))
}

/// A socket with a path, and the file that removes it.
pub(super) fn bound(kind: SocketType) -> Result<(OwnedFd, scratch::File, SocketAddrUnix), Failure> {
    let file = scratch::file("socket").map_err(|error| Failure::of("name a socket", error))?;
    let failed = |error| Failure::of("bind a unix socket", error);
    let address = SocketAddrUnix::new(file.path()).map_err(failed)?;
    let socket = unix_socket(kind)?;
    bind(&socket, &address).map_err(failed)?;
    Ok((socket, file, address))
}

pub(super) fn unix_socket(kind: SocketType) -> Result<OwnedFd, Failure> {
    socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
        .map_err(|error| Failure::of("make a unix socket", error))
}

/// Makes both ends of sockets that are read and written: each end has its socket twice.
pub(super) fn both_ways(own: OwnedFd, partner: OwnedFd) -> Result<Ends<OwnedFd>, Failure> {
    let again = |socket: &OwnedFd| {
        let copy = socket.try_clone();
        copy.map_err(|error| Failure::of("duplicate a socket", error))
    };
    Ok(((again(&own)?, own), (again(&partner)?, partner)))
}
