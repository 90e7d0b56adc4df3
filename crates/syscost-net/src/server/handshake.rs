//! The first lines of a session, as a state machine that is fed bytes and returns what to answer.
//!
//! Until the client is authenticated, the server never answers with more bytes than it received, so
//! it cannot be used for amplification.

use crate::token::{Nonce, Nonces, Role, Token};
use crate::wire::{self, Answer, Challenge, Hello, Refused, Spoken, WireError};

/// The authentication of one client.
#[derive(Debug)]
pub struct Handshake<'t> {
    token: &'t Token,
    buffer: Vec<u8>,
    state: State,
    received: usize,
    said: usize,
}

#[derive(Debug)]
enum State {
    Greeting,
    Answering(Nonces),
}

/// Progress of a handshake.
#[derive(Debug)]
pub enum Progress {
    /// More bytes are needed.
    Waiting,
    /// The client has proven that it knows the token.
    Proven(Nonces),
}

/// The client is rejected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Rejected(String);

impl<'t> Handshake<'t> {
    /// A handshake that waits for the client's first line.
    pub fn new(token: &'t Token) -> Self {
        Self {
            token,
            buffer: Vec::new(),
            state: State::Greeting,
            received: 0,
            said: 0,
        }
    }

    /// Takes received bytes, and appends what is to be sent to `answer`.
    ///
    /// # Errors
    /// When the client is to be rejected; `answer` may contain a line with the reason.
    pub fn take(&mut self, bytes: &[u8], answer: &mut Vec<u8>) -> Result<Progress, Rejected> {
        self.received += bytes.len();
        self.buffer.extend_from_slice(bytes);
        let result = self.advance(answer);
        if let Err(Rejected(why)) = &result {
            // A client that has sent too little is rejected without a reason.
            let _ = self.say(wire::encode(&Refused::new(why.as_str())), answer);
        }
        result
    }

    fn advance(&mut self, answer: &mut Vec<u8>) -> Result<Progress, Rejected> {
        loop {
            let unexpected = |error: WireError| Rejected(error.to_string());
            let line = match wire::split(&self.buffer, wire::MAX_LINE).map_err(unexpected)? {
                None => return Ok(Progress::Waiting),
                Some((line, rest)) => {
                    let line = line.to_vec();
                    self.buffer = rest.to_vec();
                    line
                }
            };
            match self.state {
                State::Greeting => {
                    let nonces = self.greet(&line, answer)?;
                    self.state = State::Answering(nonces);
                }
                State::Answering(nonces) => {
                    let Answer { proof } = wire::decode(&line).map_err(unexpected)?;
                    if !self.token.verify(Role::Client, &nonces, &proof) {
                        return Err(Rejected("authentication failed: wrong token".to_owned()));
                    }
                    // A client must not send anything more before it is answered.
                    return match self.buffer.is_empty() {
                        true => Ok(Progress::Proven(nonces)),
                        false => Err(Rejected("bytes after the proof".to_owned())),
                    };
                }
            }
        }
    }

    fn greet(&mut self, line: &[u8], answer: &mut Vec<u8>) -> Result<Nonces, Rejected> {
        let unexpected = |error: WireError| Rejected(error.to_string());
        let Spoken { syscost } = wire::decode(line).map_err(unexpected)?;
        if syscost != wire::VERSION {
            let own = wire::VERSION;
            return Err(Rejected(format!(
                "the client speaks version {syscost} of the protocol, this server version {own}"
            )));
        }
        let hello: Hello = wire::decode(line).map_err(unexpected)?;
        let own = Nonce::generate().map_err(|error| Rejected(error.to_string()))?;
        let challenge = Challenge {
            syscost: wire::VERSION,
            nonce: own,
        };
        self.say(wire::encode(&challenge), answer)?;
        Ok(Nonces {
            client: hello.nonce,
            server: own,
        })
    }

    /// Appends a line to the answer, if no more bytes are then sent than were received.
    fn say(&mut self, line: Vec<u8>, answer: &mut Vec<u8>) -> Result<(), Rejected> {
        if self.said + line.len() > self.received {
            return Err(Rejected("the first line is not padded".to_owned()));
        }
        self.said += line.len();
        answer.extend(line);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{HELLO_BYTES, MAX_LINE};

    struct Client {
        token: Token,
        nonce: Nonce,
    }

    impl Client {
        fn new() -> Self {
            Self {
                token: Token::generate().unwrap(),
                nonce: Nonce::generate().unwrap(),
            }
        }

        fn hello(&self) -> Vec<u8> {
            wire::encode(&Hello::new(self.nonce))
        }

        fn answer(&self, challenge: &[u8]) -> Vec<u8> {
            let (line, _) = wire::split(challenge, MAX_LINE).unwrap().unwrap();
            let challenge: Challenge = wire::decode(line).unwrap();
            let nonces = Nonces {
                client: self.nonce,
                server: challenge.nonce,
            };
            let proof = self.token.prove(Role::Client, &nonces);
            wire::encode(&Answer { proof })
        }
    }

    #[test]
    fn a_client_with_the_token_is_accepted_in_whatever_pieces_its_lines_arrive() {
        let client = Client::new();
        for piece in [1, 7, HELLO_BYTES] {
            let mut handshake = Handshake::new(&client.token);
            let mut said = Vec::new();
            for part in client.hello().chunks(piece) {
                let progress = handshake.take(part, &mut said).unwrap();
                assert!(matches!(progress, Progress::Waiting));
            }
            let answer = client.answer(&said);
            let mut last = Progress::Waiting;
            for part in answer.chunks(piece) {
                last = handshake.take(part, &mut said).unwrap();
            }
            assert!(matches!(last, Progress::Proven(_)));
            assert!(said.len() <= HELLO_BYTES + answer.len());
        }
    }

    /// Whatever is received, whole or in pieces: never a byte more than that is sent, and memory is
    /// bounded.
    #[test]
    fn an_unauthenticated_client_gets_no_more_bytes_than_it_sends() {
        let client = Client::new();
        let hello = client.hello();
        let other_version = String::from_utf8(hello.clone())
            .unwrap()
            .replace("\"syscost\":3", "\"syscost\":9");
        let unpadded = br#"{"syscost":3,"nonce":"00","padding":""}"#.to_vec();
        let short = wire::encode(&Hello {
            padding: String::new(),
            ..Hello::new(client.nonce)
        });
        let twice = [hello.clone(), hello.clone()].concat();
        for sent in [
            vec![],
            b"\n".to_vec(),
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            b"{}\n".to_vec(),
            vec![b'x'; MAX_LINE + 1],
            vec![0xff; 600],
            [vec![b'{'; 600], b"\n".to_vec()].concat(),
            [unpadded, b"\n".to_vec()].concat(),
            other_version.into_bytes(),
            short,
            hello,
            twice,
        ] {
            for piece in [1, 100, sent.len().max(1)] {
                let mut handshake = Handshake::new(&client.token);
                let (mut said, mut received) = (Vec::new(), 0);
                for part in sent.chunks(piece) {
                    received += part.len();
                    let progress = handshake.take(part, &mut said);
                    assert!(said.len() <= received, "{} of {received}", said.len());
                    assert!(handshake.buffer.len() <= MAX_LINE + piece);
                    match progress {
                        Ok(Progress::Waiting) => {}
                        Ok(Progress::Proven(_)) => panic!("nothing was proven"),
                        Err(_) => break,
                    }
                }
            }
        }
    }

    #[test]
    fn a_client_of_another_version_is_refused_with_ours() {
        let client = Client::new();
        let text = String::from_utf8(client.hello()).unwrap();
        // Whatever else its first line says.
        let newer = text.replace("\"syscost\":3", "\"syscost\":4,\"more\":[]");
        let mut said = Vec::new();
        let error = Handshake::new(&client.token)
            .take(newer.as_bytes(), &mut said)
            .unwrap_err();
        assert!(error.to_string().contains("speaks version 4"), "{error}");
        let (line, _) = wire::split(&said, MAX_LINE).unwrap().unwrap();
        let refused: Refused = wire::decode(line).unwrap();
        assert_eq!(refused.syscost, wire::VERSION);
    }
}
