//! `syscost doctor --watch --openmetrics FILE` and `--listen`: how much each core is ours, for
//! Prometheus.

mod http;
mod text;

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use syscost_harness::clock::RunClock;
use syscost_harness::cores::CoreMeter;
use syscost_harness::machine;
use syscost_sys::cpu;

use crate::error::exit;
use crate::files::{check_writable, write};
use crate::interrupt;
use crate::terminal::{note, warn};

/// Duration of the probe that finds what each core shows while it is ours.
const CALIBRATION: Duration = Duration::from_millis(200);

/// The first figures come sooner than after an interval.
const FIRST: Duration = Duration::from_secs(1);

/// Maximum number of clients served at the same time.
const MAX_CLIENTS: usize = 32;

/// Where figures go, and how often they are made anew.
pub(super) struct Exporter<'a> {
    /// The file that is kept current.
    pub(super) file: Option<&'a Path>,
    /// The address to serve them at.
    pub(super) listen: Option<SocketAddr>,
    /// The time between two sets of figures.
    pub(super) interval: Duration,
    /// When to end; else by a signal.
    pub(super) time: Option<Duration>,
}

impl Exporter<'_> {
    /// Exports until a signal comes or the time is over.
    pub(super) fn run(&self) -> Result<u8> {
        self.file.map_or(Ok(()), check_writable)?;
        let signals = interrupt::stream()?;
        let listener = self.listen.map(listen).transpose()?;
        let cpus = cpu::allowed()?;
        let machine = machine::capture();
        let clock = RunClock::choose(&cpus).calibrate();
        let (cores, _) = super::hear(&cpus, &machine, &clock, CALIBRATION);
        let meter = CoreMeter::new(&cpus, cores, clock);
        let host = &machine.hostname;
        let ended = meter.during(|| self.export(&meter, host, &signals, listener.as_ref()));
        if let Some(path) = self.file.filter(|path| path.is_file()) {
            // What nobody measures any more is not shown as current; behind a link lies what was written.
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
        ended.map(|()| exit::DONE)
    }

    fn export(
        &self,
        meter: &CoreMeter,
        host: &str,
        signals: &UnixStream,
        listener: Option<&TcpListener>,
    ) -> Result<()> {
        let begun = Instant::now();
        let end = self.time.map(|time| begun + time);
        let mut due = begun + FIRST.min(self.interval);
        let mut metrics = text::of(host, &[], meter.used_seconds());
        let mut has_failed = false;
        // Held by the threads that serve one.
        let clients = Arc::new(());
        loop {
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                return Ok(());
            }
            if now >= due {
                metrics = text::of(host, &meter.look(), meter.used_seconds());
                let written = self.file.map(|path| write(path, metrics.as_bytes()));
                let problem = written.and_then(Result::err);
                if let Some(problem) = problem.as_ref().filter(|_| !has_failed) {
                    // A disk that is full now need not be so later.
                    warn(&format!("{problem:#}; the next interval tries again"));
                }
                has_failed = problem.is_some();
                due = now + self.interval;
            }
            let next = end.map_or(due, |end| due.min(end));
            let [is_signal, is_client] = wait(signals, listener, next - now)?;
            if is_signal {
                return Ok(());
            }
            if let Some(Ok((mut client, _))) =
                listener.filter(|_| is_client).map(TcpListener::accept)
            {
                // Each on a thread of its own, as a slow one must not keep others waiting; too many
                // are turned away.
                if Arc::strong_count(&clients) <= MAX_CLIENTS {
                    let (metrics, served) = (metrics.clone(), Arc::clone(&clients));
                    let _ = thread::Builder::new().spawn(move || {
                        let _ = client.set_nonblocking(false);
                        let _ = http::answer(&mut client, &metrics);
                        drop(served);
                    });
                }
            }
        }
    }
}

/// Listens, and says where: the port may be any free one.
fn listen(address: SocketAddr) -> Result<TcpListener> {
    let listening = || format!("listening on {address}");
    let listener = TcpListener::bind(address).with_context(listening)?;
    // A connection that is already gone must not block the others.
    listener.set_nonblocking(true).with_context(listening)?;
    let address = listener.local_addr().with_context(listening)?;
    note!("Serves http://{address}/metrics");
    Ok(listener)
}

/// Waits for a signal or a client, and returns which there is.
fn wait(signals: &UnixStream, listener: Option<&TcpListener>, time: Duration) -> Result<[bool; 2]> {
    let mut waiting = vec![PollFd::new(signals, PollFlags::IN)];
    waiting.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
    let time = Timespec::try_from(time).context("waiting")?;
    match poll(&mut waiting, Some(&time)) {
        // The signal that interrupts is in the stream.
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(cause) => return Err(cause).context("waiting for clients"),
    }
    let is_ready = |index: usize| {
        waiting
            .get(index)
            .is_some_and(|one| !one.revents().is_empty())
    };
    Ok([is_ready(0), is_ready(1)])
}
