//! The secret that client and server share, and how each proves to the other that it knows it.
//!
//! The token never crosses the network. Each end contributes a nonce, and proves itself by the
//! HMAC-SHA256 (RFC 2104) of both nonces under the token, with a label for its role in front, so
//! that a proof cannot be reflected.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Sha256;

/// Length of a token, a nonce and a proof, in bytes.
const BYTES: usize = 32;

/// Maximum size of a token file, in bytes.
const MAX_FILE_BYTES: u64 = 4096;

/// Mode bits that let users other than its owner read a file.
const READABLE_BY_OTHERS: u32 = 0o044;

/// A secret of 32 random bytes, written as 64 hexadecimal digits.
///
/// Only [`Token::reveal`] shows it.
#[derive(Clone)]
pub struct Token([u8; BYTES]);

/// Why a token cannot be read, written or generated.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("{action} the token file {path}: {cause}")]
    Io {
        /// `reading` or `writing`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The file holds no token.
    #[error(
        "{path} holds no token: it must have {digits} hexadecimal digits and nothing else; `syscost serve --token-file FILE` \
         writes one where there is none", digits = 2 * BYTES
    )]
    Malformed {
        /// The file.
        path: PathBuf,
    },
    /// The kernel provides no random bytes.
    #[error("no random bytes from the kernel: {0}")]
    Random(String),
}

impl Token {
    /// Generates a new token from the kernel's random bytes.
    ///
    /// # Errors
    /// When the kernel provides none.
    pub fn generate() -> Result<Token, TokenError> {
        random().map(Token)
    }

    /// Reads a token from a file: its digits, with or without white space around them.
    ///
    /// # Errors
    /// When the file cannot be read or holds something else.
    pub fn read(path: &Path) -> Result<Token, TokenError> {
        let failed = io_error("reading", path);
        let mut text = String::new();
        let file = File::open(path).map_err(&failed)?;
        file.take(MAX_FILE_BYTES)
            .read_to_string(&mut text)
            .map_err(|cause| match cause.kind() {
                io::ErrorKind::InvalidData => malformed(path),
                _ => failed(cause),
            })?;
        unhex(text.trim()).map(Token).ok_or_else(|| malformed(path))
    }

    /// Writes the token to a new file that only its owner can read.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<(), TokenError> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(path);
        file.and_then(|mut file| writeln!(file, "{}", self.reveal()))
            .map_err(io_error("writing", path))
    }

    /// Returns the token's digits, for the user to pass on.
    pub fn reveal(&self) -> String {
        hex(&self.0)
    }

    /// Returns the proof that the end with this role knows the token.
    pub fn prove(&self, role: Role, nonces: &Nonces) -> Proof {
        Proof(Nonce(self.mac(role, nonces).finalize().into_bytes().into()))
    }

    /// Whether the proof of the end with this role is valid; compared in constant time.
    #[must_use]
    pub fn verify(&self, role: Role, nonces: &Nonces, proof: &Proof) -> bool {
        self.mac(role, nonces).verify_slice(&proof.0.0).is_ok()
    }

    fn mac(&self, role: Role, nonces: &Nonces) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(role.label());
        mac.update(&nonces.client.0);
        mac.update(&nonces.server.0);
        mac
    }
}

/// Does not show the secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl FromStr for Token {
    type Err = ();

    fn from_str(text: &str) -> Result<Token, ()> {
        unhex(text).map(Token).ok_or(())
    }
}

/// Returns a warning if users other than its owner can read this token file.
pub fn exposure(path: &Path) -> Option<String> {
    let mode = std::fs::metadata(path).ok()?.mode();
    (mode & READABLE_BY_OTHERS != 0).then(|| {
        let path = path.display();
        format!(
            "others can read the token file {path} (mode {:o}); chmod 600 {path}",
            mode & 0o777
        )
    })
}

/// Which end a proof is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The measuring end.
    Client,
    /// The far end.
    Server,
}

impl Role {
    /// The label of the role. All labels have the same length, so their concatenation with the nonces is
    /// unambiguous.
    const fn label(self) -> &'static [u8; 14] {
        match self {
            Role::Client => b"syscost client",
            Role::Server => b"syscost server",
        }
    }
}

/// The nonces that both ends contributed to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonces {
    /// The client's.
    pub client: Nonce,
    /// The server's.
    pub server: Nonce,
}

/// A number used once: 32 random bytes, sent as hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonce([u8; BYTES]);

impl Nonce {
    /// Generates a nonce from the kernel's random bytes.
    ///
    /// # Errors
    /// When the kernel provides none.
    pub fn generate() -> Result<Nonce, TokenError> {
        random().map(Nonce)
    }
}

/// The proof that an end knows the token. Only [`Token::verify`] compares it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Proof(Nonce);

impl Serialize for Nonce {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Nonce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hexadecimal(deserializer).map(Nonce)
    }
}

/// Reads hexadecimal digits, exactly two per byte.
pub(crate) fn hexadecimal<'de, D: Deserializer<'de>, const N: usize>(
    deserializer: D,
) -> Result<[u8; N], D::Error> {
    let text = String::deserialize(deserializer)?;
    unhex(&text).ok_or_else(|| {
        let digits = 2 * N;
        serde::de::Error::custom(format_args!("not {digits} hexadecimal digits"))
    })
}

/// Random bytes from the kernel.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], TokenError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|cause| TokenError::Random(cause.to_string()))?;
    Ok(bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let digit = |at: usize| char::from(digits[at]).to_digit(16);
    let mut bytes = [0; N];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = (digit(2 * place)? << 4 | digit(2 * place + 1)?) as u8;
    }
    Some(bytes)
}

fn malformed(path: &Path) -> TokenError {
    TokenError::Malformed {
        path: path.to_owned(),
    }
}

fn io_error<'p>(action: &'static str, path: &'p Path) -> impl Fn(io::Error) -> TokenError + 'p {
    move |cause| TokenError::Io {
        action,
        path: path.to_owned(),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonces() -> Nonces {
        Nonces {
            client: Nonce::generate().unwrap(),
            server: Nonce::generate().unwrap(),
        }
    }

    #[test]
    fn only_an_end_with_the_token_can_prove_it_and_only_for_its_role() {
        let (token, other) = (Token::generate().unwrap(), Token::generate().unwrap());
        let nonces = nonces();
        let proof = token.prove(Role::Client, &nonces);
        assert!(token.verify(Role::Client, &nonces, &proof));
        assert!(!token.verify(Role::Server, &nonces, &proof), "sent back");
        assert!(!other.verify(Role::Client, &nonces, &proof));
        let replayed = Nonces {
            server: Nonce::generate().unwrap(),
            ..nonces
        };
        assert!(!token.verify(Role::Client, &replayed, &proof));
    }

    #[test]
    fn a_proof_is_the_hmac_of_rfc_2104() {
        let token = Token([0x0b; BYTES]);
        let nonces = Nonces {
            client: Nonce([1; BYTES]),
            server: Nonce([2; BYTES]),
        };
        // By hand: H((key ^ opad) || H((key ^ ipad) || message)), RFC 2104.
        use sha2::Digest;
        let pad = |with: u8| {
            let mut block = [with; 64];
            block[..BYTES].iter_mut().for_each(|byte| *byte ^= 0x0b);
            block
        };
        let inner = Sha256::new()
            .chain_update(pad(0x36))
            .chain_update(b"syscost client")
            .chain_update([1; BYTES])
            .chain_update([2; BYTES]);
        let outer = Sha256::new()
            .chain_update(pad(0x5c))
            .chain_update(inner.finalize());
        let expected: [u8; BYTES] = outer.finalize().into();
        assert_eq!(token.prove(Role::Client, &nonces).0.0, expected);
    }

    #[test]
    fn a_token_is_only_printed_on_request() {
        let token = Token::generate().unwrap();
        assert_eq!(format!("{token:?}"), "Token(..)");
        let digits = token.reveal();
        assert_eq!(digits.len(), 64);
        assert_eq!(digits.parse::<Token>().unwrap().0, token.0);
    }

    #[test]
    fn a_token_file_is_private_and_holds_a_token_or_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = Token::generate().unwrap();
        token.write_new(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(exposure(&path), None);
        assert_eq!(Token::read(&path).unwrap().0, token.0);
        let error = token.write_new(&path).unwrap_err().to_string();
        assert!(error.contains("File exists"), "{error}");
        for nothing in [
            "",
            "secret",
            &"0".repeat(63),
            &"0".repeat(5000),
            &"é".repeat(32),
        ] {
            std::fs::write(&path, nothing).unwrap();
            let error = Token::read(&path).unwrap_err().to_string();
            assert!(error.contains("holds no token"), "{error}");
        }
        std::fs::write(&path, [0xff; 64]).unwrap();
        assert!(matches!(
            Token::read(&path),
            Err(TokenError::Malformed { .. })
        ));
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(&path, readable).unwrap();
        let warning = exposure(&path).expect("it is readable");
        assert!(warning.contains("mode 644"), "{warning}");
        let error = Token::read(&folder.path().join("none")).unwrap_err();
        assert!(matches!(error, TokenError::Io { .. }), "{error}");
    }
}
