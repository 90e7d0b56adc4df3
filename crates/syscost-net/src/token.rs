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
use std::thread;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use rustix::fs::OFlags;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Sha256;

/// Length of a token, a nonce and a proof, in bytes.
const BYTES: usize = 32;

/// Maximum size of a token file, in bytes.
const MAX_FILE_BYTES: usize = 4096;

/// Mode bits that let users other than its owner read and change a file.
const READABLE_BY_OTHERS: u32 = 0o044;
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// How long a pipe may take to deliver the token.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time between two looks at a FIFO that nobody has opened for writing yet.
const PAUSE: Duration = Duration::from_millis(20);

/// A secret of 32 random bytes, written as 64 hexadecimal digits.
///
/// Only [`Token::reveal`] shows it.
#[derive(Clone)]
pub struct Token([u8; BYTES]);

/// Why a token cannot be read, written or generated.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("{0} the token file {1}: {2}")]
    Io(&'static str, PathBuf, io::Error),
    /// The file holds no token.
    #[error(
        "{0} holds no token: it must have {digits} hexadecimal digits and nothing else; `syscost serve --token-file FILE` \
         writes one where there is none", digits = 2 * BYTES
    )]
    Malformed(PathBuf),
    /// The kernel provides no random bytes.
    #[error("no random bytes from the kernel: {0}")]
    Random(String),
}

impl TokenError {
    /// Whether the file, or the folder it was to be written to, does not exist.
    pub fn is_missing(&self) -> bool {
        match self {
            TokenError::Io(_, _, cause) => cause.kind() == io::ErrorKind::NotFound,
            TokenError::Malformed(_) | TokenError::Random(_) => false,
        }
    }
}

impl Token {
    /// Generates a new token from the kernel's random bytes.
    ///
    /// # Errors
    /// When the kernel provides none.
    pub fn generate() -> Result<Token, TokenError> {
        random().map(Token)
    }

    /// Reads a token from a file or a pipe: its digits, with or without white space around them.
    ///
    /// # Errors
    /// When the file cannot be read or holds something else, or nothing is written into the pipe in
    /// time.
    pub fn read(path: &Path) -> Result<Token, TokenError> {
        let failed = io_error("reading", path);
        let mut options = OpenOptions::new();
        // Opening a FIFO would wait for whoever writes into it.
        let options = options
            .read(true)
            .custom_flags(OFlags::NONBLOCK.bits() as i32);
        let file = options.open(path).map_err(&failed)?;
        let text = content(file).map_err(&failed)?;
        let text = String::from_utf8(text).map_err(|_| malformed(path))?;
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

/// Reads what a token's file may hold, until its end.
fn content(mut file: File) -> io::Result<Vec<u8>> {
    let (mut text, begun) = (Vec::new(), Instant::now());
    let mut part = [0; MAX_FILE_BYTES];
    while text.len() < MAX_FILE_BYTES {
        match file.read(&mut part) {
            // Also the end of a FIFO that nobody has opened for writing yet.
            Ok(0) if !text.is_empty() || file.metadata()?.is_file() => break,
            Ok(0) => thread::sleep(PAUSE),
            Ok(count) => text.extend_from_slice(&part[..count]),
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
        if begun.elapsed() >= PATIENCE {
            let what = format!("it has not come to an end within {} s", PATIENCE.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
    }
    Ok(text)
}

/// Returns a warning if users other than its owner can read or change this token file.
pub fn exposure(path: &Path) -> Option<String> {
    let mode = std::fs::metadata(path).ok()?.mode();
    let can = match (
        mode & READABLE_BY_OTHERS != 0,
        mode & WRITABLE_BY_OTHERS != 0,
    ) {
        (false, false) => return None,
        (true, false) => "read",
        (false, true) => "change",
        (true, true) => "read and change",
    };
    let (path, mode) = (path.display(), mode & 0o777);
    Some(format!(
        "others can {can} the token file {path} (mode {mode:o}); chmod 600 {path}"
    ))
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
    TokenError::Malformed(path.to_owned())
}

fn io_error<'p>(action: &'static str, path: &'p Path) -> impl Fn(io::Error) -> TokenError + 'p {
    move |cause| TokenError::Io(action, path.to_owned(), cause)
}

#[cfg(test)]
mod tests;
