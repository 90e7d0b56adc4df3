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

mod ring;

use std::time::{Duration, Instant};

use syscost_harness::prelude::*;

use self::ring::{LEAST_IN_FLIGHT, MOST_IN_FLIGHT, RING, Ring};
use super::blocks::{Access, Blocks};
use super::labels;
use super::read::FILE;
use super::space::Storage;
use super::transfer::{Source, State, expect_waits};
use crate::implied::{Implied, Shares};
use crate::witness::files::{DIRECTORY, MOVED};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Random file read by io_uring, by queue depth",
    tags: "random read, asynchronous i/o, i/o depth, iodepth, iops, direct i/o, o_direct, fio",
    ..Benchmark::of::<Row>()
};

/// Reads in a window: at least this many times those in flight, and at least this number.
const ROUNDS: u64 = 4;
const MIN_READS: u64 = 32;

#[derive(Params, Clone)]
struct Row {
    /// The directory's label.
    dir: String,
    cache: State,
    /// Bytes of a read.
    size: Bytes,
    /// How many reads are in flight.
    depth: u32,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            dir: labels(here),
            cache: [State::Direct, State::Warm],
            size: [Bytes::kib(4)],
            depth: [1_u32, 4, 16, 64]
        })
    }

    fn profile(&self, _: &Here) -> Profile {
        match [1, 16].contains(&self.depth) {
            true => Profile::Standard,
            false => Profile::Full,
        }
    }

    fn ignores_interference(&self) -> bool {
        self.cache == State::Direct
    }

    fn proofs(&self) -> RowProofs<Proof> {
        // All of them are submitted by one call, which waits for them; otherwise a window is many.
        let enters = match self.cache {
            State::Warm => {
                let enters = 1.0 / f64::from(self.depth);
                Proof::counted([exactly(Counter::Syscall(Sysno::IO_URING_ENTER), enters)])
            }
            State::Cold | State::Direct => Proof::default(),
        };
        let blocks = self.blocks();
        RowProofs {
            dir: DIRECTORY.sees(&*self.dir),
            cache: self.cache.proof(FILE, 0),
            size: MOVED.sees(self.size.0).and(blocks.whole()),
            depth: LEAST_IN_FLIGHT
                .sees(self.depth)
                .and(MOST_IN_FLIGHT.sees(self.depth))
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

impl Row {
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
