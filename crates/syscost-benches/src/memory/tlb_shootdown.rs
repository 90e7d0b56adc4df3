//! Changing a page's mapping while other threads run on other CPUs.
//!
//! ## Measures
//! One call on one touched page, by how many other threads of the process run meanwhile, each on
//! its own CPU: munmap, mprotect that revokes write permission, or madvise that gives the page
//! back. Before each batch, untimed, the pages are written again and every thread reads them all;
//! then the threads spin.
//! ## Does not measure
//! What the interrupted threads lose. Threads that sleep: their CPUs learn of the change when they run again.
//! ## Interpretation
//! `threads=0` is the call alone. With others, the kernel must make every CPU that runs one of them
//! forget the page, by one interrupt each on x86-64, and wait until all have. On arm64, on AMD
//! processors with INVLPGB and under some hypervisors no interrupt is needed. So mappings should be
//! changed seldom, in large pieces, or before threads start.
//! ## Source
//! Linux's shootdown is described in its documentation of the x86 TLB.
#![allow(unsafe_code)] // pages that other threads read

use std::borrow::Cow;
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use rustix::io::Errno;
use rustix::mm::{Advice, MprotectFlags};
use rustix::param::page_size;
use syscost_harness::prelude::*;

use super::space::{ADDRESS, LENGTH};
use crate::memory::space::islands::Islands;
use crate::memory::space::{ADVICE, PROTECTION};
use crate::sides::Padded;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "TLB shootdown",
    tags: "tlb flush, tlb invalidation, inter-processor interrupt, ipi, \
        translation lookaside buffer",
    ..Benchmark::of::<TlbShootdown>()
};

/// Maximum number of other threads.
const MAX_THREADS: u32 = 64;

/// Minimum share of the batches in which all threads must have run.
const RAN: f64 = 0.75;

/// Minimum number of batches without all threads that cannot be an accident.
const MIN_BATCHES: u64 = 10;

/// Numbers of threads: none, one, then doubled, up to all other CPUs.
fn counts_to(others: u32) -> Vec<u32> {
    let most = others.min(MAX_THREADS);
    let doubled = (0..).map(|power| 1 << power);
    let mut counts = vec![0];
    counts.extend(doubled.take_while(|count| *count < most));
    if most > 0 {
        counts.push(most);
    }
    counts
}

#[derive(Params, Clone)]
struct TlbShootdown {
    via: Call,
    /// How many other threads run meanwhile, each on a separate CPU.
    threads: Others,
}

/// A number of threads, each of which has a CPU: it depends on that of the measuring one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Others(u32);

impl Value for Others {
    fn text(&self) -> Cow<'static, str> {
        self.0.text()
    }

    fn read(text: &str) -> Option<Self> {
        Value::read(text).map(Self)
    }

    fn task_role(&self) -> TaskRole {
        TaskRole::BindsCpus
    }
}

static RUNNING: Witness = Witness::of("other threads that run", "their own counts");

impl Measured for TlbShootdown {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let others = here.allowed.len().saturating_sub(1);
        let counts = counts_to(others as u32);
        rows!(TlbShootdown {
            via: Call::ALL,
            threads: counts.iter().copied().map(Others)
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.via, self.threads) {
            (Call::Madvise, Others(1)) => Profile::Quick,
            (Call::Madvise, _) => Profile::Standard,
            (Call::Munmap | Call::Mprotect, _) => Profile::Full,
        }
    }

    fn proofs(&self) -> TlbShootdownProofs<Proof> {
        let argument = |argument, value| {
            Proof::argument(self.via.number(), argument, ArgumentValue::Always(value))
        };
        let call = Proof::counted([together(self.via.number(), 1.0)]);
        TlbShootdownProofs {
            via: match self.via.asks() {
                Some((argument_of_it, value)) => call.and(argument(argument_of_it, value)),
                None => call,
            },
            threads: RUNNING.expects(self.threads.0),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let (call, threads) = (self.via, self.threads.0);
        let cpus = others(plan.cpu(), plan.allowed(), threads as usize)?;
        plan.expect_argument(call.number(), ADDRESS, ArgumentValue::Different);
        plan.expect_argument(
            call.number(),
            LENGTH,
            ArgumentValue::Always(page_size() as u64),
        );
        let placement = match threads {
            // The call alone needs no other CPU.
            0 => Placement::SAME,
            1.. => Placement::Distinct,
        };
        let make = |_: &[u32]| {
            let (workers, stage) = Stage::start(call, &cpus)?;
            Ok(workers.driven_by(stage))
        };
        let measured = plan.measure(Together::of(placement, make))?;
        let (mut outcome, (stage, _)) = measured.split();
        outcome.observe(&RUNNING, stage.running());
        if threads > 0 {
            claim_running(&mut outcome, &stage.tally);
        }
        let claim = "pages that the last batch of calls changed";
        outcome.claim_equal(claim, stage.last, stage.changed()? as u64, "/proc");
        Ok(outcome)
    }
}

/// Claims that the threads ran while the calls were made.
fn claim_running(b: &mut Bencher, tally: &Tally) {
    let share = tally.share();
    let claim = "share of batches in which all threads ran";
    let bound = Bound::Within(RAN, 1.0);
    let source = "their own counts";
    // A few batches on a busy machine may all lack a thread; many do only if threads never run.
    let never = share == 0.0 && tally.batches >= MIN_BATCHES;
    if bound.holds(share) || never {
        b.claim_within(claim, bound, share, source);
    } else {
        let reason = "other programs took their CPUs";
        b.claim_unverified(claim, bound.fact(), share, source, reason);
    }
}

/// Maximum number of calls per batch, each on a separate page.
const MAX_CALLS: u64 = 256;

/// Before a batch, threads that another program keeps from running are waited for: this many times,
/// each time for this many iterations of a waiting loop, a few microseconds.
const PATIENCE: usize = 10_000;
const SPINS: usize = 100;

/// The call that makes CPUs forget a page.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Munmap,
    Mprotect,
    Madvise,
}

impl Call {
    const fn number(self) -> Sysno {
        match self {
            Call::Munmap => Sysno::MUNMAP,
            Call::Mprotect => Sysno::MPROTECT,
            Call::Madvise => Sysno::MADVISE,
        }
    }

    /// The argument that it needs besides the place, and its value.
    fn asks(self) -> Option<(Argument, u64)> {
        match self {
            Call::Munmap => None,
            Call::Mprotect => Some((PROTECTION, MprotectFlags::READ.bits().into())),
            Call::Madvise => Some((ADVICE, Advice::LinuxDontNeed as u64)),
        }
    }
}

/// CPUs for this many threads, the nearest to the measuring one first.
fn others(own: u32, allowed: &[u32], count: usize) -> Result<Vec<u32>, Failure> {
    let mut cpus = spread_from(own, allowed).split_off(1);
    if cpus.len() < count {
        let reason = format!(
            "{count} threads need as many other CPUs; {} may be used",
            cpus.len()
        );
        return Err(Failure::Unsupported(reason));
    }
    cpus.truncate(count);
    Ok(cpus)
}

/// Number of batches, and in how many of them all threads ran.
#[derive(Debug, Default)]
struct Tally {
    batches: u64,
    with_all: u64,
}

impl Tally {
    /// The share of batches in which all threads ran, or 0 if there was no batch.
    fn share(&self) -> f64 {
        self.with_all as f64 / self.batches.max(1) as f64
    }
}

/// The memory that the threads share.
struct SharedState {
    /// Incremented when there are new pages to read.
    epoch: AtomicUsize,
    /// Address of the first page, and distance to the next, in bytes.
    first: AtomicPtr<u8>,
    stride: AtomicUsize,
    /// Number of threads that have read all pages of this epoch.
    ready: AtomicUsize,
    /// Number of iterations of each spinning thread.
    spins: Vec<Padded<AtomicU64>>,
}

impl SharedState {
    fn spin(&self, number: usize, stop: &Stop) {
        let mut seen = 0;
        while !stop.is_set() {
            let epoch = self.epoch.load(Acquire);
            if epoch != seen {
                let (first, stride) = (self.first.load(Relaxed), self.stride.load(Relaxed));
                for page in 0..MAX_CALLS as usize {
                    // SAFETY: mapped and readable until all threads have reported that they are
                    // ready, after this.
                    black_box(unsafe { first.add(page * stride).read_volatile() });
                }
                seen = epoch;
                self.ready.fetch_add(1, AcqRel);
            }
            // Only this thread writes its counter.
            let spins = &self.spins[number].0;
            spins.store(spins.load(Relaxed) + 1, Relaxed);
            spin_loop();
        }
    }

    fn counts(&self) -> Vec<u64> {
        self.spins
            .iter()
            .map(|spins| spins.0.load(Relaxed))
            .collect()
    }
}

/// The measuring thread's side: the pages that the threads have read.
struct Stage {
    call: Call,
    shared: Arc<SharedState>,
    islands: Islands,
    /// The threads' counters when the last batch began.
    began: Vec<u64>,
    /// Number of calls of the last batch.
    last: u64,
    tally: Tally,
}

impl Stage {
    fn start(call: Call, cpus: &[u32]) -> Result<(TaskGroup, Self), Failure> {
        let shared = Arc::new(SharedState {
            epoch: AtomicUsize::new(0),
            first: AtomicPtr::default(),
            stride: AtomicUsize::new(0),
            ready: AtomicUsize::new(0),
            spins: cpus.iter().map(|_| Padded::default()).collect(),
        });
        let stage = Self {
            islands: Islands::make(MAX_CALLS as usize, page_size())?,
            call,
            shared: Arc::clone(&shared),
            began: Vec::new(),
            last: 0,
            tally: Tally::default(),
        };
        let mut workers = TaskGroup::new(Between::Threads)?;
        for (number, cpu) in cpus.iter().enumerate() {
            let shared = Arc::clone(&shared);
            let work = move |(): &mut (), stop: &Stop| {
                shared.spin(number, stop);
                Ok::<(), Failure>(())
            };
            workers.add(&[*cpu], || Ok(()), work)?;
        }
        Ok((workers, stage))
    }

    fn running(&self) -> usize {
        let counts = self.shared.counts();
        counts.iter().filter(|count| **count > 0).count()
    }

    /// How many pages are in the state that a call must leave.
    fn changed(&self) -> Result<usize, Failure> {
        let count = MAX_CALLS as usize;
        match self.call {
            Call::Munmap | Call::Madvise => Ok(count - self.islands.present(count)?),
            Call::Mprotect => Ok(self.islands.bytes_with("r--", count)? / page_size()),
        }
    }

    fn have_run(&self) -> bool {
        let now = self.shared.counts();
        self.began.iter().zip(now).all(|(began, now)| now > *began)
    }
}

impl Driver for Stage {
    const MAX_ITERATIONS: u64 = MAX_CALLS;
    const IS_PREPARED: bool = true;

    /// Writes all pages, and returns when every thread has read them.
    fn prepare(&mut self) -> Result<(), Failure> {
        let failed = |cause: Errno| Failure::of("prepare the pages", cause);
        match self.call {
            Call::Munmap => self.islands = Islands::make(MAX_CALLS as usize, page_size())?,
            Call::Mprotect => {
                let access = MprotectFlags::READ | MprotectFlags::WRITE;
                (0..MAX_CALLS as usize)
                    .try_for_each(|number| self.islands.protect(number, access))
                    .map_err(failed)?;
            }
            Call::Madvise => {}
        }
        let present = self.islands.touch(MAX_CALLS as usize)?;
        if present != MAX_CALLS as usize {
            return Err(Failure::Refuted(format!(
                "only {present} of {MAX_CALLS} pages are there"
            )));
        }
        let stride = self.islands.island(1).addr() - self.islands.island(0).addr();
        self.shared.first.store(self.islands.island(0), Relaxed);
        self.shared.stride.store(stride, Relaxed);
        self.shared.ready.store(0, Relaxed);
        self.shared.epoch.fetch_add(1, Release);
        while self.shared.ready.load(Acquire) < self.shared.spins.len() {
            spin_loop();
        }
        for _ in 0..PATIENCE {
            self.began = self.shared.counts();
            (0..SPINS).for_each(|_| spin_loop());
            if self.have_run() {
                break;
            }
        }
        self.began = self.shared.counts();
        Ok(())
    }

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.last = iterations;
        let iterations = iterations as usize;
        let made = match self.call {
            Call::Munmap => self.islands.unmap(iterations),
            Call::Mprotect => (0..iterations)
                .try_for_each(|number| self.islands.protect(number, MprotectFlags::READ)),
            Call::Madvise => (0..iterations).try_for_each(|number| self.islands.forget(number)),
        };
        made.map_err(|cause| Failure::of(self.call.name(), cause))
    }

    /// Records whether all threads ran during the batch that has just ended.
    fn check(&mut self) -> Result<(), Failure> {
        self.tally.batches += 1;
        self.tally.with_all += u64::from(self.have_run());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::child::fork;

    #[test]
    fn every_call_changes_every_page() {
        // In a process with one thread, so that nothing else maps what munmap leaves.
        let child = fork(|| {
            let all_changed = Call::ALL.into_iter().all(|call| {
                let (_workers, mut stage) = Stage::start(call, &[]).unwrap();
                match stage.prepare() {
                    // Not enough memory, or no way to check.
                    Err(Failure::Unsupported(_)) => return true,
                    prepared => prepared.unwrap(),
                }
                assert_eq!(stage.changed().unwrap(), 0, "{call:?}");
                stage.run(MAX_CALLS).unwrap();
                stage.changed().unwrap() == MAX_CALLS as usize
            });
            i32::from(!all_changed)
        });
        child.and_then(|child| child.ends_with(0)).unwrap();
    }
}
