//! Whatever a peer sends is a message that is written as it was read, or a printable error; and
//! before a client has proven that it knows the token, the server answers with no more bytes than it
//! received.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;
use syscost_net::Token;
use syscost_net::server::{Handshake, Progress};
use syscost_net::wire::{
    Answer, Challenge, Hello, MAX_LINE, Refused, Reply, Request, Spoken, Welcome, decode, encode, split,
};

static TOKEN: LazyLock<Token> = LazyLock::new(|| Token::generate().expect("random bytes"));

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Ok(Some((line, after))) = split(rest, MAX_LINE) {
        assert!(line.len() <= MAX_LINE && after.len() < rest.len());
        both_ways::<Request>(line);
        both_ways::<Reply>(line);
        both_ways::<Hello>(line);
        both_ways::<Challenge>(line);
        both_ways::<Answer>(line);
        both_ways::<Welcome>(line);
        both_ways::<Refused>(line);
        let _ = decode::<Spoken>(line);
        rest = after;
    }
    handshake(bytes);
});

/// Checks that a message that can be read can be written, and is then read as the same.
fn both_ways<T: Serialize + DeserializeOwned>(line: &[u8]) {
    match decode::<T>(line) {
        Ok(message) => {
            let written = encode(&message);
            let (line, rest) = split(&written, usize::MAX - 1).expect("no limit").expect("a line");
            assert!(rest.is_empty());
            let again: T = decode(line).expect("what was read is written so that it can be read");
            assert_eq!(encode(&again), written);
        }
        Err(error) => assert!(!error.to_string().chars().any(char::is_control), "{error:?}"),
    }
}

/// Feeds a handshake in pieces, whose lengths come from the bytes themselves.
fn handshake(bytes: &[u8]) {
    let mut handshake = Handshake::new(&TOKEN);
    let (mut said, mut received, mut rest) = (Vec::new(), 0, bytes);
    while let [first, ..] = rest {
        let (piece, after) = rest.split_at(rest.len().min(1 + usize::from(*first)));
        received += piece.len();
        rest = after;
        let progress = handshake.take(piece, &mut said);
        assert!(said.len() <= received, "{} bytes for {received}", said.len());
        match progress {
            Ok(Progress::Waiting) => {}
            Ok(Progress::Proven(_)) => panic!("the token was guessed"),
            Err(error) => {
                assert!(!error.to_string().chars().any(char::is_control), "{error:?}");
                return;
            }
        }
    }
}
