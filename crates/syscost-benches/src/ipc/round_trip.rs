//! A message goes to the partner, and one of the same size comes back.
//!
//! ## Measures
//! From before a message is sent to after the answer has come. The partner, asleep until then (it
//! spins with `shared_spin`), receives the message into its own buffer and sends those bytes back.
//! The mechanisms: two pipes, two fifos, unix sockets (connected by path: `unix_stream`,
//! `unix_datagram`, `unix_seqpacket`; made as a pair: `socketpair`), two eventfds, two POSIX or
//! SysV message queues, two rings of 64 KiB in shared memory into and out of which the message is
//! copied (each side waits in a futex, or spins), memory that the receiver reads from the sender's
//! process after being woken by a futex, and queued signals, which carry a word.
//! ## Does not measure
//! Setting up the channel (`ipc.unix_connect`). The use of the data: the sender writes 8
//! bytes of each message, its number, and the receiver compares them; the others stay in the cache
//! as they are. Evidence is counted with every byte written and summed up on both sides.
//! ## Interpretation
//! On the `same` CPU it contains two switches, whatever the mechanism: compare with `switch.pipe`
//! and similar rows. On two CPUs it is mostly the time to wake the other one, in a virtual machine
//! through its hypervisor; only `shared_spin` has none of that. A task waiting at a unix stream
//! socket is also woken when its own message is taken: up to two more switches. Larger messages add
//! two copies each way, one with `process_vm_readv`. A row of a queue whose limit is smaller than
//! the message is unsupported.
//! ## Source
//! lmbench `lat_pipe`, `lat_fifo`, `lat_unix`, `lat_sig`; libMicro `cascade_*`; ipc-bench.

use syscost_harness::prelude::*;

use super::channel::{self, Channel, Mechanism, Rows};
use super::message::Message;
use super::traffic::{Row, Tasks, Traffic, claim_received, see_mechanism};
use crate::syscall::{Bad, must};
use crate::witness::messages::{Moved, Strays, claim_same};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "IPC latency: round trip of a message",
    tags: &[
        "inter-process communication",
        "ping-pong",
        "message passing",
        "pipe",
        "fifo",
        "named pipe",
        "unix socket",
        "unix domain socket",
        "message queue",
        "shared memory",
        "process_vm_readv",
        "lat_pipe",
        "lat_fifo",
        "lat_unix",
        "ipc-bench",
    ],
    revision: 3,
    ..Benchmark::by::<Row, RoundTrips>()
};

/// Messages that the partner sends back.
pub(super) struct RoundTrips;

impl Traffic for RoundTrips {
    const IS_ANSWERED: bool = true;

    fn rows(of: &'static Mechanism) -> &'static Rows {
        &of.round_trips
    }

    fn measure<C: Channel>(plan: Plan<'_>, tasks: Tasks) -> Result<Outcome<'_>, Failure> {
        channel::allowed::<C>(tasks.size)?;
        let make = |cpus: &[u32]| round_trips::<C>(tasks, cpus);
        let outcome = plan.measure(Together::of(tasks.placement, make))?;
        let (mut outcome, (caller, received)) = outcome.split();
        claim_received(&mut outcome, &caller.sent, &received);
        let (sent, returned) = (&caller.sent, &caller.returned);
        claim_same(
            &mut outcome,
            "that came back",
            sent,
            returned,
            Strays::default(),
        );
        see_mechanism(&mut outcome, &caller.end);
        Ok(outcome)
    }
}

/// Both sides, with the partner at work.
fn round_trips<'t, C: Channel>(
    tasks: Tasks,
    cpus: &[u32],
) -> Result<Team<'t, (Caller<C>, Moved)>, Failure> {
    let (mut end, theirs) = C::open(tasks.size)?;
    let serve = move |end: &mut C, stop: &Stop| {
        tasks.take_all(end, stop, |end, message, _| end.send(message).map(drop))
    };
    let responder = tasks.partner(cpus, theirs, serve)?;
    end.meet(responder.task());
    Ok(responder.driven_by(Caller {
        message: Message::new(tasks.size),
        answer: Message::new(tasks.size),
        end,
        whole: tasks.whole,
        sent: Moved::default(),
        returned: Moved::default(),
    }))
}

/// The measuring side.
struct Caller<C> {
    end: C,
    message: Message,
    answer: Message,
    whole: Compares,
    sent: Moved,
    returned: Moved,
}

impl<C: Channel> Driver for Caller<C> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            if let Err(bad) = self.iterate() {
                let number = self.sent.messages;
                return Err(Failure::of(&format!("exchange message {number}"), bad));
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        let last = self.end.send(&self.message);
        last.map(drop)
            .map_err(|bad| Failure::of("send the last message", bad))
    }
}

impl<C: Channel> Caller<C> {
    #[inline(always)]
    fn iterate(&mut self) -> Result<(), Bad> {
        let number = self.sent.messages + 1;
        self.end.settle()?;
        self.message.write(number, self.whole);
        let went = self.end.send(&self.message)?;
        self.sent.add(went, &self.message, self.whole);
        // The partner would wait for the rest of a truncated message.
        must(went == self.message.bytes().len())?;
        let came = self.end.receive(&mut self.answer)?;
        self.returned.add(came, &self.answer, self.whole);
        must(came == went && self.answer.number() == self.message.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipc::channel::broken::{Broken, DOUBLES, FLIPS, SENDS_HALF, SOUND};
    use crate::ipc::traffic::tests::each;

    /// Two hundred round trips; returns the failure, or whether all three counts agree.
    fn exchange<C: Channel>(tasks: Tasks, cpus: &[u32]) -> Result<bool, Failure> {
        let (caller, received) = round_trips::<C>(tasks, cpus)?.perform([200])?;
        assert_eq!(caller.sent.messages, 200);
        Ok(caller.sent == received && caller.sent == caller.returned)
    }

    #[test]
    fn what_comes_back_is_what_was_sent() {
        each(|tasks, cpus| {
            assert_eq!(exchange::<Broken<SOUND>>(tasks, cpus), Ok(true));
            assert_eq!(exchange::<Broken<FLIPS>>(tasks, cpus), Ok(false));
        });
    }

    #[test]
    fn what_is_doubled_or_cut_fails() {
        each(|tasks, cpus| {
            let twice = exchange::<Broken<DOUBLES>>(tasks, cpus);
            assert!(matches!(twice, Err(Failure::Failed(_))), "{twice:?}");
            let cut = exchange::<Broken<SENDS_HALF>>(tasks, cpus);
            assert!(matches!(cut, Err(Failure::Failed(_))), "{cut:?}");
        });
    }
}
