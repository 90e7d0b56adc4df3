//! Streams at work: their senders and receivers, and what the receivers have so far.

use std::net::{IpAddr, Shutdown, TcpStream};
use std::ops::Range;
use std::time::{Duration, Instant};

use syscost_harness::peer;
use syscost_harness::prelude::*;
use syscost_net::service::{Account, ServiceError, TcpSide, stream};
use syscost_net::{Content, Service, Session, socket};
use syscost_sys::process::pause;
use syscost_sys::tcp::TcpInfo;

use super::method::Method;
use super::sender::{Consumed, Sender};
use crate::net::path::{Family, Path, tcp_options};
use crate::net::seats::Seats;
use crate::net::workers::{IsOver, Tally, Until, Workers};

/// How long the far end may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Which end sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Direction {
    /// This end.
    Send,
    /// The far end.
    Receive,
}

impl Direction {
    /// The key of the parameter that names it.
    pub(in crate::net) const KEY: &str = "direction";

    /// The name in cases.
    pub(in crate::net) const fn name(self) -> &'static str {
        match self {
            Direction::Send => "send",
            Direction::Receive => "receive",
        }
    }

    /// The one that a case names.
    pub(in crate::net) fn of(case: &Case) -> Result<Direction, Failure> {
        [Direction::Send, Direction::Receive]
            .into_iter()
            .find(|direction| direction.name() == case.get(Self::KEY))
            .ok_or_else(|| Failure::Broken("has no direction in its case".into()))
    }
}

/// Which streams there are to be.
#[derive(Debug, Clone)]
pub(in crate::net) struct Setting {
    pub(in crate::net) path: Path,
    pub(in crate::net) family: Family,
    pub(in crate::net) direction: Direction,
    pub(in crate::net) method: Method,
    /// Bytes of a message.
    pub(in crate::net) size: usize,
    /// Where the tasks of each stream run.
    pub(in crate::net) seats: Vec<Seats>,
    pub(in crate::net) content: Content,
}

impl Setting {
    /// Whether a task on this machine sends, or the far end is here.
    pub(super) fn sends_here(&self) -> bool {
        self.direction == Direction::Send || self.path == Path::Loopback
    }

    /// Whether a task on this machine receives.
    pub(super) fn receives_here(&self) -> bool {
        self.direction == Direction::Receive || self.path == Path::Loopback
    }
}

/// How much the receivers have at a moment, by the clock of their machine.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Received {
    bytes: u64,
    at_ns: u64,
}

/// What the ends have used and moved so far.
#[derive(Debug, Clone, Copy)]
struct Used {
    received: Received,
    near_cpu_ns: Option<u64>,
    far_cpu_ns: Option<u64>,
    at: Instant,
}

/// What the tasks of both ends used between the first window and the last.
#[derive(Debug, Clone, Copy)]
pub(in crate::net) struct Usage {
    pub(in crate::net) bytes: u64,
    pub(in crate::net) near_cpu_ns: Option<u64>,
    pub(in crate::net) far_cpu_ns: Option<u64>,
    pub(in crate::net) passed_ns: u64,
}

/// Streams at work.
pub(in crate::net) struct Streams {
    direction: Direction,
    /// Those of the far end first, if it is here, then those of this end.
    workers: Workers,
    session: Option<Session>,
    near: Vec<TcpStream>,
    /// The far end's sockets, if they are here.
    far: Vec<TcpStream>,
    begun: Instant,
    first: Option<Used>,
}

/// What streams came to.
#[derive(Debug)]
pub(in crate::net) struct Outcome {
    pub(in crate::net) sent: Tally,
    pub(in crate::net) received: Tally,
    /// This end's and the far end's sockets, as their kernels tell.
    pub(in crate::net) near: Option<TcpSide>,
    pub(in crate::net) far: Option<TcpSide>,
    /// This end's sockets.
    pub(in crate::net) sockets: Vec<TcpStream>,
    /// How long the connections lasted.
    pub(in crate::net) lasted: Duration,
    /// What was used while it was measured, if it was.
    pub(in crate::net) usage: Option<Usage>,
    /// Streams that moved bytes before the first window, after the last, and in between.
    pub(in crate::net) steady: usize,
}

impl Streams {
    /// Connects them and sets them going, each until what `until` says.
    pub(in crate::net) fn start(setting: &Setting, until: Until) -> Result<Self, Failure> {
        match setting.path {
            Path::Loopback => Self::here(setting, until),
            Path::Remote => Self::there(setting, until),
        }
    }

    /// Both ends on this machine.
    fn here(setting: &Setting, until: Until) -> Result<Self, Failure> {
        let listener = socket::listen(setting.family.any_port(), 16, &tcp_options())?;
        let address = listener
            .local_addr()
            .map_err(|cause| Failure::of("getsockname", cause))?;
        let mut pairs = Vec::new();
        for _ in &setting.seats {
            let near = socket::connect(address, &tcp_options(), TIMEOUT)?;
            let far = listener.accept();
            let (far, _) = far.map_err(|cause| Failure::of("accept a connection", cause))?;
            pairs.push((near, far));
        }
        let mut workers = Workers::new()?;
        // Those of the far end first.
        let receives = |is_near: bool| is_near == (setting.direction == Direction::Receive);
        let meters = (0..pairs.len()).map(|_| Workers::meter());
        let meters: Vec<_> = meters.collect::<Result<_, _>>()?;
        for is_near in [false, true] {
            for (((near, far), seats), meter) in pairs.iter().zip(&setting.seats).zip(&meters) {
                let (end, cpus) = match is_near {
                    true => (near, &seats.near),
                    false => (far, &seats.far),
                };
                let end = again(end)?;
                if receives(is_near) {
                    let meter = meter.clone();
                    receive(&mut workers, cpus, Until::OtherEnd, meter, end, setting)?;
                } else {
                    let meter = meter.clone();
                    let consumed = Box::new(move || meter.bytes());
                    send(&mut workers, cpus, until, end, setting, consumed)?;
                }
            }
        }
        let (near, far) = pairs.into_iter().unzip();
        Ok(Self::of(setting, workers, None, near, far))
    }

    /// The far end elsewhere.
    fn there(setting: &Setting, until: Until) -> Result<Self, Failure> {
        let given = peer::given()?;
        let mut session = Session::connect(given.address, &given.token, TIMEOUT)?;
        let (size, streams) = (setting.size as u32, setting.seats.len() as u32);
        let (content, tcp) = (setting.content, tcp_options());
        let service = match setting.direction {
            Direction::Send => Service::StreamSink {
                size,
                streams,
                content,
                tcp,
            },
            Direction::Receive => Service::StreamSource {
                size,
                streams,
                content,
                tcp,
            },
        };
        let opened = session.open(&service)?;
        let mut workers = Workers::new()?;
        let mut near = Vec::new();
        for seats in &setting.seats {
            let socket = opened.stream(&tcp_options())?;
            let (end, told) = (again(&socket)?, again(&socket)?);
            match setting.direction {
                Direction::Send => {
                    let acked =
                        move || TcpInfo::of(&told).map_or(u64::MAX / 2, |info| info.bytes_acked);
                    send(
                        &mut workers,
                        &seats.near,
                        until,
                        end,
                        setting,
                        Box::new(acked),
                    )?;
                }
                Direction::Receive => {
                    let until = match until {
                        Until::Stopped => Until::OtherEnd,
                        other => other,
                    };
                    let meter = Workers::meter()?;
                    receive(&mut workers, &seats.near, until, meter, end, setting)?;
                }
            }
            near.push(socket);
        }
        Ok(Self::of(setting, workers, Some(session), near, Vec::new()))
    }

    fn of(
        setting: &Setting,
        workers: Workers,
        session: Option<Session>,
        near: Vec<TcpStream>,
        far: Vec<TcpStream>,
    ) -> Self {
        Self {
            direction: setting.direction,
            workers,
            session,
            near,
            far,
            begun: Instant::now(),
            first: None,
        }
    }

    /// How many there are.
    pub(in crate::net) fn count(&self) -> usize {
        self.near.len()
    }

    /// The address of this end.
    pub(in crate::net) fn own_address(&self) -> Result<IpAddr, Failure> {
        let missing = || Failure::Broken("has no stream".into());
        let address = self.near.first().ok_or_else(missing)?.local_addr();
        Ok(address
            .map_err(|cause| Failure::of("getsockname", cause))?
            .ip())
    }

    /// The workers of this end, and those of the far end if it is here.
    pub(in crate::net) fn workers(&self) -> &Workers {
        &self.workers
    }

    fn near_workers(&self) -> Range<usize> {
        self.far.len()..self.workers.count()
    }

    fn far_workers(&self) -> Range<usize> {
        0..self.far.len()
    }

    /// The workers that receive; none if that happens elsewhere.
    fn receivers(&self) -> Range<usize> {
        match self.direction {
            Direction::Send => self.far_workers(),
            Direction::Receive => self.near_workers(),
        }
    }

    /// Bytes that each stream has moved so far, as this end counts.
    pub(in crate::net) fn moved(&self) -> Vec<u64> {
        self.workers.bytes(self.near_workers()).collect()
    }

    /// What the receivers have so far, and the far end's CPU time if that comes with it.
    fn received(&mut self) -> Result<(Received, Option<u64>), Failure> {
        self.workers.check()?;
        if self.receivers().is_empty() {
            let reading = self.ask()?;
            let received = Received {
                bytes: reading.bytes,
                at_ns: reading.at_ns,
            };
            return Ok((received, reading.cpu_ns));
        }
        let bytes = self.workers.bytes(self.receivers()).sum();
        let at_ns = self.begun.elapsed().as_nanos() as u64;
        Ok((Received { bytes, at_ns }, None))
    }

    fn ask(&mut self) -> Result<syscost_net::service::Reading, Failure> {
        let missing = || Failure::Broken("receives nowhere".into());
        let session = self.session.as_mut().ok_or_else(missing)?;
        Ok(session.reading()?)
    }

    fn used(&mut self) -> Result<Used, Failure> {
        let (received, mut far_cpu_ns) = self.received()?;
        if self.session.is_none() {
            far_cpu_ns = self.workers.cpu_ns(self.far_workers());
        } else if far_cpu_ns.is_none() {
            far_cpu_ns = self.ask()?.cpu_ns;
        }
        Ok(Used {
            received,
            near_cpu_ns: self.workers.cpu_ns(self.near_workers()),
            far_cpu_ns,
            at: Instant::now(),
        })
    }

    /// Bytes per second that the receivers get within so long.
    pub(in crate::net) fn window(&mut self, length: Duration) -> Result<f64, Failure> {
        let (before, _) = self.received()?;
        pause(length);
        let (after, _) = self.received()?;
        let ns = after.at_ns.saturating_sub(before.at_ns).max(1);
        Ok((after.bytes - before.bytes) as f64 * 1e9 / ns as f64)
    }

    /// Lets them go until they get no faster: windows and send buffers grow first. What is used from now on counts. The last rate, in bytes per second.
    pub(in crate::net) fn warm_up(
        &mut self,
        window: Duration,
        limit: Duration,
    ) -> Result<f64, Failure> {
        let begun = Instant::now();
        let mut rates = Vec::new();
        while !is_level(&rates) && begun.elapsed() < limit {
            rates.push(self.window(window)?);
        }
        self.await_all(&vec![0; self.count()])?;
        self.first = Some(self.used()?);
        Ok(rates.last().copied().unwrap_or(0.0))
    }

    /// Waits until each has moved more than this, no longer than the far end may take to answer.
    pub(in crate::net) fn await_all(&self, before: &[u64]) -> Result<(), Failure> {
        let begun = Instant::now();
        while self.going_on(before) < self.count() {
            self.workers.check()?;
            if begun.elapsed() > TIMEOUT {
                let seconds = TIMEOUT.as_secs();
                let what = format!("a stream has moved nothing for {seconds} s");
                return Err(Failure::Failed(what));
            }
            pause(Duration::from_micros(100));
        }
        Ok(())
    }

    /// How many have moved more than this.
    pub(in crate::net) fn going_on(&self, before: &[u64]) -> usize {
        let now = self.moved();
        now.iter()
            .zip(before)
            .filter(|(now, before)| now > before)
            .count()
    }

    /// Ends them: what they came to.
    pub(in crate::net) fn finish(mut self) -> Result<Outcome, Failure> {
        let usage = match self.first {
            Some(first) => Some(Usage::between(&first, &self.used()?)),
            None => None,
        };
        let mut steady = 0;
        if usage.is_some() {
            let last = self.moved();
            self.await_all(&last)?;
            steady = self.going_on(&last);
        }
        // The far end's senders end first, then this end's receivers; this end's senders, then the far end's receivers.
        if let (Some(session), Direction::Receive) = (&mut self.session, self.direction) {
            session.end(None)?;
        }
        let (near_workers, far_workers) = (self.near_workers(), self.far_workers());
        let tallies = self.workers.dismiss()?;
        let lasted = self.begun.elapsed();
        let near_tally = Tally::sum(&tallies[near_workers]);
        let mut far_tally = Tally::sum(&tallies[far_workers]);
        let mut far = sides(&self.far);
        if let Some(session) = &mut self.session {
            let account = match self.direction {
                Direction::Send => session.finish(None),
                Direction::Receive => session.account(),
            };
            let account = account?;
            far = account.tcp.clone();
            far_tally = account.into();
        }
        let (sent, received) = match self.direction {
            Direction::Send => (near_tally, far_tally),
            Direction::Receive => (far_tally, near_tally),
        };
        Ok(Outcome {
            sent,
            received,
            near: sides(&self.near),
            far,
            sockets: self.near,
            lasted,
            usage,
            steady,
        })
    }
}

impl Usage {
    fn between(first: &Used, last: &Used) -> Self {
        let used = |first: Option<u64>, last: Option<u64>| Some(last?.saturating_sub(first?));
        Self {
            bytes: last.received.bytes - first.received.bytes,
            near_cpu_ns: used(first.near_cpu_ns, last.near_cpu_ns),
            far_cpu_ns: used(first.far_cpu_ns, last.far_cpu_ns),
            passed_ns: (last.at - first.at).as_nanos() as u64,
        }
    }
}

/// Rates that rise by more than this from one pair of windows to the next are still rising.
const RISING: f64 = 1.05;

/// Whether the last two windows are no faster than the two before.
fn is_level(rates: &[f64]) -> bool {
    match rates {
        [.., a, b, c, d] => a + b > 0.0 && c + d <= RISING * (a + b),
        _ => false,
    }
}

/// What the kernel tells of these sockets, all together.
fn sides(sockets: &[TcpStream]) -> Option<TcpSide> {
    let mut all = sockets.iter().map(TcpSide::of);
    let first = all.next()??;
    all.try_fold(first, |sum, side| Some(sum.and(side?)))
}

/// Another handle to the same socket.
fn again(socket: &TcpStream) -> Result<TcpStream, Failure> {
    socket
        .try_clone()
        .map_err(|cause| Failure::of("duplicate a socket", cause))
}

/// Adds a worker that sends.
fn send(
    workers: &mut Workers,
    cpus: &[u32],
    until: Until,
    end: TcpStream,
    setting: &Setting,
    consumed: Consumed,
) -> Result<(), Failure> {
    let sender = Sender::new(end, setting.method, setting.size, setting.content, consumed)?;
    let work = |sender: &mut Sender, is_over: IsOver<'_>| sender.send(is_over);
    workers.add(cpus, until, Workers::meter()?, sender, work)
}

/// Adds a worker that receives.
fn receive(
    workers: &mut Workers,
    cpus: &[u32],
    until: Until,
    meter: syscost_sys::partner::Shared<crate::net::workers::Meter>,
    end: TcpStream,
    setting: &Setting,
) -> Result<(), Failure> {
    let (size, content) = (setting.size, setting.content);
    let work = move |end: &mut TcpStream, is_over: IsOver<'_>| -> Result<Tally, ServiceError> {
        let mut account = Account::default();
        if !is_over(&account) {
            account = stream::sink(&*end, &mut vec![0; size], content, is_over)?;
        }
        if until != Until::OtherEnd {
            // Whoever has ended already is not there to be told.
            let _ = end.shutdown(Shutdown::Both);
        }
        Ok(account.into())
    };
    workers.add(cpus, until, meter, end, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_level_when_they_rise_no_more() {
        assert!(!is_level(&[1.0, 1.0, 1.0]));
        assert!(!is_level(&[0.0, 0.0, 0.0, 0.0]));
        assert!(!is_level(&[1.0, 2.0, 3.0, 4.0]));
        assert!(is_level(&[1.0, 2.0, 4.0, 4.0, 4.1, 4.0]));
    }
}
