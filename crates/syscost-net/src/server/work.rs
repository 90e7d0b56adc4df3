//! What the threads of a service do, and how far they are.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use syscost_sys::counters::TaskId;

use crate::service::{Account, IsOver, Reading, ServiceError, monotonic_ns, release};

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

impl Work {
    /// Of a service on this many connections, which may move this many bytes together.
    pub(super) fn new(lanes: u32, bytes: u64) -> Self {
        Self {
            is_over: AtomicBool::new(false),
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            max_bytes: bytes / u64::from(lanes),
            sockets: Mutex::new(Vec::new()),
        }
    }

    /// The thread of the first connection; 0 before it has begun.
    pub(super) fn thread(&self) -> u32 {
        let lane = self.lanes.first();
        lane.map_or(0, |lane| lane.thread.load(Relaxed))
    }

    /// Lets what is under way be the last.
    pub(super) fn end(&self) {
        self.is_over.store(true, Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    /// Ends the service, whatever it waits for.
    pub(super) fn stop(&self) {
        self.end();
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

    pub(super) fn reading(&self) -> Reading {
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
