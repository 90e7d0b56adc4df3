//! `syscost serve` and runs against it: the document names the far end, errors are reported before
//! anything is measured, and nothing that clients send ends the server or makes it grow.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::thread;

use crate::common::server::{PATIENCE, Server, said};
use crate::common::{Ended, Ending, Json, Program};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::Signal;
use serde_json::{Value, json};
use syscost_net::socket::Tcp;
use syscost_net::wire::Streams;
use syscost_net::{ClientError, Content, Service, Session, Token};

const ROW: &str = "syscall.null{call=getppid}";

fn run(program: &Program, peer: &str, token_file: &str, more: &str) -> Ended {
    program.run(&format!(
        "run {ROW} --profile quick --budget 1 --no-save --peer {peer} --token-file {token_file} {more}"
    ))
}

#[test]
fn a_run_names_its_far_end() {
    let program = Program::new();
    let server = Server::start(&program, &["--once"]);
    let mode = fs::metadata(&server.token_file)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let (peer, file) = (
        server.address.to_string(),
        server.token_file.display().to_string(),
    );
    let output = run(&program, &peer, &file, "--format json").ran();
    let document = output.json();
    let far_end = &document["peer"];
    assert_eq!(far_end["name"], json!(peer));
    assert_eq!(far_end["address"], json!(peer));
    assert_eq!(far_end["version"], json!(env!("CARGO_PKG_VERSION")));
    assert_eq!(far_end["machine"]["kernel"], document["machine"]["kernel"]);
    assert_eq!(document["config"]["environment"], Value::Null);
    let token = server.token().reveal();
    assert!(
        !output.out.contains(&token) && !output.err.contains(&token),
        "the token is nowhere"
    );
    // The run was the server's first session.
    let (code, log) = server.end();
    assert_eq!(code, Some(0), "{log}");
    assert!(
        log.contains("session 1 of 127.0.0.1:") && !log.contains(&token),
        "{log}"
    );
}

#[test]
fn a_token_that_can_be_read_once_reaches_the_workers() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let fifo = program.folder().join("fifo");
    mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).expect("made");
    let (digits, path) = (server.token().reveal(), fifo.clone());
    let writer = thread::spawn(move || fs::write(path, digits).expect("written"));
    let peer = server.address.to_string();
    let fifo = fifo.display().to_string();
    let output = program.run(&format!("run net.tcp.round_trip{{path=remote}} --profile quick --budget 3 --no-save --peer {peer} --token-file {fifo} --format json"));
    writer.join().expect("it wrote");
    let document = output.ran().json();
    let rows = document["measurements"].list();
    assert!(!rows.is_empty(), "{document}");
    for row in rows {
        let reason = row["reason"].as_str().unwrap_or_default();
        assert!(
            !reason.contains("token") && !reason.contains("far end"),
            "{row}"
        );
    }
}

#[test]
fn a_wrong_name_costs_the_far_end_no_session() {
    let program = Program::new();
    let server = Server::start(&program, &["--once"]);
    let peer = server.address.to_string();
    let file = server.token_file.display().to_string();
    let wrong = program.run(&format!("run net.nosuch --peer {peer} --token-file {file}"));
    assert_eq!(wrong.code, Some(2));
    // It still serves.
    run(&program, &peer, &file, "").ran();
    let (code, log) = server.end();
    assert_eq!(code, Some(0), "{log}");
}

#[test]
fn the_heading_names_the_far_end_and_a_signal_ends_it() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let peer = format!("localhost:{}", server.address.port());
    let file = server.token_file.display().to_string();
    let output = run(&program, &peer, &file, "");
    let table = output.out;
    let heading = format!("far end {peer} ({})", server.address);
    assert!(table.contains(&heading), "{table}");
    let _idle = server.session();
    server.signal(Signal::TERM);
    let (code, log) = server.end();
    assert_eq!(code, Some(0), "{log}");
    assert!(
        log.contains("the server ends") && log.ends_with(" ended\n"),
        "{log}"
    );
}

#[test]
fn errors_of_the_far_end_are_reported_before_anything_is_measured() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let address = server.address.to_string();
    let file = server.token_file.display().to_string();
    let other = program.folder().join("other");
    let wrong = Token::generate().expect("random");
    wrong.write_new(&other).expect("written");
    let tokens = [wrong.reveal(), server.token().reveal()];
    let names_none = |text: &str| tokens.iter().all(|token| !text.contains(&**token));
    let other = other.display().to_string();
    // A port that this test holds and on which nothing listens.
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let unserved = taken.local_addr().expect("an address").to_string();
    for (peer, token_file, code, words) in [
        (&*address, &*other, 1, "authentication failed: wrong token"),
        (&unserved, &file, 1, "is `syscost serve` running there"),
        // As any other name of something that does not exist.
        (
            &address,
            "/no/such/file",
            2,
            "reading the token file /no/such/file",
        ),
        (&address, "/etc/hostname", 1, "holds no token"),
        (
            "no.such.host.invalid",
            &file,
            1,
            "resolving no.such.host.invalid:7717",
        ),
    ] {
        let output = run(&program, peer, token_file, "").says(code, words);
        assert!(output.out.is_empty() && names_none(&output.err));
    }
    for usage in [
        &["--peer", "127.0.0.1"][..],
        &["--token-file", "x"],
        &["--peer", "a b", "--token-file", "x"],
    ] {
        let mut run = program.command(&format!("run {ROW}"));
        assert_eq!(run.args(usage).ended().code, Some(2), "{usage:?}");
    }
    server.signal(Signal::TERM);
    let (_, log) = server.end();
    assert!(log.contains("rejected") && names_none(&log), "{log}");
}

#[test]
fn an_interrupted_run_is_resumed_against_the_same_far_end() {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    let (peer, file) = (
        server.address.to_string(),
        server.token_file.display().to_string(),
    );
    program.run(&format!(
        "run syscall --profile quick --budget 1 --no-save --peer {peer} --token-file {file}"
    ));
    let journal = program.journals().pop().expect("the budget ends it");
    let text = fs::read_to_string(&journal).expect("text");
    assert!(!text.contains(&server.token().reveal()), "no token");
    let resume = format!("run --resume {} --no-save", journal.display());
    let document = program.measure(&format!("{resume} --format json"));
    assert_eq!(document["peer"]["address"], json!(peer));
    fs::write(&journal, text).expect("written");
    drop(server);
    let refused = program.run(&resume).says(1, &peer);
    refused.says(1, "is `syscost serve` running");
}

#[test]
fn a_printed_token_works_and_a_readable_token_file_is_warned_about() {
    let program = Program::new();
    let mut child = program
        .command("serve --listen 127.0.0.1:0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let address: SocketAddr = said(&mut output, "listening on ")
        .parse()
        .expect("an address");
    let token: Token = said(&mut output, "token ").parse().expect("a token");
    let session = Session::connect(address, &token, PATIENCE);
    let _ = child.kill();
    let _ = child.wait();
    assert!(session.is_ok(), "{session:?}");

    let path = program.folder().join("token");
    token.write_new(&path).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("ours");
    let server = Server::start(&program, &[]);
    server.signal(Signal::INT);
    let (code, log) = server.end();
    assert_eq!(code, Some(0));
    assert!(log.contains("others can read the token file"), "{log}");
}

#[test]
#[ignore = "machine suite"]
fn nothing_that_others_do_ends_the_server_or_makes_it_grow() {
    let program = Program::new();
    let mut server = Server::start(&program, &[]);
    server.is_well("its start");

    let half_open: Vec<TcpStream> = (0..200)
        .filter_map(|_| TcpStream::connect(server.address).ok())
        .collect();
    server.is_well("200 half-open connections");
    drop(half_open);

    for _ in 0..50 {
        let mut stream = TcpStream::connect(server.address).expect("it accepts");
        // The server may have closed it already.
        let _ = stream.write_all(&[b'x'; 100_000]);
    }
    server.is_well("lines without end");

    let wrong = Token::generate().expect("random");
    for _ in 0..20 {
        let refused = Session::connect(server.address, &wrong, PATIENCE);
        assert!(matches!(refused, Err(ClientError::Refused { .. })));
    }
    server.is_well("wrong tokens");

    // All the memory that a session may request, by a client that never reads and by one that
    // leaves.
    let source = Service::StreamSource(Streams {
        size: 1 << 20,
        streams: 8,
        content: Content::Sparse,
        tcp: Tcp::default(),
    });
    let mut unread = server.session();
    let opened = unread.open(&source).expect("a service");
    let streams: Vec<TcpStream> = (0..8)
        .map(|_| opened.stream(&Tcp::default()).expect("a stream"))
        .collect();
    server.is_well("a client that never reads");
    drop(unread);
    drop(streams);
    for _ in 0..20 {
        let mut session = server.session();
        let opened = session.open(&source).expect("a service");
        let mut stream = opened.stream(&Tcp::default()).expect("a stream");
        stream.read_exact(&mut [0; 100]).expect("it sends");
    }
    server.is_well("clients that left during a service");

    server.signal(Signal::TERM);
    let mut log = String::new();
    let stderr = server.child.stderr.as_mut().expect("a pipe");
    stderr.read_to_string(&mut log).expect("text");
    assert!(!log.contains("panicked"), "{log}");
    assert!(log.lines().count() < 200, "{log}");
    let mut rest = String::new();
    server.output.read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "", "nothing but the addresses");
}
