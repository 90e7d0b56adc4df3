//! Errors of a session with the far end.

use std::io;
use std::net::SocketAddr;

use syscost_sys::SystemError;

use crate::token::TokenError;

/// An error of a session with the far end.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It cannot be connected to.
    #[error(
        "{peer} cannot be reached ({what}): {cause}; is `syscost serve` running there, and does it listen on this address?"
    )]
    Unreachable {
        /// The far end.
        peer: SocketAddr,
        /// What was tried.
        what: &'static str,
        /// Why not.
        cause: io::Error,
    },
    /// It did not answer in time.
    #[error("{peer} did not answer within {seconds} s ({what})")]
    Silent {
        /// The far end.
        peer: SocketAddr,
        /// What was tried.
        what: &'static str,
        /// Timeout, in s.
        seconds: f64,
    },
    /// It has disconnected.
    #[error("{peer} is gone ({what}): {cause}")]
    Gone {
        /// The far end.
        peer: SocketAddr,
        /// What was tried.
        what: &'static str,
        /// How it was noticed.
        cause: io::Error,
    },
    /// It is not a syscost server, or a broken one.
    #[error("{peer} is not a syscost server ({what}): {cause}")]
    Stranger {
        /// The far end.
        peer: SocketAddr,
        /// What was tried.
        what: &'static str,
        /// What was wrong.
        cause: String,
    },
    /// It speaks another version.
    #[error(
        "{peer} speaks version {theirs} of the protocol, this syscost version {ours}; use the same syscost at both ends"
    )]
    Version {
        /// The far end.
        peer: SocketAddr,
        /// Its version.
        theirs: u32,
        /// The version of this end.
        ours: u32,
    },
    /// It does not know the token.
    #[error(
        "{peer} does not know the token: it is not the `syscost serve` that the token belongs to"
    )]
    Impostor {
        /// The far end.
        peer: SocketAddr,
    },
    /// It refuses the session, or ends it.
    #[error("{peer} refuses ({what}): {why}")]
    Refused {
        /// The far end.
        peer: SocketAddr,
        /// What was tried.
        what: &'static str,
        /// Its reason.
        why: String,
    },
    /// It cannot do what was requested; the session continues.
    #[error("{peer} failed ({what}): {why}")]
    Failed {
        /// The far end.
        peer: SocketAddr,
        /// What was tried.
        what: &'static str,
        /// Its reason.
        why: String,
    },
    /// A socket of this end cannot be set up as required.
    #[error("a socket for {peer}: {cause}")]
    Socket {
        /// The far end.
        peer: SocketAddr,
        /// The call that failed.
        cause: SystemError,
    },
    /// The kernel of this end provides no random bytes.
    #[error(transparent)]
    Random(#[from] TokenError),
}
