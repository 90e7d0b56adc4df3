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

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use syscost_harness::prelude::*;
use syscost_sys::process;

use super::channel::gate::Gate;
use super::channel::{self, Channel, Ends, Mechanism, Open, Rows, Via};
use super::traffic::{IpcTraffic, Side, Tasks, Traffic};
use crate::witness::messages::Moved;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "IPC bandwidth, by message size",
    tags: "inter-process communication, throughput, message passing, pipe, unix socket, \
        unix domain socket, message queue, shared memory, cross-memory attach, process_vm_readv, \
        bw_pipe, bw_unix, ipc-bench",
    revision: 2,
    // Signalling the end of the messages that are sent together: a wait and a wake, before and
    // after what is counted.
    expect: &[at_most(Counter::OtherSyscalls, 0.1)],
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    roles: roles!(
        IpcTraffic {
            via: Via::Pipe,
            between: Between::Processes,
            cpus: Placement::SAME,
            size,
        } if size == Bytes::kib(64) => Role::PipeBandwidth,
    ),
    ..Benchmark::by::<IpcTraffic, OneWay>()
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
    const IS_ANSWERED: bool = false;

    fn rows(of: &'static Mechanism) -> &'static Rows {
        &of.bandwidths
    }

    fn measure<C: Channel>(
        mut plan: Plan<'_>,
        tasks: Tasks,
        open: Open<C>,
    ) -> Result<Outcome<'_>, Failure> {
        channel::allowed(open, tasks.size)?;
        let bytes = tasks.size as u64;
        plan.rate(bytes);
        let most = if plan.is_timed() {
            MAX_PER_TURN
        } else {
            MAX_COUNTED
        };
        let per_iteration = (TURN_BYTES / bytes).clamp(1, most);
        let make = |cpus: &[u32]| one_way(tasks, per_iteration, open(tasks.size)?, cpus);
        let team = Together::of(tasks.placement, make).per_iteration(per_iteration);
        let outcome = plan.measure(team)?;
        let (mut outcome, (sender, received)) = outcome.split();
        sender.side.claim(&mut outcome, &received);
        outcome.claim_moved(received.bytes, "both ends");
        if let Some(cpu_ns) = outcome.cpu_ns().filter(|_| outcome.is_timed()) {
            outcome.detail("cpu_ns_per_byte", cpu_ns / bytes as f64);
        }
        Ok(outcome)
    }
}

/// Both sides, with the partner at work.
fn one_way<'t, C: Channel>(
    tasks: Tasks,
    per_iteration: u64,
    ends: Ends<C>,
    cpus: &[u32],
) -> Result<Team<'t, (Sender<C>, Moved)>, Failure> {
    let progress = Shared::new(Progress::default())?;
    let taken = progress.clone();
    let serve = move |end: &mut C, stop: &Stop| {
        let all = tasks.take_all(end, stop, |_, _, received| {
            taken.note(received.messages);
            Ok(())
        });
        all.inspect_err(|_| taken.arrived.close())
    };
    tasks.team(cpus, ends, serve, |side| Sender {
        side,
        progress,
        per_iteration,
    })
}

/// What the partner has taken, in memory that both tasks share.
#[derive(Default)]
struct Progress {
    /// Total number of messages after this batch.
    goal: AtomicU64,
    taken: AtomicU64,
    /// The same number, signalled only at the goal.
    arrived: Gate,
}

impl Progress {
    /// Records, in the partner, how many were taken, and signals it at the goal.
    #[inline(always)]
    fn note(&self, messages: u64) {
        self.taken.store(messages, Relaxed);
        if messages >= self.goal.load(Relaxed) {
            self.arrived.set(messages as u32);
        }
    }

    /// Sleeps until the partner has taken all messages up to the goal.
    fn wait_for_goal(&self) -> Result<(), Failure> {
        let goal = self.goal.load(Relaxed);
        let mut before = Some(self.taken.load(Relaxed));
        loop {
            let arrived = self.arrived.get();
            if arrived == goal as u32 {
                return Ok(());
            }
            let come = self.arrived.past_within(arrived, Some(process::patience()));
            if come.tried("wait for the partner")?.is_none() {
                let taken = self.taken.load(Relaxed);
                if before.replace(taken) == Some(taken) || taken >= goal {
                    return Err(Failure::late(format!(
                        "of {goal} messages only {taken} arrived"
                    )));
                }
            }
        }
    }
}

/// The measuring side.
struct Sender<C> {
    side: Side<C>,
    progress: Shared<Progress>,
    per_iteration: u64,
}

impl<C: Channel> Driver for Sender<C> {
    /// Sends all messages of these iterations and waits until the partner has them.
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let messages = iterations * self.per_iteration;
        let goal = self.side.sent.messages + messages;
        self.progress.goal.store(goal, Relaxed);
        for _ in 0..messages {
            if let Err(bad) = self.side.send_next() {
                let number = self.side.sent.messages + 1;
                return Err(Failure::of(&format!("send message {number}"), bad));
            }
        }
        self.progress.wait_for_goal()
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.side.send_last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipc::channel::broken::{Broken, How};

    /// Sends two hundred messages; returns the failure, or whether both sides counted the same.
    fn transfer(how: How, between: Between) -> Result<bool, Failure> {
        let (tasks, cpus) = (Tasks::small(between, 64), syscost_sys::cpu::allowed()?);
        let team = one_way(tasks, 1, Broken::open(how, 64)?, &cpus)?;
        let (sender, received) = team.perform([150, 50])?;
        assert_eq!(sender.side.sent.messages, 200);
        Ok(sender.side.sent == received)
    }

    #[test]
    fn both_sides_count_the_same_unless_a_bit_is_flipped() {
        for between in Between::ALL {
            assert_eq!(transfer(How::Sound, between), Ok(true));
            assert_eq!(transfer(How::Flips, between), Ok(false));
        }
    }

    #[test]
    fn what_is_lost_doubled_or_cut_fails() {
        for between in Between::ALL {
            for how in [How::Drops, How::Doubles, How::Halves] {
                let lie = transfer(how, between);
                let Err(Failure::Failed(reason)) = lie else {
                    panic!("{how:?}: {lie:?}");
                };
                assert!(reason.contains("lost, sent twice or damaged"), "{reason}");
            }
            let cut = transfer(How::SendsHalf, between);
            assert!(matches!(cut, Err(Failure::Failed(_))), "{cut:?}");
        }
    }
}
