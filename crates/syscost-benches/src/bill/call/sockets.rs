//! Sockets, and waiting for descriptors.

use std::cell::Cell;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::{read, write};
use rustix::net::sockopt::{set_socket_linger, set_tcp_nodelay};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, accept_with, connect, recv, send,
    socket_with, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;

use super::reading::drain;
use super::{Bench, Kind, Returns, nothing};

const TCP: &str = "IPv4 stream socket";
const UNIX: &str = "unix stream socket without a path";
const ALL: Returns = Returns::Number(MESSAGE.len() as u64);
const ONE: Returns = Returns::Number(1);

pub(super) const KINDS: &[Kind] = &[
    Kind::of("write_tcp", Sysno::WRITE, write_tcp)
        .on(TCP)
        .returning(ALL),
    Kind::of("read_tcp", Sysno::READ, read_tcp)
        .on(TCP)
        .returning(ALL),
    Kind::of("send_unix", Sysno::SENDTO, send_unix)
        .on(UNIX)
        .returning(ALL),
    Kind::of("recv_unix", Sysno::RECVFROM, recv_unix)
        .on(UNIX)
        .returning(ALL),
    Kind::of("socket", Sysno::SOCKET, make),
    Kind::of("connect", Sysno::CONNECT, connect_tcp),
    Kind::of("accept", Sysno::ACCEPT4, accept).on(TCP),
    Kind::of("setsockopt", Sysno::SETSOCKOPT, set_option).on(TCP),
    Kind::of("poll", Sysno::PPOLL, poll).returning(ONE),
    Kind::of("epoll_wait", Sysno::EPOLL_PWAIT, epoll_wait).returning(ONE),
    Kind::of("epoll_ctl", Sysno::EPOLL_CTL, epoll_ctl),
];

/// What is sent, in bytes: a request or an answer of a small protocol.
const MESSAGE: [u8; 100] = [b'x'; 100];

/// Both ends of connections through the loopback interface, one after the other.
pub(super) struct Connections {
    listener: TcpListener,
}

impl Connections {
    pub(super) fn new() -> Result<Self, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        Ok(Self {
            listener: listener.tried("listen on the loopback interface")?,
        })
    }

    fn connect(&self) -> Result<TcpStream, Failure> {
        let address = self.listener.local_addr().tried("getsockname")?;
        let near = TcpStream::connect(address).tried("connect")?;
        abort_on_close(&near)?;
        Ok(near)
    }

    /// The second end keeps no port number when it is closed.
    pub(super) fn pair(&self) -> Result<(TcpStream, TcpStream), Failure> {
        let far = self.connect()?;
        let (near, _) = self.listener.accept().tried("accept")?;
        near.set_nonblocking(true).tried("set O_NONBLOCK")?;
        Ok((near, far))
    }
}

/// Closing leaves no connection in TIME_WAIT, of which thousands would use up the port numbers.
fn abort_on_close(end: impl AsFd) -> Result<(), Failure> {
    set_socket_linger(end, Some(Duration::ZERO)).tried("set SO_LINGER")
}

fn write_tcp(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (near, far) = Connections::new()?.pair()?;
    bench
        .on(&far)
        .measure(|| drain(&near), || write(&far, &MESSAGE))
}

fn read_tcp(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (near, far) = Connections::new()?.pair()?;
    let mut buffer = [1; 4 << 10];
    let prepare = || {
        drain(&near)?;
        write(&far, &MESSAGE).tried("write").map(drop)
    };
    bench
        .on(&near)
        .measure(prepare, || read(&near, &mut buffer))
}

pub(super) fn unix() -> Result<(OwnedFd, OwnedFd), Failure> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).tried("socketpair")
}

fn send_unix(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (near, far) = unix()?;
    bench
        .on(&far)
        .measure(|| drain(&near), || send(&far, &MESSAGE, SendFlags::empty()))
}

fn recv_unix(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (near, far) = unix()?;
    let mut buffer = [1_u8; 4 << 10];
    let prepare = || {
        drain(&near)?;
        write(&far, &MESSAGE).tried("write").map(drop)
    };
    bench.on(&near).measure(prepare, || {
        let (bytes, _) = recv(&near, &mut buffer, RecvFlags::empty())?;
        Ok(bytes)
    })
}

fn new_socket() -> Result<OwnedFd, rustix::io::Errno> {
    socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
}

fn make(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let made = Cell::new(None);
    let close = || {
        drop(made.take());
        Ok(())
    };
    bench.measure(close, || {
        made.set(Some(new_socket()?));
        Ok(())
    })
}

fn connect_tcp(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let connections = Connections::new()?;
    connections
        .listener
        .set_nonblocking(true)
        .tried("set O_NONBLOCK")?;
    let address = connections.listener.local_addr().tried("getsockname")?;
    let made = Cell::new(None);
    let prepare = || {
        drop(made.take());
        // The other end of the last one, if it was connected.
        drop(connections.listener.accept());
        let socket = new_socket().tried("socket")?;
        abort_on_close(&socket)?;
        made.set(Some(socket));
        Ok(())
    };
    bench.measure(prepare, || {
        let socket = made.take();
        let answer = connect(socket.as_ref().ok_or(rustix::io::Errno::BADF)?, &address);
        made.set(socket);
        answer
    })
}

fn accept(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let connections = Connections::new()?;
    let made = Cell::new(None);
    let far = Cell::new(None);
    let prepare = || {
        drop((far.take(), made.take()));
        far.set(Some(connections.connect()?));
        Ok(())
    };
    bench.on(&connections.listener).measure(prepare, || {
        made.set(Some(accept_with(
            &connections.listener,
            SocketFlags::CLOEXEC,
        )?));
        Ok(())
    })
}

fn set_option(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (near, _far) = Connections::new()?.pair()?;
    bench
        .on(&near)
        .measure(nothing, || set_tcp_nodelay(&near, true))
}

/// A pipe from which something can be read.
fn ready() -> Result<(OwnedFd, OwnedFd), Failure> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).tried("make a pipe")?;
    write(&writer, b"x").tried("write")?;
    Ok((reader, writer))
}

fn poll(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (reader, _writer) = ready()?;
    let mut waited = [PollFd::new(&reader, PollFlags::IN)];
    let limit = Timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };
    bench.measure(nothing, || rustix::event::poll(&mut waited, Some(&limit)))
}

/// A set with this descriptor.
fn set_of(reader: &OwnedFd) -> Result<OwnedFd, Failure> {
    let set = epoll::create(epoll::CreateFlags::CLOEXEC).tried("make an epoll set")?;
    let data = epoll::EventData::new_u64(0);
    epoll::add(&set, reader, data, epoll::EventFlags::IN).tried("add to an epoll set")?;
    Ok(set)
}

fn epoll_wait(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (reader, _writer) = ready()?;
    let set = set_of(&reader)?;
    let mut events = [epoll::Event {
        flags: epoll::EventFlags::empty(),
        data: epoll::EventData::new_u64(0),
    }];
    bench.measure(nothing, || epoll::wait(&set, &mut events[..], None))
}

fn epoll_ctl(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (reader, _writer) = ready()?;
    let set = set_of(&reader)?;
    let data = epoll::EventData::new_u64(1);
    bench.measure(nothing, || {
        epoll::modify(&set, &reader, data, epoll::EventFlags::IN)
    })
}
