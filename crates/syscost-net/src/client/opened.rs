//! Sockets to a service that was opened.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use syscost_sys::SystemError;

use super::ClientError;
use crate::socket::{self, Tcp};
use crate::wire::{Opening, Ticket};

/// How long a datagram with the ticket is given before it is sent again.
const AGAIN: Duration = Duration::from_millis(250);

/// A service that waits for connections.
#[derive(Debug, Clone, Copy)]
pub struct Opened {
    address: SocketAddr,
    ticket: Ticket,
    timeout: Duration,
}

impl Opened {
    pub(super) fn new(peer: SocketAddr, opening: Opening, timeout: Duration) -> Self {
        let mut address = peer;
        address.set_port(opening.port);
        Self {
            address,
            ticket: opening.ticket,
            timeout,
        }
    }

    /// Where it is: for bare connections (accept, HTTP).
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A stream to it, let in by the ticket.
    ///
    /// # Errors
    /// When it cannot be had in time.
    pub fn stream(&self, tcp: &Tcp) -> Result<TcpStream, ClientError> {
        const WHAT: &str = "connecting to a service";
        let mut stream = socket::connect(self.address, tcp, self.timeout).map_err(|error| {
            match error.operation {
                "connect" => ClientError::Unreachable {
                    peer: self.address,
                    what: WHAT,
                    cause: error.cause,
                },
                _ => self.socket(error),
            }
        })?;
        let mut shown = Ticket([0; Ticket::BYTES]);
        stream
            .set_read_timeout(Some(self.timeout))
            .and_then(|()| stream.write_all(&self.ticket.0))
            .and_then(|()| stream.read_exact(&mut shown.0))
            .and_then(|()| stream.set_read_timeout(None))
            .map_err(|cause| ClientError::lost(self.address, self.timeout, cause, WHAT))?;
        match shown == self.ticket {
            true => Ok(stream),
            false => Err(ClientError::Stranger {
                peer: self.address,
                what: WHAT,
                cause: "it shows another ticket".to_owned(),
            }),
        }
    }

    /// A connected UDP socket to it, let in by the ticket. A source sends from then on.
    ///
    /// # Errors
    /// When it does not answer in time.
    pub fn datagram(&self) -> Result<UdpSocket, ClientError> {
        const WHAT: &str = "sending to a service";
        let any = match self.address {
            SocketAddr::V4(_) => "0.0.0.0:0",
            SocketAddr::V6(_) => "[::]:0",
        };
        let any = any.parse().expect("it is an address");
        let socket = socket::datagram(any).map_err(|error| self.socket(error))?;
        self.show(&socket)
            .map_err(|cause| ClientError::lost(self.address, self.timeout, cause, WHAT))?;
        Ok(socket)
    }

    /// Shows the ticket until it is answered: by the same, or by what a source sends, which stays to be received.
    fn show(&self, socket: &UdpSocket) -> io::Result<()> {
        socket.connect(self.address)?;
        let deadline = Instant::now() + self.timeout;
        let mut came = [0; Ticket::BYTES + 1];
        let mut times = 0;
        while Instant::now() < deadline {
            times += 1;
            socket.send(&self.ticket.0)?;
            socket.set_read_timeout(Some(AGAIN))?;
            match socket.peek(&mut came) {
                Ok(_) => {
                    self.take_answers(socket, times)?;
                    return socket.set_read_timeout(None);
                }
                Err(cause) => match cause.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(cause),
                },
            }
        }
        Err(ErrorKind::TimedOut.into())
    }

    /// Takes the answers to the ticket away, also to those that were shown once too often.
    fn take_answers(&self, socket: &UdpSocket, times: u32) -> io::Result<()> {
        let mut came = [0; Ticket::BYTES + 1];
        if times > 1 {
            thread::sleep(AGAIN);
        }
        socket.set_nonblocking(true)?;
        while matches!(socket.peek(&mut came), Ok(count) if came[..count] == self.ticket.0) {
            socket.recv(&mut came)?;
        }
        socket.set_nonblocking(false)
    }

    fn socket(&self, cause: SystemError) -> ClientError {
        ClientError::Socket {
            peer: self.address,
            cause,
        }
    }
}
