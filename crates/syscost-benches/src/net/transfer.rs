//! Shared: tasks of both ends that send and receive until they are stopped, and what the receivers
//! have meanwhile.

use std::ops::Range;
use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_net::Session;
use syscost_net::service::{Reading, TcpSide};
use syscost_sys::counters::TaskId;
use syscost_sys::process::pause;

use super::interface::InterfaceCounters;
use super::windows::{Received, Usage, Used};
use super::workers::{Tally, Workers};

/// Both ends of something that goes on in one direction.
pub(super) struct Transfer {
    /// The workers of the far end first, if it is on this machine, then those of this end.
    pub(super) workers: Workers,
    /// The far end, if it is on another machine.
    pub(super) session: Option<Session>,
    /// What carries the bytes.
    pub(super) interface: InterfaceCounters,
    /// Whether this end receives.
    pub(super) receives: bool,
    begun: Instant,
    first: Option<Used>,
}

/// The result of a transfer.
pub(super) struct Transferred {
    pub(super) sent: Tally,
    pub(super) received: Tally,
    /// The sockets of a far end on another machine, as its kernel reports them.
    pub(super) far: Option<TcpSide>,
    /// Whether the far end was on this machine.
    pub(super) is_partner: bool,
    pub(super) interface: InterfaceCounters,
    /// How long it lasted.
    pub(super) lasted: Duration,
}

impl Transfer {
    /// Begins now.
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

    /// What the receivers have so far, and the far end's CPU time if it is reported along with
    /// that.
    fn received(&mut self) -> Result<(Received, Option<u64>), Failure> {
        self.workers.check()?;
        let receivers = if self.receives {
            self.near()
        } else {
            self.far()
        };
        if receivers.is_empty() {
            let reading = self.ask()?;
            return Ok((reading.into(), reading.cpu_ns));
        }
        let received = Received {
            messages: self.workers.messages(receivers.clone()),
            bytes: self.workers.bytes(receivers).sum(),
            at_ns: self.begun.elapsed().as_nanos() as u64,
        };
        Ok((received, None))
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
        let (received, mut far_cpu_ns) = self.received()?;
        if self.session.is_none() {
            far_cpu_ns = self.workers.cpu_ns(self.far());
        } else if far_cpu_ns.is_none() {
            far_cpu_ns = self.ask()?.cpu_ns;
        }
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
        let (before, _) = self.received()?;
        pause(length);
        let (after, _) = self.received()?;
        after.since(&before)?.rate(length)
    }

    /// What is used counts from now on.
    pub(super) fn begin_usage(&mut self) -> Result<(), Failure> {
        self.first = Some(self.used()?);
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
    pub(super) fn finish(mut self, are_datagrams: bool) -> Result<Transferred, Failure> {
        let (near, far) = (self.near(), self.far());
        if let Some(session) = self.session.as_mut().filter(|_| self.receives) {
            session.end(None)?;
        }
        let tallies = self.workers.dismiss()?;
        let lasted = self.begun.elapsed();
        let near = Tally::sum(&tallies[near]);
        let (far, far_side) = match &mut self.session {
            None => (Tally::sum(&tallies[far]), None),
            Some(session) => {
                let account = match self.receives {
                    true => session.account()?,
                    false => session.finish(are_datagrams.then_some(near.messages))?,
                };
                let side = account.tcp.clone();
                (account.into(), side)
            }
        };
        let (sent, received) = match self.receives {
            true => (far, near),
            false => (near, far),
        };
        Ok(Transferred {
            sent,
            received,
            far: far_side,
            is_partner: self.session.is_none(),
            interface: self.interface,
            lasted,
        })
    }
}
