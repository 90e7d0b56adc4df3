//! Running streams: their sockets and tasks at both ends, and what they have delivered in the end.

use std::net::{Shutdown, TcpStream};
use std::ops::Deref;
use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_net::service::{Account, ServiceError, TcpSide, stream};
use syscost_net::socket::{self, Tcp};
use syscost_net::{Content, Service, wire};
use syscost_sys::process::{patience, pause};
use syscost_sys::tcp::TcpInfo;

use super::limiter::RoundTrips;
use super::sender::{Consumed, Method, Sender};
use super::{Direction, LARGE, content};
use crate::net::connection_cpus::ConnectionCpus;
use crate::net::far_end::{Route, listen, session_with};
use crate::net::interface::InterfaceCounters;
use crate::net::tcp::stream::options;
use crate::net::transfer::{Transfer, Transferred};
use crate::net::workers::{IsOver, MAX_WINDOW, MIN_WINDOW, Meter, Tally, Until, Workers, again};

/// On a slow path a window is longer, to hold this many messages of each stream, up to this length.
const MESSAGES: f64 = 32.0;
const MAX_SLOW_WINDOW: Duration = Duration::from_millis(250);

/// How long streams may take to reach their rate.
const WARM_UP: Duration = Duration::from_millis(60);
const WARM_UP_REMOTE: Duration = Duration::from_secs(2);

/// Rates that rise by more than this factor from one pair of windows to the next are still rising.
const RISING: f64 = 1.05;

/// The function that receives a stream on this machine.
pub(crate) type Sink =
    fn(&TcpStream, &mut [u8], Content, IsOver<'_>) -> Result<Account, ServiceError>;

/// What streams are made by.
#[derive(Debug, Clone)]
pub(crate) struct StreamSpec {
    pub(in crate::net) route: Route,
    pub(super) direction: Direction,
    pub(super) method: Method,
    /// Bytes of a message.
    pub(super) size: usize,
    /// Where the tasks of each stream run.
    pub(in crate::net) places: Vec<ConnectionCpus>,
    pub(super) content: Content,
    pub(super) sink: Sink,
    /// The options of both ends.
    pub(in crate::net) tcp: Tcp,
}

impl StreamSpec {
    /// This many streams of large messages that this end writes.
    pub(crate) fn plain(route: Route, streams: usize, b: &Bencher) -> Result<StreamSpec, Failure> {
        Ok(StreamSpec {
            places: ConnectionCpus::of(&route, streams, b)?,
            route,
            direction: Direction::Send,
            method: Method::Write,
            size: LARGE.get(),
            content: content(b),
            sink: |socket, buffer, content, is_over| stream::sink(socket, buffer, content, is_over),
            tcp: options(b.targets()),
        })
    }

    /// The same with other receivers on this machine.
    #[must_use]
    pub(crate) fn received_by(self, sink: Sink) -> Self {
        Self { sink, ..self }
    }

    /// Whether a task on this machine sends.
    pub(super) fn sends_here(&self) -> bool {
        self.direction == Direction::Send || self.route.is_loopback()
    }

    /// The service that a far end elsewhere provides.
    fn service(&self) -> Service {
        let all = wire::Streams {
            size: self.size as u32,
            streams: self.places.len() as u32,
            content: self.content,
            tcp: self.tcp.clone(),
        };
        match self.direction {
            Direction::Send => Service::StreamSink(all),
            Direction::Receive => Service::StreamSource(all),
        }
    }

    fn send(
        &self,
        workers: &mut Workers,
        cpus: &[u32],
        until: Until,
        end: TcpStream,
        consumed: Consumed,
    ) -> Result<(), Failure> {
        let sender = Sender::new(end, self.method, self.size, self.content, consumed)?;
        let work = |sender: &mut Sender, is_over: IsOver<'_>| sender.send(is_over);
        workers.add(cpus, until, Workers::meter()?, sender, work)
    }

    /// Adds a worker that receives. In the end it closes its direction as well, which acknowledges
    /// the last bytes immediately.
    fn receive(
        &self,
        workers: &mut Workers,
        cpus: &[u32],
        until: Until,
        meter: Shared<Meter>,
        end: TcpStream,
    ) -> Result<(), Failure> {
        let (size, content, sink) = (self.size, self.content, self.sink);
        let work = move |end: &mut TcpStream, is_over: IsOver<'_>| -> Result<Tally, ServiceError> {
            let mut account = Account::default();
            if !is_over(&account) {
                account = sink(end, &mut vec![0; size], content, is_over)?;
            }
            // It fails if the other end has left already.
            let _ = end.shutdown(Shutdown::Both);
            Ok(account.into())
        };
        workers.add(cpus, until, meter, end, work)
    }
}

/// Running streams.
pub(in crate::net) struct Streams {
    pub(super) transfer: Transfer,
    near: Vec<TcpStream>,
    /// The far end's sockets, if they are on this machine.
    far: Vec<TcpStream>,
}

/// The result of streams.
pub(in crate::net) struct Delivered {
    transferred: Transferred,
    /// This end's and the far end's sockets, as their kernels report them.
    pub(super) near: Option<TcpSide>,
    pub(super) far: Option<TcpSide>,
    pub(super) sockets: Vec<TcpStream>,
    /// Streams that moved bytes before the first window and after the last.
    pub(super) steady: usize,
    /// Round trips while the streams filled the path, if the senders are on this machine.
    pub(super) round_trips: Option<RoundTrips>,
}

impl Deref for Delivered {
    type Target = Transferred;

    fn deref(&self) -> &Transferred {
        &self.transferred
    }
}

impl Streams {
    /// Connects and starts the streams; each continues as long as `until` says.
    pub(in crate::net) fn start(spec: &StreamSpec, until: Until) -> Result<Self, Failure> {
        let mut workers = Workers::new()?;
        let (mut near, mut far) = (Vec::new(), Vec::new());
        let receives = spec.direction == Direction::Receive;
        let (session, interface) = match &spec.route {
            Route::Loopback(..) => {
                let own = spec.route.address();
                let interface = InterfaceCounters::begin(own, own);
                let (listener, address) = listen(own, spec.places.len() as u32, &spec.tcp)?;
                let mut meters = Vec::new();
                for _ in &spec.places {
                    near.push(socket::connect(address, &spec.tcp, patience())?);
                    let accepted = listener.accept().tried("accept")?;
                    far.push(accepted.0);
                    meters.push(Workers::meter()?);
                }
                for (ends, is_near) in [(&far, false), (&near, true)] {
                    for ((end, places), meter) in ends.iter().zip(&spec.places).zip(&meters) {
                        let (end, meter) = (again(end)?, meter.clone());
                        let cpus = if is_near { &places.near } else { &places.far };
                        if is_near == receives {
                            spec.receive(&mut workers, cpus, Until::OtherEnd, meter, end)?;
                        } else {
                            let consumed = Box::new(move || meter.bytes());
                            spec.send(&mut workers, cpus, until, end, consumed)?;
                        }
                    }
                }
                (None, interface)
            }
            Route::Remote(given) => {
                let (session, opened) = session_with(given, &spec.service())?;
                let interface = InterfaceCounters::of_session(&session)?;
                for places in &spec.places {
                    let socket = opened.stream(&spec.tcp)?;
                    let (end, cpus) = (again(&socket)?, &places.near);
                    if receives {
                        let until = match until {
                            Until::Stopped | Until::OtherEnd => Until::OtherEnd,
                            Until::Messages(_) => until,
                        };
                        spec.receive(&mut workers, cpus, until, Workers::meter()?, end)?;
                    } else {
                        let sender = again(&socket)?;
                        // Without TCP_INFO everything counts as received: the far end has separate
                        // memory.
                        let acked = move || {
                            TcpInfo::of(&sender).map_or(u64::MAX / 2, |info| info.bytes_acked)
                        };
                        spec.send(&mut workers, cpus, until, end, Box::new(acked))?;
                    }
                    near.push(socket);
                }
                (Some(session), interface)
            }
        };
        Ok(Self {
            transfer: Transfer::new(workers, session, interface, receives),
            near,
            far,
        })
    }

    /// The sockets that send; none if the senders are elsewhere.
    fn senders(&self) -> &[TcpStream] {
        match self.transfer.receives {
            true => &self.far,
            false => &self.near,
        }
    }

    /// Bytes that each stream has moved so far, as this end counts.
    pub(in crate::net) fn moved(&self) -> Vec<u64> {
        self.transfer.moved()
    }

    /// The number of streams that have moved more bytes than this.
    pub(in crate::net) fn going_on(&self, before: &[u64]) -> usize {
        let now = self.moved();
        let pairs = now.iter().zip(before);
        pairs.filter(|(now, before)| now > before).count()
    }

    /// Waits until each has moved more than this, but no longer than the far end may take to answer.
    fn await_all(&self, before: &[u64]) -> Result<(), Failure> {
        let begun = Instant::now();
        while self.going_on(before) < self.near.len() {
            self.transfer.workers.check()?;
            if begun.elapsed() > patience() {
                return Err(Failure::late("a stream has moved no bytes"));
            }
            pause(Duration::from_micros(100));
        }
        Ok(())
    }

    /// Runs the streams until they get no faster, as TCP's windows and send buffers grow first; usage
    /// counts from then on. Returns the length of their windows, for samples of `case_ns`.
    pub(in crate::net) fn warm_up(
        &mut self,
        case_ns: f64,
        spec: &StreamSpec,
    ) -> Result<Duration, Failure> {
        let window = Duration::from_nanos(case_ns as u64).clamp(MIN_WINDOW, MAX_WINDOW);
        let limit = match spec.route.is_loopback() {
            true => WARM_UP,
            false => WARM_UP_REMOTE,
        };
        let (begun, mut rate) = (Instant::now(), 0.0);
        while !is_level(&self.transfer.windows.rates) && begun.elapsed() < limit {
            rate = self.transfer.window(window)?;
        }
        self.await_all(&vec![0; self.near.len()])?;
        self.transfer.begin_usage()?;
        let messages = MESSAGES * (spec.size * spec.places.len()) as f64;
        let room = Duration::try_from_secs_f64(messages / rate.max(1.0)).unwrap_or(MAX_SLOW_WINDOW);
        Ok(window.max(room.min(MAX_SLOW_WINDOW)))
    }

    pub(in crate::net) fn finish(mut self) -> Result<Delivered, Failure> {
        let usage = self.transfer.usage()?;
        let round_trips = RoundTrips::of(self.senders());
        let mut steady = 0;
        if usage.is_some() {
            let last = self.moved();
            self.await_all(&last)?;
            steady = self.going_on(&last);
        }
        let receives = self.transfer.receives;
        let mut transferred = self.transfer.finish(usage, false)?;
        let senders = if receives { &self.far } else { &self.near };
        await_acknowledgement(senders, transferred.sent.bytes);
        transferred.interface.end();
        let elsewhere = transferred.sent.tcp.or(transferred.received.tcp);
        Ok(Delivered {
            near: sides(&self.near),
            far: elsewhere.or_else(|| sides(&self.far)),
            transferred,
            sockets: self.near,
            steady,
            round_trips,
        })
    }
}

/// Whether the last two windows are no faster than the two before.
fn is_level(rates: &[f64]) -> bool {
    match rates {
        [.., a, b, c, d] => a + b > 0.0 && c + d <= RISING * (a + b),
        _ => false,
    }
}

/// What the kernel reports about these sockets, combined.
fn sides(sockets: &[TcpStream]) -> Option<TcpSide> {
    let mut all = sockets.iter().map(TcpSide::of);
    let first = all.next()??;
    all.try_fold(first, |sum, side| Some(sum.and(side?)))
}

/// Waits until the last bytes are acknowledged, too: what is missing then is claimed as missing.
fn await_acknowledgement(senders: &[TcpStream], bytes: u64) {
    let begun = Instant::now();
    let is_short = || sides(senders).is_some_and(|side| side.bytes_acked < bytes);
    while is_short() && begun.elapsed() < patience() {
        pause(Duration::from_micros(200));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_level_once_they_stop_rising() {
        assert!(!is_level(&[1.0, 1.0, 1.0]));
        assert!(!is_level(&[0.0, 0.0, 0.0, 0.0]));
        assert!(!is_level(&[1.0, 2.0, 3.0, 4.0]));
        assert!(is_level(&[1.0, 2.0, 4.0, 4.0, 4.1, 4.0]));
    }
}
