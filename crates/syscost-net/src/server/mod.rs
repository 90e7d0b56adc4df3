//! The far end as a server: authenticates clients, opens services for their sessions, and enforces
//! its [`Limits`].
//!
//! One thread accepts connections and takes them through the [`Handshake`]; each session then has a
//! thread that reads its client's requests, and more for the service that is open.

mod acceptor;
mod admission;
mod handshake;
mod limits;
mod service_sockets;
mod session;
mod task;
mod work;

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

use acceptor::Acceptor;
pub use handshake::{Handshake, Progress, Rejected};
pub use limits::Limits;
use session::Client;

/// Maximum sleep before the next check whether the server is to end.
const PULSE: Duration = Duration::from_millis(100);

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 128;

/// Stack of a session's threads, in bytes: their buffers are on the heap.
const STACK_BYTES: usize = 256 << 10;

/// Takes a line of the log.
pub type Log<'a> = &'a (dyn Fn(&str) + Sync);

/// Judges whether the core of a CPU, on which it is called, is ours alone; `None` where that is not
/// known.
pub struct Judge(Box<dyn Fn(u32) -> Option<bool> + Send + Sync>);

impl Judge {
    /// A judge that calls this function, which should take some microseconds.
    pub fn new(look: impl Fn(u32) -> Option<bool> + Send + Sync + 'static) -> Self {
        Self(Box::new(look))
    }

    /// Moves to a CPU for a moment and looks at its core.
    fn look_at(&self, number: u32) -> Result<bool, Unsupported> {
        let (allowed, home) = (cpu::allowed()?, cpu::current());
        cpu::pin(number)?;
        let is_exclusive = (self.0)(number);
        // Leaves the CPU before the client goes on: if it is busy, the task that serves may wake on
        // another one.
        cpu::pin(home)?;
        cpu::pin_to(&allowed)?;
        let reason = || Unsupported::new("nothing is known of its core");
        is_exclusive.ok_or_else(reason)
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
    /// Addresses of the clients that have a session.
    clients: Mutex<Vec<IpAddr>>,
    /// Number of sessions so far.
    sessions: AtomicU64,
    /// Whether the sessions are to end.
    is_ending: AtomicBool,
}

/// A reserved session, released when dropped.
struct SessionSlot<'s> {
    server: &'s Server,
    peer: IpAddr,
}

impl Server {
    /// Listens on these addresses. `facts` are sent to clients and describe this machine.
    ///
    /// # Errors
    /// When the server cannot listen on one of them, or the facts do not fit into a line.
    pub fn bind(
        addresses: &[SocketAddr],
        token: Token,
        limits: Limits,
        facts: Value,
    ) -> Result<Server, SystemError> {
        /// Maximum length of a welcome without the facts, in bytes.
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
                // A connection that is already gone must not block the others.
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
            clients: Mutex::new(Vec::new()),
            sessions: AtomicU64::new(0),
            is_ending: AtomicBool::new(false),
        })
    }

    /// Returns the server with a judge, which looks at the core of a task that serves when its client
    /// asks.
    #[must_use]
    pub fn with_judge(self, judge: Judge) -> Server {
        Server {
            judge: Some(judge),
            ..self
        }
    }

    /// The addresses on which it listens, with the actual ports.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners
            .iter()
            .filter_map(|listener| listener.local_addr().ok())
            .collect()
    }

    /// Serves until `stop` is set or, if it is to serve once, until its first session has ended. Ends
    /// all sessions before it returns.
    pub fn run(&self, stop: &AtomicBool, log: Log<'_>) {
        self.is_ending.store(false, Ordering::Relaxed);
        let mut acceptor = Acceptor::new(self, log);
        thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) && !self.has_served() {
                for client in acceptor.wait(PULSE) {
                    self.start_session(scope, client, log);
                }
            }
            self.is_ending.store(true, Ordering::Relaxed);
        });
    }

    /// Whether the server was to serve once and its first session has ended.
    fn has_served(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    fn start_session<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        client: Client,
        log: Log<'scope>,
    ) {
        let address = client.address();
        let slot = match self.slot_for(address.ip().to_canonical()) {
            Ok(slot) => slot,
            Err(why) => {
                log(&format!("{address} has no session: {why}"));
                client.refuse(&why);
                return;
            }
        };
        let number = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        let again = client.again();
        let spawned = thread::Builder::new()
            .name(format!("session {number}"))
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, move || {
                client.serve(self, number, log);
                drop(slot);
                if self.limits.once && number == 1 {
                    self.is_ending.store(true, Ordering::Relaxed);
                }
            });
        if let Err(cause) = spawned {
            let why = format!("no thread for it: {cause}");
            log(&format!("{address} has no session: {why}"));
            if let Ok(client) = again {
                client.refuse(&why);
            }
        }
    }

    /// Reserves a session for this client; the error says why there is none.
    fn slot_for(&self, peer: IpAddr) -> Result<SessionSlot<'_>, String> {
        let mut clients = self.clients();
        let of_peer = clients.iter().filter(|client| **client == peer).count();
        if clients.len() >= self.limits.sessions {
            return Err(format!("all {} sessions are taken", clients.len()));
        }
        if of_peer >= self.limits.sessions_per_peer {
            return Err(format!("all {of_peer} sessions of an address are taken"));
        }
        clients.push(peer);
        Ok(SessionSlot { server: self, peer })
    }

    fn clients(&self) -> std::sync::MutexGuard<'_, Vec<IpAddr>> {
        // A list of addresses is intact even if a thread has panicked.
        self.clients
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn pollable(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.listeners
            .iter()
            .map(|listener| PollFd::new(listener, PollFlags::IN))
    }
}

impl Drop for SessionSlot<'_> {
    fn drop(&mut self) {
        let mut clients = self.server.clients();
        if let Some(at) = clients.iter().position(|client| *client == self.peer) {
            clients.swap_remove(at);
        }
    }
}
