//! A running service of a session, in its own threads.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use syscost_sys::Unsupported;
use syscost_sys::counters::{TaskId, TaskPlace};

use super::service_sockets::{Job, ServiceSockets};
use super::{Limits, STACK_BYTES};
use crate::service::{Account, IsOver, Reading, ServiceError, monotonic_ns, release};
use crate::token::random;
use crate::wire::{Cookie, Opening, Service};

/// Idle time after which a transfer that the client has not closed counts as finished.
const QUIET: Duration = Duration::from_millis(500);

/// How long datagrams may still be under way after the client has sent the last.
const STRAGGLING: Duration = Duration::from_millis(200);

/// Time between two checks whether a service has ended.
const LOOK: Duration = Duration::from_millis(1);

/// A running service, ended when dropped.
pub(super) struct Task<'scope> {
    pub(super) opening: Opening,
    work: Arc<Work>,
    thread: Option<ScopedJoinHandle<'scope, Result<Account, String>>>,
    service: Service,
    deadline: Instant,
}

/// What the threads of a service share with their session.
#[derive(Debug)]
pub(super) struct Work {
    is_over: AtomicBool,
    pub(super) lanes: Vec<Lane>,
    /// Maximum number of bytes of one connection.
    max_bytes: u64,
    /// The sockets on which threads may be waiting.
    sockets: Mutex<Vec<Arc<OwnedFd>>>,
}

/// Progress of the service of one connection.
#[derive(Debug, Default)]
pub(super) struct Lane {
    messages: AtomicU64,
    bytes: AtomicU64,
    /// Thread id; 0 before the thread has begun.
    thread: AtomicU32,
}

impl<'scope> Task<'scope> {
    /// Begins a service; the error says why it cannot.
    pub(super) fn begin(
        scope: &'scope Scope<'scope, '_>,
        service: Service,
        local: SocketAddr,
        peer: IpAddr,
        limits: &Limits,
    ) -> Result<Self, String> {
        limits.check(&service)?;
        let sockets = ServiceSockets {
            local,
            peer,
            cookie: Cookie(random().map_err(|error| error.to_string())?),
            ports: limits.data_ports.clone(),
        };
        let Job { port, lanes, run } = sockets.open(&service)?;
        let work = Arc::new(Work {
            is_over: AtomicBool::new(false),
            max_bytes: limits.service_bytes / u64::from(lanes),
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            sockets: Mutex::new(Vec::new()),
        });
        let shared = Arc::clone(&work);
        let builder = thread::Builder::new().name("service".to_owned());
        let thread = builder
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, move || run(&shared))
            .map_err(|cause| format!("no thread for it: {cause}"))?;
        Ok(Self {
            opening: Opening {
                port,
                cookie: sockets.cookie,
            },
            work,
            thread: Some(thread),
            service,
            deadline: Instant::now() + limits.service,
        })
    }

    /// The service as it was requested.
    pub(super) fn service(&self) -> &Service {
        &self.service
    }

    /// Its progress.
    pub(super) fn reading(&self) -> Reading {
        self.work.reading()
    }

    /// The CPU on which its first connection is served, or was last served.
    pub(super) fn cpu(&self) -> Result<u32, Unsupported> {
        if self.service.spins() {
            return Err(Unsupported::new(
                "it spins on its CPU, and a look would displace it",
            ));
        }
        let lane = self.work.lanes.first();
        match lane.map_or(0, |lane| lane.thread.load(Relaxed)) {
            0 => Err(Unsupported::new("no client is served yet")),
            thread => {
                let process = std::process::id();
                TaskPlace::of(TaskId { process, thread })?.processor()
            }
        }
    }

    /// Whether it has reached its time limit.
    pub(super) fn is_overdue(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Ends it once what is under way has arrived; returns its account, or why it failed.
    pub(super) fn end(mut self, sent: Option<u64>) -> Result<Account, String> {
        self.settle(sent);
        self.work.stop();
        let thread = self.thread.take().expect("only `end` takes it, once");
        thread
            .join()
            .unwrap_or_else(|_| Err("it panicked".to_owned()))
    }

    /// Waits for what is under way.
    fn settle(&self, sent: Option<u64>) {
        match &self.service {
            // The client already has all the answers and connections that it wants.
            Service::StreamEcho { .. }
            | Service::DatagramEcho { .. }
            | Service::Accept { .. }
            | Service::Http { .. } => {}
            // Bytes may arrive after the request to finish.
            Service::StreamSink(_) => self.wait_while_moving(),
            // The last buffer is sent completely, then the end of the stream.
            Service::StreamSource(_) => {
                self.work.is_over.store(true, Relaxed);
                self.wait_while_moving();
            }
            Service::DatagramSink { .. } => {
                let sent = sent.unwrap_or(0);
                let begun = Instant::now();
                while self.reading().messages < sent && begun.elapsed() < STRAGGLING {
                    thread::sleep(LOOK);
                }
            }
        }
    }

    /// Waits until the service has ended by itself, or has moved nothing for a while.
    fn wait_while_moving(&self) {
        let (mut bytes, mut moved) = (self.reading().bytes, Instant::now());
        let is_at_work = || {
            self.thread
                .as_ref()
                .is_some_and(|thread| !thread.is_finished())
        };
        while is_at_work() && moved.elapsed() < QUIET && !self.is_overdue() {
            thread::sleep(LOOK);
            let now = self.reading().bytes;
            if now != bytes {
                (bytes, moved) = (now, Instant::now());
            }
        }
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        self.work.stop();
    }
}

impl Work {
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    /// Ends the service, whatever it waits for.
    fn stop(&self) {
        self.is_over.store(true, Relaxed);
        self.sockets().iter().for_each(release);
    }

    /// Registers a socket to be released when the service is to end.
    pub(super) fn watch(&self, socket: &Arc<OwnedFd>) {
        self.sockets().push(Arc::clone(socket));
        if self.is_over() {
            release(socket);
        }
    }

    /// Unregisters a socket that is about to be closed.
    pub(super) fn forget(&self, socket: &Arc<OwnedFd>) {
        self.sockets()
            .retain(|watched| !Arc::ptr_eq(watched, socket));
    }

    fn sockets(&self) -> MutexGuard<'_, Vec<Arc<OwnedFd>>> {
        // A list of sockets is intact even if a thread has panicked.
        self.sockets
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn reading(&self) -> Reading {
        let sum = |of: fn(&Lane) -> &AtomicU64| {
            self.lanes.iter().map(|lane| of(lane).load(Relaxed)).sum()
        };
        Reading {
            messages: sum(|lane| &lane.messages),
            bytes: sum(|lane| &lane.bytes),
            cpu_ns: self.lanes.iter().map(Lane::cpu_ns).sum(),
            at_ns: monotonic_ns(),
        }
    }

    /// Runs a service in this lane, counts its progress for the session, and ends it at its limit.
    pub(super) fn count(
        &self,
        lane: &Lane,
        service: impl FnOnce(IsOver<'_>) -> Result<Account, ServiceError>,
    ) -> Result<Account, String> {
        lane.thread.store(TaskId::own().thread, Relaxed);
        let max_bytes = self.max_bytes;
        let account = service(&mut |account| {
            lane.messages.store(account.messages, Relaxed);
            lane.bytes.store(account.bytes, Relaxed);
            self.is_over() || account.bytes >= max_bytes
        })
        .map_err(|error| error.to_string())?;
        match account.bytes >= max_bytes {
            true => Err(format!(
                "the limit of {max_bytes} bytes per connection is reached"
            )),
            false => Ok(account),
        }
    }
}

impl Lane {
    /// CPU time of its thread, in ns, if the kernel reports it; 0 before there is a thread.
    fn cpu_ns(&self) -> Option<u64> {
        match self.thread.load(Relaxed) {
            0 => Some(0),
            thread => {
                let path = format!("/proc/self/task/{thread}/schedstat");
                let text = std::fs::read_to_string(path).ok()?;
                text.split_ascii_whitespace().next()?.parse().ok()
            }
        }
    }
}
