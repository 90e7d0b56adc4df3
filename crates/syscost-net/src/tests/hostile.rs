//! Hostile input: before the token is proven, the server sends no more bytes than it has received;
//! it keeps its limits, and serves the next well-behaved client.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use super::{PATIENCE, Running, echo, line, read_all, within_patience};
use crate::service::stream;
use crate::socket::Tcp;
use crate::token::Nonce;
use crate::wire::{self, HELLO_BYTES, Hello, MAX_LINE, Streams};
use crate::{ClientError, Content, Limits, Service, Session, Token, Wait};

/// Limits that are reached within the duration of a test.
fn hasty() -> Limits {
    Limits {
        proof: Duration::from_millis(300),
        ..Limits::default()
    }
}

#[test]
fn a_wrong_token_is_refused_by_name() {
    let server = Running::new(Limits::default());
    let wrong = Token::generate().unwrap();
    let error = Session::connect(server.address, &wrong, PATIENCE).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ClientError::Refused { .. }), "{text}");
    assert!(
        text.contains("authentication failed: wrong token"),
        "{text}"
    );
    assert!(text.contains(&server.address.to_string()), "{text}");
    server.logs("rejected: authentication failed");
    server.serves();
}

#[test]
fn before_the_proof_no_client_receives_more_bytes_than_it_sent() {
    let server = Running::new(hasty());
    let hello = wire::encode(&Hello::new(Nonce::generate().unwrap()));
    assert_eq!(hello.len(), HELLO_BYTES);
    let spoken = format!("\"syscost\":{}", wire::VERSION);
    let other = String::from_utf8(hello.clone())
        .unwrap()
        .replace(&spoken, "\"syscost\":7");
    let wrong_proof = format!("{{\"proof\":\"{}\"}}\n", "0".repeat(64));
    for sent in [
        b"\n".to_vec(),
        b"GET / HTTP/1.0\r\n\r\n".to_vec(),
        format!("{{{spoken}}}\n").into_bytes(),
        vec![0; 3000],
        vec![b'['; MAX_LINE + 2],
        other.into_bytes(),
        [hello.clone(), wrong_proof.into_bytes()].concat(),
        [hello.clone(), hello].concat(),
    ] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        // The connection may have been rejected before everything was sent.
        let _ = stream.write_all(&sent);
        let _ = stream.shutdown(Shutdown::Write);
        let came = read_all(&mut stream);
        assert!(
            came.len() <= sent.len(),
            "{} for {}",
            came.len(),
            sent.len()
        );
    }
    server.serves();
}

#[test]
fn half_open_connections_do_not_block_other_clients() {
    let server = Running::new(hasty());
    let half_open: Vec<TcpStream> = (0..200)
        .map(|_| TcpStream::connect(server.address).unwrap())
        .collect();
    // While they are still connected, not only afterwards.
    server.serves();
    for mut stream in half_open {
        assert_eq!(read_all(&mut stream), b"", "without a word");
    }
    server.serves();
    assert!(server.log().len() < 50, "no line each");
}

#[test]
fn a_slow_loris_is_cut_off_in_time() {
    let server = Running::new(hasty());
    let hello = wire::encode(&Hello::new(Nonce::generate().unwrap()));
    let mut stream = TcpStream::connect(server.address).unwrap();
    let mut sent = 0;
    for byte in &hello {
        if stream.write_all(&[*byte]).is_err() {
            break;
        }
        sent += 1;
        thread::sleep(Duration::from_millis(5));
    }
    assert!(sent < hello.len(), "it was let go on");
    server.logs("no proof in time");
    server.serves();
}

#[test]
fn the_log_has_no_control_characters_of_others() {
    let server = Running::new(hasty());
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .write_all(b"{\"\x1b[2J\\u001b[31m\\nforged line\":1}\n")
        .unwrap();
    assert_eq!(read_all(&mut stream), b"");
    server.logs("rejected");
    for line in server.log() {
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

#[test]
fn garbage_within_a_session_ends_it_with_a_reason() {
    let server = Running::new(Limits::default());
    // A client that has proven itself and then sends something else, using the client's own code up
    // to there.
    for garbage in [
        b"{\"open\":{\"format_disk\":{}}}\n".to_vec(),
        b"{\"read\":{\"more\":1}}\n".to_vec(),
        b"\n".to_vec(),
        vec![b'x'; MAX_LINE + 1],
    ] {
        let mut raw = proven(&server);
        raw.write_all(&garbage).unwrap();
        let text = String::from_utf8(read_all(&mut raw)).unwrap();
        assert!(text.contains("\"refused\":"), "{text}");
    }
    server.serves();
}

/// A connection that has completed the handshake, to be misused.
fn proven(server: &Running) -> TcpStream {
    use crate::token::{Nonces, Role};
    use crate::wire::{Answer, Challenge};
    let own = Nonce::generate().unwrap();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&wire::encode(&Hello::new(own))).unwrap();
    let challenge: Challenge = wire::decode(&line(&mut stream)).unwrap();
    let nonces = Nonces {
        client: own,
        server: challenge.nonce,
    };
    let proof = server.token.prove(Role::Client, &nonces);
    stream.write_all(&wire::encode(&Answer { proof })).unwrap();
    line(&mut stream);
    stream
}

#[test]
fn a_client_that_never_reads_ends_with_its_service_s_time() {
    let limits = Limits {
        service: Duration::from_millis(500),
        ..Limits::default()
    };
    let server = Running::new(limits);
    let mut session = server.session();
    let service = Service::StreamSource(Streams {
        size: 64 << 10,
        streams: 1,
        content: Content::Sparse,
        tcp: Tcp::default(),
    });
    let _unread = session
        .open(&service)
        .unwrap()
        .stream(&Tcp::default())
        .unwrap();
    server.logs("the limit of 0.5 s per service");
    let error = session.finish(None).unwrap_err();
    assert!(error.to_string().contains("0.5 s per service"), "{error}");
    server.serves();
}

#[test]
fn a_client_that_goes_mid_service_leaves_nothing_behind() {
    let limits = Limits {
        sessions: 2,
        ..Limits::default()
    };
    let server = Running::new(limits);
    // More of them than concurrent sessions.
    for _ in 0..5 {
        let ready = within_patience(|| {
            let Ok(mut session) = Session::connect(server.address, &server.token, PATIENCE) else {
                return false;
            };
            let (_, mut stream) = echo(&mut session);
            stream.write_all(&[1; 100]).unwrap();
            // Both connections break off in the middle of a message.
            true
        });
        assert!(ready, "{:?}", server.log());
    }
    assert!(within_patience(|| {
        let log = server.log();
        let count = |words| log.iter().filter(|line| line.contains(words)).count();
        count("ended after") == count("begins")
    }));
    server.serves();
}

#[test]
fn too_many_sessions_are_refused_in_a_line_and_only_those() {
    let limits = Limits {
        sessions: 3,
        sessions_per_peer: 2,
        ..Limits::default()
    };
    let server = Running::new(limits);
    let (one, _another) = (server.session(), server.session());
    let error = Session::connect(server.address, &server.token, PATIENCE).unwrap_err();
    assert!(
        error.to_string().contains("all 2 sessions of an address"),
        "{error}"
    );
    drop(one);
    assert!(within_patience(|| {
        Session::connect(server.address, &server.token, PATIENCE).is_ok()
    }));
}

#[test]
fn bytes_and_time_are_bounded() {
    let limits = Limits {
        service_bytes: 1 << 20,
        session: Duration::from_millis(800),
        ..Limits::default()
    };
    let server = Running::new(limits);
    let mut session = server.session();
    let service = Service::StreamSink(Streams {
        size: 1024,
        streams: 1,
        content: Content::Sparse,
        tcp: Tcp::default(),
    });
    let stream = session
        .open(&service)
        .unwrap()
        .stream(&Tcp::default())
        .unwrap();
    let mut is_over = |account: &crate::Account| account.bytes > 100 << 20;
    // It is cut off long before.
    let sent = stream::source(&stream, &mut [0; 4096], Content::Sparse, &mut is_over).unwrap();
    assert!(sent.bytes < 100 << 20);
    let error = session.finish(None).unwrap_err();
    assert!(
        error.to_string().contains("1048576 bytes per connection"),
        "{error}"
    );
    server.logs("the limit of 0.8 s per session");
    let error = session.reading().unwrap_err();
    assert!(error.to_string().contains("0.8 s per session"), "{error}");
    server.serves();
}

#[test]
fn services_reject_clients_without_the_cookie() {
    let server = Running::new(Limits::default());
    let mut session = server.session();
    let service = Service::StreamEcho {
        size: 4,
        wait: Wait::Block,
        tcp: Tcp::nodelay(),
    };
    let opened = session.open(&service).unwrap();
    let mut stranger = TcpStream::connect(opened.address()).unwrap();
    stranger.write_all(&[0; 16]).unwrap();
    assert_eq!(read_all(&mut stranger), b"");
    // It is still waiting for the client with the cookie.
    let mut stream = opened.stream(&Tcp::nodelay()).unwrap();
    stream.write_all(b"ping").unwrap();
    stream.read_exact(&mut [0; 4]).unwrap();
    assert_eq!(session.finish(None).unwrap().messages, 1);

    // Those of the client's own address that stay silent keep nobody waiting: read one after the other,
    // they would take a minute, longer than the service may. On a busy machine the backlog refuses some
    // for a second.
    let brief = Running::new(Limits {
        service: Duration::from_secs(40),
        ..Limits::default()
    });
    let mut patient = brief.session();
    let opened = patient.open(&service).unwrap();
    let silent: Vec<TcpStream> = (0..30)
        .map(|_| TcpStream::connect(opened.address()).unwrap())
        .collect();
    let mut stream = opened.stream(&Tcp::nodelay()).unwrap();
    stream.write_all(b"ping").unwrap();
    stream.read_exact(&mut [0; 4]).unwrap();
    assert_eq!(patient.finish(None).unwrap().messages, 1);
    drop(silent);

    let service = Service::DatagramEcho {
        size: 4,
        wait: Wait::Block,
    };
    let opened = session.open(&service).unwrap();
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    stranger.connect(opened.address()).unwrap();
    stranger
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    stranger.send(b"ping").unwrap();
    stranger.send(&[0; 16]).unwrap();
    assert!(stranger.recv(&mut [0; 16]).is_err(), "no answer");
    let socket = opened.datagram().unwrap();
    // From here on the kernel keeps the stranger out.
    let _ = stranger.send(b"ping");
    socket.send(b"ping").unwrap();
    socket.recv(&mut [0; 4]).unwrap();
    let account = session.finish(None).unwrap();
    assert_eq!((account.messages, account.wrong), (1, 0));
}
