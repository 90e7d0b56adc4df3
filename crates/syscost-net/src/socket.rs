//! Sockets whose options are set and read back.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use serde::{Deserialize, Serialize};
use syscost_sys::{SystemError, tcp};

/// Options of a TCP socket. Those that are not given keep the system's defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tcp {
    /// Whether small messages are sent at once (TCP_NODELAY).
    pub nodelay: bool,
    /// Congestion control, e.g. `cubic`.
    pub congestion: Option<String>,
}

impl Tcp {
    /// Options with TCP_NODELAY and nothing else.
    pub fn nodelay() -> Self {
        Self {
            nodelay: true,
            ..Self::default()
        }
    }

    /// Sets the options on a socket and reads back what the kernel may change silently.
    /// Connections that a listening socket accepts inherit them.
    ///
    /// # Errors
    /// When an option is refused, or the congestion control is another one afterwards.
    pub fn apply(&self, socket: impl AsFd) -> Result<(), SystemError> {
        let socket = socket.as_fd();
        sockopt::set_tcp_nodelay(socket, self.nodelay)
            .map_err(|cause| SystemError::new("setsockopt", "TCP_NODELAY", cause))?;
        if let Some(name) = &self.congestion {
            tcp::set_congestion(socket, name)?;
            let is = tcp::congestion(socket)?;
            if is != *name {
                let cause = io::Error::other(format!("it is {is} afterwards"));
                return Err(SystemError::new(
                    "setsockopt",
                    format!("TCP_CONGESTION {name}"),
                    cause,
                ));
            }
        }
        Ok(())
    }
}

/// Opens a listening socket at exactly this address (an IPv6 one accepts no IPv4 connections).
///
/// # Errors
/// When the address is not one of this machine or is in use, or an option is refused.
pub fn listen(address: SocketAddr, backlog: u32, tcp: &Tcp) -> Result<TcpListener, SystemError> {
    let socket = bound(address, SocketType::STREAM, |socket| {
        sockopt::set_socket_reuseaddr(socket, true)
            .map_err(|cause| SystemError::new("setsockopt", "SO_REUSEADDR", cause))?;
        tcp.apply(socket)
    })?;
    let backlog = backlog.min(i32::MAX as u32) as i32;
    rustix::net::listen(&socket, backlog)
        .map_err(|cause| SystemError::new("listen", address.to_string(), cause))?;
    Ok(socket.into())
}

/// Opens a UDP socket at exactly this address.
///
/// # Errors
/// When the address is not one of this machine or is in use.
pub fn datagram(address: SocketAddr) -> Result<UdpSocket, SystemError> {
    bound(address, SocketType::DGRAM, |_| Ok(())).map(UdpSocket::from)
}

/// Opens a socket, prepares it, and binds it to this address.
fn bound(
    address: SocketAddr,
    kind: SocketType,
    prepare: impl FnOnce(&OwnedFd) -> Result<(), SystemError>,
) -> Result<OwnedFd, SystemError> {
    let socket = open(address, kind)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)
            .map_err(|cause| SystemError::new("setsockopt", "IPV6_V6ONLY", cause))?;
    }
    prepare(&socket)?;
    rustix::net::bind(&socket, &address)
        .map_err(|cause| SystemError::new("bind", address.to_string(), cause))?;
    Ok(socket)
}

fn open(address: SocketAddr, kind: SocketType) -> Result<OwnedFd, SystemError> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)
        .map_err(|cause| SystemError::new("socket", address.to_string(), cause))
}

/// Connects, with the options set before.
///
/// # Errors
/// When there is no answer within `timeout`, or the connection or an option is refused.
pub fn connect(
    address: SocketAddr,
    tcp: &Tcp,
    timeout: Duration,
) -> Result<TcpStream, SystemError> {
    let socket = open(address, SocketType::STREAM)?;
    connected(socket, address, tcp, timeout)
}

/// As [`connect`], from a reserved port if this process may use one and one is free: a server may
/// take this as a sign that the caller is not an ordinary user.
///
/// # Errors
/// As for [`connect`].
pub fn connect_reserved(
    address: SocketAddr,
    tcp: &Tcp,
    timeout: Duration,
) -> Result<TcpStream, SystemError> {
    /// The ports that the kernel's NFS client uses, too.
    const RESERVED: Range<u16> = 665..1024;
    let socket = open(address, SocketType::STREAM)?;
    let any = match address {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    // Each process begins with another port, so that not all try the same.
    let skipped = std::process::id() as usize % RESERVED.len();
    for port in RESERVED.cycle().skip(skipped).take(RESERVED.len()) {
        match rustix::net::bind(&socket, &SocketAddr::new(any, port)) {
            Err(Errno::ADDRINUSE) => {}
            // Without the privilege, the kernel chooses a port at connect.
            Ok(()) | Err(_) => break,
        }
    }
    connected(socket, address, tcp, timeout)
}

fn connected(
    socket: OwnedFd,
    address: SocketAddr,
    tcp: &Tcp,
    timeout: Duration,
) -> Result<TcpStream, SystemError> {
    let failed = |cause: io::Error| SystemError::new("connect", address.to_string(), cause);
    tcp.apply(&socket)?;
    let blocks = |yes: bool| ioctl_fionbio(&socket, !yes).map_err(|cause| failed(cause.into()));
    blocks(false)?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS | Errno::INTR) => {
            let is_there = ready_within(&socket, PollFlags::OUT, timeout);
            if !is_there.map_err(|cause| failed(cause.into()))? {
                return Err(failed(io::ErrorKind::TimedOut.into()));
            }
            let outcome = sockopt::socket_error(&socket).and_then(|outcome| outcome);
            outcome.map_err(|cause| failed(cause.into()))?;
        }
        Err(cause) => return Err(failed(cause.into())),
    }
    blocks(true)?;
    Ok(socket.into())
}

/// Waits until a socket is ready, at most this long, and returns whether it is.
///
/// # Errors
/// When poll(2) fails.
pub(crate) fn ready_within(
    socket: impl AsFd,
    events: PollFlags,
    timeout: Duration,
) -> Result<bool, Errno> {
    let deadline = Instant::now() + timeout;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match poll_for(&mut [PollFd::new(&socket, events)], left) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(cause) => return Err(cause),
        }
    }
}

/// poll(2) with a time limit.
pub(crate) fn poll_for(sockets: &mut [PollFd<'_>], limit: Duration) -> Result<usize, Errno> {
    let limit = Timespec {
        tv_sec: limit.as_secs().min(i32::MAX as u64) as i64,
        tv_nsec: limit.subsec_nanos().into(),
    };
    poll(sockets, Some(&limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::TcpSide;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn any(host: &str) -> SocketAddr {
        SocketAddr::new(host.parse().unwrap(), 0)
    }

    #[test]
    fn options_are_those_of_both_ends() {
        let tcp = Tcp {
            nodelay: true,
            congestion: Some("reno".to_owned()),
        };
        for host in ["127.0.0.1", "::1"] {
            let listener = match listen(any(host), 8, &tcp) {
                Ok(listener) => listener,
                Err(error) if host == "::1" => {
                    println!("skipped: no IPv6 here: {error}");
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            let near = connect(listener.local_addr().unwrap(), &tcp, PATIENCE).unwrap();
            let far = listener.accept().unwrap().0;
            for end in [&near, &far] {
                let Some(side) = TcpSide::of(end) else {
                    println!("skipped: the kernel has no TCP_INFO");
                    continue;
                };
                assert_eq!((&*side.congestion, side.nodelay), ("reno", 1));
            }
        }
    }

    #[test]
    fn an_error_names_what_was_refused() {
        let unknown = Tcp {
            congestion: Some("nonesuch".to_owned()),
            ..Tcp::default()
        };
        let error = listen(any("127.0.0.1"), 8, &unknown).unwrap_err();
        assert!(error.to_string().contains("nonesuch"), "{error}");
        // A port that this test holds and does not listen on.
        let taken = datagram(any("127.0.0.1")).unwrap();
        let closed = taken.local_addr().unwrap();
        let error = connect(closed, &Tcp::default(), PATIENCE).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("refused") && text.contains(&closed.to_string()),
            "{text}"
        );
    }

    #[test]
    fn a_reserved_port_is_taken_where_that_is_allowed() {
        let listener = listen(any("127.0.0.1"), 8, &Tcp::default()).unwrap();
        let address = listener.local_addr().unwrap();
        let ends = [(); 2].map(|()| {
            let near = connect_reserved(address, &Tcp::default(), PATIENCE).unwrap();
            let (_far, seen) = listener.accept().unwrap();
            assert_eq!(near.local_addr().unwrap(), seen);
            near
        });
        let ports = ends.each_ref().map(|end| end.local_addr().unwrap().port());
        assert_ne!(ports[0], ports[1], "the second finds the first taken");
        match ports[0] {
            1024.. => println!("skipped: this user may have no reserved port"),
            port => assert!(port >= 665, "{port}"),
        }
    }

    #[test]
    fn a_silent_address_is_not_waited_for_beyond_the_limit() {
        let listener = listen(any("127.0.0.1"), 0, &Tcp::default()).unwrap();
        let address = listener.local_addr().unwrap();
        // Nothing is accepted: beyond the backlog, connections get no answer.
        let mut waiting = Vec::new();
        for _ in 0..8 {
            match connect(address, &Tcp::default(), Duration::from_millis(50)) {
                Ok(stream) => waiting.push(stream),
                Err(error) => {
                    assert_eq!(error.cause.kind(), io::ErrorKind::TimedOut, "{error}");
                    return;
                }
            }
        }
        panic!("a backlog of 0 took {}", waiting.len());
    }
}
