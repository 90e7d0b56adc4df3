//! Running streams: what the receivers have so far, and what they have in the end.

use std::net::TcpStream;
use std::ops::Range;
use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_net::service::{Reading, TcpSide};
use syscost_sys::process::pause;

use super::ends::Ends;
use super::limiter::RoundTrips;
use super::{Direction, StreamSpec};
use crate::net::far_end::PATIENCE;
use crate::net::interface::InterfaceCounters;
use crate::net::windows::{Received, Usage, Used};
use crate::net::workers::{Tally, Until, Workers};

/// Running streams.
pub(in crate::net) struct Streams {
    direction: Direction,
    ends: Ends,
    begun: Instant,
    first: Option<Used>,
    /// Rates of the windows since the warm-up, in bytes per second.
    rates: Vec<f64>,
}

/// The result of streams.
pub(in crate::net) struct Delivered {
    pub(in crate::net) sent: Tally,
    pub(in crate::net) received: Tally,
    /// This end's and the far end's sockets, as their kernels report them.
    pub(in crate::net) near: Option<TcpSide>,
    pub(in crate::net) far: Option<TcpSide>,
    /// This end's sockets.
    pub(in crate::net) sockets: Vec<TcpStream>,
    /// What carried the bytes.
    pub(in crate::net) interface: InterfaceCounters,
    /// How long the connections lasted.
    pub(in crate::net) lasted: Duration,
    /// What was used during the measurement, if there was one.
    pub(in crate::net) usage: Option<Usage>,
    /// Streams that moved bytes before the first window and after the last.
    pub(in crate::net) steady: usize,
    /// Rates of the windows, in bytes per second.
    pub(in crate::net) rates: Vec<f64>,
    /// Round trips while the streams filled the path, if the senders are on this machine.
    pub(in crate::net) round_trips: Option<RoundTrips>,
}

impl Streams {
    /// Connects and starts the streams; each continues as long as `until` says.
    pub(in crate::net) fn start(spec: &StreamSpec, until: Until) -> Result<Self, Failure> {
        Ok(Self {
            direction: spec.direction,
            ends: Ends::start(spec, until)?,
            begun: Instant::now(),
            first: None,
            rates: Vec::new(),
        })
    }

    /// The number of streams.
    pub(in crate::net) fn count(&self) -> usize {
        self.ends.near.len()
    }

    /// The workers of this end, and those of the far end if it is on this machine.
    pub(in crate::net) fn workers(&self) -> &Workers {
        &self.ends.workers
    }

    fn near_workers(&self) -> Range<usize> {
        self.ends.far.len()..self.workers().count()
    }

    fn far_workers(&self) -> Range<usize> {
        0..self.ends.far.len()
    }

    /// The workers that receive; none if the receivers are elsewhere.
    fn receivers(&self) -> Range<usize> {
        match self.direction {
            Direction::Send => self.far_workers(),
            Direction::Receive => self.near_workers(),
        }
    }

    /// The sockets that send; none if the senders are elsewhere.
    fn senders(&self) -> &[TcpStream] {
        match self.direction {
            Direction::Send => &self.ends.near,
            Direction::Receive => &self.ends.far,
        }
    }

    /// Bytes that each stream has moved so far, as this end counts.
    pub(in crate::net) fn moved(&self) -> Vec<u64> {
        self.workers().bytes(self.near_workers()).collect()
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
        while self.going_on(before) < self.count() {
            self.workers().check()?;
            if begun.elapsed() > PATIENCE {
                let seconds = PATIENCE.as_secs();
                let what = format!("a stream has moved no bytes for {seconds} s");
                return Err(Failure::Failed(what));
            }
            pause(Duration::from_micros(100));
        }
        Ok(())
    }

    /// What the receivers have so far, and the far end's CPU time if it is reported along with that.
    fn received(&mut self) -> Result<(Received, Option<u64>), Failure> {
        self.workers().check()?;
        if self.receivers().is_empty() {
            let reading = self.ask()?;
            let received = Received {
                bytes: reading.bytes,
                at_ns: reading.at_ns,
            };
            return Ok((received, reading.cpu_ns));
        }
        let bytes = self.workers().bytes(self.receivers()).sum();
        let at_ns = self.begun.elapsed().as_nanos() as u64;
        Ok((Received { bytes, at_ns }, None))
    }

    fn ask(&mut self) -> Result<Reading, Failure> {
        let missing = || Failure::Broken("receives nowhere".into());
        let session = self.ends.session.as_mut().ok_or_else(missing)?;
        Ok(session.reading()?)
    }

    fn used(&mut self) -> Result<Used, Failure> {
        let (received, mut far_cpu_ns) = self.received()?;
        if self.ends.session.is_none() {
            far_cpu_ns = self.workers().cpu_ns(self.far_workers());
        } else if far_cpu_ns.is_none() {
            far_cpu_ns = self.ask()?.cpu_ns;
        }
        Ok(Used {
            received,
            near_cpu_ns: self.workers().cpu_ns(self.near_workers()),
            far_cpu_ns,
            at: Instant::now(),
        })
    }

    /// Bytes per second that the receivers get within a window of this length.
    pub(in crate::net) fn window(&mut self, length: Duration) -> Result<f64, Failure> {
        let (before, _) = self.received()?;
        pause(length);
        let (after, _) = self.received()?;
        let rate = after.since(&before)?.rate(length)?;
        self.rates.push(rate);
        Ok(rate)
    }

    /// Runs the streams until they get no faster, as windows and send buffers grow first; usage counts
    /// from then on. Returns the last rate, in bytes per second.
    pub(in crate::net) fn warm_up(
        &mut self,
        window: Duration,
        limit: Duration,
    ) -> Result<f64, Failure> {
        let begun = Instant::now();
        while !is_level(&self.rates) && begun.elapsed() < limit {
            self.window(window)?;
        }
        let rates = std::mem::take(&mut self.rates);
        self.await_all(&vec![0; self.count()])?;
        self.first = Some(self.used()?);
        Ok(rates.last().copied().unwrap_or(0.0))
    }

    /// Ends the streams and returns their result.
    pub(in crate::net) fn finish(mut self) -> Result<Delivered, Failure> {
        let usage = match self.first {
            Some(first) => Some(first.until(&self.used()?)?),
            None => None,
        };
        let round_trips = RoundTrips::of(self.senders());
        let mut steady = 0;
        if usage.is_some() {
            let last = self.moved();
            self.await_all(&last)?;
            steady = self.going_on(&last);
        }
        let (near_workers, far_workers) = (self.near_workers(), self.far_workers());
        let Ends {
            workers,
            mut session,
            near,
            far,
            mut interface,
        } = self.ends;
        // Senders end first, on whichever machine they are.
        if let (Some(session), Direction::Receive) = (&mut session, self.direction) {
            session.end(None)?;
        }
        let tallies = workers.dismiss()?;
        let lasted = self.begun.elapsed();
        let near_tally = Tally::sum(&tallies[near_workers]);
        let mut far_tally = Tally::sum(&tallies[far_workers]);
        let mut far_side = None;
        if let Some(session) = &mut session {
            let account = match self.direction {
                Direction::Send => session.finish(None)?,
                Direction::Receive => session.account()?,
            };
            far_side = account.tcp.clone();
            far_tally = account.into();
        }
        let (sent, received, senders) = match self.direction {
            Direction::Send => (near_tally, far_tally, &near),
            Direction::Receive => (far_tally, near_tally, &far),
        };
        await_acknowledgement(senders, sent.bytes);
        interface.end();
        Ok(Delivered {
            sent,
            received,
            near: sides(&near),
            far: far_side.or_else(|| sides(&far)),
            sockets: near,
            interface,
            lasted,
            usage,
            steady,
            rates: self.rates,
            round_trips,
        })
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

/// What the kernel reports about these sockets, combined.
fn sides(sockets: &[TcpStream]) -> Option<TcpSide> {
    let mut all = sockets.iter().map(TcpSide::of);
    let first = all.next()??;
    all.try_fold(first, |sum, side| Some(sum.and(side?)))
}

/// Waits briefly until the last bytes are acknowledged, too.
fn await_acknowledgement(senders: &[TcpStream], bytes: u64) {
    const LIMIT: Duration = Duration::from_millis(500);
    let begun = Instant::now();
    let is_short = || sides(senders).is_some_and(|side| side.bytes_acked < bytes);
    while is_short() && begun.elapsed() < LIMIT {
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
