//! What the kernel knows of a TCP connection, and how it controls its congestion.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use crate::{SystemError, Unsupported, os};

/// Bytes of the kernel's `struct tcp_info` that are read: Linux fills them all from 4.19 on.
const INFO_BYTES: usize = 216;

/// Figures of one connection (TCP_INFO, `struct tcp_info` of linux/tcp.h), as one end sees them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Largest segment this end sends, in bytes.
    pub send_mss: u32,
    /// Largest packet that the path is known to carry, in bytes.
    pub path_mtu: u32,
    /// Smoothed round-trip time, in us.
    pub rtt_us: u32,
    /// Shortest round-trip time seen lately, in us; `u32::MAX` before the first.
    pub min_rtt_us: u32,
    /// Retransmitted segments.
    pub retransmits: u32,
    /// Bytes that the other end has acknowledged. The beginning of the stream counts as one byte,
    /// and so does its end.
    pub bytes_acked: u64,
    /// Bytes received in order. The end of the stream counts as one byte.
    pub bytes_received: u64,
    /// Retransmitted bytes of data.
    pub bytes_retransmitted: u64,
    /// Time in which there was something to send or unacknowledged, in us.
    pub busy_us: u64,
    /// The part of the busy time in which the receiver's window was full, in us.
    pub receive_window_limited_us: u64,
    /// The part of the busy time in which the send buffer was full, in us.
    pub send_buffer_limited_us: u64,
}

impl TcpInfo {
    /// Reads the figures of a connected TCP socket.
    ///
    /// # Errors
    /// When it is not a TCP socket, or on kernels before 4.19.
    pub fn of(socket: impl AsFd) -> Result<TcpInfo, SystemError> {
        let failed = |cause| SystemError::new("getsockopt", "TCP_INFO", cause);
        let mut bytes = [0; INFO_BYTES];
        let filled = os::tcp_info(socket.as_fd(), &mut bytes).map_err(failed)?;
        if filled < INFO_BYTES {
            let reason =
                format!("the kernel knows {filled} of {INFO_BYTES} bytes; Linux 4.19 does");
            return Err(failed(Unsupported::new(reason).into()));
        }
        Ok(parse(&bytes))
    }
}

/// Reads the fields at their places in `struct tcp_info`, which only grows at its end.
fn parse(bytes: &[u8; INFO_BYTES]) -> TcpInfo {
    fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
        bytes[at..at + N].try_into().expect("it is that long")
    }
    let short = |at| u32::from_ne_bytes(part(bytes, at));
    let long = |at| u64::from_ne_bytes(part(bytes, at));
    TcpInfo {
        send_mss: short(16),
        path_mtu: short(60),
        rtt_us: short(68),
        min_rtt_us: short(148),
        retransmits: short(100),
        bytes_acked: long(120),
        bytes_received: long(128),
        bytes_retransmitted: long(208),
        busy_us: long(168),
        receive_window_limited_us: long(176),
        send_buffer_limited_us: long(184),
    }
}

/// The name of a socket's congestion control, e.g. `cubic`.
///
/// # Errors
/// When it is not a TCP socket.
pub fn congestion(socket: impl AsFd) -> Result<String, SystemError> {
    os::congestion(socket.as_fd())
        .map_err(|cause| SystemError::new("getsockopt", "TCP_CONGESTION", cause))
}

/// Chooses a socket's congestion control. Connections that a listening socket accepts inherit it.
///
/// # Errors
/// When the kernel has none of this name or does not allow it
/// (`net.ipv4.tcp_allowed_congestion_control`).
pub fn set_congestion(socket: impl AsFd, name: &str) -> Result<(), SystemError> {
    os::set_congestion(socket.as_fd(), name)
        .map_err(|cause| SystemError::new("setsockopt", format!("TCP_CONGESTION {name}"), cause))
}

/// Waits until a socket can be read, by epoll_wait(2).
#[derive(Debug)]
pub struct Readable(os::Epoll);

impl Readable {
    /// Prepares to wait for this socket, which must stay open meanwhile.
    ///
    /// # Errors
    /// When no further descriptor can be opened.
    pub fn of(socket: impl AsFd) -> Result<Readable, SystemError> {
        os::Epoll::of(socket.as_fd())
            .map(Readable)
            .map_err(|cause| SystemError::new("epoll_ctl", "a socket", cause))
    }

    /// Waits until the socket can be read or has been closed by the other end: one system call.
    ///
    /// # Errors
    /// When the wait was interrupted ([`io::ErrorKind::Interrupted`]) or refused.
    #[inline]
    pub fn wait(&self) -> io::Result<()> {
        self.0.wait(None).map(drop)
    }

    /// Waits for no longer than this; returns whether the socket can be read.
    #[inline]
    pub fn wait_within(&self, limit: Duration) -> io::Result<bool> {
        self.0.wait(Some(limit))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    pub(crate) fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn the_kernel_counts_what_was_acknowledged() {
        let (mut near, mut far) = pair();
        near.write_all(&[7; 3000]).unwrap();
        far.read_exact(&mut [0; 3000]).unwrap();
        let received = or_skip!(TcpInfo::of(&far)).bytes_received;
        assert_eq!(received, 3000);
        let info = TcpInfo::of(&near).unwrap();
        // Its SYN counts as one byte.
        assert!((1..=3001).contains(&info.bytes_acked), "{info:?}");
        assert!(
            info.send_mss >= 500 && info.path_mtu > info.send_mss,
            "{info:?}"
        );
        assert_eq!((info.retransmits, info.bytes_retransmitted), (0, 0));
        let nothing = std::fs::File::open("/dev/null").unwrap();
        assert!(TcpInfo::of(&nothing).is_err());
    }

    #[test]
    fn congestion_control_is_read_back() {
        let (near, _far) = pair();
        let usual = or_skip!(congestion(&near), "no TCP_CONGESTION here");
        assert!(!usual.is_empty());
        // Every Linux has it, and allows it.
        set_congestion(&near, "reno").unwrap();
        assert_eq!(congestion(&near).unwrap(), "reno");
        let error = set_congestion(&near, "nonesuch").unwrap_err().to_string();
        assert!(error.contains("TCP_CONGESTION nonesuch"), "{error}");
    }

    #[test]
    fn a_socket_becomes_readable() {
        let (mut near, far) = pair();
        let readable = or_skip!(Readable::of(&far));
        assert!(!readable.wait_within(Duration::from_millis(5)).unwrap());
        near.write_all(b"x").unwrap();
        readable.wait().unwrap();
        assert!(readable.wait_within(Duration::from_secs(5)).unwrap());
        drop(near);
        readable.wait().unwrap();
    }
}
