//! Streams of bytes: pipes, fifos and stream sockets. A message is written and read until all of it
//! has been transferred.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::io::{read, retry_on_intr, write};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    socket_with, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;
use syscost_sys::scratch;

use super::mechanism::{LARGE, Mechanism, Rows};
use super::{Channel, Ends, crossed, twice};
use crate::ipc::message::Message;
use crate::syscall::Bad;

/// What all of them have in common: a message may be read in parts.
const PLAIN: Mechanism = Mechanism {
    calls: |of| {
        let (reads, least) = (Counter::Syscall(Sysno::READ), 0.95 * of.messages);
        vec![
            together(Sysno::WRITE, of.messages),
            within(reads, least, 1.05 * of.messages * of.parts),
        ]
    },
    sends_by: Some(Sysno::WRITE),
    ..Mechanism::PLAIN
};

pub(super) const PIPE: Mechanism = Mechanism {
    descriptors: "pipe",
    round_trips: Rows::ALL_ROUND_TRIPS,
    bandwidths: Rows {
        free: &[LARGE],
        threads: &[LARGE],
        profile: Profile::Quick,
        ..Rows::LONG_BANDWIDTHS
    },
    ..PLAIN
};

/// It differs little from a pipe.
pub(super) const FIFO: Mechanism = Mechanism {
    descriptors: "fifo",
    ..PLAIN.similar()
};

/// A task that waits for a message is also woken, needlessly, when its own last message is taken:
/// that makes room to write.
pub(super) const UNIX: Mechanism = Mechanism {
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

/// It differs little from a stream socket with a path.
pub(super) const SOCKETPAIR: Mechanism = Mechanism {
    descriptors: "unix stream socket without a path",
    ..UNIX.similar()
};

/// One end of a pair of streams.
pub(crate) struct Streams {
    from: OwnedFd,
    to: OwnedFd,
}

impl Channel for Streams {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.from.as_fd(), self.to.as_fd()]
    }

    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        let bytes = message.bytes();
        let mut done = 0;
        while done < bytes.len() {
            done += retry_on_intr(|| write(&self.to, &bytes[done..]))?;
        }
        Ok(done)
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        let bytes = message.bytes_mut();
        let mut done = 0;
        while done < bytes.len() {
            match retry_on_intr(|| read(&self.from, &mut bytes[done..]))? {
                0 => break,
                count => done += count,
            }
        }
        Ok(done)
    }
}

pub(crate) fn pipes(_: usize) -> Result<Ends<Streams>, Failure> {
    let pipe = || pipe_with(PipeFlags::CLOEXEC).tried("make a pipe");
    crossed(pipe, |from, to| Streams { from, to })
}

/// Two fifos, which have a name until both ends are open.
pub(super) fn fifos(_: usize) -> Result<Ends<Streams>, Failure> {
    let fifo = || {
        let file = scratch::file("fifo")?;
        let failed = |error| Failure::of("make a fifo", error);
        mknodat(CWD, file.path(), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).map_err(failed)?;
        let end = |flags| open(file.path(), flags | OFlags::CLOEXEC, Mode::empty()).map_err(failed);
        // Opening either end alone would wait for the other; opening both does not block.
        let _both = end(OFlags::RDWR)?;
        Ok((end(OFlags::RDONLY)?, end(OFlags::WRONLY)?))
    };
    crossed(fifo, |from, to| Streams { from, to })
}

/// Two stream sockets created as a pair, without a name.
pub(super) fn pair(_: usize) -> Result<Ends<Streams>, Failure> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
    let pair = socketpair(family, kind, SocketFlags::CLOEXEC, None);
    both_ways(pair.tried("make a pair of sockets")?)
}

/// Two stream sockets connected by a path, which is removed as soon as they are connected.
pub(super) fn sockets(_: usize) -> Result<Ends<Streams>, Failure> {
    both_ways(connected(SocketType::STREAM)?)
}

/// Each socket is both read and written.
fn both_ways((own, partner): Ends<OwnedFd>) -> Result<Ends<Streams>, Failure> {
    let end = |socket| twice(socket).map(|(from, to)| Streams { from, to });
    Ok((end(own)?, end(partner)?))
}

/// A connected socket and the accepted one.
pub(super) fn connected(kind: SocketType) -> Result<Ends<OwnedFd>, Failure> {
    let (listener, _file, address) = bound(kind)?;
    let failed = |error| Failure::of("connect unix sockets", error);
    listen(&listener, 1).map_err(failed)?;
    let own = unix_socket(kind).map_err(failed)?;
    connect(&own, &address).map_err(failed)?;
    let partner = accept_with(&listener, SocketFlags::CLOEXEC).map_err(failed)?;
    Ok((own, partner))
}

/// A socket with a path, and the file that removes it.
pub(in crate::ipc) fn bound(
    kind: SocketType,
) -> Result<(OwnedFd, scratch::File, SocketAddrUnix), Failure> {
    let file = scratch::file("socket")?;
    let failed = |error| Failure::of("bind a unix socket", error);
    let address = SocketAddrUnix::new(file.path()).map_err(failed)?;
    let socket = unix_socket(kind).map_err(failed)?;
    bind(&socket, &address).map_err(failed)?;
    Ok((socket, file, address))
}

/// A unix socket, not connected yet.
pub(in crate::ipc) fn unix_socket(kind: SocketType) -> rustix::io::Result<OwnedFd> {
    socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
}
