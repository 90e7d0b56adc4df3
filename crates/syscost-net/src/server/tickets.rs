//! Admits connections to a service: only from the session's client, and with its ticket.

use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::net::SendFlags;

use super::PULSE;
use super::task::Work;
use crate::socket::ready_within;
use crate::wire::Ticket;

/// Time limit for a connection to show its ticket.
const PATIENCE: Duration = Duration::from_secs(2);

/// Accepts the next stream with the ticket; `None` if the service is over before.
pub(super) fn stream(
    listener: &TcpListener,
    peer: IpAddr,
    ticket: Ticket,
    work: &Work,
) -> io::Result<Option<TcpStream>> {
    // A connection that disappears between poll and accept must not block the others.
    listener.set_nonblocking(true)?;
    while !work.is_over() {
        if !ready_within(listener, PollFlags::IN, PULSE)? {
            continue;
        }
        match listener.accept() {
            Ok((mut stream, from)) if from.ip().to_canonical() == peer => {
                if shows(&mut stream, ticket).is_ok_and(|shown| shown) {
                    return Ok(Some(stream));
                }
            }
            Ok(_) => {}
            Err(cause) => match cause.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                // Released.
                ErrorKind::InvalidInput => return Ok(None),
                _ => return Err(cause),
            },
        }
    }
    Ok(None)
}

fn shows(stream: &mut TcpStream, ticket: Ticket) -> io::Result<bool> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut shown = Ticket([0; Ticket::BYTES]);
    stream.read_exact(&mut shown.0)?;
    stream.set_read_timeout(None)?;
    Ok(shown == ticket)
}

/// Sends the ticket back to a stream's client: it is admitted.
pub(super) fn confirm(stream: &OwnedFd, ticket: Ticket) -> Result<(), String> {
    let sent = rustix::net::send(stream, &ticket.0, SendFlags::NOSIGNAL);
    sent.map(drop)
        .map_err(|cause| format!("admitting a stream: {}", io::Error::from(cause)))
}

/// Connects the socket to the sender of the ticket at the client's address; false if the service is
/// over before.
///
/// If the client speaks first, each ticket is answered with the same one, since either may be lost,
/// until something else arrives. The datagrams of a source are an answer themselves.
pub(super) fn datagram(
    socket: &UdpSocket,
    peer: IpAddr,
    ticket: Ticket,
    client_speaks_first: bool,
    work: &Work,
) -> io::Result<bool> {
    let mut shown = [0; Ticket::BYTES + 1];
    let is_ticket = |bytes: &[u8]| bytes == ticket.0;
    socket.set_read_timeout(Some(PULSE))?;
    loop {
        if work.is_over() {
            return Ok(false);
        }
        match socket.recv_from(&mut shown) {
            Ok((count, from)) if from.ip().to_canonical() == peer && is_ticket(&shown[..count]) => {
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
    if client_speaks_first {
        socket.send(&ticket.0)?;
        loop {
            match socket.peek(&mut shown) {
                Ok(count) if is_ticket(&shown[..count]) => {
                    socket.recv(&mut shown)?;
                    socket.send(&ticket.0)?;
                }
                Ok(_) => break,
                Err(cause) if is_pause(&cause) && !work.is_over() => {}
                Err(_) => return Ok(false),
            }
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
