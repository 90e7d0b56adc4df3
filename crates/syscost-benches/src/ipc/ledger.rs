//! Shared: what two communicating tasks have counted, what went wrong, and how one waits until the
//! other has received everything.

use std::sync::atomic::{
    AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::time::Duration;

use syscost_harness::prelude::*;

use super::channel::gate::Gate;
use super::message::{Message, ODD};
use super::spec::MessageSpec;
use crate::syscall::Bad;

/// Maximum time to wait for a missing message while no other arrives.
const PATIENCE: Duration = Duration::from_secs(1);

/// The counts, in memory that both tasks share.
#[derive(Default)]
pub(super) struct Ledger {
    /// Total number of messages after this batch.
    goal: AtomicU64,
    /// Number of messages that the partner has taken.
    taken: AtomicU64,
    /// The same number, signalled only at the goal.
    arrived: Gate,
    fault: Fault,
}

/// The first failure of the partner.
#[derive(Default)]
struct Fault {
    kind: AtomicU32,
    message: AtomicU64,
    observed: AtomicU64,
}

const WRONG_NUMBER: u32 = 1;
const WRONG_LENGTH: u32 = 2;
const REFUSED: u32 = 3;
const BAD_ANSWER: u32 = 4;

impl Ledger {
    /// Announces the total number of messages, before they are sent.
    pub(super) fn set_goal(&self, messages: u64) {
        self.goal.store(messages, Relaxed);
    }

    /// Records, in the partner, how many were taken, and signals it at the goal.
    pub(super) fn note_taken(&self, messages: u64) {
        self.taken.store(messages, Relaxed);
        if messages >= self.goal.load(Relaxed) {
            self.arrived.set(messages as u32);
        }
    }

    /// Sleeps until the partner has taken all messages up to the goal.
    pub(super) fn wait_for_goal(&self) -> Result<(), Failure> {
        let goal = self.goal.load(Relaxed);
        let mut before = None;
        loop {
            let arrived = self.arrived.get();
            if arrived == goal as u32 {
                return self.judge();
            }
            match self.arrived.past_within(arrived, Some(PATIENCE)) {
                Ok(Some(_)) => {}
                Ok(None) => {
                    let taken = self.taken.load(Relaxed);
                    if before.replace(taken) == Some(taken) || taken >= goal {
                        self.judge()?;
                        return Err(Failure::Failed(format!(
                            "of {goal} messages only {taken} arrived"
                        )));
                    }
                }
                Err(bad) => {
                    self.judge()?;
                    return Err(Failure::of("wait for the partner", bad));
                }
            }
        }
    }

    /// Compares, in the partner, the message that arrived with the expected one. A difference is
    /// recorded, and [`Ledger::judge`] reports it to the other side.
    pub(super) fn check(&self, due: u64, came: usize, message: &Message) -> Result<(), Bad> {
        if came != message.bytes().len() {
            self.note(WRONG_LENGTH, due, came as u64);
            return Err(Bad::Answer);
        }
        if message.number() != message.part(due) {
            // The partner continues, so that the other side does not wait forever.
            self.note(WRONG_NUMBER, due, message.number());
        }
        Ok(())
    }

    /// Records, in the partner, that a call failed.
    pub(super) fn fail(&self, bad: Bad) {
        let next = self.taken.load(Relaxed) + 1;
        match bad {
            Bad::Refused(errno) => self.note(REFUSED, next, errno.raw_os_error() as u64),
            Bad::Answer => self.note(BAD_ANSWER, next, 0),
        }
    }

    fn note(&self, kind: u32, message: u64, observed: u64) {
        if self.fault.kind.load(Relaxed) == 0 {
            self.fault.message.store(message, Relaxed);
            self.fault.observed.store(observed, Relaxed);
            self.fault.kind.store(kind, Release);
            self.arrived.close();
        }
    }

    /// The partner's failure, if any.
    pub(super) fn judge(&self) -> Result<(), Failure> {
        let kind = self.fault.kind.load(Acquire);
        let message = self.fault.message.load(Relaxed);
        let observed = self.fault.observed.load(Relaxed);
        let what = match kind {
            0 => return Ok(()),
            WRONG_NUMBER => {
                format!("message {observed} arrived instead: one was lost, sent twice or damaged")
            }
            WRONG_LENGTH => format!("{observed} bytes arrived"),
            REFUSED => std::io::Error::from_raw_os_error(observed as i32).to_string(),
            BAD_ANSWER => "a call returned an unexpected value".to_owned(),
            unknown => format!("a fault of kind {unknown}, which there is not"),
        };
        Err(Failure::Failed(format!(
            "where the partner waited for message {message}: {what}"
        )))
    }
}

/// Claims that one side received what the other sent.
pub(super) fn claim_equal(
    b: &mut Outcome,
    spec: &MessageSpec,
    what: &str,
    gave: &Tally,
    got: &Tally,
) {
    let per_message = |tally: &Tally| tally.bytes as f64 / gave.messages.max(1) as f64;
    // The divisor of the time, and the size in the row's name.
    let claim = Claim::by_most(format!("messages {what} per operation"));
    let each = got.messages as f64 / b.operations().max(1) as f64;
    b.claim_equal(claim, 1.0, each, "both sides");
    if spec.via.is_some() {
        let named = spec.size.0 as f64;
        let claim = format!("bytes {what} per message, by the row's name");
        b.claim_equal(&claim, named, per_message(got), "both sides");
    }
    if let Some(rated) = b.rated() {
        let claim = format!("bytes {what} per message, by the rate");
        b.claim_equal(&claim, rated, per_message(got), "both sides");
    }
    let same = (gave.messages, gave.bytes) == (got.messages, got.bytes);
    b.claim(
        format!("bytes {what} per message"),
        per_message(gave),
        per_message(got),
        "both sides",
        same && gave.messages > 0,
    );
    if !b.is_timed() {
        let hex = |tally: &Tally| format!("{:016x}", tally.sum);
        let claim = format!("checksum of all bytes {what}");
        b.claim_equal(&claim, hex(gave), hex(got), "both sides");
    }
}

/// The counts of one side, kept privately until the end.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) messages: u64,
    bytes: u64,
    sum: u64,
}

impl Tally {
    /// Counts a message of which this many bytes were moved, and if it is `whole` adds a checksum
    /// of its content.
    #[inline(always)]
    pub(super) fn add(&mut self, moved: usize, message: &Message, whole: bool) {
        self.messages += 1;
        self.bytes += moved as u64;
        if whole {
            self.sum = self.sum.wrapping_mul(ODD) ^ message.sum();
        }
    }
}
