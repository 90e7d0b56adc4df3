//! An HTTP request and its response.
//!
//! ## Measures
//! A minimal GET request of HTTP/1.1 and the response with a body of `size` bytes, whose status,
//! length, and content are checked. `connection=kept`: all requests use one connection;
//! `connection=fresh`: each request opens a new one, which the far end closes after its response,
//! and then this end. With `path=loopback` the far end is a process on the same CPU, with
//! `path=remote` the `syscost serve` that `--peer` names.
//! ## Does not measure
//! A web server: the far end answers every request with the same bytes, which it has in memory.
//! TLS. Name lookup.
//! ## Interpretation
//! `kept` is `net.tcp.round_trip` with a different size each way and a few lines to parse; `fresh`
//! adds `net.tcp.connect`. When times are taken, one word in 4 KiB of the body is checked; where
//! evidence is counted, every word is.
//! ## Source
//! lmbench `lat_http`, `bw_http`.

mod head;

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, connect, getsockname, recv, send};
use syscost_harness::prelude::*;
use syscost_net::service::IsOver;
use syscost_net::service::http::{self, Response};
use syscost_net::socket::Tcp;
use syscost_net::{Account, Content, Service};

use super::backlog::{self, Accepting, Backlog, Last};
use super::far_end::{self, Path, Route};
use super::interface::Way;
use super::setting::{SIZE, is_of_loopback, positive};
use super::tcp::connect::new_socket;
use super::tcp::ports::Budget;
use crate::ipc::setting::sleeps;
use head::{MAX_HEAD, head_of};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "net.http",
    title: "HTTP request latency",
    tags: &["web server", "request/response", "lat_http"],
    cases: Cases::Here(cases),
    full: |case| is_of_loopback(case) && case.get("size") != "1K",
    support: far_end::support,
    revision: 2,
    run,
    source: include_str!("http.rs"),
    ..Benchmark::DEFAULT
};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: syscost\r\n\r\n";

/// Body sizes, in bytes.
const SIZES: [usize; 2] = [1 << 10, 64 << 10];

const CONNECTION: &str = "connection";
const KEPT: &str = "kept";
const FRESH: &str = "fresh";

fn cases(here: &Here) -> Vec<Case> {
    let far = far_end::remote_family(here).map(|_| Path::REMOTE);
    let paths = [Path::LOOPBACK].into_iter().chain(far);
    let cases = paths.flat_map(|path| {
        [KEPT, FRESH].into_iter().flat_map(move |connection| {
            SIZES.map(|size| {
                Case::new([
                    (Path::KEY, path.to_owned()),
                    (CONNECTION, connection.to_owned()),
                    (SIZE, size_name(size)),
                ])
            })
        })
    });
    cases.collect()
}

/// Whether one connection serves all requests.
fn is_kept(case: &Case) -> Result<bool, Failure> {
    match case.get(CONNECTION) {
        KEPT => Ok(true),
        FRESH => Ok(false),
        _ => Err(case.unknown(CONNECTION)),
    }
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (path, is_kept) = (Route::of(b.case(), b.targets())?, is_kept(b.case())?);
    let size = positive(b.case(), SIZE)?;
    path.announce(b, size)?;
    expect(b, &path, is_kept, size);
    let content = match b.is_timed() {
        true => Content::Sparse,
        false => Content::Whole,
    };
    let (client, account) = b.together(path.placement(), |cpus| {
        let (far, address, last) = responding(&path, size, is_kept, cpus)?;
        let client = Client::new(address, is_kept, size, content, last)?;
        Ok(far.led_by(client))
    })?;
    client.claim(b, &account);
    Ok(())
}

/// Expects the calls and switches of those ends that are tasks of this machine.
fn expect(b: &mut Bencher, path: &Route, is_kept: bool, size: usize) {
    let there = path.own_ends() - 1.0;
    // A body arrives in parts as the network delivers them.
    let parts = size.div_ceil(1024) as f64;
    let fresh = if is_kept { 0.0 } else { 1.0 };
    b.expect(together(Sysno::SENDTO, 1.0 + there));
    let receives = Counter::Syscall(Sysno::RECVFROM);
    let least = 1.0 + there + fresh;
    b.expect(within(receives, 0.95 * least, 1.05 * (least + parts)));
    for (call, count) in [
        (Sysno::SOCKET, fresh),
        (Sysno::CONNECT, fresh),
        (Sysno::ACCEPT4, there * fresh),
        // How long the far end waits for each connection, in both directions.
        (Sysno::SETSOCKOPT, 2.0 * there * fresh),
        (Sysno::CLOSE, (1.0 + there) * fresh),
    ] {
        b.expect(together(call, count));
    }
    // A debug build checks that a descriptor is open before it closes it.
    let max = 1.05 * (1.0 + there) * fresh;
    b.expect(at_most(Counter::Syscall(Sysno::FCNTL), max));
    b.expect(at_most(Counter::MinorFaults, 0.01 * parts));
    let max = (2.3 + 2.0 * fresh) * path.own_ends() * parts;
    let least = match path.is_loopback() {
        true => sleeps(path.placement()),
        false => 0.5,
    };
    b.expect(within(Counter::Switches, least, max));
}

/// A far end that answers requests.
fn responding(
    path: &Route,
    size: usize,
    is_kept: bool,
    cpus: &[u32],
) -> Result<Accepting, Failure> {
    let response = Response::new(size, is_kept);
    let serve = move |listener: &TcpListener, is_over: IsOver<'_>| {
        http::respond(listener, &response, None, is_over)
    };
    let service = Service::Http {
        body: size as u32,
        keep_alive: is_kept,
    };
    backlog::accepting(path, cpus, &Tcp::nodelay(), serve, &service)
}

/// The measuring side.
struct Client {
    address: SocketAddr,
    /// The connection that all requests go over; `None` where each request opens a new one.
    kept: Option<OwnedFd>,
    /// Set where the far end is a partner, which ends with its last connection.
    last: Option<Last>,
    size: usize,
    content: Content,
    buffer: Vec<u8>,
    asked: u64,
    received: u64,
    /// Total bytes of all bodies.
    bodies: u64,
    budget: Budget,
    backlog: Backlog,
    way: Way,
}

impl Client {
    fn new(
        address: SocketAddr,
        is_kept: bool,
        size: usize,
        content: Content,
        last: Option<Last>,
    ) -> Result<Self, Failure> {
        let backlog = Backlog::watch();
        let mut budget = Budget::read()?;
        let failed = |errno: Errno| Failure::of(&format!("connect to {address}"), errno);
        budget.spend()?;
        let first = connected(&address).map_err(failed)?;
        let own = getsockname(&first).and_then(SocketAddr::try_from);
        let way = Way::begin(own.map_err(failed)?.ip(), address.ip());
        let mut client = Self {
            address,
            kept: Some(first),
            last,
            size,
            content,
            // Not zeros, so that every page is present from now on.
            buffer: vec![1; MAX_HEAD + size],
            asked: 0,
            received: 0,
            bodies: 0,
            budget,
            backlog,
            way,
        };
        if !is_kept {
            // The first connection was opened only to learn this end's address; the far end still
            // waits for its request.
            client.turn()?;
            client.kept = None;
        }
        Ok(client)
    }

    #[inline(always)]
    fn turn(&mut self) -> Result<(), Failure> {
        self.asked += 1;
        match self.kept.take() {
            Some(socket) => {
                let answered = self.ask(&socket);
                self.kept = Some(socket);
                answered
            }
            None => {
                self.budget.spend()?;
                let socket = connected(&self.address).map_err(|errno| self.failed(errno))?;
                self.ask(&socket)?;
                self.end_of(&socket)
            }
        }
    }

    /// One request, and its response.
    #[inline(always)]
    fn ask(&mut self, socket: &OwnedFd) -> Result<(), Failure> {
        let sent = retry_on_intr(|| send(socket, REQUEST, SendFlags::NOSIGNAL));
        match sent {
            Ok(sent) if sent == REQUEST.len() => {}
            Ok(sent) => {
                return Err(self.wrong(&format!("only {sent} bytes of the request were sent")));
            }
            Err(errno) => return Err(self.failed(errno)),
        }
        let (mut filled, mut head) = (0, None);
        loop {
            if let Some((start, length)) = head {
                if filled >= start + length {
                    return self.check(start, length, filled);
                }
            } else if let Some(found) = head_of(&self.buffer[..filled]) {
                head = Some(found.map_err(|what| self.wrong(what))?);
                continue;
            }
            let room = &mut self.buffer[filled..];
            let came = retry_on_intr(|| recv(socket, &mut *room, RecvFlags::empty()));
            match came {
                Ok((_, 0)) => {
                    let what = format!("it ended, or was too long, after {filled} bytes");
                    return Err(self.wrong(&what));
                }
                Ok((_, bytes)) => filled += bytes,
                Err(errno) => return Err(self.failed(errno)),
            }
        }
    }

    /// Checks that the body, which begins at `start`, has the expected length and content.
    #[inline(always)]
    fn check(&mut self, start: usize, length: usize, filled: usize) -> Result<(), Failure> {
        if length != self.size || filled != start + length {
            let size = self.size;
            let what = format!("its body has {length} bytes, not {size}, of {filled} that came");
            return Err(self.wrong(&what));
        }
        self.received += filled as u64;
        self.bodies += length as u64;
        match self.content.check(0, &self.buffer[start..filled]).wrong {
            0 => Ok(()),
            wrong => Err(self.wrong(&format!("{wrong} bytes of its body are wrong"))),
        }
    }

    /// Waits until the far end has closed its connection.
    fn end_of(&mut self, socket: &OwnedFd) -> Result<(), Failure> {
        let mut byte = [0_u8];
        match retry_on_intr(|| recv(socket, &mut byte, RecvFlags::empty())) {
            Ok((_, 0)) => Ok(()),
            Ok(_) => Err(self.wrong("more bytes came after its body")),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    #[cold]
    fn failed(&self, errno: Errno) -> Failure {
        Failure::of(
            &format!("request {} to {}", self.asked, self.address),
            errno,
        )
    }

    #[cold]
    fn wrong(&self, what: &str) -> Failure {
        Failure::Refuted(format!("the response to request {}: {what}", self.asked))
    }

    fn claim(&self, b: &mut Bencher, account: &Account) {
        let (asked, size) = (self.asked, self.size as u64);
        b.claim_equal(
            "responses",
            asked as f64,
            account.messages as f64,
            "both ends",
        );
        let sent = account.bytes as f64;
        b.claim_equal(
            "bytes of the responses",
            self.received as f64,
            sent,
            "both ends",
        );
        self.claim_named(b, account);
        self.backlog.claim(b, self.budget.made(), account);
        self.way
            .claim(b, asked * REQUEST.len() as u64, asked * size);
        self.budget.detail(b);
    }

    /// Claims what the row's name states: the length of a body, and the number of requests per connection.
    fn claim_named(&self, b: &mut Bencher, account: &Account) {
        let named = b.case().number(SIZE) as f64;
        let body = self.bodies as f64 / self.asked.max(1) as f64;
        b.claim_equal("bytes of a body", named, body, "near end");
        let named = b.case().get(CONNECTION).to_owned();
        let seen = kind_of(account.connections, self.asked);
        b.claim_equal("connections for its requests", named, seen, "far end");
    }
}

impl Lead for Client {
    fn turns(&mut self, turns: u64) -> Result<(), Failure> {
        (0..turns).try_for_each(|_| self.turn())
    }

    fn end(&mut self) -> Result<(), Failure> {
        if let Some(last) = &self.last {
            let is_fresh = self.kept.is_none();
            last.announce(self.budget.made() + u64::from(is_fresh));
            if is_fresh {
                self.turn()?;
            }
        }
        self.way.end();
        self.backlog.end();
        if let Some(kept) = &self.kept {
            // Closing would not end the connection: the partner has inherited a copy of the descriptor.
            syscost_net::service::release(kept);
        }
        Ok(())
    }
}

/// How these connections served these requests, as the row's name calls it; a connection that
/// served a single request was not kept.
fn kind_of(connections: u64, requests: u64) -> String {
    match connections {
        1 if requests > 1 => KEPT.to_owned(),
        _ if connections == requests => FRESH.to_owned(),
        _ => format!("{connections} for {requests} requests"),
    }
}

fn connected(address: &SocketAddr) -> Result<OwnedFd, Errno> {
    let socket = new_socket(*address)?;
    connect(&socket, address)?;
    Ok(socket)
}

#[cfg(test)]
mod tests;
