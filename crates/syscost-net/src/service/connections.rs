//! Accepting connections and closing them.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_linger, set_socket_timeout};
use rustix::net::{RecvFlags, SocketFlags, accept_with, acceptfrom_with};

use super::transfer::{Came, failed, receive, send_all, serve};
use super::{Account, IsOver, ServiceError};
use crate::wire::Close;

/// Maximum wait before the next check whether the service is over.
const PATIENCE: Duration = Duration::from_millis(250);

/// How each connection is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accept {
    /// How the connection is closed.
    pub close: Close,
    /// Whether one byte is sent before that.
    pub first_byte: bool,
    /// The only address whose connections are accepted, if any. Others are closed at once and
    /// counted as wrong.
    pub only_from: Option<IpAddr>,
}

/// Accepts connections of a listening socket, one after the other.
///
/// System calls per connection: accept4, sendto if a byte is sent, setsockopt (SO_LINGER) with
/// [`Close::Rst`], setsockopt (SO_RCVTIMEO) and recvfrom until the other end has closed with
/// [`Close::AfterPeer`], close. Waits end after a quarter of a second, to check whether it is over.
///
/// # Errors
/// When a call fails for any reason other than what the peer does.
pub fn accept(
    listener: impl AsFd,
    rule: &Accept,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    each(
        listener.as_fd(),
        rule.only_from,
        is_over,
        |stream, account, is_over| {
            end(stream, rule, account, is_over)?;
            account.messages += 1;
            account.connections += 1;
            Ok(())
        },
    )
}

/// Accepts connections from the right address, passes each to `attend`, and closes it, until it is
/// over.
pub(super) fn each(
    listener: BorrowedFd<'_>,
    only_from: Option<IpAddr>,
    is_over: IsOver<'_>,
    mut attend: impl FnMut(BorrowedFd<'_>, &mut Account, IsOver<'_>) -> Result<(), ServiceError>,
) -> Result<Account, ServiceError> {
    bound_accepting(listener)?;
    serve(Account::default(), is_over, |account, span, is_over| {
        match next(listener, only_from, account)? {
            Next::Connection(stream) => {
                span.begin();
                attend(stream.as_fd(), account, is_over)?;
            }
            Next::Stranger => account.wrong += 1,
            Next::Nothing => {}
            Next::Released => return Ok(false),
        }
        Ok(true)
    })
}

/// Does what is to be done between accepting and closing a connection. It is not an error if the
/// peer leaves meanwhile.
#[inline]
fn end(
    stream: BorrowedFd<'_>,
    rule: &Accept,
    account: &mut Account,
    is_over: IsOver<'_>,
) -> Result<(), ServiceError> {
    if rule.first_byte {
        let (sent, _) = send_all(stream, b"!", || !is_over(account));
        account.bytes += sent as u64;
    }
    match rule.close {
        Close::Fin => Ok(()),
        Close::Rst => {
            set_socket_linger(stream, Some(Duration::ZERO)).map_err(failed("setsockopt", account))
        }
        Close::AfterPeer => {
            bound_receiving(stream).map_err(failed("setsockopt", account))?;
            let mut rest = [0; 64];
            while let Ok(Came::Bytes(_) | Came::Nothing) =
                receive(stream, &mut rest, RecvFlags::empty())
            {
                if is_over(account) {
                    break;
                }
            }
            Ok(())
        }
    }
}

/// Limits waiting for connections to [`PATIENCE`]. Each connection needs a separate limit: one made
/// before inherits none.
fn bound_accepting(listener: BorrowedFd<'_>) -> Result<(), ServiceError> {
    bound_receiving(listener).map_err(failed("setsockopt", &Account::default()))
}

/// Limits receiving to [`PATIENCE`].
pub(super) fn bound_receiving(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    set_socket_timeout(socket, Timeout::Recv, Some(PATIENCE))
}

/// Limits sending to [`PATIENCE`].
pub(super) fn bound_sending(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    set_socket_timeout(socket, Timeout::Send, Some(PATIENCE))
}

/// The result of accepting.
enum Next {
    Connection(OwnedFd),
    /// A connection from another address, closed.
    Stranger,
    /// No connection in time, or one that was aborted.
    Nothing,
    /// The listening socket has been shut down.
    Released,
}

/// Accepts one connection, if it is from the right address.
#[inline]
fn next(
    listener: BorrowedFd<'_>,
    only_from: Option<IpAddr>,
    account: &Account,
) -> Result<Next, ServiceError> {
    let accepted = match only_from {
        None => accept_with(listener, SocketFlags::CLOEXEC).map(|stream| (stream, true)),
        Some(only) => acceptfrom_with(listener, SocketFlags::CLOEXEC).map(|(stream, from)| {
            let from = from.and_then(|from| SocketAddr::try_from(from).ok());
            let is_from_there = from.is_some_and(|from| from.ip().to_canonical() == only);
            (stream, is_from_there)
        }),
    };
    match accepted {
        Ok((stream, true)) => Ok(Next::Connection(stream)),
        Ok((_, false)) => Ok(Next::Stranger),
        Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(Next::Nothing),
        Err(Errno::INVAL) => Ok(Next::Released),
        Err(cause) => Err(failed("accept4", account)(cause)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::thread;

    use super::*;
    use crate::service::release;

    fn rule(close: Close, first_byte: bool) -> Accept {
        Accept {
            close,
            first_byte,
            only_from: Some("127.0.0.1".parse().unwrap()),
        }
    }

    /// Connects three times to a service that follows this rule; returns how many bytes each connection
    /// read and how it ended.
    fn visits(rule: Accept) -> (Vec<(usize, Option<ErrorKind>)>, Account) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let service = thread::spawn(move || {
            accept(&listener, &rule, &mut |account| account.messages == 3).unwrap()
        });
        let visit = |_| {
            let mut stream = TcpStream::connect(address).unwrap();
            if rule.close == Close::AfterPeer {
                stream.shutdown(std::net::Shutdown::Write).unwrap();
            }
            let mut came = Vec::new();
            let ended = stream.read_to_end(&mut came);
            (came.len(), ended.err().map(|cause| cause.kind()))
        };
        let seen = (0..3).map(visit).collect();
        (seen, service.join().unwrap())
    }

    #[test]
    fn connections_are_closed_as_they_should_be() {
        for first_byte in [false, true] {
            let bytes = usize::from(first_byte);
            for (close, ending) in [
                (Close::Fin, None),
                (Close::AfterPeer, None),
                (Close::Rst, Some(ErrorKind::ConnectionReset)),
            ] {
                let (seen, account) = visits(rule(close, first_byte));
                for (came, ended) in seen {
                    assert_eq!(ended, ending, "{close:?}");
                    assert!(came == bytes || close == Close::Rst, "{came} bytes");
                }
                assert_eq!((account.messages, account.connections), (3, 3));
                assert_eq!((account.bytes, account.wrong), (3 * bytes as u64, 0));
            }
        }
    }

    #[test]
    fn connections_from_elsewhere_are_closed_and_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let elsewhere = Accept {
            only_from: Some("127.0.0.9".parse().unwrap()),
            ..rule(Close::Fin, true)
        };
        let service =
            thread::spawn(move || accept(&listener, &elsewhere, &mut |account| account.wrong == 2));
        for _ in 0..2 {
            let mut stream = TcpStream::connect(address).unwrap();
            // Nothing is sent before the FIN or RST.
            assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
        }
        let account = service.join().unwrap().unwrap();
        assert_eq!((account.messages, account.bytes, account.wrong), (0, 0, 2));
    }

    #[test]
    fn it_ends_while_it_waits() {
        static IS_OVER: AtomicBool = AtomicBool::new(false);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let theirs = listener.try_clone().unwrap();
        let service = thread::spawn(move || {
            let mut is_over = |_: &Account| IS_OVER.load(Relaxed);
            accept(&listener, &rule(Close::Fin, false), &mut is_over)
        });
        IS_OVER.store(true, Relaxed);
        release(&theirs);
        assert_eq!(service.join().unwrap().unwrap().messages, 0);
    }
}
