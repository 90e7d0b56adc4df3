use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use super::*;
use crate::service::release;

fn rule(close: Close, first_byte: bool) -> Accept {
    Accept {
        close,
        first_byte,
        only_from: Some("127.0.0.1".parse().unwrap()),
    }
}

/// Connects three times to a service that follows this rule; returns how many bytes each connection
/// read and how it ended.
fn visits(rule: Accept) -> (Vec<(usize, Option<ErrorKind>)>, Account) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let service = thread::spawn(move || {
        accept(&listener, &rule, &mut |account| account.messages == 3).unwrap()
    });
    let visit = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        if rule.close == Close::AfterPeer {
            stream.shutdown(std::net::Shutdown::Write).unwrap();
        }
        let mut came = Vec::new();
        let ended = stream.read_to_end(&mut came);
        (came.len(), ended.err().map(|cause| cause.kind()))
    };
    let seen = (0..3).map(visit).collect();
    (seen, service.join().unwrap())
}

#[test]
fn connections_are_closed_as_they_should_be() {
    for first_byte in [false, true] {
        let bytes = usize::from(first_byte);
        for (close, ending) in [
            (Close::Fin, None),
            (Close::AfterPeer, None),
            (Close::Rst, Some(ErrorKind::ConnectionReset)),
        ] {
            let (seen, account) = visits(rule(close, first_byte));
            for (came, ended) in seen {
                assert_eq!(ended, ending, "{close:?}");
                assert!(came == bytes || close == Close::Rst, "{came} bytes");
            }
            assert_eq!((account.messages, account.connections), (3, 3));
            assert_eq!((account.bytes, account.wrong), (3 * bytes as u64, 0));
        }
    }
}

#[test]
fn connections_from_elsewhere_are_closed_and_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let elsewhere = Accept {
        only_from: Some("127.0.0.9".parse().unwrap()),
        ..rule(Close::Fin, true)
    };
    let service =
        thread::spawn(move || accept(&listener, &elsewhere, &mut |account| account.wrong == 2));
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).unwrap();
        // Nothing is sent before the FIN or RST.
        assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
    }
    let account = service.join().unwrap().unwrap();
    assert_eq!((account.messages, account.bytes, account.wrong), (0, 0, 2));
}

#[test]
fn it_ends_while_it_waits() {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let theirs = listener.try_clone().unwrap();
    let service = thread::spawn(move || {
        let mut is_over = |_: &Account| IS_OVER.load(Relaxed);
        accept(&listener, &rule(Close::Fin, false), &mut is_over)
    });
    IS_OVER.store(true, Relaxed);
    release(&theirs);
    assert_eq!(service.join().unwrap().unwrap().messages, 0);
}
