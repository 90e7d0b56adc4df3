//! `syscost serve` as a separate process.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use syscost_net::socket::Tcp;
use syscost_net::{ClientError, Service, Session, Token, Wait};

use crate::common::Program;

/// Time limit for any action of a server.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Maximum resident memory of a server, whatever is requested: the limit in docs/serve.md.
const MAX_RESIDENT: u64 = 64 << 20;

/// A server of the real binary, killed when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) output: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
    pub(crate) token_file: PathBuf,
}

impl Server {
    pub(crate) fn start(program: &Program, more: &[&str]) -> Self {
        let token_file = program.folder().join("token");
        let mut child = program
            .command("serve --listen 127.0.0.1:0 --token-file")
            .arg(&token_file)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let address = said(&mut output, "listening on ");
        Self {
            child,
            output,
            address: address.parse().expect("an address"),
            token_file,
        }
    }

    pub(crate) fn token(&self) -> Token {
        Token::read(&self.token_file).expect("the server has written one")
    }

    /// A session, opened once the server has noticed the end of earlier ones.
    pub(crate) fn session(&self) -> Session {
        let begun = Instant::now();
        loop {
            match Session::connect(self.address, &self.token(), PATIENCE) {
                Err(ClientError::Refused { .. }) if begun.elapsed() < PATIENCE => {
                    sleep(Duration::from_millis(5));
                }
                connected => return connected.expect("a session"),
            }
        }
    }

    pub(crate) fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it is alive");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next());
        1024 * kib
            .and_then(|kib| kib.parse::<u64>().ok())
            .expect("a number")
    }

    /// Asserts that the server is alive, small, and serves a well-behaved client.
    pub(crate) fn is_well(&self, after: &str) {
        let mut session = self.session();
        let service = Service::StreamEcho {
            size: 8,
            wait: Wait::Block,
            tcp: Tcp::nodelay(),
        };
        let opened = session.open(&service).expect("a service");
        let mut stream = opened.stream(&Tcp::nodelay()).expect("a stream");
        stream.write_all(b"12345678").expect("it reads");
        stream.read_exact(&mut [0; 8]).expect("it answers");
        drop(stream);
        assert_eq!(
            session.finish(None).expect("an account").messages,
            1,
            "{after}"
        );
        let resident = self.resident();
        assert!(resident < MAX_RESIDENT, "{resident} bytes after {after}");
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is alive");
    }

    /// Its exit code and its log.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut log = String::new();
        let mut stderr = self.child.stderr.take().expect("a pipe");
        stderr.read_to_string(&mut log).expect("text");
        (self.child.wait().expect("it ends").code(), log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The rest of the line that begins with `beginning`.
pub(crate) fn said(output: &mut impl BufRead, beginning: &str) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("text");
    let rest = line.strip_prefix(beginning);
    rest.unwrap_or_else(|| panic!("{line:?}")).trim().to_owned()
}
