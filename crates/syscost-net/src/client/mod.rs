//! The measuring end: a session with a server, and sockets to its services.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use serde_json::Value;
use syscost_sys::SystemError;

use crate::service::{Account, Reading};
use crate::socket::Tcp;
use crate::token::Token;
use crate::wire::{Service, Ticket};

/// Why there is nothing to be had from the far end.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// There is no connection.
    #[error(
        "{peer}: {cause}; is `syscost serve` running there, and does it listen on this address (--listen)?"
    )]
    Unreachable {
        /// The far end.
        peer: SocketAddr,
        /// Why not.
        cause: SystemError,
    },
    /// It said nothing in time.
    #[error("{peer} did not answer within {seconds} s ({what})")]
    Silent {
        /// The far end.
        peer: SocketAddr,
        /// What was asked.
        what: &'static str,
        /// How long it was waited for.
        seconds: f64,
    },
    /// It went away.
    #[error("{peer} ended the connection ({what}): {cause}")]
    Gone {
        /// The far end.
        peer: SocketAddr,
        /// What was asked.
        what: &'static str,
        /// How it was noticed.
        cause: io::Error,
    },
    /// It is no server of syscost, or a broken one.
    #[error("{peer} does not speak as `syscost serve` does ({what}): {cause}")]
    Stranger {
        /// The far end.
        peer: SocketAddr,
        /// What was asked.
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
        /// This one's.
        ours: u32,
    },
    /// It does not know the token.
    #[error("{peer} does not know the token: it is not the `syscost serve` that the token is of")]
    Impostor {
        /// The far end.
        peer: SocketAddr,
    },
    /// It refuses.
    #[error("{peer} refuses: {why}")]
    Refused {
        /// The far end.
        peer: SocketAddr,
        /// Its reason.
        why: String,
    },
    /// The service failed there.
    #[error("the service at {peer} failed: {why}")]
    Failed {
        /// The far end.
        peer: SocketAddr,
        /// Its reason.
        why: String,
    },
    /// Something failed at this end.
    #[error("{0}")]
    Own(#[from] SystemError),
    /// No random bytes.
    #[error("{0}")]
    Token(#[from] crate::token::TokenError),
}

/// A session with a server: one service at a time. Ends when dropped.
#[derive(Debug)]
pub struct Session {
    stream: TcpStream,
    peer: SocketAddr,
    facts: Value,
}

impl Session {
    /// Connects, proves that this end knows the token, and has the far end prove it, too. `timeout` bounds this and every
    /// later wait of the session.
    ///
    /// # Errors
    /// As [`ClientError`] names them, each with the far end's address.
    pub fn connect(
        peer: SocketAddr,
        token: &Token,
        timeout: Duration,
    ) -> Result<Session, ClientError> {
        let _ = (peer, token, timeout);
        todo!()
    }

    /// The far end's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// This end's address.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.stream.local_addr()
    }

    /// What the far end says of itself.
    pub fn facts(&self) -> &Value {
        &self.facts
    }

    /// Opens a service.
    ///
    /// # Errors
    /// When the far end refuses it or is gone.
    pub fn open(&mut self, service: &Service) -> Result<Opened, ClientError> {
        let _ = service;
        todo!()
    }

    /// How far the service is: two readings tell the rate between them, as the far end counts and times it.
    ///
    /// # Errors
    /// When none is open, it has failed, or the far end is gone.
    pub fn reading(&mut self) -> Result<Reading, ClientError> {
        todo!()
    }

    /// Asks the far end to end the service, without waiting for it: a source's bytes that are under way can be received first.
    /// `sent` is the number of datagrams sent to a sink: it waits a moment for those on their way.
    ///
    /// # Errors
    /// When the far end is gone.
    pub fn end(&mut self, sent: Option<u64>) -> Result<(), ClientError> {
        let _ = sent;
        todo!()
    }

    /// What the service did, once it has ended.
    ///
    /// # Errors
    /// When it has failed, or the far end is gone.
    pub fn account(&mut self) -> Result<Account, ClientError> {
        todo!()
    }

    /// [`Session::end`] and [`Session::account`] in one.
    ///
    /// # Errors
    /// As theirs.
    pub fn finish(&mut self, sent: Option<u64>) -> Result<Account, ClientError> {
        self.end(sent)?;
        self.account()
    }
}

/// A service that waits for connections.
#[derive(Debug, Clone, Copy)]
pub struct Opened {
    address: SocketAddr,
    ticket: Ticket,
    timeout: Duration,
}

impl Opened {
    /// Where it is: for bare connections (accept, HTTP).
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A stream to it, let in by the ticket.
    ///
    /// # Errors
    /// When it cannot be had in time.
    pub fn stream(&self, tcp: &Tcp) -> Result<TcpStream, ClientError> {
        let _ = (self.ticket, self.timeout, tcp);
        todo!()
    }

    /// A connected UDP socket to it, let in by the ticket. A source sends from then on.
    ///
    /// # Errors
    /// When it does not answer in time.
    pub fn datagram(&self) -> Result<UdpSocket, ClientError> {
        todo!()
    }
}
