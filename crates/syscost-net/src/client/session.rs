//! A session with a server.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ClientError, Opened};
use crate::service::{Account, Reading};
use crate::socket::{self, Tcp};
use crate::token::{Nonce, Nonces, Role, Token};
use crate::wire::{
    self, Answer, Challenge, Core, Finish, Hello, MAX_LINE, MAX_WELCOME, Nothing, Refused, Reply,
    Request, Service, Spoken, Welcome,
};

/// A session with a server, with one service at a time. It ends when dropped.
#[derive(Debug)]
pub struct Session {
    link: Link,
    facts: Value,
}

impl Session {
    /// Connects, proves to the far end that this end knows the token, and verifies that the far end
    /// does, too.
    ///
    /// `timeout` limits this and every later wait of the session.
    ///
    /// # Errors
    /// Those of [`ClientError`]; each names the far end.
    pub fn connect(
        peer: SocketAddr,
        token: &Token,
        timeout: Duration,
    ) -> Result<Session, ClientError> {
        const WHAT: &str = "beginning a session";
        let stream = socket::connect(peer, &Tcp::nodelay(), timeout)
            .map_err(|error| ClientError::Unreachable(peer, "connecting", error.cause))?;
        let mut link = Link {
            stream,
            peer,
            timeout,
            buffer: Vec::new(),
        };
        let own = Nonce::generate()?;
        link.say(&Hello::new(own), WHAT)?;
        let Challenge { nonce, .. } = link.hear_first(WHAT)?;
        let nonces = Nonces {
            client: own,
            server: nonce,
        };
        let proof = token.prove(Role::Client, &nonces);
        link.say(&Answer { proof }, WHAT)?;
        let welcome: Welcome = link.hear(MAX_WELCOME, WHAT)?;
        if !token.verify(Role::Server, &nonces, &welcome.proof) {
            return Err(ClientError::Impostor(peer));
        }
        let mut facts = welcome.facts;
        escape(&mut facts);
        Ok(Session { link, facts })
    }

    /// The far end's address.
    pub fn peer(&self) -> SocketAddr {
        self.link.peer
    }

    /// This end's address.
    ///
    /// # Errors
    /// When getsockname(2) fails.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.link.stream.local_addr()
    }

    /// What the far end reports about itself; all text is escaped, so it is safe to print.
    pub fn facts(&self) -> &Value {
        &self.facts
    }

    /// Opens a service.
    ///
    /// # Errors
    /// When the far end refuses it or is gone.
    pub fn open(&mut self, service: &Service) -> Result<Opened, ClientError> {
        const WHAT: &str = "opening a service";
        match self.ask(&Request::Open(service.clone()), WHAT)? {
            Reply::Opened(opening) => Ok(Opened::new(self.link.peer, opening, self.link.timeout)),
            other => Err(self.unexpected(&other, WHAT)),
        }
    }

    /// Reads the progress of the service. Two readings give the rate between them, as counted and timed
    /// by the far end.
    ///
    /// # Errors
    /// When none is open, it has failed, or the far end is gone.
    pub fn reading(&mut self) -> Result<Reading, ClientError> {
        const WHAT: &str = "reading how far a service is";
        match self.ask(&Request::Read(Nothing {}), WHAT)? {
            Reply::Reading(reading) => Ok(reading),
            other => Err(self.unexpected(&other, WHAT)),
        }
    }

    /// Asks the far end to look at the core of the task that serves; `None` if it cannot, or no client is
    /// served yet.
    ///
    /// # Errors
    /// When the far end is gone or its reply is of another kind.
    pub fn look(&mut self) -> Result<Option<Core>, ClientError> {
        const WHAT: &str = "asking for a look at a core";
        match self.ask(&Request::Look(Nothing {}), WHAT)? {
            Reply::Core(core) => Ok(Some(core)),
            Reply::Failed(_) => Ok(None),
            other => Err(self.unexpected(&other, WHAT)),
        }
    }

    /// Asks the far end to end the service, without waiting for that: what a source has under way can be
    /// received first.
    ///
    /// `sent` is the number of datagrams sent to a sink, which waits a moment for those under way. A
    /// stream should be closed before: an open one counts as finished only when nothing has arrived for
    /// half a second.
    ///
    /// # Errors
    /// When the request cannot be sent. A far end that is gone shows up in [`account`](Self::account).
    pub fn end(&mut self, sent: Option<u64>) -> Result<(), ClientError> {
        let request = Request::Finish(Finish { sent });
        self.link.say(&request, "ending a service")
    }

    /// Waits until the service has ended, and returns its account.
    ///
    /// # Errors
    /// When it has failed, or the far end is gone.
    pub fn account(&mut self) -> Result<Account, ClientError> {
        const WHAT: &str = "ending a service";
        match self.link.hear(MAX_LINE, WHAT)? {
            Reply::Account(account) => Ok(*account),
            other => Err(self.unexpected(&other, WHAT)),
        }
    }

    /// Calls [`Session::end`], then [`Session::account`].
    ///
    /// # Errors
    /// As theirs.
    pub fn finish(&mut self, sent: Option<u64>) -> Result<Account, ClientError> {
        self.end(sent)?;
        self.account()
    }

    fn ask(&mut self, request: &Request, what: &'static str) -> Result<Reply, ClientError> {
        self.link.say(request, what)?;
        self.link.hear(MAX_LINE, what)
    }

    /// The error for a reply of another kind than requested.
    fn unexpected(&self, reply: &Reply, what: &'static str) -> ClientError {
        let peer = self.link.peer;
        match reply {
            Reply::Failed(why) => ClientError::Failed(peer, what, wire::printable(why)),
            Reply::Opened(_) | Reply::Reading(_) | Reply::Core(_) | Reply::Account(_) => {
                let cause = "the reply does not match the request".to_owned();
                ClientError::Stranger(peer, what, cause)
            }
        }
    }
}

/// Escapes all text, so that it is safe to print.
fn escape(facts: &mut Value) {
    match facts {
        Value::String(text) => *text = wire::escaped(text.chars()),
        Value::Array(items) => items.iter_mut().for_each(escape),
        Value::Object(fields) => {
            let escaped = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                escape(&mut value);
                (wire::escaped(name.chars()), value)
            });
            *fields = escaped.collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Exchanges lines with a server; every wait has a timeout.
#[derive(Debug)]
struct Link {
    stream: TcpStream,
    peer: SocketAddr,
    timeout: Duration,
    buffer: Vec<u8>,
}

impl Link {
    fn say(&mut self, message: &impl Serialize, what: &'static str) -> Result<(), ClientError> {
        self.stream
            .set_write_timeout(Some(self.timeout))
            .and_then(|()| self.stream.write_all(&wire::encode(message)))
            .or_else(|cause| match cause.kind() {
                // A server that rejects a client has sent the reason before it closed.
                ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Ok(()),
                _ => Err(self.lost(cause, what)),
            })
    }

    /// Receives the next message.
    fn hear<T: DeserializeOwned>(
        &mut self,
        max: usize,
        what: &'static str,
    ) -> Result<T, ClientError> {
        let line = self.line(max, what)?;
        self.decode(&line, what)
    }

    /// Receives the first message, from a server that may speak another version.
    fn hear_first<T: DeserializeOwned>(&mut self, what: &'static str) -> Result<T, ClientError> {
        let line = self.line(MAX_LINE, what)?;
        let spoken = wire::decode(&line);
        let Spoken { syscost } = spoken.map_err(|error| self.strange(&error, what))?;
        if syscost != wire::VERSION {
            return Err(ClientError::Version {
                peer: self.peer,
                theirs: syscost,
                ours: wire::VERSION,
            });
        }
        self.decode(&line, what)
    }

    fn decode<T: DeserializeOwned>(
        &self,
        line: &[u8],
        what: &'static str,
    ) -> Result<T, ClientError> {
        if let Ok(Refused { refused, .. }) = wire::decode(line) {
            let why = wire::printable(&refused);
            return Err(ClientError::Refused(self.peer, what, why));
        }
        wire::decode(line).map_err(|error| self.strange(&error, what))
    }

    /// Receives the next line. The timeout is for the whole line, however slowly its bytes arrive.
    fn line(&mut self, max: usize, what: &'static str) -> Result<Vec<u8>, ClientError> {
        let deadline = Instant::now() + self.timeout;
        let mut bytes = [0; 4096];
        loop {
            let found =
                wire::split(&self.buffer, max).map_err(|error| self.strange(&error, what))?;
            if let Some((line, rest)) = found {
                let line = line.to_vec();
                self.buffer = rest.to_vec();
                return Ok(line);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.lost(ErrorKind::TimedOut.into(), what));
            }
            let read = self
                .stream
                .set_read_timeout(Some(left))
                .and_then(|()| self.stream.read(&mut bytes));
            match read {
                Ok(0) => return Err(self.lost(ErrorKind::UnexpectedEof.into(), what)),
                Ok(count) => self.buffer.extend_from_slice(&bytes[..count]),
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(cause) => return Err(self.lost(cause, what)),
            }
        }
    }

    fn strange(&self, error: &wire::WireError, what: &'static str) -> ClientError {
        ClientError::Stranger(self.peer, what, error.to_string())
    }

    fn lost(&self, cause: io::Error, what: &'static str) -> ClientError {
        ClientError::lost(self.peer, self.timeout, cause, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_text_of_the_far_end_reaches_a_terminal_as_it_is() {
        let mut facts = json!({
            "machine": { "kernel": "\u{1b}[2JLinux", "caches": [{ "kind\n": "a\u{202e}b" }] },
            "cpus": 4,
        });
        escape(&mut facts);
        assert_eq!(facts["cpus"], 4);
        assert_eq!(facts["machine"]["kernel"], "\\u{1b}[2JLinux");
        let text = facts.to_string();
        assert!(
            !text.contains("\\n") || text.contains("kind\\\\n"),
            "{text}"
        );
        assert!(
            !text
                .chars()
                .any(|letter| letter.is_control() || letter == '\u{202e}'),
            "{text}"
        );
    }
}
