//! Messages in one direction, as fast as the partner takes them.
//!
//! ## Measures
//! Bytes handed over per second, by the size of the messages: the time from before the first of
//! many messages (512, or as many as are 512 KiB; where they are counted, at most 128) is sent
//! until the partner has received all of them into its own buffer and has reported it. The
//! mechanisms are those of `ipc.round_trip` that carry more than a word. The detail
//! `cpu_ns_per_byte` is the CPU time of both tasks together.
//! ## Does not measure
//! The use of the data: the sender writes 8 bytes of each message, its number, and the receiver compares
//! them; the others are only copied, so they come from the cache and go there. Evidence is counted
//! with every byte written and summed up on both sides.
//! ## Interpretation
//! For small messages the calls per message dominate, for large ones the copies per byte: two
//! through the kernel or a ring, one with `process_vm_readv`. On the `same` CPU the two alternate,
//! as the buffer between them fills and empties (64 KiB in a pipe and in the ring, ten datagrams,
//! ten messages of a POSIX queue, one message with `process_vm_readv`); on two CPUs they copy at
//! the same time, and sleep where one is faster than the other. A sample is one such batch or more:
//! the wake-ups at its start and its end are a part of it, on two CPUs a visible one.
//! ## Source
//! lmbench `bw_pipe`, `bw_unix`; ipc-bench; CMA in MPI libraries.

use syscost_harness::prelude::*;
use syscost_sys::partner::Shared;

use super::channel::{self, Channel, Mechanism, Rows, named};
use super::ledger::{Ledger, Tally, claim_equal};
use super::message::Message;
use super::spec::{MessageSpec, Row, Traffic};
use crate::syscall::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "IPC bandwidth, by message size",
    tags: &[
        "inter-process communication",
        "throughput",
        "message passing",
        "pipe",
        "unix socket",
        "unix domain socket",
        "message queue",
        "shared memory",
        "cross-memory attach",
        "process_vm_readv",
        "bw_pipe",
        "bw_unix",
        "ipc-bench",
    ],
    revision: 2,
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    ..Benchmark::by::<Row, OneWay>()
};

/// Maximum number of messages per iteration.
const MAX_PER_TURN: u64 = 512;

/// Maximum number where each of their calls is reported to an auditor: the calls that signal the
/// end of an iteration must still be few compared with theirs.
const MAX_COUNTED: u64 = 128;

/// Maximum bytes per iteration, unless a single message is larger.
const TURN_BYTES: u64 = 512 << 10;

/// Messages that the partner only takes.
pub(crate) struct OneWay;

impl Traffic for OneWay {
    fn rows(of: &'static Mechanism) -> &'static Rows {
        &of.bandwidths
    }

    fn measure<C: Channel>(mut plan: Plan<'_>, spec: MessageSpec) -> Result<Outcome<'_>, Failure> {
        channel::allowed::<C>(spec.size.get())?;
        spec.expect::<C>(&mut plan, 1.0, 0.0)?;
        // Signalling the end of the messages that are sent together: a wait and a wake, before and
        // after what is counted.
        plan.expect(at_most(Counter::OtherSyscalls, 0.1));
        let bytes = spec.size.0;
        plan.rate(bytes);
        let most = if plan.is_timed() {
            MAX_PER_TURN
        } else {
            MAX_COUNTED
        };
        let per_iteration = (TURN_BYTES / bytes).clamp(1, most);
        plan.operations_per_iteration(per_iteration);
        let make = |cpus: &[u32]| one_way::<C>(spec, per_iteration, cpus);
        let outcome = plan.measure(Together::of(spec.placement, make))?;
        let (mut outcome, (sender, received)) = outcome.split();
        claim_equal(
            &mut outcome,
            &spec,
            "that came to the partner",
            &sender.sent,
            &received,
        );
        if let Some(cpu_ns) = outcome.cpu_ns().filter(|_| outcome.is_timed()) {
            outcome.detail("cpu_ns_per_byte", cpu_ns / bytes as f64);
        }
        named::claim(&mut outcome, spec.via, &sender.end);
        Ok(outcome)
    }
}

/// Both sides, with the partner at work.
fn one_way<'t, C: Channel>(
    spec: MessageSpec,
    per_iteration: u64,
    cpus: &[u32],
) -> Result<Team<'t, (Sender<C>, Tally)>, Failure> {
    let (mut end, theirs) = C::open(spec.size.get())?;
    let ledger = Shared::new(Ledger::default())?;
    let responder = spec.partner(cpus, theirs, &ledger, take_all)?;
    end.meet(responder.task());
    Ok(responder.driven_by(Sender {
        message: Message::new(spec.size.get()),
        end,
        whole: spec.whole,
        sent: Tally::default(),
        ledger,
        per_iteration,
    }))
}

/// The measuring side.
struct Sender<C> {
    end: C,
    message: Message,
    whole: bool,
    sent: Tally,
    ledger: Shared<Ledger>,
    per_iteration: u64,
}

impl<C: Channel> Driver for Sender<C> {
    /// Sends all messages of these iterations and waits until the partner has them.
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let messages = iterations * self.per_iteration;
        self.ledger.set_goal(self.sent.messages + messages);
        for _ in 0..messages {
            if let Err(bad) = self.send_one() {
                // The partner's own report explains more.
                self.ledger.judge()?;
                let number = self.sent.messages + 1;
                return Err(Failure::of(&format!("send message {number}"), bad));
            }
        }
        self.ledger.wait_for_goal()
    }

    fn end(&mut self) -> Result<(), Failure> {
        let last = self.end.send(&self.message);
        last.map(drop)
            .map_err(|bad| Failure::of("send the last message", bad))
    }
}

impl<C: Channel> Sender<C> {
    #[inline(always)]
    fn send_one(&mut self) -> Result<(), Bad> {
        self.end.settle()?;
        self.message.write(self.sent.messages + 1, self.whole);
        let went = self.end.send(&self.message)?;
        self.sent.add(went, &self.message, self.whole);
        must(went == self.message.bytes().len())
    }
}

/// The partner's side.
fn take_all<C: Channel>(
    spec: MessageSpec,
    end: &mut C,
    ledger: &Ledger,
    stop: &Stop,
) -> Result<Tally, Bad> {
    let mut message = Message::new(spec.size.get());
    let mut received = Tally::default();
    loop {
        let came = end.receive(&mut message)?;
        // The last message does not count.
        if stop.is_set() {
            return Ok(received);
        }
        ledger.check(received.messages + 1, came, &message)?;
        received.add(came, &message, spec.whole);
        ledger.note_taken(received.messages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipc::channel::broken::{Broken, DOUBLES, DROPS, FLIPS, HALVES, SENDS_HALF, SOUND};
    use crate::ipc::spec::tests::each;

    /// Sends two hundred messages; returns the failure, or whether both sides counted the same.
    fn transfer<C: Channel>(spec: MessageSpec, cpus: &[u32]) -> Result<bool, Failure> {
        let (sender, received) = one_way::<C>(spec, 1, cpus)?.perform([150, 50])?;
        assert_eq!(sender.sent.messages, 200);
        Ok(sender.sent == received)
    }

    #[test]
    fn a_sound_way_has_equal_bytes_and_sums_on_both_sides() {
        each(|spec, cpus| {
            assert_eq!(transfer::<Broken<SOUND>>(spec, cpus), Ok(true));
        });
    }

    #[test]
    fn a_flipped_bit_is_in_the_checksum() {
        each(|spec, cpus| {
            assert_eq!(transfer::<Broken<FLIPS>>(spec, cpus), Ok(false));
        });
    }

    #[test]
    fn what_is_lost_doubled_or_cut_fails() {
        each(|spec, cpus| {
            for lie in [
                transfer::<Broken<DROPS>>(spec, cpus),
                transfer::<Broken<DOUBLES>>(spec, cpus),
                transfer::<Broken<HALVES>>(spec, cpus),
            ] {
                let Err(Failure::Failed(reason)) = lie else {
                    panic!("{lie:?}");
                };
                assert!(reason.contains("lost, sent twice or damaged"), "{reason}");
            }
            let cut = transfer::<Broken<SENDS_HALF>>(spec, cpus);
            assert!(matches!(cut, Err(Failure::Failed(_))), "{cut:?}");
        });
    }
}
