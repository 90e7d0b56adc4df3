//! A running service of a session, in its own threads.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use syscost_sys::Unsupported;
use syscost_sys::counters::{TaskId, TaskPlace};

use super::service_sockets::{Job, ServiceSockets};
use super::work::Work;
use super::{Limits, STACK_BYTES};
use crate::service::{Account, Reading};
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
        let work = Arc::new(Work::new(lanes, limits.service_bytes));
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

    pub(super) fn service(&self) -> &Service {
        &self.service
    }

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
        match self.work.thread() {
            0 => Err(Unsupported::new("no client is served yet")),
            thread => {
                let process = std::process::id();
                TaskPlace::of(TaskId { process, thread })?.processor()
            }
        }
    }

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
                self.work.end();
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
