//! The far end of network measurements, where one was given: `syscost run --peer`.
//!
//! The coordinator resolves its name and checks the token once, before anything is measured;
//! workers get a numeric address.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use syscost_net::Token;
use syscost_sys::Unsupported;

/// The environment variable that holds the far end's numeric address and port.
pub const ADDRESS: &str = "SYSCOST_PEER";

/// The environment variable that holds the absolute path of the token's file. The token itself is
/// in no environment.
pub const TOKEN_FILE: &str = "SYSCOST_PEER_TOKEN_FILE";

/// The far end of this process's network measurements.
#[derive(Debug, Clone)]
pub struct Given {
    /// Where `syscost serve` listens.
    pub address: SocketAddr,
    /// The secret it asks for.
    pub token: Token,
}

/// The coordinator's own values: its environment is the user's shell's, not a worker's.
static OWN: RwLock<Option<[String; 2]>> = RwLock::new(None);

/// Gives this process a far end, by the values of [`ADDRESS`] and [`TOKEN_FILE`]. The coordinator
/// lists rows by it.
pub fn give(address: &str, token_file: &str) {
    let mut own = OWN.write().unwrap_or_else(PoisonError::into_inner);
    *own = Some([address, token_file].map(str::to_owned));
}

/// The far end that this process was given.
///
/// # Errors
/// When there is none (the error says how to give one), or its token cannot be read.
pub fn given() -> Result<Given, Unsupported> {
    let set = |variable| std::env::var(variable).ok();
    let own = OWN.read().unwrap_or_else(PoisonError::into_inner).clone();
    let own = own.map(|[address, path]| (address, path));
    let Some((address, path)) = own.or_else(|| set(ADDRESS).zip(set(TOKEN_FILE))) else {
        return Err(Unsupported::new(
            "no far end was given: `syscost serve` on another machine, and here `--peer HOST --token-file FILE`",
        ));
    };
    if !is_address(&address) || !is_token_file(&path) {
        return Err(Unsupported::new(format!(
            "{ADDRESS} or {TOKEN_FILE} is not what `syscost run --peer` sets"
        )));
    }
    let token =
        Token::read(Path::new(&path)).map_err(|error| Unsupported::new(error.to_string()))?;
    let address = address.parse().expect("it is an address");
    Ok(Given { address, token })
}

/// Whether this is a value for [`ADDRESS`].
pub(crate) fn is_address(text: &str) -> bool {
    text.parse::<SocketAddr>()
        .is_ok_and(|address| address.port() != 0)
}

/// Whether this is a value for [`TOKEN_FILE`].
pub(crate) fn is_token_file(text: &str) -> bool {
    /// Maximum length of a path, in bytes (PATH_MAX).
    const MAX_BYTES: usize = 4096;
    text.len() < MAX_BYTES && Path::new(text).is_absolute() && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_coordinator_sets_is_taken() {
        assert!(is_address("127.0.0.1:7717") && is_address("[fe80::1%2]:7717"));
        for no_address in ["", "localhost:7717", "127.0.0.1", "127.0.0.1:0", "::1:x"] {
            assert!(!is_address(no_address), "{no_address}");
        }
        assert!(is_token_file("/home/me/token"));
        for no_file in ["", "token", "../token", "/a\nb"] {
            assert!(!is_token_file(no_file), "{no_file:?}");
        }
    }
}
