//! A client of NFS version 3 (RFC 1813) in user space: it needs no mount and no privilege.
//!
//! - [`Client`]: calls to a server, one at a time. The nfs3_client crate encodes and decodes them;
//!   they are sent and received by blocking calls, without an async runtime.
//! - [`Traffic`]: what passed over its connection, read from the bytes themselves and not from what
//!   the client meant to send.
//! - [`Folder`]: what is written on the server, and how it is removed, even after kill -9.

mod client;
mod folder;
mod mount;
mod owner;
mod wire;

use std::io;
use std::net::SocketAddr;

use nfs3_client::RpcError;

use wire::PATIENCE;

pub use client::{Attributes, Client, Handle, Slice, TransferLimits};
pub use folder::{FILE, Folder, sweep};
pub use wire::{Procedure, Traffic};

/// An error of an NFS call. Each names the server and what was tried.
#[derive(Debug, thiserror::Error)]
pub enum NfsError {
    /// It cannot be connected to.
    #[error("{0} cannot be reached ({1}): {2}; is there an NFS server of version 3?")]
    Unreachable(SocketAddr, &'static str, io::Error),
    /// It did not answer in time.
    #[error("{0} did not answer within {seconds} s ({1})", seconds = PATIENCE.as_secs())]
    Silent(SocketAddr, &'static str),
    /// It has disconnected.
    #[error("{0} is gone ({1}): {2}")]
    Gone(SocketAddr, &'static str, io::Error),
    /// It speaks another protocol, or a broken one.
    #[error("{0} does not speak NFS version 3 ({1}): {2}")]
    Stranger(SocketAddr, &'static str, String),
    /// It refuses the call.
    #[error("{0} refuses ({1}): {2}")]
    Refused(SocketAddr, &'static str, String),
}

impl NfsError {
    /// The error of a call to this server.
    fn of(server: SocketAddr, what: &'static str, error: RpcError) -> Self {
        match error {
            RpcError::Io(cause) => match cause.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    NfsError::Silent(server, what)
                }
                io::ErrorKind::InvalidData => NfsError::Stranger(server, what, cause.to_string()),
                _ => NfsError::Gone(server, what, cause),
            },
            RpcError::Auth(status) => {
                let status = format!("{status}: it requires credentials other than AUTH_SYS");
                NfsError::Refused(server, what, status)
            }
            other => NfsError::Stranger(server, what, other.to_string()),
        }
    }
}
