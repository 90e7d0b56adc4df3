//! Shared: what locks of the C library have in common, free and contended.

use std::fmt;
use std::io::{PipeWriter, Read, pipe};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use syscost_harness::prelude::*;
use syscost_sys::partner::Partner;
use syscost_sys::perf::{Uses, Watch};

use super::contention::Adder;
use super::{Padded, TAKERS, claim};

/// Minimum core cycles, on any processor, of two calls into a library with their work on a shared word.
const FLOOR_CYCLES: f64 = 8.0;

/// What is expected of a free lock.
pub(super) const FREE: Expect = costs(Counter::CoreCycles, FLOOR_CYCLES);

/// A lock that one thread can hold.
pub(super) trait Lock: Default + Send + Sync + 'static {
    /// Takes the lock, waiting while another thread holds it.
    fn lock(&self) -> Result<(), Code>;

    /// Takes the lock unless it is held.
    fn try_lock(&self) -> Result<bool, Code>;

    fn unlock(&self) -> Result<(), Code>;
}

/// An error number of the C library.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code(i32);

impl Code {
    #[inline(always)]
    pub(super) fn check(code: i32) -> Result<(), Code> {
        if code == 0 { Ok(()) } else { Err(Code(code)) }
    }

    /// Whether a try took the lock.
    pub(super) fn tried(code: i32) -> Result<bool, Code> {
        match code {
            0 => Ok(true),
            libc::EBUSY => Ok(false),
            _ => Err(Code(code)),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        std::io::Error::from_raw_os_error(self.0).fmt(f)
    }
}

impl From<Code> for Failure {
    fn from(code: Code) -> Self {
        Failure::Failed(code.to_string())
    }
}

/// A lock and the number that it guards. The number is read and written in two steps, so that a
/// lock without mutual exclusion loses additions.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Guarded<L> {
    lock: L,
    number: AtomicU64,
}

impl<L: Lock> Adder for Guarded<L> {
    type Error = Code;

    #[inline(always)]
    fn add(&self) -> Result<u64, Code> {
        self.lock.lock()?;
        let number = self.number.load(Relaxed) + 1;
        self.number.store(number, Relaxed);
        self.lock.unlock()?;
        Ok(number)
    }

    fn number(&self) -> u64 {
        self.number.load(Relaxed)
    }
}

/// Measures taking and releasing an uncontended lock, in a process that has another thread, asleep.
pub(super) fn measure_free<L: Lock>(mut plan: Plan) -> Result<Outcome, Failure> {
    let lock = Padded::<L>::default();
    let Padded(free) = &lock;
    free.lock()?;
    let refused = !free.try_lock()?;
    claim(
        &mut plan,
        "another try while it is held",
        "refused",
        refused,
    );
    free.unlock()?;
    let let_in = free.try_lock()?;
    claim(&mut plan, "another try once it is free", "let in", let_in);
    free.unlock()?;
    if !plan.is_timed() {
        claim_written(&mut plan, &lock)?;
    }
    let make = |cpus: &[u32]| {
        let (mut read, write) = pipe().tried("make a pipe")?;
        // Until the other end is closed.
        let asleep = move || read.read(&mut [0]).map(drop);
        let partner = Partner::start(Between::Threads, cpus, asleep)?;
        let driver = Alone {
            lock: free,
            write: Some(write),
            taken: 0,
        };
        Ok(Team::new(vec![partner], driver))
    };
    let measured = plan.measure(Together::of(Placement::SAME, make))?;
    let (mut outcome, alone) = measured.split();
    outcome.observe(&TAKERS, u64::from(alone.taken > 0));
    Ok(outcome)
}

/// Operations during which the lock's word is watched.
const WATCHED: u64 = 64;

/// Claims that taking the lock and releasing it each write to its beginning: the processor counts
/// that, where the kernel permits it.
fn claim_written<L: Lock>(b: &mut Bencher, lock: &Padded<L>) -> Result<(), Failure> {
    let word = (&raw const lock.0).cast();
    let Ok(watch) = Watch::of(TaskId::own(), word, Uses::Stores) else {
        return Ok(());
    };
    let mut alone = Alone {
        lock: &lock.0,
        write: None,
        taken: 0,
    };
    alone.run(WATCHED)?;
    let stored = watch.count().map_err(Unsupported::from)?;
    let claim = format!("stores to the lock's first word in {WATCHED} operations");
    let (least, stored) = (2.0 * WATCHED as f64, Ok::<_, String>(stored as f64));
    let open = "a lock may keep more than whether it is taken there";
    b.claim_at_least(&claim, least, stored, "debug register", open);
    Ok(())
}

/// The only thread that is awake.
struct Alone<'l, L> {
    lock: &'l L,
    write: Option<PipeWriter>,
    taken: u64,
}

impl<L: Lock> Driver for Alone<'_, L> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.lock.lock()?;
            self.lock.unlock()?;
        }
        self.taken += iterations;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.write = None;
        Ok(())
    }
}
