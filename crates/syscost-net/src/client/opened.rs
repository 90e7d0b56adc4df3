//! Sockets connected to a service that was opened.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use syscost_sys::SystemError;

use super::ClientError;
use crate::socket::{self, Tcp};
use crate::wire::{Cookie, Opening};

/// Time without an answer after which a datagram with the cookie is sent again.
const AGAIN: Duration = Duration::from_millis(250);

/// A service that waits for connections.
#[derive(Debug, Clone, Copy)]
pub struct Opened {
    address: SocketAddr,
    cookie: Cookie,
    timeout: Duration,
}

impl Opened {
    pub(super) fn new(peer: SocketAddr, opening: Opening, timeout: Duration) -> Self {
        let mut address = peer;
        address.set_port(opening.port);
        Self {
            address,
            cookie: opening.cookie,
            timeout,
        }
    }

    /// Its address, for connections without a cookie (accept, HTTP).
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connects a stream and shows the cookie.
    ///
    /// # Errors
    /// When there is no connection or no answer in time, or the answer is another cookie.
    pub fn stream(&self, tcp: &Tcp) -> Result<TcpStream, ClientError> {
        const WHAT: &str = "connecting to a service";
        let mut stream = socket::connect(self.address, tcp, self.timeout).map_err(|error| {
            match error.operation {
                "connect" => ClientError::Unreachable(self.address, WHAT, error.cause),
                _ => self.socket(error),
            }
        })?;
        let mut shown = Cookie([0; Cookie::BYTES]);
        stream
            .set_read_timeout(Some(self.timeout))
            .and_then(|()| stream.write_all(&self.cookie.0))
            .and_then(|()| stream.read_exact(&mut shown.0))
            .and_then(|()| stream.set_read_timeout(None))
            .map_err(|cause| ClientError::lost(self.address, self.timeout, cause, WHAT))?;
        match shown == self.cookie {
            true => Ok(stream),
            false => {
                let cause = "it shows another cookie".to_owned();
                Err(ClientError::Stranger(self.address, WHAT, cause))
            }
        }
    }

    /// Connects a UDP socket and shows the cookie.
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

    /// Sends the cookie until it is answered.
    fn show(&self, socket: &UdpSocket) -> io::Result<()> {
        socket.connect(self.address)?;
        let deadline = Instant::now() + self.timeout;
        let mut came = [0; Cookie::BYTES + 1];
        let mut attempts = 0;
        while Instant::now() < deadline {
            attempts += 1;
            socket.send(&self.cookie.0)?;
            socket.set_read_timeout(Some(AGAIN))?;
            match socket.peek(&mut came) {
                Ok(_) => {
                    self.take_answers(socket, attempts)?;
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

    /// Discards the answers to the cookie, including those to cookies that were sent once too often.
    fn take_answers(&self, socket: &UdpSocket, attempts: u32) -> io::Result<()> {
        let mut came = [0; Cookie::BYTES + 1];
        if attempts > 1 {
            thread::sleep(AGAIN);
        }
        socket.set_nonblocking(true)?;
        while matches!(socket.peek(&mut came), Ok(count) if came[..count] == self.cookie.0) {
            socket.recv(&mut came)?;
        }
        socket.set_nonblocking(false)
    }

    fn socket(&self, cause: SystemError) -> ClientError {
        ClientError::Socket(self.address, cause)
    }
}
