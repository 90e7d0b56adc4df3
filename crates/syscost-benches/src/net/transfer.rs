//! Shared: tasks of both ends that send and receive until they are stopped, and the rates over
//! windows of time, by what the receivers have at the beginning and the end of each.

use std::ops::Range;
use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_net::Session;
use syscost_net::service::Reading;
use syscost_sys::process::pause;

use super::interface::InterfaceCounters;
use super::workers::{Tally, Workers};

/// Minimum ratio of two clocks' rates: clocks under correction (NTP) run slower by a two-thousandth at most.
const CLOCKS_AGREE: f64 = 0.99;

/// Maximum share of the received bytes that all windows together seem to hold, if the receiver's clock is
/// slower than this one's.
const MAX_SHARE: f64 = 1.02;

/// If the mean of all windows is below this share of the mean over the whole time, it is another rate, or
/// the machine stood still in the windows.
const MIN_MEAN: f64 = 0.1;

/// Both ends of something that goes on in one direction.
pub(super) struct Transfer {
    /// The workers of the far end first, if it is on this machine, then those of this end.
    pub(super) workers: Workers,
    /// The far end, if it is on another machine.
    session: Option<Session>,
    interface: InterfaceCounters,
    pub(super) receives: bool,
    begun: Instant,
    first: Option<Used>,
    pub(super) windows: Windows,
}

/// The result of a transfer.
pub(super) struct Transferred {
    pub(super) sent: Tally,
    pub(super) received: Tally,
    pub(super) is_partner: bool,
    pub(super) interface: InterfaceCounters,
    pub(super) lasted: Duration,
    /// What was used during the measurement, if there was one, and its windows.
    pub(super) usage: Option<Usage>,
    pub(super) windows: Windows,
}

impl Transfer {
    pub(super) fn new(
        workers: Workers,
        session: Option<Session>,
        interface: InterfaceCounters,
        receives: bool,
    ) -> Self {
        Self {
            workers,
            session,
            interface,
            receives,
            begun: Instant::now(),
            first: None,
            windows: Windows::default(),
        }
    }

    fn far(&self) -> Range<usize> {
        match self.session {
            Some(_) => 0..0,
            None => 0..self.workers.count() / 2,
        }
    }

    fn near(&self) -> Range<usize> {
        self.far().end..self.workers.count()
    }

    /// Both tasks of each connection, if both are on this machine.
    pub(super) fn tasks(&self) -> Vec<(TaskId, TaskId)> {
        let near = self.workers.tasks(self.near()).into_iter();
        near.zip(self.workers.tasks(self.far())).collect()
    }

    /// Bytes that each task of this end has moved so far.
    pub(super) fn moved(&self) -> Vec<u64> {
        self.workers.bytes(self.near()).collect()
    }

    /// What the receivers have so far; of receivers here without their CPU time.
    fn received(&mut self) -> Result<Reading, Failure> {
        self.workers.check()?;
        let receivers = if self.receives {
            self.near()
        } else {
            self.far()
        };
        if receivers.is_empty() {
            return self.ask();
        }
        Ok(Reading {
            messages: self.workers.messages(receivers.clone()),
            bytes: self.workers.bytes(receivers).sum(),
            cpu_ns: None,
            at_ns: self.begun.elapsed().as_nanos() as u64,
        })
    }

    fn ask(&mut self) -> Result<Reading, Failure> {
        let missing = || Failure::Broken("receives nowhere".into());
        Ok(self.session.as_mut().ok_or_else(missing)?.reading()?)
    }

    fn used(&mut self) -> Result<Used, Failure> {
        let senders = if self.receives {
            self.far()
        } else {
            self.near()
        };
        let sent = self.workers.messages(senders);
        let received = self.received()?;
        let far_cpu_ns = match self.session {
            None => self.workers.cpu_ns(self.far()),
            Some(_) if received.cpu_ns.is_none() => self.ask()?.cpu_ns,
            Some(_) => received.cpu_ns,
        };
        Ok(Used {
            sent,
            received,
            near_cpu_ns: self.workers.cpu_ns(self.near()),
            far_cpu_ns,
            at: Instant::now(),
        })
    }

    /// Bytes per second that the receivers get within a window of this length.
    pub(super) fn window(&mut self, length: Duration) -> Result<f64, Failure> {
        let begun = Instant::now();
        let before = self.received()?;
        pause(length);
        let after = self.received()?;
        let rate = rate(&came(&before, &after)?, length)?;
        self.windows.add(rate, length, begun.elapsed());
        Ok(rate)
    }

    /// What is used counts from now on, and so do windows.
    pub(super) fn begin_usage(&mut self) -> Result<(), Failure> {
        self.first = Some(self.used()?);
        self.windows = Windows::default();
        Ok(())
    }

    /// What was used since then; `None` if it did not count.
    pub(super) fn usage(&mut self) -> Result<Option<Usage>, Failure> {
        match self.first {
            Some(first) => first.until(&self.used()?).map(Some),
            None => Ok(None),
        }
    }

    /// Ends it. Senders end first, on whichever machine they are; a receiver of datagrams elsewhere
    /// must be told how many there were.
    pub(super) fn finish(
        mut self,
        usage: Option<Usage>,
        are_datagrams: bool,
    ) -> Result<Transferred, Failure> {
        let (near, far) = (self.near(), self.far());
        if let Some(session) = self.session.as_mut().filter(|_| self.receives) {
            session.end(None)?;
        }
        let tallies = self.workers.dismiss()?;
        let lasted = self.begun.elapsed();
        let near = Tally::sum(&tallies[near]);
        let far = match &mut self.session {
            None => Tally::sum(&tallies[far]),
            Some(session) if self.receives => session.account()?.into(),
            Some(session) => session
                .finish(are_datagrams.then_some(near.messages))?
                .into(),
        };
        let (sent, received) = match self.receives {
            true => (far, near),
            false => (near, far),
        };
        Ok(Transferred {
            sent,
            received,
            is_partner: self.session.is_none(),
            interface: self.interface,
            lasted,
            usage,
            windows: self.windows,
        })
    }
}

/// What came between two readings, and the time that took. A far end may report anything, so both
/// are checked.
fn came(before: &Reading, after: &Reading) -> Result<Reading, Failure> {
    let bytes = after.bytes.checked_sub(before.bytes);
    let at_ns = after.at_ns.checked_sub(before.at_ns);
    match bytes.zip(at_ns) {
        Some((bytes, at_ns)) => Ok(Reading {
            messages: after.messages.saturating_sub(before.messages),
            bytes,
            cpu_ns: None,
            at_ns,
        }),
        None => Err(Failure::Refuted(format!(
            "the receiver had {} bytes at {} ns, and then {} at {} ns",
            before.bytes, before.at_ns, after.bytes, after.at_ns
        ))),
    }
}

/// Bytes per second of what came. At least `passed` has elapsed here: a clock that shows less is
/// wrong.
fn rate(came: &Reading, passed: Duration) -> Result<f64, Failure> {
    let (ns, here_ns) = (came.at_ns as f64, passed.as_nanos() as f64);
    if ns < CLOCKS_AGREE * here_ns {
        return Err(Failure::Refuted(format!(
            "the receiver's clock advanced by {ns} ns while {here_ns} ns passed here"
        )));
    }
    Ok(came.bytes as f64 * 1e9 / ns.max(1.0))
}

/// What the receiver has, and what the tasks of both ends have used, at some time.
#[derive(Debug, Clone, Copy)]
struct Used {
    /// Messages of the senders that are on this machine.
    sent: u64,
    received: Reading,
    near_cpu_ns: Option<u64>,
    far_cpu_ns: Option<u64>,
    at: Instant,
}

impl Used {
    /// What was received and used from this reading until `last`.
    fn until(&self, last: &Used) -> Result<Usage, Failure> {
        let came = came(&self.received, &last.received)?;
        let used = |first: Option<u64>, last: Option<u64>| Some(last?.saturating_sub(first?));
        Ok(Usage {
            sent: last.sent - self.sent,
            received: came.messages,
            bytes: came.bytes,
            last_bytes: last.received.bytes,
            near_cpu_ns: used(self.near_cpu_ns, last.near_cpu_ns),
            far_cpu_ns: used(self.far_cpu_ns, last.far_cpu_ns),
            passed_ns: (last.at - self.at).as_nanos() as u64,
        })
    }
}

/// What was received and used between the first window and the last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    /// Messages of the senders that are on this machine, and of all receivers.
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) bytes: u64,
    /// Bytes that the receiver had in the end, including those before the first window.
    last_bytes: u64,
    pub(super) near_cpu_ns: Option<u64>,
    pub(super) far_cpu_ns: Option<u64>,
    pub(super) passed_ns: u64,
}

impl Usage {
    /// Details the CPU time of both ends for each byte.
    pub(super) fn detail(&self, b: &mut Bencher) {
        for (name, ns) in [
            ("cpu_ns_per_byte", self.near_cpu_ns),
            ("far_cpu_ns_per_byte", self.far_cpu_ns),
        ] {
            if let Some(ns) = ns {
                b.detail(name, ns as f64 / self.bytes.max(1) as f64);
            }
        }
    }
}

/// All windows.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// Their rates, in bytes per second.
    pub(super) rates: Vec<f64>,
    /// Bytes received in them, by their rates and the minimum duration of each.
    min_bytes: f64,
    /// Bytes received in them, by their rates and the time that each took with its overhead.
    max_bytes: f64,
    took_s: f64,
}

impl Windows {
    /// Adds one of at least this length, which took that long.
    fn add(&mut self, rate: f64, length: Duration, took: Duration) {
        self.rates.push(rate);
        self.min_bytes += rate * length.as_secs_f64();
        self.max_bytes += rate * took.as_secs_f64();
        self.took_s += took.as_secs_f64();
    }
}

impl Transferred {
    /// Claims that the rates are bytes per second: all windows hold no more than was received meanwhile,
    /// which is so however a machine stalls, and their mean is not far below that of the time.
    pub(super) fn claim_rates(&self, b: &mut Bencher) {
        let Some(usage) = &self.usage else {
            return;
        };
        let (windows, bytes) = (&self.windows, usage.bytes as f64);
        let claim = "bytes by the rates of all windows, of those that came meanwhile";
        let share = windows.min_bytes / bytes.max(1.0);
        b.claim_within(claim, Bound::AtMost(MAX_SHARE), share, "receiver");
        let mean = bytes * 1e9 / usage.passed_ns.max(1) as f64;
        let share = windows.max_bytes / windows.took_s / mean.max(1.0);
        let claim = "mean rate of all windows, of the mean rate of the whole time";
        let source = "receiver and clock";
        if share >= MIN_MEAN {
            let open = "the windows are those of steady growth, and hold no more bytes than came";
            b.claim_at_least(claim, MIN_MEAN, Ok::<_, String>(share), source, open);
        } else {
            let reason = "or this machine stood still in them";
            let expected = Bound::AtLeast(MIN_MEAN).fact();
            b.claim_unverified(claim, expected, share, source, reason);
        }
        let claim = "bytes at the last reading, of those that the receiver accounts for";
        let share = usage.last_bytes as f64 / self.received.bytes.max(1) as f64;
        b.claim_within(claim, Bound::AtMost(1.0), share, "receiver");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_end_that_counts_backwards_or_whose_clock_is_slow_is_refuted() {
        let at = |bytes, at_ns| Reading {
            bytes,
            at_ns,
            ..Reading::default()
        };
        let (before, second) = (at(1_000, 500), Duration::from_secs(1));
        let right = came(&before, &at(5_000, 2_000_000_500)).unwrap();
        assert_eq!(rate(&right, second), Ok(2_000.0));
        let slow = rate(&right, 3 * second);
        assert!(matches!(slow, Err(Failure::Refuted(_))), "a slow clock");
        for wrong in [at(999, 2_000_000_500), at(5_000, 499)] {
            let came = came(&before, &wrong);
            assert!(matches!(came, Err(Failure::Refuted(_))));
        }
    }
}
