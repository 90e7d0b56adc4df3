//! The measuring end: a session with a server, and sockets connected to its services.

mod opened;
mod session;

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use syscost_sys::SystemError;

use crate::token::TokenError;

pub use opened::Opened;
pub use session::Session;

/// An error of a session with the far end: each names it, and what was tried.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It cannot be connected to.
    #[error(
        "{0} cannot be reached ({1}): {2}; is `syscost serve` running there, and does it listen on this address?"
    )]
    Unreachable(SocketAddr, &'static str, io::Error),
    /// It did not answer within this many seconds.
    #[error("{0} did not answer within {2} s ({1})")]
    Silent(SocketAddr, &'static str, f64),
    /// It has disconnected.
    #[error("{0} is gone ({1}): {2}")]
    Gone(SocketAddr, &'static str, io::Error),
    /// It is not a syscost server, or a broken one.
    #[error("{0} is not a syscost server ({1}): {2}")]
    Stranger(SocketAddr, &'static str, String),
    /// It speaks another version than this end.
    #[error(
        "{peer} speaks version {theirs} of the protocol, this syscost version {ours}; use the same syscost at both ends"
    )]
    Version {
        /// The far end.
        peer: SocketAddr,
        /// Its version of the protocol.
        theirs: u32,
        /// This end's.
        ours: u32,
    },
    /// It does not know the token.
    #[error("{0} does not know the token: it is not the `syscost serve` that the token belongs to")]
    Impostor(SocketAddr),
    /// It refuses the session, or ends it.
    #[error("{0} refuses ({1}): {2}")]
    Refused(SocketAddr, &'static str, String),
    /// It cannot do what was requested; the session continues.
    #[error("{0} failed ({1}): {2}")]
    Failed(SocketAddr, &'static str, String),
    /// A socket of this end cannot be set up as required.
    #[error("a socket for {0}: {1}")]
    Socket(SocketAddr, SystemError),
    /// The kernel of this end provides no random bytes.
    #[error(transparent)]
    Random(#[from] TokenError),
}

impl ClientError {
    /// The error for a socket that failed, or timed out after this long.
    fn lost(
        peer: SocketAddr,
        timeout: Duration,
        cause: io::Error,
        what: &'static str,
    ) -> ClientError {
        match cause.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                ClientError::Silent(peer, what, timeout.as_secs_f64())
            }
            _ => ClientError::Gone(peer, what, cause),
        }
    }
}
