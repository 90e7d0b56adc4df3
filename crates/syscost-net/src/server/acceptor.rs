//! Connections that are not authenticated yet: limited in number and time, and never answered with
//! more bytes than they sent.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::session::Client;
use super::{Handshake, Log, Progress, Server};
use crate::socket::poll_for;

/// Pause after the system refused to accept: there are no descriptors left, and there will be none
/// for a while.
const PAUSE: Duration = Duration::from_millis(50);

/// Minimum time between two log lines about rejected connections.
const QUIET: Duration = Duration::from_secs(1);

pub(super) struct Acceptor<'s> {
    server: &'s Server,
    log: Log<'s>,
    /// Oldest first.
    waiting: Vec<Waiting<'s>>,
    rejections: Rejections,
}

/// A connection that is not authenticated yet.
struct Waiting<'s> {
    stream: TcpStream,
    address: SocketAddr,
    handshake: Handshake<'s>,
    deadline: Instant,
}

/// The fate of a connection.
enum Fate<'s> {
    Stays(Waiting<'s>),
    Authenticated(Client),
    Goes(String),
}

impl<'s> Acceptor<'s> {
    pub(super) fn new(server: &'s Server, log: Log<'s>) -> Self {
        Self {
            server,
            log,
            waiting: Vec::new(),
            rejections: Rejections::default(),
        }
    }

    /// Waits for connections and data, at most this long; returns the clients that were authenticated.
    pub(super) fn wait(&mut self, limit: Duration) -> Vec<Client> {
        let mut polled: Vec<PollFd<'_>> = self.server.pollable().collect();
        let listeners = polled.len();
        let streams = self.waiting.iter().map(|one| &one.stream);
        polled.extend(streams.map(|stream| PollFd::new(stream, PollFlags::IN)));
        let is_any = poll_for(&mut polled, limit).is_ok_and(|count| count > 0);
        let ready: Vec<bool> = polled
            .iter()
            .map(|one| is_any && !one.revents().is_empty())
            .collect();
        let (at_listeners, within) = ready.split_at(listeners);
        let clients = self.attend(within);
        for (place, _) in at_listeners.iter().enumerate().filter(|(_, ready)| **ready) {
            self.accept(place);
        }
        self.rejections.report(self.log);
        clients
    }

    /// Reads from those that have sent something, and rejects those whose time is over.
    fn attend(&mut self, ready: &[bool]) -> Vec<Client> {
        let now = Instant::now();
        let mut clients = Vec::new();
        let waiting = std::mem::take(&mut self.waiting);
        for (one, is_ready) in waiting.into_iter().zip(ready) {
            let address = one.address;
            let fate = match is_ready {
                true => one.hear(),
                false => Fate::Stays(one),
            };
            match fate {
                Fate::Stays(one) if now < one.deadline => self.waiting.push(one),
                Fate::Stays(_) => self.rejections.reject(address, "no proof in time"),
                Fate::Authenticated(client) => clients.push(client),
                Fate::Goes(why) => self.rejections.reject(address, &why),
            }
        }
        clients
    }

    /// Accepts the connections that wait at this listener.
    fn accept(&mut self, place: usize) {
        let limits = &self.server.limits;
        // Not without limit, or those already accepted would not be read from.
        for _ in 0..limits.unproven {
            match self.server.listeners[place].accept() {
                Ok((stream, address)) => {
                    if stream.set_nonblocking(true).is_err() {
                        continue;
                    }
                    if self.waiting.len() >= limits.unproven {
                        self.make_room();
                    }
                    self.waiting.push(Waiting {
                        stream,
                        address,
                        handshake: Handshake::new(&self.server.token),
                        deadline: Instant::now() + limits.proof,
                    });
                }
                Err(cause) => match cause.kind() {
                    ErrorKind::WouldBlock => return,
                    ErrorKind::ConnectionAborted | ErrorKind::Interrupted => {}
                    _ => {
                        self.rejections.note(&format!("cannot accept: {cause}"));
                        std::thread::sleep(PAUSE);
                        return;
                    }
                },
            }
        }
    }

    /// Rejects the oldest connection of the address with the most connections here: a client that opens
    /// many loses its own first.
    fn make_room(&mut self) {
        let ip = |one: &Waiting<'_>| one.address.ip();
        let count = |of: IpAddr| self.waiting.iter().filter(|one| ip(one) == of).count();
        // If several have equally many, the one that has waited longest.
        let busiest = self
            .waiting
            .iter()
            .map(ip)
            .rev()
            .max_by_key(|of| count(*of));
        let oldest = self.waiting.iter().position(|one| Some(ip(one)) == busiest);
        if let Some(oldest) = oldest {
            let gone = self.waiting.remove(oldest);
            self.rejections
                .reject(gone.address, "too many unauthenticated connections");
        }
    }
}

impl<'s> Waiting<'s> {
    /// Reads what was received and answers it.
    fn hear(mut self) -> Fate<'s> {
        let mut bytes = [0; 1024];
        let count = match self.stream.read(&mut bytes) {
            Ok(0) => return Fate::Goes("it disconnected".to_owned()),
            Ok(count) => count,
            Err(cause) if cause.kind() == ErrorKind::WouldBlock => return Fate::Stays(self),
            Err(cause) => return Fate::Goes(cause.to_string()),
        };
        let mut answer = Vec::new();
        let progress = self.handshake.take(&bytes[..count], &mut answer);
        // So few bytes always fit into the buffer of a connection that reads.
        let said = self.stream.write(&answer);
        match progress {
            Err(why) => Fate::Goes(why.to_string()),
            Ok(_) if !said.is_ok_and(|said| said == answer.len()) => {
                Fate::Goes("it does not read the answer".to_owned())
            }
            Ok(Progress::Waiting) => Fate::Stays(self),
            Ok(Progress::Proven(nonces)) => {
                Fate::Authenticated(Client::new(self.stream, self.address, nonces))
            }
        }
    }
}

/// Rejected connections, for the log: the first is logged at once, then at most a line per second.
#[derive(Default)]
struct Rejections {
    latest: Option<String>,
    others: u64,
    reported: Option<Instant>,
}

impl Rejections {
    fn reject(&mut self, address: SocketAddr, why: &str) {
        self.note(&format!("{address} rejected: {why}"));
    }

    fn note(&mut self, what: &str) {
        if self.latest.replace(what.to_owned()).is_some() {
            self.others += 1;
        }
    }

    fn report(&mut self, log: Log<'_>) {
        if self.reported.is_some_and(|last| last.elapsed() < QUIET) {
            return;
        }
        let Some(latest) = self.latest.take() else {
            return;
        };
        match std::mem::take(&mut self.others) {
            0 => log(&latest),
            others => log(&format!("{latest} (and {others} more)")),
        }
        self.reported = Some(Instant::now());
    }
}
