//! Reading a file with several reads in flight, by io_uring.
//!
//! ## Measures
//! A random read of 4 KiB of a file of 8 MiB, per read, while `depth` of them are in flight.
//! - `cache=direct`: by O_DIRECT, bypassing the page cache. As soon as a read completes the next one is
//!   submitted, so that the same number is in flight at every wait; filling and draining the queue are not
//!   timed.
//! - `cache=warm`: every page is in the page cache, so the kernel completes each read when it is
//!   submitted; `depth` of them are submitted with one io_uring_enter.
//! ## Does not measure
//! The latency of one read among the others: that is `depth` times the time shown here.
//! Polling, registered files or memory.
//! ## Interpretation
//! A device that works on several requests at a time takes less time per request the deeper its queue is,
//! until it is saturated. `reads_per_second` is the reciprocal. `device_in_flight` is the average number of
//! requests in flight at the device, including those of other programs, by its own count: where it
//! stays near 1 something below processes one at a time. Compared with `fs.read{cache=direct,size=4K}`,
//! depth 1 shows what the ring costs or saves.
//! ## Source
//! io_uring(7); fio with ioengine=io_uring and iodepth.
#![allow(unsafe_code)] // reads into memory that the ring is given

use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use io_uring::{IoUring, opcode, types};
use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;
use syscost_sys::files::Buffer;

use super::blocks::{Access, Blocks};
use super::labels;
use super::read::FILE;
use super::space::{ALIGNMENT, Stamped, Storage};
use super::transfer::{Source, State, Tally, expect_waits};
use crate::implied::{Implied, Shares};
use crate::witness::files::{DIRECTORY, MOVED};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Random file read by io_uring, by queue depth",
    tags: "random read, asynchronous i/o, i/o depth, iodepth, iops, direct i/o, o_direct, fio",
    ..Benchmark::of::<ReadUring>()
};

/// Reads in a window: at least this many times those in flight, and at least this number.
const ROUNDS: u64 = 4;
const MIN_READS: u64 = 32;

#[derive(Params, Clone)]
struct ReadUring {
    /// The directory's label.
    dir: String,
    cache: State,
    /// Bytes of a read.
    size: Bytes,
    /// How many reads are in flight.
    depth: u32,
}

impl Measured for ReadUring {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(ReadUring {
            dir: labels(here),
            cache: [State::Direct, State::Warm],
            size: [Bytes::kib(4)],
            depth: [1_u32, 4, 16, 64]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match [1, 16].contains(&self.depth) {
            true => Profile::Standard,
            false => Profile::Full,
        }
    }

    fn ignores_interference(&self) -> bool {
        self.cache == State::Direct
    }

    fn proofs(&self) -> ReadUringProofs<Proof> {
        // All of them are submitted by one call, which waits for them; otherwise a window is many.
        let enters = match self.cache {
            State::Warm => {
                let enters = 1.0 / f64::from(self.depth);
                Proof::counted([exactly(Counter::Syscall(Sysno::IO_URING_ENTER), enters)])
            }
            State::Cold | State::Direct => Proof::default(),
        };
        let blocks = self.blocks();
        ReadUringProofs {
            dir: DIRECTORY.expects(&*self.dir),
            cache: self.cache.proof(FILE, 0),
            size: MOVED.expects(self.size.0).and(blocks.whole()),
            depth: LEAST_IN_FLIGHT
                .expects(self.depth)
                .and(MOST_IN_FLIGHT.expects(self.depth))
                .and(enters),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let source = Source::open(&mut plan, &self.dir, FILE, self.cache, self.size)?;
        let mut ring = Ring::of(&mut plan, &source, self.depth, self.blocks())?;
        let storage = Storage::watch_process(source.file());
        let mut outcome = match self.cache {
            State::Warm => warm(plan, &mut ring)?,
            State::Cold | State::Direct => direct(plan, &storage, &mut ring)?,
        };
        ring.claim(&mut outcome);
        outcome.detail_per_second("reads_per_second", 1.0);
        source.see(&mut outcome, &storage, ring.tally())?;
        Ok(outcome)
    }
}

impl ReadUring {
    fn blocks(&self) -> Blocks {
        Blocks {
            access: Access::Random,
            size: self.size,
            all: FILE,
        }
    }
}

fn warm<'p>(mut plan: Plan<'p>, ring: &mut Ring<'_>) -> Result<Outcome<'p>, Failure> {
    // Some file systems let a kernel thread read, which is waited for.
    plan.expect(at_most(Counter::VoluntarySwitches, 1.0));
    let mut outcome = plan.measure(Loop::batches(ring.depth(), |iterations| {
        (0..iterations).try_for_each(|_| ring.read_together())
    }))?;
    // The divisor of the time.
    let operations = outcome.operations();
    outcome.claim_equal("reads that completed", operations, ring.completed(), RING);
    Ok(outcome)
}

fn direct<'p>(
    mut plan: Plan<'p>,
    storage: &Storage,
    ring: &mut Ring<'_>,
) -> Result<Outcome<'p>, Failure> {
    let reads = MIN_READS.max(ROUNDS * ring.depth());
    expect_waits(&mut plan, reads + 3 * ring.depth());
    let clock = *plan.clock();
    let (mut busy, mut implied) = (Duration::ZERO, Implied::default());
    let mut outcome = plan.measure(Observed::of(|| {
        let (begun, before) = (Instant::now(), ring.completed());
        let ns = ring.window(reads, &clock)?;
        implied.note(ns * (ring.completed() - before) as f64, begun);
        busy += begun.elapsed();
        Ok(ns)
    }))?;
    // A third of the reads fill the queue or drain it.
    implied.claim(&mut outcome, Shares::INNER);
    if let Some(in_hand) = storage.mean_in_hand(busy)? {
        outcome.detail("device_in_flight", in_hand);
    }
    Ok(outcome)
}

/// The source of the counts: the kernel reports how many reads it accepted, and which completed.
const RING: &str = "io_uring";

/// How many reads are in flight when the kernel is asked to wait.
static LEAST_IN_FLIGHT: Witness = Witness::of("reads in flight at a wait, at least", RING);
static MOST_IN_FLIGHT: Witness = Witness::of("reads in flight at a wait, at most", RING);

/// Number of offsets recorded, of the first reads: fewer than a file has blocks.
const NOTED: usize = 64;

/// Reads of a stamped file, a constant number of which are in flight.
struct Ring<'f> {
    ring: IoUring,
    written: &'f Stamped,
    file: &'f File,
    /// One part for each read that may be in flight.
    memory: Buffer,
    size: usize,
    /// Offsets of the next reads, cyclically.
    offsets: Vec<u64>,
    next: usize,
    /// The offsets of the first reads submitted.
    noted: Vec<u64>,
    /// The offset from which each part of the memory is being read.
    parts: Vec<Option<u64>>,
    /// Parts into which nothing is being read.
    free: Vec<usize>,
    /// Completions that were just taken from the ring.
    done: Vec<(u64, i32)>,
    /// Reads that the kernel accepted, and those that it completed correctly.
    submitted: u64,
    completed: u64,
    /// Minimum and maximum number in flight when the kernel was asked to wait.
    at_waits: Option<(u64, u64)>,
    /// Whether content is checked: not in the timed pass.
    compares: Compares,
}

impl<'f> Ring<'f> {
    fn of(
        b: &mut Bencher,
        source: &'f Source,
        depth: u32,
        blocks: Blocks,
    ) -> Result<Self, Failure> {
        let ring = IoUring::new(depth).map_err(|error| {
            Failure::Unsupported(format!(
                "the kernel, or a seccomp filter in its place, gives no io_uring ({error})"
            ))
        })?;
        let (depth, size) = (depth as usize, blocks.size.get());
        Ok(Self {
            ring,
            written: source.written(),
            file: source.file(),
            memory: Buffer::new(depth * size, ALIGNMENT),
            size,
            offsets: blocks.offsets(b.random()),
            next: 0,
            noted: Vec::with_capacity(NOTED),
            parts: vec![None; depth],
            free: (0..depth).collect(),
            done: Vec::with_capacity(2 * depth),
            submitted: 0,
            completed: 0,
            at_waits: None,
            compares: b.compares(),
        })
    }

    /// What it reads, and how much so far, in this process.
    fn tally(&self) -> Tally {
        Tally {
            blocks: self.offsets.len() as u64,
            size: self.size as u64,
            transfers: self.completed,
        }
    }

    /// How many reads should be in flight.
    fn depth(&self) -> u64 {
        self.parts.len() as u64
    }

    fn completed(&self) -> u64 {
        self.completed
    }

    /// Submits as many reads as may be in flight, and waits for them all.
    fn read_together(&mut self) -> Result<(), Failure> {
        self.fill()?;
        self.wait_for(self.parts.len())?;
        self.note_wait();
        self.reap()?;
        match self.free.len() == self.parts.len() {
            true => Ok(()),
            false => Err(Failure::Failed(
                "the kernel did not wait for all reads".into(),
            )),
        }
    }

    /// The mean time per read, in ns, over `reads` reads or a few more, while others are in flight.
    fn window(&mut self, reads: u64, clock: &Clock) -> Result<f64, Failure> {
        // The first ones were submitted together, so they do not count.
        let first = self.completed + self.depth();
        let mut begun = None;
        let ns = loop {
            self.fill()?;
            self.wait_for(1)?;
            self.note_wait();
            self.reap()?;
            let now = clock.stop().ticks;
            match begun {
                None if self.completed >= first => begun = Some((now, self.completed)),
                Some((start, completed)) if self.completed >= completed + reads => {
                    let passed = clock.to_ns(now.saturating_sub(start));
                    break passed / (self.completed - completed) as f64;
                }
                None | Some(_) => {}
            }
        };
        self.drain()?;
        Ok(ns)
    }

    /// Reports how many reads were in flight, and claims that they were of blocks in random order.
    fn claim(&self, b: &mut Bencher) {
        let (least, most) = self.at_waits.unwrap_or_default();
        b.observe(&LEAST_IN_FLIGHT, least);
        b.observe(&MOST_IN_FLIGHT, most);
        // The content shows that each read was from the submitted offset.
        let claim =
            "of the first reads, those neither next to the last one nor of a block read before";
        let (first, apart) = (self.noted.len(), apart(&self.noted, self.size as u64));
        b.claim_equal(claim, first, apart, "offsets handed over");
    }

    /// Puts a read into the ring for each free part of the memory.
    fn fill(&mut self) -> Result<(), Failure> {
        while let Some(part) = self.free.pop() {
            let offset = self.offsets[self.next];
            self.next = (self.next + 1) % self.offsets.len();
            if self.noted.len() < NOTED {
                self.noted.push(offset);
            }
            let start = self.memory[part * self.size..].as_mut_ptr();
            let read = opcode::Read::new(types::Fd(self.file.as_raw_fd()), start, self.size as u32)
                .offset(offset)
                .build()
                .user_data(part as u64);
            // SAFETY: the part is as long as the read and belongs to no other read; nothing uses it until
            // the read has completed, and this is not dropped before.
            unsafe { self.ring.submission().push(&read) }.tried("submit")?;
            self.parts[part] = Some(offset);
        }
        Ok(())
    }

    /// Submits what is in the ring, and waits until this many reads have completed.
    fn wait_for(&mut self, count: usize) -> Result<(), Failure> {
        let taken = self.ring.submit_and_wait(count).tried("io_uring_enter")?;
        self.submitted += taken as u64;
        Ok(())
    }

    /// Records how many reads were in flight when the kernel was last asked to wait.
    fn note_wait(&mut self) {
        let in_flight = self.submitted - self.completed;
        let (least, most) = self.at_waits.unwrap_or((in_flight, in_flight));
        self.at_waits = Some((least.min(in_flight), most.max(in_flight)));
    }

    /// Takes the completions from the ring.
    fn reap(&mut self) -> Result<(), Failure> {
        let completions = self.ring.completion();
        self.done.clear();
        let results = completions.map(|entry| (entry.user_data(), entry.result()));
        self.done.extend(results);
        // All are taken, even after one that failed: none of them will come again.
        let mut first = Ok(());
        for index in 0..self.done.len() {
            let (part, result) = self.done[index];
            first = first.and(self.take(part as usize, result));
        }
        first
    }

    /// Takes the read that was made into this part, and checks whether it returned the right
    /// content.
    fn take(&mut self, part: usize, result: i32) -> Result<(), Failure> {
        let offset = self
            .parts
            .get_mut(part)
            .and_then(Option::take)
            .ok_or_else(|| Failure::Refuted("a read completed that was not made".into()))?;
        self.free.push(part);
        if result < 0 {
            let cause = std::io::Error::from_raw_os_error(-result);
            return Err(Failure::of("read by io_uring", cause));
        }
        if result as usize != self.size {
            let wanted = self.size;
            return Err(Failure::Failed(format!(
                "a read of {wanted} bytes at {offset} gave {result}"
            )));
        }
        if self.compares.all() {
            let read = &self.memory[part * self.size..][..self.size];
            self.written.check(read, offset)?;
        }
        self.completed += 1;
        Ok(())
    }

    fn drain(&mut self) -> Result<(), Failure> {
        while self.submitted > self.completed {
            self.wait_for(1)?;
            self.reap()?;
        }
        Ok(())
    }
}

/// How many of these offsets belong to a block that is neither next to the one before nor was read
/// before.
fn apart(offsets: &[u64], size: u64) -> usize {
    let is_apart = |index: &usize| {
        let (before, offset) = (&offsets[..*index], offsets[*index]);
        let is_next = before
            .last()
            .is_some_and(|last| last.abs_diff(offset) < 2 * size);
        !is_next && !before.contains(&offset)
    };
    (0..offsets.len()).filter(is_apart).count()
}

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        // The kernel writes into the memory until every read has completed, successfully or not.
        while self.parts.iter().any(Option::is_some) {
            if self.ring.submit_and_wait(1).is_err() {
                // Then it is safer never to free the memory.
                std::mem::forget(std::mem::replace(&mut self.memory, Buffer::new(0, 1)));
                return;
            }
            for entry in self.ring.completion() {
                if let Some(part) = self.parts.get_mut(entry.user_data() as usize) {
                    *part = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Findings;
    use syscost_harness::directory::DEFAULT;

    use super::*;
    use crate::fs::blocks::Access;
    use crate::fs::transfer::State;
    use crate::testing::{claims, found_by};

    /// Observes this of a ring of depth 4 over a file of 1 MiB; or says why not.
    fn with_ring(
        observe: impl Fn(&mut Ring<'_>, &Clock) -> Result<f64, Failure>,
        judge: impl FnOnce(&Ring<'_>),
    ) -> Result<Findings, String> {
        found_by(&Case::default(), Pass::Evidence, &[], |mut plan| {
            let blocks = Blocks {
                access: Access::Random,
                size: Bytes::kib(4),
                all: 1 << 20,
            };
            let source = Source::open(&mut plan, DEFAULT, blocks.all, State::Warm, blocks.size)?;
            let mut ring = Ring::of(&mut plan, &source, 4, blocks)?;
            let clock = *plan.clock();
            let mut outcome = plan.measure(Observed::of(|| observe(&mut ring, &clock)))?;
            ring.claim(&mut outcome);
            judge(&ring);
            Ok(outcome)
        })
    }

    #[test]
    fn reads_behind_one_that_failed_are_taken_too() {
        // The test includes that the ring is dropped at the end, without waiting forever.
        let fail = |ring: &mut Ring<'_>, _: &Clock| {
            // The second of four reads is beyond the end.
            (ring.next, ring.completed) = (0, 0);
            ring.offsets[1] = ring.written.bytes();
            let failure = ring.read_together().unwrap_err();
            assert!(failure.to_string().contains("gave 0"), "{failure}");
            assert!(ring.parts.iter().all(Option::is_none));
            assert_eq!((ring.free.len(), ring.completed), (4, 3));
            Ok(1.0)
        };
        or_skip!(with_ring(fail, |_| ()));
    }

    #[test]
    fn reads_in_order_and_reads_of_few_blocks_are_refuted() {
        let in_order: fn(usize) -> u64 = |index| 4096 * index as u64;
        let of_three: fn(usize) -> u64 = |index| 5 * 4096 * (index as u64 % 3);
        for order in [in_order, of_three] {
            let lie = |ring: &mut Ring<'_>, clock: &Clock| {
                ring.offsets = (0..ring.offsets.len()).map(order).collect();
                ring.window(100, clock)
            };
            let found = or_skip!(with_ring(lie, |_| ()));
            let refuted = claims(&found, Verdict::Refuted);
            assert!(
                refuted.len() == 1 && refuted[0].contains("first reads"),
                "{refuted:?}"
            );
        }
    }

    #[test]
    fn a_shallower_queue_is_seen_and_what_is_in_flight_is_waited_for_before_its_memory_goes() {
        let lie = |ring: &mut Ring<'_>, _: &Clock| {
            ring.drain()?;
            // One slot is never filled, and what is submitted is not waited for.
            let held = ring.free.pop();
            ring.fill()?;
            ring.wait_for(0)?;
            ring.note_wait();
            ring.free.extend(held);
            Ok(1.0)
        };
        or_skip!(with_ring(lie, |ring| assert!(
            ring.at_waits.is_some_and(|(least, _)| least == 3)
        )));
    }
}
