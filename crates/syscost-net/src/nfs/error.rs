//! Errors of NFS calls.

use std::io;
use std::net::SocketAddr;

use nfs3_client::RpcError;

use crate::nfs::wire::PATIENCE;

/// An error of an NFS call. Each names the server and what was tried.
#[derive(Debug, thiserror::Error)]
pub enum NfsError {
    /// It cannot be connected to.
    #[error("{server} cannot be reached ({what}): {cause}; is there an NFS server of version 3?")]
    Unreachable {
        /// The server.
        server: SocketAddr,
        /// What was tried.
        what: &'static str,
        /// Why not.
        cause: io::Error,
    },
    /// It did not answer in time.
    #[error("{server} did not answer within {} s ({what})", PATIENCE.as_secs())]
    Silent {
        /// The server.
        server: SocketAddr,
        /// What was tried.
        what: &'static str,
    },
    /// It has disconnected.
    #[error("{server} is gone ({what}): {cause}")]
    Gone {
        /// The server.
        server: SocketAddr,
        /// What was tried.
        what: &'static str,
        /// How it was noticed.
        cause: io::Error,
    },
    /// It speaks another protocol, or a broken one.
    #[error("{server} does not speak NFS version 3 ({what}): {cause}")]
    Stranger {
        /// The server.
        server: SocketAddr,
        /// What was tried.
        what: &'static str,
        /// What was wrong.
        cause: String,
    },
    /// It refuses the call.
    #[error("{server} refuses ({what}): {status}")]
    Refused {
        /// The server.
        server: SocketAddr,
        /// What was tried.
        what: &'static str,
        /// Its status, as RFC 1813 names it, and what may help.
        status: String,
    },
}

impl NfsError {
    /// The error of a call to this server.
    pub(super) fn of(server: SocketAddr, what: &'static str, error: RpcError) -> Self {
        match error {
            RpcError::Io(cause) => match cause.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    NfsError::Silent { server, what }
                }
                io::ErrorKind::InvalidData => NfsError::Stranger {
                    server,
                    what,
                    cause: cause.to_string(),
                },
                _ => NfsError::Gone {
                    server,
                    what,
                    cause,
                },
            },
            RpcError::Auth(status) => NfsError::Refused {
                server,
                what,
                status: format!("{status}: it requires credentials other than AUTH_SYS"),
            },
            other => NfsError::Stranger {
                server,
                what,
                cause: other.to_string(),
            },
        }
    }
}
