//! The far end as a server: authenticates, opens a service for a session, keeps within its [`Limits`].
//!
//! One thread accepts connections and takes them through the [`Handshake`]; each session that comes of one has a thread that
//! listens to its client, and more for the service it has open.

mod door;
mod entrance;
mod handshake;
mod limits;
mod session;
mod task;
mod tickets;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use serde_json::Value;
use syscost_sys::{SystemError, Unsupported, cpu};

use crate::socket::{self, Tcp};
use crate::token::Token;
use crate::wire;

use door::Door;
pub use handshake::{Handshake, Progress, TurnedAway};
pub use limits::Limits;
use session::Guest;

/// Longest sleep before it is looked whether the server is to end.
const PULSE: Duration = Duration::from_millis(100);

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 128;

/// Stack of a session's threads, in bytes: they keep their buffers elsewhere.
const STACK_BYTES: usize = 256 << 10;

/// Takes a line of the log: who did what.
pub type Log<'a> = &'a (dyn Fn(&str) + Sync);

/// Judges whether the core of a CPU, on which it is called, works for nobody else; `None` where
/// that is not known.
pub struct Judge(Box<dyn Fn(u32) -> Option<bool> + Send + Sync>);

impl Judge {
    /// One that looks by this function, for some microseconds.
    pub fn new(look: impl Fn(u32) -> Option<bool> + Send + Sync + 'static) -> Self {
        Self(Box::new(look))
    }

    /// Goes to a CPU for a moment and looks at its core.
    fn look_at(&self, number: u32) -> Result<bool, Unsupported> {
        let (allowed, home) = (cpu::allowed()?, cpu::current()?);
        cpu::pin(number)?;
        let is_ours = (self.0)(number);
        // Away from there before the client goes on: where a CPU is busy, the task that serves may
        // wake on another one.
        cpu::pin(home)?;
        cpu::pin_to(&allowed)?;
        let reason = || Unsupported::new("nothing is known of its core");
        is_ours.ok_or_else(reason)
    }
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Judge")
    }
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<TcpListener>,
    token: Token,
    limits: Limits,
    facts: Value,
    /// Looks at cores for clients.
    judge: Option<Judge>,
    /// Who has a session.
    guests: Mutex<Vec<IpAddr>>,
    /// Sessions so far.
    sessions: AtomicU64,
    /// Whether its sessions are to end.
    is_ending: AtomicBool,
}

/// A place among the sessions, given back when dropped.
struct Place<'s> {
    server: &'s Server,
    peer: IpAddr,
}

impl Server {
    /// Listens on these addresses. `facts` is what clients are told of this machine.
    ///
    /// # Errors
    /// When one of them cannot be listened on, or the facts are too many for a line.
    pub fn bind(
        addresses: &[SocketAddr],
        token: Token,
        limits: Limits,
        facts: Value,
    ) -> Result<Server, SystemError> {
        /// What a welcome has beside the facts, at most.
        const PROOF_BYTES: usize = 256;
        let length = facts.to_string().len();
        if length + PROOF_BYTES > wire::MAX_WELCOME {
            let cause = io::Error::other(format!("{length} bytes are too many for a line"));
            return Err(SystemError::new("listen", "the machine's facts", cause));
        }
        let listeners = addresses
            .iter()
            .map(|address| {
                let listener = socket::listen(*address, BACKLOG, &Tcp::nodelay())?;
                // Whoever has gone meanwhile must not hold up the others.
                listener
                    .set_nonblocking(true)
                    .map_err(|cause| SystemError::new("fcntl", address.to_string(), cause))?;
                Ok(listener)
            })
            .collect::<Result<Vec<_>, SystemError>>()?;
        Ok(Server {
            listeners,
            token,
            limits,
            facts,
            judge: None,
            guests: Mutex::new(Vec::new()),
            sessions: AtomicU64::new(0),
            is_ending: AtomicBool::new(false),
        })
    }

    /// The same with somebody who looks at the core of a task that serves, when its client asks.
    #[must_use]
    pub fn looking_by(self, judge: Judge) -> Server {
        Server {
            judge: Some(judge),
            ..self
        }
    }

    /// Where it listens, with the ports that were chosen.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners
            .iter()
            .filter_map(|listener| listener.local_addr().ok())
            .collect()
    }

    /// Serves until `stop` is set, or, if it is to serve once, until its first session has ended. Ends its sessions before it
    /// returns.
    pub fn run(&self, stop: &AtomicBool, log: Log<'_>) {
        self.is_ending.store(false, Ordering::Relaxed);
        let mut door = Door::new(self, log);
        thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) && !self.has_served() {
                for guest in door.wait(PULSE) {
                    self.let_in(scope, guest, log);
                }
            }
            self.is_ending.store(true, Ordering::Relaxed);
        });
    }

    /// Whether its first session has ended and was to be the only one.
    fn has_served(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Begins a session, if there is room.
    fn let_in<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        guest: Guest,
        log: Log<'scope>,
    ) {
        let address = guest.address();
        let place = match self.place_for(address.ip().to_canonical()) {
            Ok(place) => place,
            Err(why) => {
                log(&format!("{address} has no session: {why}"));
                guest.refuse(&why);
                return;
            }
        };
        let number = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        let spawned = thread::Builder::new()
            .name(format!("session {number}"))
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, move || {
                guest.serve(self, number, log);
                drop(place);
                if self.limits.once && number == 1 {
                    self.is_ending.store(true, Ordering::Relaxed);
                }
            });
        if let Err(cause) = spawned {
            log(&format!(
                "{address} has no session: no thread for it: {cause}"
            ));
        }
    }

    /// A place for a session with this client, or why there is none.
    fn place_for(&self, peer: IpAddr) -> Result<Place<'_>, String> {
        let mut guests = self.guests();
        let of_peer = guests.iter().filter(|guest| **guest == peer).count();
        if guests.len() >= self.limits.sessions {
            return Err(format!("all {} sessions are taken", guests.len()));
        }
        if of_peer >= self.limits.sessions_per_peer {
            return Err(format!("all {of_peer} sessions of an address are taken"));
        }
        guests.push(peer);
        Ok(Place { server: self, peer })
    }

    fn guests(&self) -> std::sync::MutexGuard<'_, Vec<IpAddr>> {
        // A list of addresses is whole whoever panicked.
        self.guests
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What to wait for at the door.
    fn pollable(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.listeners
            .iter()
            .map(|listener| PollFd::new(listener, PollFlags::IN))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut guests = self.server.guests();
        if let Some(at) = guests.iter().position(|guest| *guest == self.peer) {
            guests.swap_remove(at);
        }
    }
}
