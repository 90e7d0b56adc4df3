//! A minimal responder of HTTP/1.1.

use std::net::IpAddr;
use std::os::fd::AsFd;

use super::{Account, IsOver, ServiceError};

/// What every request is answered with.
#[derive(Debug, Clone)]
pub struct Response {
    bytes: Vec<u8>,
    keep_alive: bool,
}

impl Response {
    /// A response `200 OK` with a stamped body of this many bytes, and whether its connection serves another request afterwards.
    pub fn new(body: usize, keep_alive: bool) -> Self {
        let _ = body;
        Self {
            bytes: Vec::new(),
            keep_alive,
        }
    }

    /// All of its bytes, headers and body.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Answers GET requests, whatever they ask for, one connection after the other: a second one waits until the first has closed.
///
/// System calls: accept4 and close per connection, recvfrom and sendto per request. Waits end after a quarter of a second,
/// to ask whether it is over. What is no request, or one of more than 4 KiB, ends its connection and counts as wrong.
///
/// # Errors
/// When a call fails, other than for what the other end did.
pub fn respond(
    listener: impl AsFd,
    response: &Response,
    only_from: Option<IpAddr>,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let _ = (listener.as_fd(), response.keep_alive, only_from, is_over);
    todo!()
}
