//! Each service of a server does its part for a client, and both ends agree on the account.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use syscost_sys::or_skip;

use super::{PATIENCE, Running, echo, ping};
use crate::service::{datagram, stream};
use crate::socket::Tcp;
use crate::wire::{Close, Streams};
use crate::{ClientError, Content, Judge, Limits, Service, Session, Wait};

#[test]
fn an_echo_answers_and_accounts_for_it() {
    let server = Running::new(Limits::default());
    let mut session = server.session();
    assert_eq!(session.facts()["name"], "test");
    // One session uses several services, one after the other.
    for _ in 0..3 {
        let account = ping(&mut session, 5);
        assert_eq!((account.messages, account.bytes), (5, 320));
        assert_eq!(account.checksum, 5 * 0x0303_0303_0303_0303);
        assert_eq!((account.connections, account.wrong), (1, 0));
        if let Some(tcp) = account.tcp {
            assert_eq!(tcp.nodelay, 1);
            // The cookie and, if it has arrived already, the end of the stream, which counts as
            // one.
            assert!((336..=337).contains(&tcp.bytes_received), "{tcp:?}");
        }
    }
    drop(session);
    server.logs("5 messages, 320 bytes");
    server.logs("the client disconnected");
}

#[test]
fn ipv6_serves_as_well() {
    or_skip!(std::net::TcpListener::bind("[::1]:0"), "no IPv6 here");
    let server = Running::at("[::1]:0", Limits::default());
    assert!(server.address.is_ipv6());
    server.serves();
    let mut session = server.session();
    let service = Service::DatagramEcho {
        size: 32,
        wait: Wait::Epoll,
    };
    let socket = session.open(&service).unwrap().datagram().unwrap();
    socket.send(&[5; 32]).unwrap();
    assert_eq!(socket.recv(&mut [0; 64]).unwrap(), 32);
    assert_eq!(session.finish(None).unwrap().messages, 1);
}

#[test]
fn streams_to_a_sink_add_up() {
    let server = Running::new(Limits::default());
    let mut session = server.session();
    let tcp = Tcp {
        congestion: Some("reno".to_owned()),
        ..Tcp::default()
    };
    let service = Service::StreamSink(Streams {
        size: 16 << 10,
        streams: 3,
        content: Content::Whole,
        tcp: tcp.clone(),
    });
    let opened = session.open(&service).unwrap();
    let streams: Vec<TcpStream> = (0..3).map(|_| opened.stream(&tcp).unwrap()).collect();
    let before = session.reading().unwrap();
    let (mut bytes, mut checksum) = (0, 0_u64);
    for stream in streams {
        let mut is_over = |account: &crate::Account| account.bytes >= 1 << 20;
        let sent = stream::source(&stream, &mut [0; 9000], Content::Whole, &mut is_over).unwrap();
        bytes += sent.bytes;
        checksum = checksum.wrapping_add(sent.checksum);
    }
    // The streams are closed, but their bytes may still be in transit.
    let account = session.finish(None).unwrap();
    assert_eq!((account.bytes, account.checksum), (bytes, checksum));
    assert_eq!((account.connections, account.wrong), (3, 0));
    assert!(account.elapsed_ns > 0, "{account:?}");
    assert!(before.bytes <= bytes && before.at_ns > 0);
    if let Some(tcp) = account.tcp {
        assert_eq!(&*tcp.congestion, "reno");
    }
}

#[test]
fn a_source_sends_all_it_accounts_for() {
    let server = Running::new(Limits::default());
    let mut session = server.session();
    let service = Service::StreamSource(Streams {
        size: 32 << 10,
        streams: 1,
        content: Content::Whole,
        tcp: Tcp::default(),
    });
    let opened = session.open(&service).unwrap();
    let stream = opened.stream(&Tcp::default()).unwrap();
    let receiving = thread::spawn(move || {
        stream::sink(&stream, &mut [0; 10_000], Content::Whole, &mut |_| false).unwrap()
    });
    while session.reading().unwrap().bytes < 1 << 20 {
        thread::yield_now();
    }
    let (one, other) = (session.reading().unwrap(), session.reading().unwrap());
    assert!(other.bytes >= one.bytes && other.at_ns > one.at_ns);
    assert!(other.cpu_ns >= one.cpu_ns);
    session.end(None).unwrap();
    let received = receiving.join().unwrap();
    let sent = session.account().unwrap();
    assert_eq!(
        (received.bytes, received.checksum),
        (sent.bytes, sent.checksum)
    );
    assert_eq!(received.wrong, 0);
}

#[test]
fn datagrams_are_echoed_and_sunk() {
    let server = Running::new(Limits::default());
    let mut session = server.session();
    for wait in Wait::ALL {
        // As long as a cookie, but not taken for one.
        for size in [1, 16, 1000] {
            let service = Service::DatagramEcho {
                size: size as u32,
                wait,
            };
            let socket = session.open(&service).unwrap().datagram().unwrap();
            for number in 1..=5 {
                socket.send(&vec![number; size]).unwrap();
                let mut answer = [0; 2000];
                assert_eq!(socket.recv(&mut answer).unwrap(), size);
                assert_eq!(answer[0], number);
            }
            let account = session.finish(None).unwrap();
            assert_eq!((account.messages, account.wrong), (5, 0), "{wait:?} {size}");
        }
    }
    let service = Service::DatagramSink {
        size: 100,
        content: Content::Whole,
    };
    let socket = session.open(&service).unwrap().datagram().unwrap();
    let mut checksum = 0_u64;
    for number in 0..200 {
        let mut bytes = [0; 100];
        let sum = datagram::stamp(number, &mut bytes, Content::Whole);
        // Every twentieth is lost.
        if number % 20 != 3 {
            socket.send(&bytes).unwrap();
            checksum = checksum.wrapping_add(sum);
        }
    }
    let account = session.finish(Some(190)).unwrap();
    let order = account.order.unwrap();
    assert_eq!(
        (account.messages, order.lost(), order.distinct),
        (190, 10, 190)
    );
    assert_eq!((account.checksum, account.wrong), (checksum, 0));
}

#[test]
fn connections_are_accepted_and_http_is_answered() {
    let server = Running::new(Limits::default());
    let mut session = server.session();
    for close in [Close::Fin, Close::Rst, Close::AfterPeer] {
        let service = Service::Accept {
            close,
            first_byte: true,
            backlog: 64,
        };
        let address = session.open(&service).unwrap().address();
        for _ in 0..5 {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.read_exact(&mut [0; 1]).unwrap();
        }
        let account = session.finish(None).unwrap();
        assert_eq!((account.messages, account.bytes, account.wrong), (5, 5, 0));
        if let Some(overflows) = account.listen_overflows {
            println!("{overflows} of other tests, perhaps");
        }
        let error = TcpStream::connect(address).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }
    let service = Service::Http {
        body: 1000,
        keep_alive: true,
    };
    let address = session.open(&service).unwrap().address();
    let mut stream = TcpStream::connect(address).unwrap();
    for _ in 0..3 {
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut response = [0; 4096];
        let mut filled = 0;
        while filled < 1000
            || !response[..filled]
                .windows(4)
                .any(|four| four == b"\r\n\r\n")
        {
            filled += stream.read(&mut response[filled..]).unwrap();
        }
    }
    drop(stream);
    let account = session.finish(None).unwrap();
    assert_eq!((account.messages, account.connections), (3, 1));
}

#[test]
fn services_have_the_ports_they_may_have() {
    // Two ports held by this test, free as soon as it releases them.
    let own = [0, 1].map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let mut ports = own.map(|listener| listener.local_addr().unwrap().port());
    ports.sort_unstable();
    let limits = Limits {
        data_ports: Some(ports[0]..=ports[0]),
        ..Limits::default()
    };
    let server = Running::new(limits);
    let (mut one, mut another) = (server.session(), server.session());
    let (opened, _stream) = echo(&mut one);
    assert_eq!(opened.address().port(), ports[0]);
    // The listener is closed once its only stream is accepted, but the stream still occupies the
    // port for a future listener.
    let service = Service::DatagramEcho {
        size: 8,
        wait: Wait::Block,
    };
    let udp = another.open(&service).unwrap();
    assert_eq!(udp.address().port(), ports[0], "UDP has separate ports");
    let mut third = server.session();
    let error = third.open(&service).unwrap_err();
    assert!(error.to_string().contains("is free"), "{error}");
    // The session continues.
    another.finish(None).unwrap();
    assert!(third.open(&service).is_ok());
}

#[test]
fn what_cannot_be_opened_or_ended_is_said_and_the_session_goes_on() {
    let server = Running::new(Limits::default());
    let mut session = server.session();
    let failed = |error: ClientError, words: &str| {
        let text = error.to_string();
        let is_typed = matches!(error, ClientError::Failed { .. });
        assert!(is_typed && text.contains(words), "{text}");
        assert!(text.contains(&server.address.to_string()), "{text}");
    };
    failed(session.finish(None).unwrap_err(), "no service is open");
    failed(session.reading().unwrap_err(), "no service is open");
    let huge = Service::DatagramEcho {
        size: 1 << 20,
        wait: Wait::Block,
    };
    failed(session.open(&huge).unwrap_err(), "size 1048576");
    let unknown = Service::StreamEcho {
        size: 1,
        wait: Wait::Block,
        tcp: Tcp {
            congestion: Some("nonesuch".to_owned()),
            ..Tcp::default()
        },
    };
    failed(session.open(&unknown).unwrap_err(), "nonesuch");
    let (_, _stream) = echo(&mut session);
    let another = Service::Http {
        body: 1,
        keep_alive: true,
    };
    failed(
        session.open(&another).unwrap_err(),
        "another service is open",
    );
    // A stream that was not closed does not delay the account.
    assert_eq!(session.finish(None).unwrap().messages, 0);
    ping(&mut session, 1);
}

#[test]
fn a_server_that_ends_says_so_and_a_later_call_names_it() {
    let server = Running::new(Limits::default());
    let mut session = server.session();
    let address = server.address;
    drop(server);
    let error = session.reading().unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("the server ends") && text.contains(&address.to_string()),
        "{text}"
    );
    let error = Session::connect(address, &crate::Token::generate().unwrap(), PATIENCE);
    assert!(matches!(error, Err(ClientError::Unreachable { .. })));
}

#[test]
fn a_server_that_is_to_serve_once_ends_with_its_first_session() {
    let limits = Limits {
        once: true,
        ..Limits::default()
    };
    let server = Running::new(limits);
    let first = server.session();
    // Others, such as the workers of a run, may come and go in the meantime.
    server.serves();
    server.serves();
    thread::sleep(Duration::from_millis(300));
    assert!(!server.log().is_empty());
    drop(first);
    assert!(server.ends(), "{:?}", server.log());
}

#[test]
fn the_core_of_the_task_that_serves_is_looked_at() {
    let looks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looks);
    // Every other check finds it shared.
    let judge = Judge::new(move |cpu| {
        assert_eq!(syscost_sys::cpu::current(), cpu);
        Some(counted.fetch_add(1, Ordering::Relaxed).is_multiple_of(2))
    });
    let server = Running::with_judge(judge);
    let mut session = server.session();
    assert_eq!(session.look().unwrap(), None, "nothing is open");
    let (_, mut stream) = echo(&mut session);
    let mut answer = [0; 64];
    stream.write_all(&[3; 64]).unwrap();
    stream.read_exact(&mut answer).unwrap();
    if session.look().unwrap().is_none() {
        println!(
            "skipped: this kernel does not report where a task runs, or does not let it be moved"
        );
        return;
    }
    for is_exclusive in [false, true] {
        let core = session.look().unwrap().expect("as before");
        assert_eq!(core.is_exclusive, is_exclusive);
    }
    drop(stream);
    let account = session.finish(None).unwrap();
    assert_eq!((account.messages, looks.load(Ordering::Relaxed)), (1, 3));
    assert_eq!(session.look().unwrap(), None, "it has ended");
}

#[test]
fn a_server_without_a_judge_looks_at_no_core() {
    let server = Running::new(Limits::default());
    let mut session = server.session();
    let (_, _stream) = echo(&mut session);
    assert_eq!(session.look().unwrap(), None);
}
