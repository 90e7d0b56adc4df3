//! Shared: messages that go to the far end and come back, each with a nonce, each timed
//! individually.

use std::time::Duration;

use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_net::Account;
use syscost_sys::clock::Clock;

use super::interface::InterfaceCounters;
use crate::ipc::message::Message;
use crate::witness::messages::{self, Moved, Strays};

/// How long to wait for an answer that may have been lost.
pub(crate) const LOST_AFTER: Duration = Duration::from_millis(200);

/// How many messages are remembered, to judge answers that come late or twice.
const REMEMBERED: usize = 64;

/// The near end of a connection or socket over which messages are exchanged.
pub(crate) trait Link {
    fn send(&mut self, message: &mut Message) -> Result<(), Errno>;

    /// Waits for an answer and returns its length in bytes; `None` if none came within
    /// [`LOST_AFTER`], where answers can be lost.
    fn receive(&mut self, answer: &mut Message) -> Result<Option<usize>, Errno>;

    /// Ends the far end's service.
    fn end(&mut self) -> Result<(), Errno>;
}

/// The parameters of an exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    /// Bytes of a message.
    size: usize,
    /// Whether every byte of a message is written and compared: in the evidence pass, not in timed
    /// ones.
    whole: Compares,
    /// Whether no message may be lost or come twice.
    is_lossless: bool,
    clock: Clock,
    seed: u64,
}

impl Exchange {
    /// For this pass, with messages of `size` bytes. `is_lossless` says that no message may be lost
    /// or come twice.
    pub(crate) fn new(b: &mut Bencher, size: usize, is_lossless: bool) -> Self {
        Self {
            size,
            whole: b.compares(),
            is_lossless,
            clock: *b.clock(),
            seed: b.random().u64(..),
        }
    }

    /// The near end of an exchange over this link.
    pub(crate) fn over<L: Link>(self, link: L, interface: InterfaceCounters) -> Caller<L> {
        Caller {
            link,
            interface,
            exchange: self,
            message: Message::new(self.size),
            answer: Message::new(self.size),
            nonces: fastrand::Rng::with_seed(self.seed),
            laps: Laps::new(self.clock),
            remembered: [None; REMEMBERED],
            tally: Tally::default(),
        }
    }
}

/// The measuring task's end: it sends, and waits until the same comes back.
pub(crate) struct Caller<L> {
    pub(crate) link: L,
    interface: InterfaceCounters,
    exchange: Exchange,
    message: Message,
    answer: Message,
    nonces: fastrand::Rng,
    laps: Laps,
    remembered: [Option<Remembered>; REMEMBERED],
    pub(crate) tally: Tally,
}

/// A message that was sent before, and whether it was answered.
#[derive(Debug, Clone, Copy)]
struct Remembered {
    nonce: u64,
    is_answered: bool,
}

/// What the near end counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) sent: u64,
    /// The sum of their nonces, wrapping.
    sent_sum: u64,
    /// Answers that came in time.
    pub(crate) answered: u64,
    answered_sum: u64,
    /// Messages without an answer in time.
    pub(crate) lost: u64,
    /// Answers that came after their time limit.
    pub(crate) late: u64,
    /// Answers that came twice.
    pub(crate) duplicated: u64,
}

impl<L: Link> Driver for Caller<L> {
    const MAX_ITERATIONS: u64 = Laps::MAX_ITERATIONS;

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.laps.begin();
        for _ in 0..iterations {
            match self.iterate()? {
                true => self.laps.note(),
                false => self.laps.void(),
            }
        }
        Ok(())
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        Some(&mut self.laps)
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.interface.end();
        self.link.end().tried("end an exchange")
    }
}

impl<L: Link> Caller<L> {
    /// One round trip, on a path that loses nothing.
    pub(crate) fn round_trip(&mut self) -> Result<(), Failure> {
        match self.iterate()? {
            true => Ok(()),
            false => Err(Failure::Failed("no answer came in time".into())),
        }
    }

    /// One round trip; false if its message was lost.
    #[inline(always)]
    fn iterate(&mut self) -> Result<bool, Failure> {
        self.message.write(self.nonces.u64(..), self.exchange.whole);
        let nonce = self.message.number();
        let sent = self.link.send(&mut self.message);
        sent.map_err(|errno| self.failed("send", self.tally.sent + 1, errno))?;
        self.tally.sent_sum = self.tally.sent_sum.wrapping_add(nonce);
        self.tally.sent += 1;
        loop {
            let came = self.link.receive(&mut self.answer);
            let came =
                came.map_err(|errno| self.failed("receive the answer to", self.tally.sent, errno))?;
            if came == Some(self.message.bytes().len()) && self.is_the_message() {
                self.tally.answered_sum = self.tally.answered_sum.wrapping_add(nonce);
                self.tally.answered += 1;
                self.remember(true);
                return Ok(true);
            }
            match came {
                None => {
                    self.tally.lost += 1;
                    self.remember(false);
                    return Ok(false);
                }
                Some(bytes) => self.judge_stray(bytes)?,
            }
        }
    }

    #[inline(always)]
    fn is_the_message(&self) -> bool {
        match self.exchange.whole.all() {
            true => self.answer.bytes() == self.message.bytes(),
            false => self.answer.number() == self.message.number(),
        }
    }

    #[inline(always)]
    fn remember(&mut self, is_answered: bool) {
        self.remembered[self.tally.sent as usize % REMEMBERED] = Some(Remembered {
            nonce: self.message.number(),
            is_answered,
        });
    }

    /// An answer that is not that of the last message may belong to an earlier one, where answers
    /// can be late or come twice.
    #[cold]
    fn judge_stray(&mut self, bytes: usize) -> Result<(), Failure> {
        let number = self.tally.sent;
        let size = self.message.bytes().len();
        if bytes == 0 {
            return Err(Failure::Failed(format!(
                "the far end closed before it answered message {number}"
            )));
        }
        if bytes != size {
            return Err(Failure::Refuted(format!(
                "the answer to message {number} has {bytes} bytes, not {size}"
            )));
        }
        let nonce = self.answer.number();
        let mut known = self.remembered.iter_mut().flatten();
        match known.find(|one| one.nonce == nonce && !self.exchange.is_lossless) {
            Some(known) if known.is_answered => self.tally.duplicated += 1,
            Some(known) => {
                known.is_answered = true;
                self.tally.late += 1;
            }
            None => {
                return Err(Failure::Refuted(format!(
                    "the answer is neither message {number} nor an earlier one"
                )));
            }
        }
        Ok(())
    }

    #[cold]
    fn failed(&self, what: &str, number: u64, errno: Errno) -> Failure {
        Failure::of(&format!("{what} message {number}"), errno)
    }

    /// Claims that the far end received every message, and that they took the expected path.
    pub(crate) fn claim(&self, b: &mut Bencher, account: &Account) {
        self.claim_deliveries(b);
        // A lost message may have been lost on its way back.
        let strays = Strays {
            missing: self.tally.lost,
            repeated: self.tally.duplicated,
        };
        let received = Moved {
            messages: account.messages,
            bytes: account.bytes,
            sum: Some(account.checksum),
        };
        let what = "received by the far end";
        messages::claim_same(b, what, &self.sent(), &received, strays);
        messages::see_size(b, &received);
        let what = "bytes at the far end in messages of another size";
        b.claim_equal(what, 0, account.wrong, "far end");
        self.claim_interface(b);
    }

    /// Claims that every message was answered in time and once, by the near end's own counts. An answer
    /// without the nonce of its message counts as none.
    pub(crate) fn claim_deliveries(&self, b: &mut Bencher) {
        let tally = &self.tally;
        for (what, count) in [
            ("messages not answered in time", tally.lost),
            ("answers that came late", tally.late),
            ("answers that came twice", tally.duplicated),
        ] {
            match (count, self.exchange.is_lossless) {
                (0, _) | (_, true) => b.claim_equal(what, 0.0, count as f64, "near end"),
                (_, false) => {
                    let reason = "this path may lose messages; such operations do not count";
                    b.claim_unverified(what, 0.0, count as f64, "near end", reason);
                }
            }
        }
        if !self.exchange.is_lossless && b.is_timed() {
            b.detail("lost_count", tally.lost as f64);
            b.detail("late_count", tally.late as f64);
            b.detail("duplicated_count", tally.duplicated as f64);
        }
    }

    pub(crate) fn claim_interface(&self, b: &mut Bencher) {
        let (sent, received) = self.bytes();
        self.interface.claim(b, sent, received);
    }

    fn sent(&self) -> Moved {
        Moved {
            messages: self.tally.sent,
            bytes: self.bytes().0,
            sum: Some(self.tally.sent_sum),
        }
    }

    pub(crate) fn answered(&self) -> Moved {
        Moved {
            messages: self.tally.answered,
            bytes: self.bytes().1,
            sum: Some(self.tally.answered_sum),
        }
    }

    /// Bytes sent in messages, and received in answers.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        let bytes = self.message.bytes().len() as u64;
        (self.tally.sent * bytes, self.tally.answered * bytes)
    }
}

#[cfg(test)]
mod tests;
