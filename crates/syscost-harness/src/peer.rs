//! The far end of network measurements, where one was given: `syscost run --peer`.
//!
//! The coordinator resolves its name and checks the token once, before anything is measured;
//! workers get a numeric address and the path of the token's file. The token itself is in no job.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use syscost_net::Token;
use syscost_sys::Unsupported;

/// Where the far end is, and where its token is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerTarget {
    /// Where `syscost serve` listens.
    pub address: SocketAddr,
    /// The absolute path of the token's file.
    pub token_file: PathBuf,
}

/// The far end with the secret that it asks for.
#[derive(Debug, Clone)]
pub struct PeerAccess {
    /// Where `syscost serve` listens.
    pub address: SocketAddr,
    /// The secret it asks for.
    pub token: Token,
}

impl PeerTarget {
    /// Reads the token.
    pub fn open(&self) -> Result<PeerAccess, Unsupported> {
        let token = Token::read(&self.token_file);
        Ok(PeerAccess {
            address: self.address,
            token: token.map_err(|error| Unsupported::new(error.to_string()))?,
        })
    }

    /// Whether it is what `syscost run --peer` may name.
    pub(crate) fn is_usable(&self) -> bool {
        /// Maximum length of a path, in bytes (PATH_MAX).
        const MAX_BYTES: usize = 4096;
        let path = &self.token_file;
        self.address.port() != 0
            && path.is_absolute()
            && path
                .to_str()
                .is_some_and(|text| text.len() < MAX_BYTES && !text.chars().any(char::is_control))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_coordinator_names_is_taken() {
        let is_usable = |address: &str, token_file: &str| {
            let address = address.parse().expect("an address");
            let token_file = token_file.into();
            PeerTarget {
                address,
                token_file,
            }
            .is_usable()
        };
        assert!(is_usable("127.0.0.1:7717", "/home/me/token"));
        assert!(is_usable("[fe80::1%2]:7717", "/home/me/token"));
        assert!(!is_usable("127.0.0.1:0", "/home/me/token"));
        for no_file in ["", "token", "../token", "/a\nb"] {
            assert!(!is_usable("127.0.0.1:7717", no_file), "{no_file:?}");
        }
    }
}
