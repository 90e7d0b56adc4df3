//! A server in this process, and clients that behave well or badly.

mod false_servers;
mod hostile;
mod services;

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::service::Account;
use crate::socket::Tcp;
use crate::{Judge, Limits, Opened, Server, Service, Session, Token, Wait};
use serde_json::json;

/// Time limit for anything that should take no time.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// A running server, stopped when dropped.
pub(super) struct Running {
    pub(super) address: SocketAddr,
    pub(super) token: Token,
    log: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(super) fn new(limits: Limits) -> Self {
        Self::at("127.0.0.1:0", limits)
    }

    pub(super) fn at(address: &str, limits: Limits) -> Self {
        Self::started(address, limits, |server| server)
    }

    pub(super) fn with_judge(judge: Judge) -> Self {
        let look = |server: Server| server.with_judge(judge);
        Self::started("127.0.0.1:0", Limits::default(), look)
    }

    fn started(address: &str, limits: Limits, change: impl FnOnce(Server) -> Server) -> Self {
        let token = Token::generate().unwrap();
        let server = Server::bind(
            &[address.parse().unwrap()],
            token.clone(),
            limits,
            json!({ "name": "test" }),
        );
        let server = change(server.unwrap());
        let address = server.addresses()[0];
        let stop = Arc::new(AtomicBool::new(false));
        let log = Arc::new(Mutex::new(Vec::new()));
        let thread = {
            let (stop, log) = (Arc::clone(&stop), Arc::clone(&log));
            thread::spawn(move || {
                server.run(&stop, &|line| log.lock().unwrap().push(line.to_owned()));
            })
        };
        Self {
            address,
            token,
            log,
            stop,
            thread: Some(thread),
        }
    }

    pub(super) fn session(&self) -> Session {
        Session::connect(self.address, &self.token, PATIENCE).unwrap()
    }

    /// Waits for a line with these words in the log.
    #[track_caller]
    pub(super) fn logs(&self, words: &str) {
        let appears = within_patience(|| self.log().iter().any(|line| line.contains(words)));
        assert!(appears, "no `{words}`: {:?}", self.log());
    }

    pub(super) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Whether the server ends by itself.
    pub(super) fn ends(&self) -> bool {
        within_patience(|| self.thread.as_ref().is_some_and(JoinHandle::is_finished))
    }

    /// Serves a well-behaved client, as if nothing had happened.
    pub(super) fn serves(&self) {
        let mut session = self.session();
        let account = ping(&mut session, 10);
        assert_eq!(account.messages, 10);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// An echo of 64 bytes, repeated `times` times.
pub(super) fn ping(session: &mut Session, times: u64) -> Account {
    let (_, mut stream) = echo(session);
    let mut answer = [0; 64];
    for _ in 0..times {
        std::io::Write::write_all(&mut stream, &[3; 64]).unwrap();
        stream.read_exact(&mut answer).unwrap();
    }
    drop(stream);
    session.finish(None).unwrap()
}

/// An echo service of 64 bytes that has accepted us.
pub(super) fn echo(session: &mut Session) -> (Opened, TcpStream) {
    let service = Service::StreamEcho {
        size: 64,
        wait: Wait::Block,
        tcp: Tcp::nodelay(),
    };
    let opened = session.open(&service).unwrap();
    let stream = opened.stream(&Tcp::nodelay()).unwrap();
    (opened, stream)
}

/// Whether the condition becomes true in time.
pub(super) fn within_patience(is_so: impl Fn() -> bool) -> bool {
    for _ in 0..1000 {
        if is_so() {
            return true;
        }
        thread::sleep(PATIENCE / 1000);
    }
    false
}

/// Everything received until the other end closes or resets the connection.
pub(super) fn read_all(stream: &mut TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut came = Vec::new();
    let mut bytes = [0; 1024];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return came,
            Ok(count) => came.extend_from_slice(&bytes[..count]),
            Err(cause) if cause.kind() == ErrorKind::ConnectionReset => return came,
            Err(cause) => panic!("{cause}"),
        }
    }
}

/// A line, read byte by byte so that nothing after it is consumed.
pub(super) fn line(stream: &mut TcpStream) -> Vec<u8> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        stream.read_exact(&mut byte).unwrap();
        if byte == *b"\n" {
            return line;
        }
        line.push(byte[0]);
    }
}
