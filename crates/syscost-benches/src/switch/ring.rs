//! Tasks in a ring that pass a token on, each with separate memory to work on.
//!
//! ## Measures
//! Processes, all on the measured CPU, pass a token from pipe to pipe. A hop is one write, one
//! switch and one read of eight bytes; before it passes the token on, each task reads and writes a
//! word in every 64 bytes of its own `size` bytes. The same work is done by one task alone over one
//! such memory, which stays in the caches; batches of both alternate, and only the difference is
//! reported. With `cost=switch` it is everything that a switch between such tasks costs: the direct
//! cost (pipe, scheduler, change of address space) and the cost of refilling caches and address
//! translations. `size=0` is the direct cost alone. With `cost=refill` the hop of an equally large
//! ring without memory is subtracted as well, and the refilling remains.
//!
//! The tasks are of the scheduler's batch class, so that one that is woken does not preempt the one
//! that woke it: a hop is exactly one switch. In the normal class a hop of many tasks takes up to
//! half a switch more, at the scheduler's discretion. A switch in the batch class is itself more
//! expensive than one in the normal class, by about a tenth where it was tried.
//! ## Does not measure
//! The switch without the pipe, which no subtraction of a separately timed pipe gives. Switches between CPUs
//! (`switch.pipe`). Memory itself: work that misses the caches without any switch is the same on
//! both sides and cancels.
//! ## Interpretation
//! While all tasks' memory together fits a cache, refilling from it costs little: the steps in a
//! line of the chart are the sizes of the caches, `tasks` times `size` against each. The raw value,
//! before overhead was taken off, is a whole hop with its work, `same_work_ns` the work alone,
//! `empty_hop_ns` the hop without memory. A refill that is less than can be distinguished is below
//! resolution.
//!
//! A larger `size` may cost less. Once it exceeds the first cache the work alone misses that as
//! well, and only what a switch adds counts. With 48 KiB of the first cache and 2 MiB of the
//! second, the work on 16K takes 87 ns alone, and 8 tasks must fetch theirs from the second cache
//! after each switch: 2.03 µs. 64K comes from there in either case, 1.36 µs alone, and the switch
//! costs no more than one without memory: 1.71 and 1.81 µs.
//!
//! lmbench subtracts the pipe's cost, here it is a part of the switch; it also only reads its
//! memory.
//! ## Source
//! lmbench `lat_ctx`; Li, Ding and Shen, "Quantifying the cost of context switch" (2007); the
//! switch-costs experiment.

use std::cell::Cell;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;
use syscost_sys::memory::enough_for;
use syscost_sys::partner::Partner;
use syscost_sys::process::Batch;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Context switch in a ring, by working set",
    tags: "context switch cost, cache pollution, cache refill, working-set size, token ring, \
        lat_ctx",
    revision: 2,
    expect: &HOP,
    ..Benchmark::of::<Ring>()
};

/// Expected counts of a hop. Other tasks preempt, too, the more the longer a hop takes.
const HOP: [Expect; 4] = [
    within(Counter::Switches, 0.95, 1.15),
    together(Sysno::READ, 1.0),
    together(Sysno::WRITE, 1.0),
    // A task may touch a page for the first time while it is counted.
    at_most(Counter::MinorFaults, 0.05),
];

static SUBTRACTED: Witness = Witness::of("what is subtracted from a hop", "timed beside it");

static WORKING_SET: Witness = Witness::of("bytes that each task works on", "sum in the token");

static SAME_SET: Witness = Witness::of("bytes that one task works on beside it", "its sum");

const SAME_WORK: &str = "the same work in one task";

const EMPTY_HOP: &str = "a hop without memory";

/// All tasks take turns on the measured CPU.
const HERE: Placement = Placement::SAME;

/// What is reported of a hop.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Cost {
    Switch,
    Refill,
}

#[derive(Params, Clone)]
struct Ring {
    cost: Cost,
    /// How many tasks form the ring.
    tasks: TaskCount,
    /// Bytes that each task works on.
    size: Bytes,
}

impl Measured for Ring {
    const DEPENDS_ON_MACHINE: bool = true;

    /// All sizes for the switch; fewer for the refill, which is expensive: those with a distinguishable cost.
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let (middle, largest) = (Bytes::kib(64), Bytes::mib(1));
        let switch = rows!(Ring {
            cost: [Cost::Switch],
            tasks: [2, 8, 32, 96].map(TaskCount),
            size: [Bytes(0), Bytes::kib(16), middle, Bytes::kib(256), largest]
        });
        let refill = rows!(Ring {
            cost: [Cost::Refill],
            tasks: [2, 8, 32].map(TaskCount),
            size: [middle, largest]
        });
        [switch, refill].concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.cost, self.tasks.0, self.size) {
            (Cost::Switch, 2, Bytes(0)) => Profile::Quick,
            (Cost::Switch, 8, size) if size == Bytes::kib(64) => Profile::Quick,
            (Cost::Switch, ..=8, size) if size <= Bytes::kib(64) => Profile::Standard,
            (Cost::Switch | Cost::Refill, ..) => Profile::Full,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        let subtracted = match (self.size, self.cost) {
            (Bytes(0), Cost::Switch | Cost::Refill) => String::new(),
            (_, Cost::Switch) => SAME_WORK.to_owned(),
            (_, Cost::Refill) => format!("{SAME_WORK}, {EMPTY_HOP}"),
        };
        RingProofs {
            cost: SUBTRACTED.expects(subtracted),
            tasks: Proof::by_tasks(),
            size: WORKING_SET.expects(self.size.0).and(match self.size {
                Bytes(0) => Proof::default(),
                Bytes(bytes) => SAME_SET.expects(bytes),
            }),
        }
    }

    /// Creating a process and its memory takes about a millisecond.
    fn setup(&self) -> Option<Setup> {
        let seconds = 0.005 + 0.001 * self.tasks.0 as f64;
        Some(Setup::Expensive { seconds })
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let (tasks, bytes) = (self.tasks.0, self.size.0);
        // Else a woken task preempts the one that woke it, which is switched on once more only to sleep.
        let _no_preemption = Batch::enter().map_err(Unsupported::from)?;
        let hop = Together::of(HERE, |cpus| ring(tasks, bytes, cpus)).per_iteration(tasks);
        let same_set = Rc::new(Cell::new(0));
        let same_work = Baseline {
            name: SAME_WORK,
            detail: "same_work_ns",
            expect: &[],
            per_iteration: 1,
            make: &|_| alone(bytes, &same_set),
        };
        let empty_ring = Baseline {
            name: EMPTY_HOP,
            detail: "empty_hop_ns",
            expect: &HOP,
            per_iteration: tasks,
            make: &|cpus| Ok(ring(tasks, 0, cpus)?.map(|round| round.rounds * tasks)),
        };
        let outcome = match (bytes, self.cost) {
            (0, _) => plan.measure(hop),
            (_, Cost::Switch) => plan.measure(hop.minus(&[same_work])),
            (_, Cost::Refill) => plan.measure(hop.minus(&[same_work, empty_ring])),
        };
        let (mut outcome, round) = outcome?.split();
        let subtracted = outcome.subtracted().join(", ");
        outcome.observe(&SUBTRACTED, subtracted);
        outcome.observe(&WORKING_SET, round.working_set);
        outcome.observe(&SAME_SET, same_set.get());
        Ok(outcome)
    }
}

/// The measuring task and its partners, each between two pipes. An iteration is a round of the
/// token.
fn ring<'t>(tasks: u64, bytes: u64, cpus: &[u32]) -> Result<Team<'t, Round>, Failure> {
    // Each reservation is too small for `Memory::reserve` to check.
    enough_for((tasks * bytes) as usize)?;
    let (first, mut inbox) = link()?;
    let mut partners = Vec::new();
    for number in 1..tasks {
        // The ends that a partner takes close here, so that all tasks notice the end of any task.
        let (outbox, next) = link()?;
        let theirs = std::mem::replace(&mut inbox, next);
        // Here, so that no task requests memory where its calls are counted.
        let memory = Memory::reserve(bytes)?;
        let work = move || pass_on(&theirs, &outbox, memory.fill(number));
        partners.push(Partner::start(Between::Processes, cpus, work)?);
    }
    let driver = Round {
        first,
        last: inbox,
        memory: Memory::reserve(bytes)?.fill(0),
        rounds: 0,
        tasks,
        bytes,
        working_set: 0,
    };
    Ok(Team::new(partners, driver))
}

/// The measuring task, between the last partner and the first.
struct Round {
    first: Outbox,
    last: Inbox,
    memory: Memory,
    rounds: u64,
    tasks: u64,
    bytes: u64,
    /// Bytes of a task, by what two tokens brought back in the end.
    working_set: u64,
}

impl Driver for Round {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.first.send(1 + self.memory.visit()).map_err(failed)?;
            let sum = self.last.receive().map_err(failed)?;
            let read = sum_of_visits(0..self.tasks, self.bytes, self.rounds);
            expect_sum(sum, self.tasks + read)?;
            self.rounds += 1;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        let mut round = || {
            self.first.send(1 + self.memory.visit())?;
            self.last.receive()
        };
        let (before, after) = (round().map_err(failed)?, round().map_err(failed)?);
        // Each task has added one to each word that it read.
        self.working_set = after.wrapping_sub(before) / self.tasks * LINE as u64;
        self.first.send(OVER).map_err(failed)?;
        self.last.receive().map(drop).map_err(failed)
    }
}

fn failed(error: Errno) -> Failure {
    Failure::of("passing the token on", error)
}

/// A partner: adds its share to every token, until the last one.
fn pass_on(inbox: &Inbox, outbox: &Outbox, mut memory: Memory) -> Result<(), Errno> {
    loop {
        let token = inbox.receive()?;
        if token == OVER {
            return outbox.send(OVER);
        }
        outbox.send(token + 1 + memory.visit())?;
    }
}

/// The work of a hop, over and over in this task. Leaves how many bytes it works on.
fn alone<'t>(bytes: u64, working_set: &Rc<Cell<u64>>) -> Result<Team<'t, u64>, Failure> {
    let driver = Alone {
        memory: Memory::reserve(bytes)?.fill(0),
        rounds: 0,
        bytes,
        working_set: Rc::clone(working_set),
    };
    Ok(Team::new(Vec::new(), driver).map(|alone| alone.rounds))
}

struct Alone {
    memory: Memory,
    rounds: u64,
    bytes: u64,
    working_set: Rc<Cell<u64>>,
}

impl Driver for Alone {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            let sum = self.memory.visit();
            expect_sum(sum, sum_of_visits(0..1, self.bytes, self.rounds))?;
            self.rounds += 1;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        // It adds one to each word that it reads.
        let (before, after) = (self.memory.visit(), self.memory.visit());
        self.working_set.set((after - before) * LINE as u64);
        Ok(())
    }
}

fn expect_sum(sum: u64, expected: u64) -> Result<(), Failure> {
    if sum == expected {
        return Ok(());
    }
    Err(Failure::Refuted(format!(
        "the token brought back {sum}, expected {expected}: not every task did its work"
    )))
}

/// The token that ends the ring.
const OVER: u64 = u64::MAX;

/// The end into which a task puts the token.
struct Outbox(OwnedFd);

/// The end from which a task takes the token.
struct Inbox(OwnedFd);

/// A pipe from one task to the next.
fn link() -> Result<(Outbox, Inbox), Failure> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).tried("make a pipe")?;
    Ok((Outbox(writer), Inbox(reader)))
}

impl Outbox {
    fn send(&self, token: u64) -> Result<(), Errno> {
        match write(&self.0, &token.to_ne_bytes())? {
            8 => Ok(()),
            _ => Err(Errno::IO),
        }
    }
}

impl Inbox {
    /// Sleeps until the token arrives. Fails if the task before has ended.
    fn receive(&self) -> Result<u64, Errno> {
        let mut token = [0; 8];
        match retry_on_intr(|| read(&self.0, &mut token))? {
            8 => Ok(u64::from_ne_bytes(token)),
            _ => Err(Errno::PIPE),
        }
    }
}

/// What each visit touches once, in bytes: the cache line of most processors, half of some.
const LINE: usize = 64;

/// Words per line.
const WORDS: usize = LINE / size_of::<u64>();

/// Memory of one task; `None` if the size is 0.
struct Memory(Option<syscost_sys::memory::Memory>);

impl Memory {
    /// Reserves this many bytes, of which none is touched yet.
    fn reserve(bytes: u64) -> Result<Self, Unsupported> {
        let reserve = || syscost_sys::memory::Memory::reserve(bytes as usize, Pages::Small);
        Ok(Memory((bytes > 0).then(reserve).transpose()?))
    }

    /// This memory after the calling task has filled it with its number.
    fn fill(mut self, number: u64) -> Self {
        self.words().fill(number);
        self
    }

    /// Reads a word of each line and adds one to it; returns the sum of what was read.
    ///
    /// Not inlined, so that it is the same code at every call.
    #[inline(never)]
    fn visit(&mut self) -> u64 {
        let mut sum = 0;
        for line in self.words().chunks_exact_mut(WORDS) {
            sum += line[0];
            line[0] += 1;
        }
        sum
    }

    fn words(&mut self) -> &mut [u64] {
        self.0
            .as_mut()
            .map_or(&mut [], syscost_sys::memory::Memory::words)
    }
}

/// The sum that these tasks read together, after each has visited its memory `visits` times before.
fn sum_of_visits(numbers: Range<u64>, bytes: u64, visits: u64) -> u64 {
    let tasks = numbers.end - numbers.start;
    lines(bytes) * (numbers.sum::<u64>() + tasks * visits)
}

fn lines(bytes: u64) -> u64 {
    bytes / LINE as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_task_works_on_beside_it_is_counted() {
        let working_set = Rc::new(Cell::new(0));
        let done = alone(16 << 10, &working_set).and_then(|team| team.perform([3]));
        or_skip!(done);
        assert_eq!(working_set.get(), 16 << 10);
    }

    #[test]
    fn visits_sum_up_to_what_they_must() {
        let memory = |number, bytes| Memory::reserve(bytes).map(|memory| memory.fill(number));
        let memories: Result<Vec<_>, _> = (0..3).map(|number| memory(number, 16 << 10)).collect();
        let mut memories = or_skip!(memories, "no memory of a known size here");
        for visits in 0..3 {
            let seen: u64 = memories.iter_mut().map(Memory::visit).sum();
            assert_eq!(seen, sum_of_visits(0..3, 16 << 10, visits));
        }
        assert_eq!(memory(7, 0).unwrap().visit(), 0);
        assert_eq!(lines(16 << 10), 256);
    }
}
