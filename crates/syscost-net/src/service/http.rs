//! A minimal HTTP/1.1 server.

use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::RecvFlags;

use super::connections::{bound_receiving, bound_sending, each};
use super::transfer::{Came, failed, receive, send_all};
use super::{Account, IsOver, ServiceError};
use crate::content::Content;

/// Maximum length of a request, in bytes.
const MAX_REQUEST: usize = 4096;

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The response to every request.
#[derive(Debug, Clone)]
pub struct Response {
    bytes: Vec<u8>,
    keep_alive: bool,
}

impl Response {
    /// A response `200 OK` with a stamped body of this many bytes. `keep_alive` is whether its
    /// connection serves another request afterwards.
    pub fn new(body: usize, keep_alive: bool) -> Self {
        let connection = if keep_alive { "keep-alive" } else { "close" };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\
             Content-Length: {body}\r\nConnection: {connection}\r\n\r\n"
        );
        let mut bytes = head.into_bytes();
        let start = bytes.len();
        bytes.resize(start + body, 0);
        Content::Whole.stamp(0, &mut bytes[start..]);
        Self { bytes, keep_alive }
    }

    /// All of its bytes, headers and body.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Answers all GET requests with the same response, one connection after the other: a second one
/// waits until the first has closed.
///
/// System calls: accept4, two of setsockopt (SO_RCVTIMEO, SO_SNDTIMEO) and close per connection,
/// recvfrom and sendto per request. Waits end after a quarter of a second, to check whether it is
/// over. Anything other than a GET request of at most 4 KiB ends its connection and counts as wrong.
///
/// # Errors
/// When a call fails for any reason other than what the peer does.
pub fn respond(
    listener: impl AsFd,
    response: &Response,
    only_from: Option<IpAddr>,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    each(
        listener.as_fd(),
        only_from,
        is_over,
        |stream, account, is_over| {
            account.connections += 1;
            bound_receiving(stream)
                .and_then(|()| bound_sending(stream))
                .map_err(failed("setsockopt", account))?;
            if !serve(stream, response, account, is_over) {
                account.wrong += 1;
            }
            Ok(())
        },
    )
}

/// Serves one connection until it ends; returns false after anything other than a request.
fn serve(
    stream: BorrowedFd<'_>,
    response: &Response,
    account: &mut Account,
    is_over: IsOver<'_>,
) -> bool {
    let mut request = [0; MAX_REQUEST];
    let mut filled = 0;
    loop {
        match receive(stream, &mut request[filled..], RecvFlags::empty()) {
            Ok(Came::Bytes(count)) => filled += count,
            // A connection may be silent between requests, but not within one.
            Ok(Came::Nothing) if filled == 0 && !is_over(account) => continue,
            Ok(Came::Nothing | Came::End) | Err(_) => return filled == 0,
        }
        while let Some(end) = end_of_head(&request[..filled]) {
            if !request.starts_with(b"GET ") {
                return false;
            }
            let (sent, result) = send_all(stream, &response.bytes, || !is_over(account));
            account.bytes += sent as u64;
            if result.is_err() || sent < response.bytes.len() {
                return true;
            }
            account.messages += 1;
            let is_last = !response.keep_alive || asks_to_close(&request[..end]);
            if is_last || is_over(account) {
                return true;
            }
            request.copy_within(end..filled, 0);
            filled -= end;
        }
        if filled == MAX_REQUEST {
            return false;
        }
    }
}

/// Where the header of the first request ends.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let mut windows = bytes.windows(END_OF_HEAD.len());
    let start = windows.position(|window| window == END_OF_HEAD)?;
    Some(start + END_OF_HEAD.len())
}

/// Whether a request asks to close its connection.
fn asks_to_close(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').any(|line| {
        let line = line.trim_ascii().to_ascii_lowercase();
        line.strip_prefix(b"connection:")
            .is_some_and(|value| value.trim_ascii() == b"close")
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::thread::{self, JoinHandle};

    use super::*;

    const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    fn responder(keep_alive: bool, connections: u64) -> (SocketAddr, JoinHandle<Account>, usize) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let response = Response::new(100, keep_alive);
        let length = response.bytes().len();
        let service = thread::spawn(move || {
            let mut is_over =
                |account: &Account| account.connections == connections && is_done(account);
            respond(&listener, &response, None, &mut is_over).unwrap()
        });
        (address, service, length)
    }

    /// Whether there is a message or an error for each connection.
    fn is_done(account: &Account) -> bool {
        account.messages + account.wrong >= account.connections
    }

    fn asked(stream: &mut TcpStream, request: &[u8], length: usize) -> Vec<u8> {
        stream.write_all(request).unwrap();
        let mut response = vec![0; length];
        stream.read_exact(&mut response).unwrap();
        response
    }

    #[test]
    fn a_connection_is_kept_alive_until_it_closes_or_asks_to_be_closed() {
        let (address, service, length) = responder(true, 1);
        let mut stream = TcpStream::connect(address).unwrap();
        let response = asked(&mut stream, GET, length);
        assert!(response.starts_with(b"HTTP/1.1 200 OK\r\n"));
        let text = String::from_utf8_lossy(&response[..length - 100]);
        assert!(text.contains("Content-Length: 100\r\n"), "{text}");
        assert_eq!(Content::Whole.check(0, &response[length - 100..]).wrong, 0);
        drop(stream);
        let account = service.join().unwrap();
        assert_eq!(
            (account.messages, account.connections, account.wrong),
            (1, 1, 0)
        );
        assert_eq!(account.bytes, length as u64);
    }

    #[test]
    fn requests_come_in_any_pieces() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let response = Response::new(10, true);
        let length = response.bytes().len();
        let service = thread::spawn(move || {
            respond(&listener, &response, None, &mut |account| {
                account.messages == 3
            })
            .unwrap()
        });
        // Two at once, then one in two parts that asks for the end.
        let twice = [GET, GET].concat();
        assert_eq!(asked(&mut stream, &twice, 2 * length).len(), 2 * length);
        stream
            .write_all(b"GET /x HTTP/1.1\r\nconnection:  CLOSE\r\n")
            .unwrap();
        asked(&mut stream, b"\r\n", length);
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0, "closed");
        assert_eq!(service.join().unwrap().messages, 3);
    }

    #[test]
    fn without_keep_alive_each_request_has_its_connection() {
        let (address, service, length) = responder(false, 2);
        for _ in 0..2 {
            let mut stream = TcpStream::connect(address).unwrap();
            let response = asked(&mut stream, GET, length);
            let text = String::from_utf8_lossy(&response);
            assert!(text.contains("Connection: close\r\n"));
            assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0, "closed");
        }
        let account = service.join().unwrap();
        assert_eq!((account.messages, account.connections), (2, 2));
    }

    #[test]
    fn an_invalid_request_ends_only_its_connection() {
        for nonsense in [
            b"POST / HTTP/1.1\r\n\r\n".to_vec(),
            vec![b'x'; 5000],
            // Half a request, and then nothing.
            GET[..10].to_vec(),
        ] {
            let (address, service, _) = responder(true, 1);
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(&nonsense).unwrap();
            assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
            let account = service.join().unwrap();
            assert_eq!((account.messages, account.wrong), (0, 1));
        }
    }
}
