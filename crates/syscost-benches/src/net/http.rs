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

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, connect, recv, send};
use syscost_harness::prelude::*;
use syscost_net::service::IsOver;
use syscost_net::service::http::{self, Response};
use syscost_net::socket::Tcp;
use syscost_net::{Content, Service};

use super::connections::Connections;
use super::far_end::{
    Destination, Family, FarAccount, FarEnd, Networked, OverNetwork, Path, Route,
};
use super::interface::InterfaceCounters;
use super::tcp::bandwidth::content;
use super::tcp::connect::{new_socket, next_byte};
use crate::ipc::traffic::sleeps;
use crate::witness::messages::{self, Moved, Strays};
use crate::witness::sockets;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "HTTP request latency",
    tags: "web server, request/response, lat_http",
    revision: 2,
    ..Benchmark::of::<OverNetwork<NetHttp>>()
};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: syscost\r\n\r\n";

/// The body that is measured first.
const PLAIN: Bytes = Bytes::kib(1);

/// Which connections the requests go over.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Connection {
    /// One serves all.
    Kept,
    /// Each opens its own.
    Fresh,
}

static CONNECTIONS: Witness = Witness::of("connections for its requests", "far end");

#[derive(Params, Clone)]
struct NetHttp {
    path: Path,
    connection: Connection,
    /// Bytes of the response's body.
    size: Bytes,
}

impl Networked for NetHttp {
    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(NetHttp {
            path: Path::each(here),
            connection: Connection::ALL,
            size: [PLAIN, Bytes::kib(64)]
        })
    }

    fn destination(&self) -> Destination {
        Destination::new(self.path, Family::Ipv4, None)
    }

    fn profile(&self) -> Profile {
        match self.path {
            Path::Loopback if self.size != PLAIN => Profile::Full,
            Path::Loopback | Path::Remote => Profile::Standard,
        }
    }

    fn proofs(&self) -> NetHttpProofs<Proof> {
        NetHttpProofs {
            path: sockets::path(self.path),
            connection: CONNECTIONS
                .expects(self.connection.name())
                .and(Proof::counted(self.counts())),
            size: messages::size(self.size, None),
        }
    }

    fn measure(self, route: Route, mut plan: Plan) -> Result<Outcome, Failure> {
        let (connection, size) = (self.connection, self.size.get());
        route.announce(&mut plan, size)?;
        let content = content(&plan);
        let shape = Together::of(route.placement(), |cpus| {
            let (far, to) = responding(&route, size, connection, cpus)?;
            Ok(far.driven_by(Client::new(to, connection, size, content)?))
        });
        let (mut outcome, (client, account)) = plan.measure(shape)?.split();
        client.claim(&mut outcome, &account);
        Ok(outcome)
    }
}

impl NetHttp {
    /// The calls and switches of those ends that are tasks of this machine.
    fn counts(&self) -> Vec<Expect> {
        let (ends, there) = (self.path.own_ends(), self.path.own_ends() - 1.0);
        // A body arrives in parts as the network delivers them.
        let parts = self.size.0.div_ceil(1024) as f64;
        let fresh = match self.connection {
            Connection::Kept => 0.0,
            Connection::Fresh => 1.0,
        };
        let (receives, least) = (Counter::Syscall(Sysno::RECVFROM), ends + fresh);
        let sleeps = match self.path {
            Path::Loopback => sleeps(Placement::SAME),
            Path::Remote => 0.5,
        };
        let most = (2.3 + 2.0 * fresh) * ends * parts;
        vec![
            together(Sysno::SENDTO, ends),
            within(receives, 0.95 * least, 1.05 * (least + parts)),
            together(Sysno::SOCKET, fresh),
            together(Sysno::CONNECT, fresh),
            together(Sysno::ACCEPT4, there * fresh),
            // How long the far end waits for each connection, in both directions.
            together(Sysno::SETSOCKOPT, 2.0 * there * fresh),
            together(Sysno::CLOSE, ends * fresh),
            // A debug build checks that a descriptor is open before it closes it.
            at_most(Counter::Syscall(Sysno::FCNTL), 1.05 * ends * fresh),
            at_most(Counter::MinorFaults, 0.01 * parts),
            within(Counter::Switches, sleeps, most),
        ]
    }
}

fn responding(
    route: &Route,
    size: usize,
    connection: Connection,
    cpus: &[u32],
) -> Result<(FarEnd, Connections), Failure> {
    let keep_alive = connection == Connection::Kept;
    let response = Response::new(size, keep_alive);
    let serve = move |listener: &TcpListener, is_over: IsOver<'_>| {
        http::respond(listener, &response, None, is_over)
    };
    let service = Service::Http {
        body: size as u32,
        keep_alive,
    };
    Connections::accepted_by(route, cpus, &Tcp::nodelay(), serve, &service)
}

/// The measuring side.
struct Client {
    to: Connections,
    /// The connection that all requests go over; `None` where each request opens a new one.
    kept: Option<OwnedFd>,
    size: usize,
    content: Content,
    buffer: Vec<u8>,
    asked: u64,
    received: u64,
    bodies: u64,
    interface: InterfaceCounters,
}

impl Client {
    fn new(
        mut to: Connections,
        connection: Connection,
        size: usize,
        content: Content,
    ) -> Result<Self, Failure> {
        to.budget.spend()?;
        let first = connected(&to.address)
            .map_err(|cause| Failure::of(&format!("connect to {}", to.address), cause))?;
        let mut client = Self {
            to,
            interface: InterfaceCounters::of(&first)?,
            kept: Some(first),
            size,
            content,
            // Not zeros, so that every page is present from now on.
            buffer: vec![1; MAX_HEAD + size],
            asked: 0,
            received: 0,
            bodies: 0,
        };
        if connection == Connection::Fresh {
            // The first connection was opened only to learn this end's address; the far end still
            // waits for its request.
            client.iterate()?;
            client.kept = None;
        }
        Ok(client)
    }

    #[inline(always)]
    fn iterate(&mut self) -> Result<(), Failure> {
        self.asked += 1;
        match self.kept.take() {
            Some(socket) => {
                let answered = self.ask(&socket);
                self.kept = Some(socket);
                answered
            }
            None => {
                self.to.budget.spend()?;
                let socket = connected(&self.to.address).map_err(|errno| self.failed(errno))?;
                self.ask(&socket)?;
                self.end_of(&socket)
            }
        }
    }

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
        match next_byte(socket) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.wrong("more bytes came after its body")),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    #[cold]
    fn failed(&self, errno: Errno) -> Failure {
        Failure::of(
            &format!("request {} to {}", self.asked, self.to.address),
            errno,
        )
    }

    #[cold]
    fn wrong(&self, what: &str) -> Failure {
        Failure::Refuted(format!("the response to request {}: {what}", self.asked))
    }

    fn claim(&self, b: &mut Bencher, account: &FarAccount) {
        let (asked, size) = (self.asked, self.size as u64);
        let moved = |messages, bytes| Moved {
            messages,
            bytes,
            sum: None,
        };
        let received = moved(asked, self.received);
        let sent = moved(account.messages, account.bytes);
        messages::claim_same(b, "of the responses", &sent, &received, Strays::default());
        messages::see_size(b, &moved(asked, self.bodies));
        b.observe(&CONNECTIONS, kind_of(account.connections, asked));
        sockets::see_far_end(b, account.is_partner);
        self.to.claim(b, Some(account));
        self.interface
            .claim(b, asked * REQUEST.len() as u64, asked * size);
    }
}

impl Driver for Client {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        (0..iterations).try_for_each(|_| self.iterate())
    }

    fn end(&mut self) -> Result<(), Failure> {
        let is_fresh = self.kept.is_none();
        if self.to.are_over_after(u64::from(is_fresh)) && is_fresh {
            self.iterate()?;
        }
        self.interface.end();
        self.to.counters.end();
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
        1 if requests > 1 => Connection::Kept.name().to_owned(),
        _ if connections == requests => Connection::Fresh.name().to_owned(),
        _ => format!("{connections} for {requests} requests"),
    }
}

fn connected(address: &SocketAddr) -> Result<OwnedFd, Errno> {
    let socket = new_socket(*address)?;
    connect(&socket, address)?;
    Ok(socket)
}

/// What the head of a response ends with.
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// Maximum size of a head that can be parsed, in bytes.
const MAX_HEAD: usize = 1024;

/// Where the body begins and how long it is, once the whole head has arrived; or what is wrong with the head.
fn head_of(bytes: &[u8]) -> Option<Result<(usize, usize), &'static str>> {
    let mut windows = bytes.windows(END_OF_HEAD.len()).take(MAX_HEAD);
    let end = windows.position(|window| window == END_OF_HEAD)?;
    let start = end + END_OF_HEAD.len();
    let Ok(head) = std::str::from_utf8(&bytes[..end]) else {
        return Some(Err("its header is not UTF-8"));
    };
    if !head.starts_with("HTTP/1.1 200 ") {
        return Some(Err("its status is not 200"));
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    Some(
        length
            .map(|length| (start, length))
            .ok_or("its Content-Length is missing"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_where_the_body_is_and_how_long() {
        let text = b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 5\r\n\r\nabcde";
        assert_eq!(head_of(text), Some(Ok((38, 5))));
        assert_eq!(head_of(&text[..30]), None, "not all of it is there");
        for (text, what) in [
            (
                &b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"[..],
                "status",
            ),
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
                "Content-Length",
            ),
            (b"HTTP/1.1 200 OK\r\n\r\n", "Content-Length"),
            (b"\xFF\r\n\r\n", "UTF-8"),
        ] {
            let found = head_of(text).expect("a whole head").unwrap_err();
            assert!(found.contains(what), "{found}");
        }
    }

    /// Thirty requests to a partner that answers with a body of this size; this end wants 1000 bytes.
    fn exchange(connection: Connection, body: usize) -> Result<bool, Failure> {
        let cpus = syscost_sys::cpu::allowed().unwrap();
        let route = Route::Loopback(Placement::SAME, Family::Ipv4);
        let (far, to) = responding(&route, body, connection, &cpus).unwrap();
        let exchanged = Client::new(to, connection, 1000, Content::Whole)
            .and_then(|client| far.driven_by(client).perform([30]));
        exchanged.map(|(client, account)| {
            assert!(client.asked >= 30);
            client.asked == account.messages
                && client.to.budget.made() == account.connections
                && kind_of(account.connections, client.asked) == connection.name()
                && client.bodies == body as u64 * client.asked
        })
    }

    #[test]
    fn every_request_is_answered_over_kept_and_fresh_connections() {
        for connection in Connection::ALL {
            assert_eq!(exchange(connection, 1000), Ok(true), "{connection:?}");
        }
    }

    #[test]
    fn connections_that_are_neither_kept_nor_fresh_have_no_name() {
        assert_eq!(kind_of(1, 9), "kept");
        assert_eq!(kind_of(9, 9), "fresh");
        assert_eq!(
            kind_of(1, 1),
            "fresh",
            "nothing was kept for another request"
        );
        assert_eq!(kind_of(2, 9), "2 for 9 requests");
    }

    #[test]
    fn a_body_of_another_length_is_refuted() {
        for connection in Connection::ALL {
            let exchanged = exchange(connection, 999);
            assert!(
                matches!(exchanged, Err(Failure::Refuted(_))),
                "{exchanged:?}"
            );
        }
    }
}
