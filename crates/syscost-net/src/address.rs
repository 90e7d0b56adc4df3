//! Addresses as people give them, looked up once.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// Port of `syscost serve`, unless another is given.
pub const DEFAULT_PORT: u16 = 7717;

/// A host by name or number, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or number of the host, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl FromStr for Endpoint {
    type Err = String;

    /// Reads `HOST`, `HOST:PORT`, `[IPV6]:PORT` or a bare IPv6 address.
    fn from_str(text: &str) -> Result<Self, String> {
        let _ = text;
        todo!()
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl Endpoint {
    /// Its numeric addresses, in the resolver's order.
    ///
    /// # Errors
    /// When there is no such host.
    pub fn look_up(&self) -> std::io::Result<Vec<SocketAddr>> {
        todo!()
    }
}
