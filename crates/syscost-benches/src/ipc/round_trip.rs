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
use syscost_sys::partner::{Between, Shared};

use super::channel::{self, Channel, Job, Via, named};
use super::ledger::{Ledger, Tally, claim_equal};
use super::message::Message;
use super::setting::{Setting, is_plain, sleeps};
use crate::syscall::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "ipc.round_trip",
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
    source: include_str!("round_trip.rs"),
    ..Benchmark::of::<Row>()
};

#[derive(Params, Clone)]
struct Row {
    via: Via,
    between: Between,
    cpus: Placement,
    /// Bytes of a message.
    size: Bytes,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        let placements = Placement::among(&here.allowed);
        let of = |via: Via| {
            let places = via
                .mechanism()
                .round_trips
                .by_place(&placements)
                .into_iter();
            let rows = places.map(move |(between, cpus, sizes)| {
                rows!(Row {
                    via: [via],
                    between: [between],
                    cpus: [cpus],
                    size: sizes.iter().copied()
                })
            });
            rows.flatten()
        };
        Via::ALL.into_iter().flat_map(of).collect()
    }

    fn profile(&self, here: &Here) -> Profile {
        let Row {
            via,
            between,
            cpus,
            size,
        } = *self;
        let mechanism = via.mechanism();
        let is_first = is_plain(here, mechanism.mark.spins(), between, cpus);
        mechanism
            .round_trips
            .profile_of(size, between, cpus, is_first)
    }

    fn support(&self, _: &Here) -> Result<(), Unsupported> {
        self.via.carries(self.size)
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        struct RoundTrip(Setting);
        impl Job for RoundTrip {
            fn run<C: Channel>(self, b: &mut Bencher) -> Result<(), Failure> {
                measure::<C>(b, self.0)
            }
        }
        let setting = Setting {
            via: Some(self.via),
            between: self.between,
            placement: self.cpus,
            size: self.size,
            whole: !b.is_timed(),
        };
        channel::with(self.via, b, RoundTrip(setting))
    }
}

fn measure<C: Channel>(b: &mut Bencher, setting: Setting) -> Result<(), Failure> {
    channel::allowed::<C>(setting.size.get())?;
    // By the row, whatever the mechanism says of itself.
    let spins = setting.via.is_some_and(|via| via.mechanism().mark.spins());
    let least = match spins {
        true => 0.0,
        false => sleeps(setting.placement),
    };
    setting.expect::<C>(b, 2.0, least)?;
    let make = |cpus: &[u32]| round_trips::<C>(setting, cpus);
    let (caller, received) = b.together(setting.placement, make)?;
    claim_equal(
        b,
        &setting,
        "that came to the partner",
        &caller.sent,
        &received,
    );
    claim_equal(
        b,
        &setting,
        "that came back",
        &caller.sent,
        &caller.returned,
    );
    named::claim(b, setting.via, &caller.end);
    Ok(())
}

/// Both sides, with the partner at work.
fn round_trips<'t, C: Channel>(
    setting: Setting,
    cpus: &[u32],
) -> Result<Team<'t, (Caller<C>, Tally)>, Failure> {
    let (mut end, theirs) = C::open(setting.size.get())?;
    let ledger = Shared::new(Ledger::default())?;
    let responder = setting.partner(cpus, theirs, &ledger, send_back)?;
    end.meet(responder.task());
    Ok(responder.driven_by(Caller {
        message: Message::new(setting.size.get()),
        answer: Message::new(setting.size.get()),
        end,
        whole: setting.whole,
        sent: Tally::default(),
        returned: Tally::default(),
        ledger,
    }))
}

/// The measuring side.
struct Caller<C> {
    end: C,
    message: Message,
    answer: Message,
    whole: bool,
    sent: Tally,
    returned: Tally,
    ledger: Shared<Ledger>,
}

impl<C: Channel> Driver for Caller<C> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            if let Err(bad) = self.iterate() {
                // The partner's own report explains more.
                self.ledger.judge()?;
                let number = self.sent.messages;
                return Err(Failure::of(&format!("exchange message {number}"), bad));
            }
        }
        self.ledger.judge()
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

/// The partner's side.
fn send_back<C: Channel>(
    setting: Setting,
    end: &mut C,
    ledger: &Ledger,
    stop: &Stop,
) -> Result<Tally, Bad> {
    let mut message = Message::new(setting.size.get());
    let mut received = Tally::default();
    loop {
        let came = end.receive(&mut message)?;
        // The last message does not count.
        if stop.is_set() {
            return Ok(received);
        }
        ledger.check(received.messages + 1, came, &message)?;
        received.add(came, &message, setting.whole);
        end.send(&message)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipc::channel::broken::{Broken, DOUBLES, FLIPS, SENDS_HALF, SOUND};
    use crate::ipc::setting::tests::each;

    /// Two hundred round trips; returns the failure, or whether all three counts agree.
    fn exchange<C: Channel>(setting: Setting, cpus: &[u32]) -> Result<bool, Failure> {
        let (caller, received) = round_trips::<C>(setting, cpus)?.perform([200])?;
        assert_eq!(caller.sent.messages, 200);
        Ok(caller.sent == received && caller.sent == caller.returned)
    }

    #[test]
    fn what_comes_back_is_what_was_sent() {
        each(|setting, cpus| {
            assert_eq!(exchange::<Broken<SOUND>>(setting, cpus), Ok(true));
            assert_eq!(exchange::<Broken<FLIPS>>(setting, cpus), Ok(false));
        });
    }

    #[test]
    fn what_is_doubled_or_cut_fails() {
        each(|setting, cpus| {
            let twice = exchange::<Broken<DOUBLES>>(setting, cpus);
            assert!(matches!(twice, Err(Failure::Failed(_))), "{twice:?}");
            let cut = exchange::<Broken<SENDS_HALF>>(setting, cpus);
            assert!(matches!(cut, Err(Failure::Failed(_))), "{cut:?}");
        });
    }
}
