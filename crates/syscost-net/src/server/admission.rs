//! Admits connections to a service: only from the session's client, and with its cookie.

use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::PULSE;
use super::work::Work;
use crate::socket::poll_for;
use crate::wire::Cookie;

/// Time limit for a connection to show its cookie.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum number of connections of a service that have not shown their cookie; a new one replaces the
/// oldest.
const MAX_WAITING: usize = 64;

pub(super) struct Admission {
    listener: TcpListener,
    peer: IpAddr,
    cookie: Cookie,
    /// Oldest first.
    waiting: Vec<Waiting>,
}

/// A connection that has not shown its cookie yet. All are heard together: a silent one must not keep
/// the right one waiting.
struct Waiting {
    stream: TcpStream,
    shown: [u8; Cookie::BYTES],
    count: usize,
    deadline: Instant,
}

/// What a connection has shown so far.
enum Shown {
    Cookie,
    /// Nothing, or the beginning of something.
    Part,
    Other,
}

impl Admission {
    pub(super) fn new(listener: TcpListener, peer: IpAddr, cookie: Cookie) -> io::Result<Self> {
        // A connection that disappears between poll and accept must not block the others.
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            peer,
            cookie,
            waiting: Vec::new(),
        })
    }

    /// Accepts the next stream with the cookie; `None` if the service is over before.
    pub(super) fn next(&mut self, work: &Work) -> io::Result<Option<TcpStream>> {
        while !work.is_over() {
            let streams = self
                .waiting
                .iter()
                .map(|one| PollFd::new(&one.stream, PollFlags::IN));
            let mut polled = vec![PollFd::new(&self.listener, PollFlags::IN)];
            polled.extend(streams);
            let is_any = match poll_for(&mut polled, PULSE) {
                Ok(count) => count > 0,
                Err(Errno::INTR) => false,
                Err(cause) => return Err(cause.into()),
            };
            let is_ready = |one: &PollFd<'_>| is_any && !one.revents().is_empty();
            let ready: Vec<bool> = polled.iter().map(is_ready).collect();
            if let Some(stream) = self.hear(&ready[1..])? {
                return Ok(Some(stream));
            }
            if ready[0] && !self.accept()? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Reads from those that have sent something, until one has shown the cookie.
    fn hear(&mut self, ready: &[bool]) -> io::Result<Option<TcpStream>> {
        let (now, mut ready) = (Instant::now(), ready.iter());
        let mut admitted = None;
        let mut waiting = Vec::new();
        for mut one in self.waiting.drain(..) {
            let is_ready = ready.next().is_some_and(|ready| *ready) && admitted.is_none();
            match if is_ready {
                one.hear(self.cookie)
            } else {
                Shown::Part
            } {
                Shown::Cookie => admitted = Some(one.stream),
                Shown::Part if now < one.deadline => waiting.push(one),
                Shown::Part | Shown::Other => {}
            }
        }
        self.waiting = waiting;
        if let Some(stream) = &admitted {
            stream.set_nonblocking(false)?;
        }
        Ok(admitted)
    }

    /// Accepts a connection; returns whether there may be more.
    fn accept(&mut self) -> io::Result<bool> {
        match self.listener.accept() {
            Ok((stream, from)) if from.ip().to_canonical() == self.peer => {
                stream.set_nonblocking(true)?;
                if self.waiting.len() >= MAX_WAITING {
                    self.waiting.remove(0);
                }
                self.waiting.push(Waiting {
                    stream,
                    shown: [0; Cookie::BYTES],
                    count: 0,
                    deadline: Instant::now() + PATIENCE,
                });
                Ok(true)
            }
            Ok(_) => Ok(true),
            Err(cause) => match cause.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {
                    Ok(true)
                }
                // Released.
                ErrorKind::InvalidInput => Ok(false),
                _ => Err(cause),
            },
        }
    }
}

impl Waiting {
    fn hear(&mut self, cookie: Cookie) -> Shown {
        match self.stream.read(&mut self.shown[self.count..]) {
            Ok(0) => Shown::Other,
            Ok(count) => {
                self.count += count;
                match self.count == Cookie::BYTES {
                    false => Shown::Part,
                    true if Cookie(self.shown) == cookie => Shown::Cookie,
                    true => Shown::Other,
                }
            }
            Err(cause) if is_pause(&cause) => Shown::Part,
            Err(_) => Shown::Other,
        }
    }
}

/// Sends the cookie back to a stream's client: it is admitted.
pub(super) fn confirm(stream: &OwnedFd, cookie: Cookie) -> Result<(), String> {
    let sent = rustix::net::send(stream, &cookie.0, SendFlags::NOSIGNAL);
    sent.map(drop)
        .map_err(|cause| format!("admitting a stream: {}", io::Error::from(cause)))
}

/// Connects the socket to the sender of the cookie at the client's address; false if the service is
/// over before.
///
/// Each cookie is answered with the same one, since either may be lost, until something else arrives.
pub(super) fn datagram(
    socket: &UdpSocket,
    peer: IpAddr,
    cookie: Cookie,
    work: &Work,
) -> io::Result<bool> {
    let mut shown = [0; Cookie::BYTES + 1];
    let is_cookie = |bytes: &[u8]| bytes == cookie.0;
    socket.set_read_timeout(Some(PULSE))?;
    loop {
        if work.is_over() {
            return Ok(false);
        }
        match socket.recv_from(&mut shown) {
            Ok((count, from)) if from.ip().to_canonical() == peer && is_cookie(&shown[..count]) => {
                socket.connect(from)?;
                break;
            }
            Ok(_) => {}
            Err(cause) if is_pause(&cause) => {}
            Err(cause) => return Err(cause),
        }
    }
    // Discards what others sent before the socket was connected.
    socket.set_nonblocking(true)?;
    while socket.recv(&mut shown).is_ok() {}
    socket.set_nonblocking(false)?;
    socket.send(&cookie.0)?;
    loop {
        match socket.peek(&mut shown) {
            Ok(count) if is_cookie(&shown[..count]) => {
                socket.recv(&mut shown)?;
                socket.send(&cookie.0)?;
            }
            Ok(_) => break,
            Err(cause) if is_pause(&cause) && !work.is_over() => {}
            Err(_) => return Ok(false),
        }
    }
    socket.set_read_timeout(None)?;
    Ok(true)
}

fn is_pause(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
