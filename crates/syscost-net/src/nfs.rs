//! An exported directory, and where it is.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::address::Endpoint;

/// The default port of NFS.
pub const NFS_PORT: u16 = 2049;

const SCHEME: &str = "nfs://";

/// Maximum length of a path in the MOUNT protocol, in bytes (MNTPATHLEN of RFC 1813).
const MAX_PATH: usize = 1024;

/// A directory that a server exports: `nfs://HOST[:PORT[:MOUNTPORT]]/PATH`.
///
/// Without ports, the server's port mapper (port 111) is asked. If only the NFS port is given, the
/// mount service has the same, as on servers with one port for everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Export {
    /// Name or address of the host, without brackets.
    pub host: String,
    /// Port of NFS.
    pub port: Option<u16>,
    /// Port of the mount service.
    pub mount_port: Option<u16>,
    /// Path of the exported directory, beginning with `/`.
    pub path: String,
}

impl FromStr for Export {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected nfs://HOST[:PORT[:MOUNTPORT]]/PATH";
        let rest = text.strip_prefix(SCHEME).ok_or(EXPECTED)?;
        let (server, path) = rest.split_at(rest.find('/').ok_or(EXPECTED)?);
        // In brackets, since the colons of an IPv6 address do not separate ports.
        let (host, ports) = match server.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or(EXPECTED)?,
            None => server.split_at(server.find(':').unwrap_or(server.len())),
        };
        let mut numbers = ports.split(':');
        if numbers.next() != Some("") {
            return Err(EXPECTED.to_owned());
        }
        let mut port = || -> Result<Option<u16>, String> {
            let Some(digits) = numbers.next() else {
                return Ok(None);
            };
            match digits.parse() {
                Ok(0) | Err(_) => Err(format!("{digits:?} is not a port: give 1 to 65535")),
                Ok(port) => Ok(Some(port)),
            }
        };
        let (port, mount_port) = (port()?, port()?);
        // A host that an endpoint refuses is invalid.
        let endpoint: Endpoint = match host.contains(':') {
            true => format!("[{host}]:1").parse(),
            false => format!("{host}:1").parse(),
        }
        .map_err(|_| EXPECTED.to_owned())?;
        let is_path = path.len() <= MAX_PATH && !path.chars().any(char::is_control);
        match numbers.next().is_none() && is_path {
            true => Ok(Self {
                host: endpoint.host,
                port,
                mount_port,
                path: path.to_owned(),
            }),
            false => Err(EXPECTED.to_owned()),
        }
    }
}

impl TryFrom<String> for Export {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Export> for String {
    fn from(export: Export) -> Self {
        export.to_string()
    }
}

impl fmt::Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "{SCHEME}[{}]", self.host)?,
            false => write!(f, "{SCHEME}{}", self.host)?,
        }
        for port in [self.port, self.mount_port].into_iter().flatten() {
            write!(f, ":{port}")?;
        }
        write!(f, "{}", self.path)
    }
}

impl Export {
    /// Returns the export at this address, with both ports, so that it needs neither a resolver nor a
    /// port mapper.
    #[must_use]
    pub fn located(&self, server: SocketAddr, mount_port: u16) -> Self {
        Self {
            host: server.ip().to_string(),
            port: Some(server.port()),
            mount_port: Some(mount_port),
            path: self.path.clone(),
        }
    }

    /// The addresses of NFS and of the mount service; `None` unless it is located.
    pub fn addresses(&self) -> Option<(SocketAddr, SocketAddr)> {
        let ip: IpAddr = self.host.parse().ok()?;
        let at = |port: Option<u16>| Some(SocketAddr::new(ip, port?));
        Some((at(self.port)?, at(self.mount_port)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_read_as_it_is_written() {
        for (text, host, port, mount_port, path) in [
            ("nfs://db1/", "db1", None, None, "/"),
            ("nfs://db1/srv/a b", "db1", None, None, "/srv/a b"),
            ("nfs://10.0.0.7:2049/e", "10.0.0.7", Some(2049), None, "/e"),
            ("nfs://h:1:2/e", "h", Some(1), Some(2), "/e"),
            ("nfs://[::1]/e:1", "::1", None, None, "/e:1"),
            (
                "nfs://[fe80::1%eth0]:9:8/",
                "fe80::1%eth0",
                Some(9),
                Some(8),
                "/",
            ),
        ] {
            let export: Export = text.parse().expect(text);
            let is = (export.host.as_str(), export.port, export.mount_port);
            assert_eq!(is, (host, port, mount_port), "{text}");
            assert_eq!(export.path, path);
            assert_eq!(export.to_string(), text);
        }
        let long = format!("nfs://h/{}", "x".repeat(MAX_PATH));
        for nonsense in [
            "",
            "/srv/e",
            "db1:/srv/e",
            "nfs://db1",
            "nfs:///e",
            "nfs://:2049/e",
            "nfs://db1:/e",
            "nfs://db1:x/e",
            "nfs://db1:0/e",
            "nfs://db1:1:2:3/e",
            "nfs://[::1/e",
            "nfs://[::1]9/e",
            "nfs://::1/e",
            "nfs://a b/e",
            "nfs://db1/a\nb",
            &long,
        ] {
            assert!(nonsense.parse::<Export>().is_err(), "{nonsense}");
        }
    }

    #[test]
    fn a_located_export_has_addresses() {
        let named: Export = "nfs://localhost/e".parse().unwrap();
        assert_eq!(named.addresses(), None);
        let server: SocketAddr = "[::1]:2049".parse().unwrap();
        let located = named.located(server, 635);
        assert_eq!(located.to_string(), "nfs://[::1]:2049:635/e");
        let mount: SocketAddr = "[::1]:635".parse().unwrap();
        assert_eq!(located.addresses(), Some((server, mount)));
    }
}
