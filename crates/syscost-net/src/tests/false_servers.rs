//! Far ends that are missing, dead or false: each causes an error that names the peer, in time.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::{PATIENCE, line};
use crate::wire::{MAX_LINE, VERSION};
use crate::{ClientError, Session, Token};

#[test]
fn a_client_is_not_held_up_by_a_false_server() {
    const HASTE: Duration = Duration::from_millis(500);
    let token = Token::generate().unwrap();
    type Answer = fn(TcpStream, &AtomicBool);
    let cases: [(Answer, &str); 6] = [
        (|_, _| {}, "is gone"),
        (
            |stream, is_over| silent(&stream, is_over),
            "did not answer within 0.5 s",
        ),
        (
            |mut stream, is_over| {
                let _ = stream.write_all(&vec![b'x'; MAX_LINE + 2]);
                silent(&stream, is_over);
            },
            "a line of more than 8192 bytes",
        ),
        (
            |mut stream, is_over| {
                let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2p1\r\n");
                silent(&stream, is_over);
            },
            "is not a syscost server",
        ),
        (
            |mut stream, is_over| {
                let _ = stream.write_all(b"{\"syscost\":99,\"nonce\":\"?\"}\n");
                silent(&stream, is_over);
            },
            "speaks version 99 of the protocol, this syscost version 3",
        ),
        (
            // One byte after another, without end: the time limit is for the whole line.
            |mut stream, is_over| {
                while !is_over.load(Ordering::Relaxed) && stream.write_all(b" ").is_ok() {
                    thread::sleep(Duration::from_millis(20));
                }
            },
            "did not answer within 0.5 s",
        ),
    ];
    for (answer, words) in cases {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let is_over = &is_over;
            scope.spawn(move || answer(listener.accept().unwrap().0, is_over));
            let error = Session::connect(address, &token, HASTE)
                .unwrap_err()
                .to_string();
            is_over.store(true, Ordering::Relaxed);
            assert!(error.contains(words), "{error}");
            assert!(error.contains(&address.to_string()), "{error}");
        });
    }
}

fn silent(_: &TcpStream, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_server_without_the_token_is_an_impostor() {
    // It answers everything as a real server would, but cannot prove itself.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let impostor = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        line(&mut stream);
        let nonce = "7".repeat(64);
        let challenge = format!("{{\"syscost\":{VERSION},\"nonce\":\"{nonce}\"}}\n");
        stream.write_all(challenge.as_bytes()).unwrap();
        line(&mut stream);
        let welcome = format!("{{\"proof\":\"{nonce}\",\"facts\":{{}}}}\n");
        stream.write_all(welcome.as_bytes()).unwrap();
        stream
    });
    let token = Token::generate().unwrap();
    let error = Session::connect(address, &token, PATIENCE).unwrap_err();
    assert!(matches!(error, ClientError::Impostor { .. }), "{error}");
    impostor.join().unwrap();
}
