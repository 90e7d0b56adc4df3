//! Groups of senders and receivers: every sender sends to every receiver of its group.
//!
//! ## Measures
//! Twenty senders and twenty receivers in a group, processes or threads. Each receiver reads from
//! its own pipe or socket; each sender writes a message of 100 bytes to every receiver in turn,
//! fifty times over. All tasks are started before; the time begins when all senders are ordered to
//! send, and ends when every receiver has received everything. The cost is that time for each of
//! the 20 000 messages of a group.
//! ## Does not measure
//! The time of one message from end to end, or starting the tasks. CPU time: with more CPUs the
//! elapsed time falls.
//! ## Interpretation
//! It shows how the scheduler copes with many tasks that wake each other. The tasks are not pinned:
//! the kernel places them on all CPUs that this run may use, and the details `placed_..._percent`
//! show how near to the measuring task they were found. The evidence shows how many switches a
//! message took: few where senders fill a pipe before its receiver gets to run, two where each
//! message is waited for. `cpu_ns` is the CPU time of all tasks for a message.
//! ## Source
//! hackbench; the same work as `perf bench sched messaging --loop 50`.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::fs::fstat;
use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::thread::futex;
use syscost_harness::prelude::*;

use crate::witness::descriptors::kind_of;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Hackbench: many-to-many messaging",
    tags: "scheduler throughput, scheduler stress, oversubscription, hackbench, \
        perf bench sched messaging",
    expect: &[
        together(Sysno::READ, 1.0),
        together(Sysno::WRITE, 1.0),
        // Each task at least once in a batch; at most a sleep for each end of a message.
        within(Counter::Switches, 0.001, 2.0),
    ],
    // An iteration is long, and this many tasks are created in each round.
    setup: Setup::Expensive { seconds: 0.2 },
    ..Benchmark::of::<Messaging>()
};

/// Number of senders of a group, and of its receivers.
const EACH: u64 = 20;
/// Messages that each sender sends to each receiver in an iteration: more than a pipe or a socket
/// holds, so that senders must wait, too.
const LOOPS: u32 = 50;
/// The number of loops where calls are counted: under an audit each call is reported to another process.
const COUNTED_LOOPS: u32 = 10;

static KIND: Witness = Witness::of(
    "what messages go through",
    "fstat, getsockopt and /proc/self/fd",
);

static CHANNELS: Witness = Witness::of("channels, one per receiver", "fstat");

#[derive(Params, Clone)]
struct Messaging {
    via: Via,
    between: Between,
    /// How many groups there are at once.
    groups: u64,
}

impl Measured for Messaging {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Messaging {
            via: Via::ALL,
            between: Between::ALL,
            groups: [1]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.via, self.between) {
            (Via::Pipe, Between::Processes) => Profile::Standard,
            (Via::Socket, _) | (_, Between::Threads) => Profile::Full,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        // The calls are the same.
        let kind = match self.via {
            Via::Pipe => "pipe",
            Via::Socket => "unix stream socket without a path",
        };
        MessagingProofs {
            via: KIND.expects(kind),
            between: Proof::by_tasks(),
            groups: CHANNELS.expects(self.groups * EACH),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let Messaging {
            via,
            between,
            groups,
        } = self;
        let loops = match plan.is_timed() {
            true => LOOPS,
            false => COUNTED_LOOPS,
        };
        let messages = groups * EACH * EACH * u64::from(loops);
        let team = Together::of(Placement::Free, |cpus| {
            team(via, between, groups, loops, cpus)
        });
        let (mut outcome, (shared, outboxes)) = plan.measure(team.per_iteration(messages))?.split();
        see_channels(&mut outcome, &outboxes)?;
        let (sent, received) = shared.messages();
        let all = sent == received && sent > 0;
        let who = "senders and receivers";
        outcome.claim("messages received of those sent", sent, received, who, all);
        let claim = "messages received, of those that the time is divided by";
        let divided_by = outcome.operations();
        outcome.claim_equal(claim, divided_by, received, who);
        if let Some(ns) = outcome.cpu_ns() {
            outcome.detail("cpu_ns", ns);
        }
        Ok(outcome)
    }
}

/// Reports which channels there are, and how many.
fn see_channels(b: &mut Bencher, outboxes: &[Outbox]) -> Result<(), Failure> {
    let kinds = outboxes.iter().map(|outbox| kind_of(outbox.descriptor()));
    match kinds.collect::<Result<BTreeSet<String>, _>>() {
        Ok(kinds) => b.observe(&KIND, Vec::from_iter(kinds).join(", ")),
        Err(reason) => b.unobserved(&KIND, reason),
    }
    let inodes: Result<BTreeSet<u64>, Errno> = outboxes
        .iter()
        .map(|outbox| Ok(fstat(outbox.descriptor())?.st_ino))
        .collect();
    let seen = inodes.tried("fstat of a channel")?;
    b.observe(&CHANNELS, seen.len() as u64);
    Ok(())
}

/// What is left when all tasks have ended: what they noted, and the sending ends.
type Left = (Shared<SharedState>, Vec<Outbox>);

/// Senders and receivers of all groups. In an iteration each sender sends `loops` messages to each
/// receiver of its group, and all are received.
fn team<'t>(
    via: Via,
    between: Between,
    groups: u64,
    loops: u32,
    cpus: &[u32],
) -> Result<Team<'t, Left>, Failure> {
    let shared = Shared::new(SharedState::default())?;
    let mut workers = TaskGroup::new(between)?;
    let mut outboxes = Vec::new();
    for _ in 0..groups {
        let mut group = Vec::new();
        for _ in 0..EACH {
            let (outbox, inbox) = via.open()?;
            add(&mut workers, cpus, &shared, |shared| receive(inbox, shared))?;
            group.push(outbox);
        }
        for number in 0..EACH {
            let outboxes = group.clone();
            add(&mut workers, cpus, &shared, move |shared| {
                send(number, &outboxes, shared)
            })?;
        }
        outboxes.extend(group);
    }
    let stop = workers.stop();
    let driver = Orders {
        shared,
        stop,
        outboxes,
        loops,
    };
    Ok(workers
        .driven_by(driver)
        .map(|(orders, _)| (orders.shared, orders.outboxes)))
}

/// Adds a task. If it fails, no other task keeps waiting for it.
fn add(
    workers: &mut TaskGroup,
    cpus: &[u32],
    shared: &Shared<SharedState>,
    work: impl FnOnce(&SharedState) -> Result<(), Errno> + Send + 'static,
) -> Result<(), Failure> {
    let shared = shared.clone();
    let work = move |(): &mut (), stop: &Stop| {
        work(&shared).map_err(|error| {
            stop.set();
            shared.wake_waiters();
            Failure::Failed(error.to_string())
        })
    };
    workers.add(cpus, || Ok(()), work)
}

/// The measuring task.
struct Orders {
    shared: Shared<SharedState>,
    stop: Shared<Stop>,
    outboxes: Vec<Outbox>,
    loops: u32,
}

impl Driver for Orders {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let receivers = self.outboxes.len() as u32;
        // One after the other: in a single long iteration the tasks would fall into a rhythm that
        // they never reach in turns of fifty loops.
        for _ in 0..iterations {
            self.shared.order(self.loops, receivers);
            self.shared.wait_for_all(&self.stop)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.shared.end();
        let failed = |error| Failure::of("ending a receiver", error);
        let mut outboxes = self.outboxes.iter();
        outboxes.try_for_each(|outbox| outbox.send(OVER).map_err(failed))
    }
}

/// A sender: sends its number, counted from 1, as often as it is ordered to.
fn send(number: u64, outboxes: &[Outbox], shared: &SharedState) -> Result<(), Errno> {
    let mut done = 0;
    while let Some(ordered) = shared.wait_for_order(done)? {
        for outbox in (done..ordered).flat_map(|_| outboxes) {
            outbox.send(1 + number)?;
        }
        shared.count_sent(u64::from(ordered - done) * outboxes.len() as u64);
        done = ordered;
    }
    Ok(())
}

/// A receiver: reads until it has what all senders were ordered to send it.
fn receive(inbox: Inbox, shared: &SharedState) -> Result<(), Errno> {
    let (mut got, mut sum, mut counted) = (0, 0, 0);
    loop {
        match inbox.receive()? {
            OVER => return Ok(()),
            number => sum += number,
        }
        got += 1;
        let ordered = u64::from(shared.ordered());
        if got == ordered * EACH {
            if sum != ordered * (EACH * (EACH + 1) / 2) {
                return Err(Errno::BADMSG);
            }
            shared.count_received(got - counted);
            counted = got;
        }
    }
}

/// Bytes of a message, which begins with a number.
const BYTES: usize = 100;

/// The number that ends a receiver.
const OVER: u64 = u64::MAX;

/// The kind of channel.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Pipe,
    Socket,
}

/// The end shared by all senders of a group.
#[derive(Clone)]
struct Outbox(Arc<OwnedFd>);

/// The end of one receiver.
struct Inbox(OwnedFd);

impl Via {
    fn open(self) -> Result<(Outbox, Inbox), Failure> {
        let (inbox, outbox) = match self {
            Via::Pipe => pipe_with(PipeFlags::CLOEXEC),
            Via::Socket => socketpair(
                AddressFamily::UNIX,
                SocketType::STREAM,
                SocketFlags::CLOEXEC,
                None,
            ),
        }
        .tried("make a pipe or socket")?;
        Ok((Outbox(Arc::new(outbox)), Inbox(inbox)))
    }
}

impl Outbox {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    fn send(&self, number: u64) -> Result<(), Errno> {
        let mut message = [0; BYTES];
        message[..8].copy_from_slice(&number.to_ne_bytes());
        match retry_on_intr(|| write(&self.0, &message))? {
            BYTES => Ok(()),
            _ => Err(Errno::MSGSIZE),
        }
    }
}

impl Inbox {
    fn receive(&self) -> Result<u64, Errno> {
        let mut message = [0; BYTES];
        if retry_on_intr(|| read(&self.0, &mut message))? != BYTES {
            return Err(Errno::MSGSIZE);
        }
        let (number, _) = message.split_at(8);
        number
            .try_into()
            .map(u64::from_ne_bytes)
            .map_err(|_| Errno::MSGSIZE)
    }
}

/// What senders, receivers and the measuring task share, in memory.
#[derive(Default)]
struct SharedState {
    /// Loops that senders were ordered to perform so far; [`ENDED`] at the end. Senders sleep on it.
    ordered: AtomicU32,
    /// Receivers that have not received everything. The measuring task sleeps on it.
    waiting: AtomicU32,
    sent: AtomicU64,
    received: AtomicU64,
}

/// Number of loops that stands for the end.
const ENDED: u32 = u32::MAX;

impl SharedState {
    /// Lets every sender perform this many more loops, for this many receivers in total.
    fn order(&self, loops: u32, receivers: u32) {
        self.waiting.store(receivers, Relaxed);
        self.ordered.fetch_add(loops, Release);
        wake_word(&self.ordered, u32::MAX >> 1);
    }

    /// Ends every sender.
    fn end(&self) {
        self.ordered.store(ENDED, Release);
        wake_word(&self.ordered, u32::MAX >> 1);
    }

    /// Sleeps until every receiver has received everything, or a task has failed.
    fn wait_for_all(&self, stop: &Stop) -> Result<(), Failure> {
        loop {
            let waiting = self.waiting.load(Acquire);
            stop.check()?;
            if waiting == 0 {
                return Ok(());
            }
            sleep_on(&self.waiting, waiting).tried("waiting for the receivers")?;
        }
    }

    /// The total number of loops ordered, once it differs from `done`; `None` at the end.
    fn wait_for_order(&self, done: u32) -> Result<Option<u32>, Errno> {
        loop {
            match self.ordered.load(Acquire) {
                ENDED => return Ok(None),
                ordered if ordered != done => return Ok(Some(ordered)),
                _ => sleep_on(&self.ordered, done)?,
            }
        }
    }

    /// The total number of loops ordered. A task that has a message sees the order it was sent by.
    fn ordered(&self) -> u32 {
        self.ordered.load(Acquire)
    }

    /// Counts messages that a sender has sent.
    fn count_sent(&self, messages: u64) {
        self.sent.fetch_add(messages, Relaxed);
    }

    /// Counts the messages of a receiver that has received everything.
    fn count_received(&self, messages: u64) {
        self.received.fetch_add(messages, Relaxed);
        if self.waiting.fetch_sub(1, AcqRel) == 1 {
            wake_word(&self.waiting, 1);
        }
    }

    /// Wakes the measuring task so that it notices that a task has failed.
    fn wake_waiters(&self) {
        // A different number, lest the measuring task falls asleep on the old one.
        self.waiting.store(ENDED, Release);
        wake_word(&self.waiting, 1);
    }

    /// How many messages were sent and received so far.
    fn messages(&self) -> (u64, u64) {
        (self.sent.load(Relaxed), self.received.load(Relaxed))
    }
}

fn wake_word(word: &AtomicU32, tasks: u32) {
    // It does not fail for a mapped address.
    let _ = futex::wake(word, futex::Flags::empty(), tasks);
}

fn sleep_on(word: &AtomicU32, value: u32) -> Result<(), Errno> {
    match futex::wait(word, futex::Flags::empty(), value, None) {
        Ok(()) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}
