//! `syscost doctor --watch --openmetrics FILE` and `--listen`: how much each core is ours, for
//! Prometheus.

mod http;
mod text;

use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use jiff::Timestamp;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use syscost_harness::clock::RunClock;
use syscost_harness::cores::CoreMeter;
use syscost_harness::machine;
use syscost_store::CurrentFile;
use syscost_sys::cpu;

use crate::error::exit;
use crate::files::check_writable;
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
        let mut file = self.file.map(current).transpose()?;
        let signals = signals()?;
        let listener = self.listen.map(listen).transpose()?;
        let cpus = cpu::allowed()?;
        let machine = machine::capture();
        let clock = RunClock::choose(&cpus).calibrate();
        let (cores, _) = crate::cmd::serve::hear(&cpus, &machine, &clock, CALIBRATION);
        let meter = CoreMeter::new(&cpus, cores, clock);
        let host = &machine.hostname;
        let ended =
            meter.during(|| self.export(&meter, host, &signals, listener.as_ref(), file.as_mut()));
        // What nobody measures any more is not shown as current.
        let removed = file.map_or(Ok(()), CurrentFile::remove);
        removed.context("removing the file of figures")?;
        ended.map(|()| exit::DONE)
    }

    fn export(
        &self,
        meter: &CoreMeter,
        host: &str,
        signals: &UnixStream,
        listener: Option<&TcpListener>,
        mut file: Option<&mut CurrentFile>,
    ) -> Result<()> {
        let begun = Instant::now();
        let end = self.time.map(|time| begun + time);
        let mut due = begun + FIRST.min(self.interval);
        let mut metrics = text::of(host, &[], meter.used_seconds(), Timestamp::now());
        let mut has_failed = false;
        let mut clients = Clients::default();
        loop {
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                return Ok(());
            }
            if now >= due {
                let cores = meter.look();
                metrics = text::of(host, &cores, meter.used_seconds(), Timestamp::now());
                let written = file.as_mut().map(|file| file.write(metrics.as_bytes()));
                let problem = written.and_then(Result::err);
                if let Some(problem) = problem.as_ref().filter(|_| !has_failed) {
                    // A disk that is full now need not be so later.
                    warn(&format!(
                        "writing the figures: {problem}; the next interval tries again"
                    ));
                }
                has_failed = problem.is_some();
                due = now + self.interval;
            }
            let next = end.map_or(due, |end| due.min(end));
            let [is_signal, is_client] = wait(signals, listener, next - now)?;
            if is_signal {
                return Ok(());
            }
            if let Some(Ok((client, from))) =
                listener.filter(|_| is_client).map(TcpListener::accept)
            {
                clients.serve(client, from.ip(), metrics.clone());
            }
        }
    }
}

/// The clients that are being served, the oldest first.
#[derive(Default)]
struct Clients(Vec<Served>);

/// One of them.
struct Served {
    from: IpAddr,
    /// To end it.
    client: TcpStream,
    /// Held by the thread that serves it.
    is_served: Weak<()>,
}

impl Clients {
    /// Serves a client on a thread of its own, as a slow one must not keep others waiting. Where
    /// there are too many, the oldest of the address with the most has had its time.
    fn serve(&mut self, mut client: TcpStream, from: IpAddr, metrics: String) {
        self.0.retain(|one| one.is_served.strong_count() > 0);
        if self.0.len() >= MAX_CLIENTS {
            let of = |from: IpAddr| self.0.iter().filter(|one| one.from == from).count();
            let busiest = self
                .0
                .iter()
                .map(|one| one.from)
                .max_by_key(|from| of(*from));
            let oldest = self.0.iter().position(|one| Some(one.from) == busiest);
            let gone = oldest.map(|oldest| self.0.remove(oldest));
            gone.map(|gone| gone.client.shutdown(Shutdown::Both));
        }
        let Ok(to_end) = client.try_clone() else {
            return;
        };
        let held = Arc::new(());
        self.0.push(Served {
            from,
            client: to_end,
            is_served: Arc::downgrade(&held),
        });
        let _ = thread::Builder::new().spawn(move || {
            let _ = client.set_nonblocking(false);
            let _ = http::answer(&mut client, &metrics);
            // The other handle of it would keep it open.
            let _ = client.shutdown(Shutdown::Both);
            drop(held);
        });
    }
}

/// The file that is kept current.
fn current(path: &Path) -> Result<CurrentFile> {
    CurrentFile::at(path).with_context(|| format!("{}, given with --openmetrics", path.display()))
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

/// Returns a stream that can be read from once SIGINT, SIGTERM or SIGHUP has come, for who waits for
/// other things as well.
fn signals() -> Result<UnixStream> {
    let (ours, handlers) = UnixStream::pair().context("catching Ctrl-C")?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let handler = handlers.try_clone().context("catching Ctrl-C")?;
        signal_hook::low_level::pipe::register(signal, handler).context("catching Ctrl-C")?;
    }
    Ok(ours)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn clients_that_say_nothing_keep_no_scrape_out() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut clients = Clients::default();
        let mut accepted = || {
            let client = TcpStream::connect(address).expect("connected");
            let (server, from) = listener.accept().expect("a client");
            clients.serve(server, from.ip(), "syscost_x 1.0\n".to_owned());
            assert!(clients.0.len() <= MAX_CLIENTS);
            client
        };
        let silent: Vec<TcpStream> = (0..3 * MAX_CLIENTS).map(|_| accepted()).collect();
        let mut scrape = accepted();
        scrape
            .write_all(b"GET /metrics HTTP/1.1\r\n\r\n")
            .expect("sent");
        let mut answer = String::new();
        scrape.read_to_string(&mut answer).expect("answered");
        assert!(answer.ends_with("syscost_x 1.0\n"), "{answer}");
        drop(silent);
    }
}
