//! Shared: the kind of object that a descriptor refers to, according to the kernel.
//!
//! Reads and writes are the same calls on every kind of object: only the descriptor shows
//! which kind it was.

use std::collections::BTreeSet;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::{FileType, fstat, readlink};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, getpeername, getsockname, sockopt};
use syscost_harness::prelude::*;

static KIND: Witness = Witness::of("what messages go through", SOURCE);

const SOURCE: &str = "fstat, getsockopt and /proc/self/fd";

/// Proof that messages go through this kind of object, in the words of [`kind_of`], or `nothing`.
pub(crate) fn expects(kind: &'static str) -> Proof {
    KIND.expects(kind)
}

pub(crate) fn see<'f>(b: &mut Bencher, descriptors: impl IntoIterator<Item = BorrowedFd<'f>>) {
    match kinds_of(descriptors) {
        Ok(kinds) => b.observe(&KIND, kinds),
        Err(reason) => b.unobserved(&KIND, reason),
    }
}

/// The different kinds of these.
fn kinds_of<'f>(
    descriptors: impl IntoIterator<Item = BorrowedFd<'f>>,
) -> Result<String, Unsupported> {
    let kinds = descriptors.into_iter().map(kind_of);
    let kinds = kinds.collect::<Result<BTreeSet<String>, _>>()?;
    Ok(match kinds.is_empty() {
        true => "nothing".to_owned(),
        false => Vec::from_iter(kinds).join(", "),
    })
}

/// The kind of object that a descriptor refers to: `pipe`, `fifo`, `eventfd`, `IPv4 stream socket`,
/// or `unix stream socket with a path`, if this end or the other was bound to one.
///
/// # Errors
/// Where the kernel does not report it.
pub(crate) fn kind_of(descriptor: BorrowedFd<'_>) -> Result<String, Unsupported> {
    let failed =
        |call: &'static str| move |cause: Errno| Unsupported::new(format!("{call}: {cause}"));
    let mode = fstat(descriptor).map_err(failed("fstat"))?.st_mode;
    match FileType::from_raw_mode(mode) {
        FileType::Socket => socket(descriptor).map_err(failed("getsockopt")),
        FileType::Fifo => match &*link(descriptor)? {
            link if link.starts_with("pipe:") => Ok("pipe".to_owned()),
            link if link.contains('/') => Ok("fifo".to_owned()),
            link => Err(Unsupported::new(format!("/proc/self/fd says {link}"))),
        },
        other => Ok(match &*link(descriptor)? {
            "anon_inode:[eventfd]" => "eventfd".to_owned(),
            link => format!("{other:?} {link}"),
        }),
    }
}

/// The target of the descriptor's link in /proc.
fn link(descriptor: BorrowedFd<'_>) -> Result<String, Unsupported> {
    let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    let link = readlink(&*path, Vec::new())
        .map_err(|cause| Unsupported::new(format!("readlink {path}: {cause}")))?;
    Ok(link.to_string_lossy().into_owned())
}

fn socket(descriptor: BorrowedFd<'_>) -> Result<String, Errno> {
    let family = sockopt::socket_domain(descriptor)?;
    let kind = match sockopt::socket_type(descriptor)? {
        SocketType::STREAM => "stream",
        SocketType::DGRAM => "datagram",
        SocketType::SEQPACKET => "seqpacket",
        other => return Ok(format!("{family:?} {other:?}")),
    };
    match family {
        AddressFamily::UNIX => {
            let own = Some(getsockname(descriptor)?);
            let addresses = [own, getpeername(descriptor)?];
            let has_path = addresses.into_iter().flatten().any(|address| {
                SocketAddrUnix::try_from(address).is_ok_and(|unix| unix.path_bytes().is_some())
            });
            let path = if has_path { "with" } else { "without" };
            Ok(format!("unix {kind} socket {path} a path"))
        }
        AddressFamily::INET => Ok(format!("IPv4 {kind} socket")),
        AddressFamily::INET6 => Ok(format!("IPv6 {kind} socket")),
        other => Ok(format!("{other:?} {kind} socket")),
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use rustix::event::{EventfdFlags, eventfd};
    use rustix::pipe::{PipeFlags, pipe_with};

    use super::*;

    #[test]
    fn kinds_are_distinguished() {
        let (pipe, _) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let counter = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        for (descriptor, kind) in [(&pipe, "pipe"), (&counter, "eventfd")] {
            match kind_of(descriptor.as_fd()) {
                Ok(seen) => assert_eq!(seen, kind),
                Err(reason) => println!("skipped: {reason}"),
            }
        }
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let kind = kind_of(socket.as_fd());
        assert_eq!(kind, Ok("IPv4 datagram socket".to_owned()));
    }

    #[test]
    fn one_of_another_kind_is_seen_and_none_at_all() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        let alike = kinds_of([socket.as_fd(), socket.as_fd()]);
        assert_eq!(alike, Ok("IPv4 datagram socket".to_owned()));
        match kinds_of([socket.as_fd(), other.as_fd()]) {
            Ok(both) => assert_eq!(both, "IPv4 datagram socket, eventfd"),
            Err(reason) => println!("skipped: {reason}"),
        }
        assert_eq!(kinds_of([]), Ok("nothing".to_owned()));
    }
}
