//! Sockets with their options set, and read back.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use syscost_sys::SystemError;

/// Options of a TCP socket. What is not given stays as the system has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tcp {
    /// Whether small messages are sent at once (TCP_NODELAY).
    pub nodelay: bool,
    /// Congestion control, e.g. `cubic`.
    pub congestion: Option<String>,
    /// Size of the send buffer, in bytes (SO_SNDBUF; the kernel doubles it). Ends its automatic growth.
    pub send_buffer: Option<u32>,
    /// Size of the receive buffer, in bytes (SO_RCVBUF; the kernel doubles it). Ends its automatic growth.
    pub receive_buffer: Option<u32>,
}

impl Tcp {
    /// Options with TCP_NODELAY and nothing else.
    pub fn nodelay() -> Self {
        Self {
            nodelay: true,
            ..Self::default()
        }
    }

    /// Sets them on a socket and reads back what can be refused silently. Connections that a listening socket accepts inherit them.
    ///
    /// # Errors
    /// When one is refused, or is another one afterwards.
    pub fn apply(&self, socket: impl AsFd) -> Result<(), SystemError> {
        let _ = socket;
        todo!()
    }
}

/// A listening socket at exactly this address (an IPv6 one takes no IPv4 connections).
///
/// # Errors
/// When the address is no address of this machine or is in use, or an option is refused.
pub fn listen(address: SocketAddr, backlog: u32, tcp: &Tcp) -> Result<TcpListener, SystemError> {
    let _ = (address, backlog, tcp);
    todo!()
}

/// A connection whose options were set before it was made, as those of buffers must be.
///
/// # Errors
/// When nobody answers within `timeout`, the connection is refused, or an option is.
pub fn connect(
    address: SocketAddr,
    tcp: &Tcp,
    timeout: Duration,
) -> Result<TcpStream, SystemError> {
    let _ = (address, tcp, timeout);
    todo!()
}
