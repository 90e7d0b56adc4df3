//! Running streams: what the receivers have so far, and what they have in the end.

use std::net::TcpStream;
use std::ops::Deref;
use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_net::service::TcpSide;
use syscost_sys::process::pause;

use super::limiter::RoundTrips;
use crate::net::far_end::PATIENCE;
use crate::net::transfer::{Transfer, Transferred};
use crate::net::windows::Usage;

/// Running streams.
pub(in crate::net) struct Streams {
    pub(super) transfer: Transfer,
    /// This end's sockets.
    pub(super) near: Vec<TcpStream>,
    /// The far end's sockets, if they are on this machine.
    pub(super) far: Vec<TcpStream>,
    /// Rates of the windows since the warm-up, in bytes per second.
    pub(super) rates: Vec<f64>,
}

/// The result of streams.
pub(in crate::net) struct Delivered {
    pub(in crate::net) transferred: Transferred,
    /// This end's and the far end's sockets, as their kernels report them.
    pub(in crate::net) near: Option<TcpSide>,
    pub(in crate::net) far: Option<TcpSide>,
    /// This end's sockets.
    pub(in crate::net) sockets: Vec<TcpStream>,
    /// What was used during the measurement, if there was one.
    pub(in crate::net) usage: Option<Usage>,
    /// Streams that moved bytes before the first window and after the last.
    pub(in crate::net) steady: usize,
    /// Rates of the windows, in bytes per second.
    pub(in crate::net) rates: Vec<f64>,
    /// Round trips while the streams filled the path, if the senders are on this machine.
    pub(in crate::net) round_trips: Option<RoundTrips>,
}

impl Deref for Delivered {
    type Target = Transferred;

    fn deref(&self) -> &Transferred {
        &self.transferred
    }
}

impl Streams {
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
            if begun.elapsed() > PATIENCE {
                let seconds = PATIENCE.as_secs();
                let what = format!("a stream has moved no bytes for {seconds} s");
                return Err(Failure::Failed(what));
            }
            pause(Duration::from_micros(100));
        }
        Ok(())
    }

    /// Bytes per second that the receivers get within a window of this length.
    pub(in crate::net) fn window(&mut self, length: Duration) -> Result<f64, Failure> {
        let rate = self.transfer.window(length)?;
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
        self.await_all(&vec![0; self.near.len()])?;
        self.transfer.begin_usage()?;
        Ok(rates.last().copied().unwrap_or(0.0))
    }

    /// Ends the streams and returns their result.
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
        let mut transferred = self.transfer.finish(false)?;
        let senders = if receives { &self.far } else { &self.near };
        await_acknowledgement(senders, transferred.sent.bytes);
        transferred.interface.end();
        Ok(Delivered {
            near: sides(&self.near),
            far: transferred.far.take().or_else(|| sides(&self.far)),
            transferred,
            sockets: self.near,
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
