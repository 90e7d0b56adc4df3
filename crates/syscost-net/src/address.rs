//! Addresses as users write them, looked up once.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// Port of `syscost serve`, unless another is given.
pub const DEFAULT_PORT: u16 = 7717;

/// A host by name or address, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or address of the host, without brackets.
    pub host: String,
    /// Port number.
    pub port: u16,
}

impl FromStr for Endpoint {
    type Err = String;

    /// Reads `HOST`, `HOST:PORT`, `[IPV6]:PORT` or a bare IPv6 address.
    fn from_str(text: &str) -> Result<Self, String> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or("expected `[IPV6]:PORT`")?;
                match port {
                    "" => (host, None),
                    _ => (
                        host,
                        Some(port.strip_prefix(':').ok_or("expected `[IPV6]:PORT`")?),
                    ),
                }
            }
            None => match text.split_once(':') {
                // More than one colon: an IPv6 address without a port.
                Some((host, port)) if !port.contains(':') => (host, Some(port)),
                _ => (text, None),
            },
        };
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-._:%".contains(letter);
        if host.is_empty() || !host.chars().all(is_name) {
            return Err("expected HOST, HOST:PORT or [IPV6]:PORT".to_owned());
        }
        let port = match port {
            None => DEFAULT_PORT,
            Some(digits) => digits
                .parse()
                .map_err(|_| format!("{digits:?} is not a port: give a number up to 65535"))?,
        };
        let host = host.to_owned();
        Ok(Self { host, port })
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
    /// Returns its numeric addresses, in the resolver's order.
    ///
    /// # Errors
    /// When there is no such host.
    pub fn look_up(&self) -> io::Result<Vec<SocketAddr>> {
        let found: Vec<SocketAddr> = (self.host.as_str(), self.port)
            .to_socket_addrs()?
            .map(|address| match address.ip().to_canonical() {
                // An IPv4-mapped IPv6 address is reached by IPv4.
                IpAddr::V4(ip) => SocketAddr::new(ip.into(), address.port()),
                IpAddr::V6(_) => address,
            })
            .collect();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_read_as_users_write_it() {
        for (text, host, port) in [
            ("db1", "db1", DEFAULT_PORT),
            ("db1.example:80", "db1.example", 80),
            ("10.0.0.7", "10.0.0.7", DEFAULT_PORT),
            ("10.0.0.7:1", "10.0.0.7", 1),
            ("::1", "::1", DEFAULT_PORT),
            ("fe80::1%eth0", "fe80::1%eth0", DEFAULT_PORT),
            ("[::1]", "::1", DEFAULT_PORT),
            ("[::1]:9", "::1", 9),
        ] {
            let endpoint: Endpoint = text.parse().expect(text);
            assert_eq!(
                (endpoint.host.as_str(), endpoint.port),
                (host, port),
                "{text}"
            );
            assert_eq!(endpoint.to_string().parse(), Ok(endpoint), "{text}");
        }
        for nonsense in [
            "",
            ":80",
            "db1:",
            "db1:x",
            "db1:65536",
            "[::1",
            "[::1]9",
            "a b",
            "a/b",
        ] {
            assert!(nonsense.parse::<Endpoint>().is_err(), "{nonsense}");
        }
    }

    #[test]
    fn a_numeric_address_needs_no_resolver() {
        let endpoint: Endpoint = "127.0.0.1:80".parse().unwrap();
        assert_eq!(
            endpoint.look_up().unwrap(),
            ["127.0.0.1:80".parse().unwrap()]
        );
        let mapped: Endpoint = "[::ffff:127.0.0.1]:80".parse().unwrap();
        assert_eq!(mapped.look_up().unwrap(), endpoint.look_up().unwrap());
    }
}
