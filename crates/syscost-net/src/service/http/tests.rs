use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use super::*;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

fn responder(keep_alive: bool, connections: u64) -> (SocketAddr, JoinHandle<Account>, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let response = Response::new(100, keep_alive);
    let length = response.bytes().len();
    let service = thread::spawn(move || {
        let mut is_over =
            |account: &Account| account.connections == connections && is_done(account);
        respond(&listener, &response, None, &mut is_over).unwrap()
    });
    (address, service, length)
}

/// Whether there is a message or an error for each connection.
fn is_done(account: &Account) -> bool {
    account.messages + account.wrong >= account.connections
}

fn asked(stream: &mut TcpStream, request: &[u8], length: usize) -> Vec<u8> {
    stream.write_all(request).unwrap();
    let mut response = vec![0; length];
    stream.read_exact(&mut response).unwrap();
    response
}

#[test]
fn a_connection_is_kept_alive_until_it_closes_or_asks_to_be_closed() {
    let (address, service, length) = responder(true, 1);
    let mut stream = TcpStream::connect(address).unwrap();
    let response = asked(&mut stream, GET, length);
    assert!(response.starts_with(b"HTTP/1.1 200 OK\r\n"));
    let text = String::from_utf8_lossy(&response[..length - 100]);
    assert!(text.contains("Content-Length: 100\r\n"), "{text}");
    assert_eq!(Content::Whole.check(0, &response[length - 100..]).wrong, 0);
    drop(stream);
    let account = service.join().unwrap();
    assert_eq!(
        (account.messages, account.connections, account.wrong),
        (1, 1, 0)
    );
    assert_eq!(account.bytes, length as u64);
}

#[test]
fn requests_come_in_any_pieces() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let response = Response::new(10, true);
    let length = response.bytes().len();
    let service = thread::spawn(move || {
        respond(&listener, &response, None, &mut |account| {
            account.messages == 3
        })
        .unwrap()
    });
    // Two at once, then one in two parts that asks for the end.
    let twice = [GET, GET].concat();
    assert_eq!(asked(&mut stream, &twice, 2 * length).len(), 2 * length);
    stream
        .write_all(b"GET /x HTTP/1.1\r\nconnection:  CLOSE\r\n")
        .unwrap();
    asked(&mut stream, b"\r\n", length);
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0, "closed");
    assert_eq!(service.join().unwrap().messages, 3);
}

#[test]
fn without_keep_alive_each_request_has_its_connection() {
    let (address, service, length) = responder(false, 2);
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).unwrap();
        let response = asked(&mut stream, GET, length);
        let text = String::from_utf8_lossy(&response);
        assert!(text.contains("Connection: close\r\n"));
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0, "closed");
    }
    let account = service.join().unwrap();
    assert_eq!((account.messages, account.connections), (2, 2));
}

#[test]
fn an_invalid_request_ends_only_its_connection() {
    for nonsense in [
        b"POST / HTTP/1.1\r\n\r\n".to_vec(),
        vec![b'x'; 5000],
        // Half a request, and then nothing.
        GET[..10].to_vec(),
    ] {
        let (address, service, _) = responder(true, 1);
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&nonsense).unwrap();
        assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
        let account = service.join().unwrap();
        assert_eq!((account.messages, account.wrong), (0, 1));
    }
}
