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

use super::channel::{self, Channel, Ends, Mechanism, Open, Rows, Via};
use super::message::Message;
use super::traffic::{IpcTraffic, Side, Tasks, Traffic};
use crate::syscall::{Bad, must};
use crate::witness::messages::{Moved, Strays, claim_same};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "IPC latency: round trip of a message",
    tags: "inter-process communication, ping-pong, message passing, pipe, fifo, named pipe, \
        unix socket, unix domain socket, message queue, shared memory, process_vm_readv, lat_pipe, \
        lat_fifo, lat_unix, ipc-bench",
    revision: 3,
    roles: roles!(
        IpcTraffic {
            via: Via::UnixStream,
            between: Between::Processes,
            cpus: Placement::SAME,
            size: Bytes(64),
        } => Role::SocketRoundTrip,
    ),
    ..Benchmark::by::<IpcTraffic, RoundTrips>()
};

/// Messages that the partner sends back.
pub(super) struct RoundTrips;

impl Traffic for RoundTrips {
    const IS_ANSWERED: bool = true;

    fn rows(of: &'static Mechanism) -> &'static Rows {
        &of.round_trips
    }

    fn measure<C: Channel>(
        plan: Plan<'_>,
        tasks: Tasks,
        open: Open<C>,
    ) -> Result<Outcome<'_>, Failure> {
        channel::allowed(open, tasks.size)?;
        let make = |cpus: &[u32]| round_trips(tasks, open(tasks.size)?, cpus);
        let outcome = plan.measure(Together::of(tasks.placement, make))?;
        let (mut outcome, (caller, received)) = outcome.split();
        let (side, returned) = (&caller.side, &caller.returned);
        side.claim(&mut outcome, &received);
        let none = Strays::default();
        claim_same(&mut outcome, "that came back", &side.sent, returned, none);
        Ok(outcome)
    }
}

/// Both sides, with the partner at work.
fn round_trips<'t, C: Channel>(
    tasks: Tasks,
    ends: Ends<C>,
    cpus: &[u32],
) -> Result<Team<'t, (Caller<C>, Moved)>, Failure> {
    let serve = move |end: &mut C, stop: &Stop| {
        tasks.take_all(end, stop, |end, message, _| end.send(message).map(drop))
    };
    tasks.team(cpus, ends, serve, |side| Caller {
        answer: Message::new(tasks.size),
        returned: Moved::default(),
        side,
    })
}

/// The measuring side.
struct Caller<C> {
    side: Side<C>,
    answer: Message,
    returned: Moved,
}

impl<C: Channel> Driver for Caller<C> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            if let Err(bad) = self.iterate() {
                let number = self.side.sent.messages;
                return Err(Failure::of(&format!("exchange message {number}"), bad));
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.side.send_last()
    }
}

impl<C: Channel> Caller<C> {
    #[inline(always)]
    fn iterate(&mut self) -> Result<(), Bad> {
        let went = self.side.send_next()?;
        let came = self.side.end.receive(&mut self.answer)?;
        self.returned.add(came, &self.answer, self.side.whole);
        must(came == went && self.answer.number() == self.side.message.number())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ipc::channel::broken::{Broken, How};

    /// Two hundred round trips; returns the failure, or whether all three counts agree.
    pub(in crate::ipc) fn exchange<C: Channel>(
        tasks: Tasks,
        ends: Ends<C>,
        cpus: &[u32],
    ) -> Result<bool, Failure> {
        let (caller, received) = round_trips(tasks, ends, cpus)?.perform([200])?;
        let sent = caller.side.sent;
        assert_eq!(sent.messages, 200);
        Ok(sent == received && sent == caller.returned)
    }

    #[test]
    fn what_comes_back_is_what_was_sent_and_what_is_doubled_or_cut_fails() {
        let cpus = syscost_sys::cpu::allowed().unwrap();
        for between in Between::ALL {
            let over = |how| {
                let ends = Broken::open(how, 64)?;
                exchange(Tasks::small(between, 64), ends, &cpus)
            };
            assert_eq!(over(How::Sound), Ok(true));
            assert_eq!(over(How::Flips), Ok(false));
            for how in [How::Doubles, How::SendsHalf] {
                let lie = over(how);
                assert!(matches!(lie, Err(Failure::Failed(_))), "{how:?}: {lie:?}");
            }
        }
    }
}
