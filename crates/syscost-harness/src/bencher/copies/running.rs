//! Copies at work: they begin together, run to a common end, and report what they did.

use std::fmt::Display;
use std::hint::spin_loop;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use syscost_sys::clock::Clock;
use syscost_sys::counters::TaskId;
use syscost_sys::cpu;
use syscost_sys::partner::{Between, Shared};

use crate::bencher::core_probes::CoreProbes;
use crate::bencher::team::{Stop, TaskGroup};
use crate::bencher::timed::WARM_UP_PART;
use crate::cores::Cores;
use crate::failure::Failure;

/// Maximum number of copies, each of which needs a report.
pub(super) const MAX_COPIES: usize = 512;

/// Iterations of waiting between two checks, each a system call, whether a copy still exists: about
/// a millisecond.
const SPINS: u32 = 1 << 16;

/// The memory that all copies share. A window is a span of time in which all of them work.
struct SharedState {
    orders: Orders,
    reports: [CopyReport; MAX_COPIES],
}

/// The measuring task's orders, on cache lines of their own: waiting copies poll them.
#[derive(Default)]
#[repr(align(128))]
struct Orders {
    /// Number of the latest window that may begin.
    window: AtomicU64,
    /// When the timed part begins, in ticks of the clock. What copies do before it is untimed.
    beginning: AtomicU64,
    /// When it ends, in ticks.
    deadline: AtomicU64,
    /// Operations between two looks at the clock.
    chunk: AtomicU64,
}

/// One copy's report, on cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct CopyReport {
    /// Number of the latest window it has finished.
    window: AtomicU64,
    began: AtomicU64,
    ended: AtomicU64,
    operations: AtomicU64,
    warm_up: AtomicU64,
    cpu: AtomicU32,
    slowdown: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CopyInterval {
    /// When it began, in ticks.
    pub(super) began: u64,
    /// When it ended, in ticks.
    pub(super) ended: u64,
    pub(super) operations: u64,
    /// How many untimed operations it did before.
    pub(super) warm_up: u64,
    pub(super) cpu: u32,
    /// How slow its core seemed right before or after; 0 where it was not probed.
    pub(super) slowdown: f64,
}

impl CopyInterval {
    /// All operations, including untimed ones.
    pub(super) fn iterations(&self) -> u64 {
        self.operations + self.warm_up
    }
}

/// Copies of an operation: the measuring task does the first itself, partners the others.
pub(super) struct RunningCopies<O> {
    op: O,
    workers: TaskGroup,
    shared: Shared<SharedState>,
    clock: Clock,
}

impl<O, E> RunningCopies<O>
where
    O: FnMut() -> Result<(), E>,
    E: Display,
{
    /// Starts a copy on each of these CPUs; the first is the measuring task's own. `make` is called
    /// within each copy, with its number.
    pub(super) fn start(
        between: Between,
        cpus: &[u32],
        clock: Clock,
        cores: &Cores,
        make: impl Fn(usize) -> Result<O, Failure> + Clone + Send + 'static,
    ) -> Result<Self, Failure> {
        let shared = Shared::new(SharedState {
            orders: Orders::default(),
            reports: std::array::from_fn(|_| CopyReport::default()),
        })?;
        let mut running = Self {
            op: make(0)?,
            workers: TaskGroup::new(between)?,
            shared,
            clock,
        };
        for (number, cpu) in cpus.iter().enumerate().skip(1) {
            let (shared, make, cores) = (running.shared.clone(), make.clone(), cores.clone());
            let cpu_of_copy = *cpu;
            let work = move |(): &mut (), stop: &Stop| {
                let core_probes = CoreProbes::new(clock, cpu_of_copy, &cores);
                follow(&shared, number, stop, &clock, core_probes, make)
            };
            running.workers.add(&[*cpu], || Ok(()), work)?;
        }
        Ok(running)
    }

    /// Runs one window of this length and returns what each copy did in it. Before it, all copies
    /// work untimed for a part of that length, which refills the caches after waiting and probing
    /// at the core. `core_probes` is that of the measuring task.
    pub(super) fn window(
        &mut self,
        ns: f64,
        chunk: u64,
        core_probes: &mut Option<CoreProbes>,
    ) -> Result<Vec<CopyInterval>, Failure> {
        let SharedState { orders, reports } = &*self.shared;
        let number = orders.window.load(Ordering::Relaxed) + 1;
        let ticks = (ns * self.clock.ticks_per_ns()) as u64;
        let beginning = self.clock.start() + ticks / WARM_UP_PART;
        let span = beginning..beginning + ticks;
        orders.chunk.store(chunk, Ordering::Relaxed);
        orders.beginning.store(span.start, Ordering::Relaxed);
        orders.deadline.store(span.end, Ordering::Relaxed);
        orders.window.store(number, Ordering::Release);
        let own = work(&mut self.op, &self.clock, span, chunk, core_probes)
            .map_err(|cause| Failure::Failed(format!("an operation failed: {cause}")))?;
        let (mut intervals, stop) = (vec![own], self.workers.stop());
        for report in &reports[1..=self.workers.tasks().count()] {
            let mut spins: u32 = 0;
            while report.window.load(Ordering::Acquire) < number {
                spins = spins.wrapping_add(1);
                // A process that was killed cannot stop the others.
                let is_gone = spins.is_multiple_of(SPINS) && self.workers.has_lost_one();
                if is_gone || stop.is_set() {
                    return Err(self.workers.failure());
                }
                spin_loop();
            }
            intervals.push(CopyInterval {
                began: report.began.load(Ordering::Relaxed),
                ended: report.ended.load(Ordering::Relaxed),
                operations: report.operations.load(Ordering::Relaxed),
                warm_up: report.warm_up.load(Ordering::Relaxed),
                cpu: report.cpu.load(Ordering::Relaxed),
                slowdown: f64::from_bits(report.slowdown.load(Ordering::Relaxed)),
            });
        }
        Ok(intervals)
    }
}

impl<O> RunningCopies<O> {
    /// Its tasks, the measuring one first.
    pub(super) fn tasks(&self) -> Vec<TaskId> {
        [TaskId::own()]
            .into_iter()
            .chain(self.workers.tasks())
            .collect()
    }

    pub(super) fn dismiss(self) -> Result<(), Failure> {
        self.workers.dismiss().map(drop)
    }
}

/// A partner's work: set up the operation, then take part in every window.
fn follow<O, E>(
    shared: &SharedState,
    number: usize,
    stop: &Stop,
    clock: &Clock,
    mut core_probes: Option<CoreProbes>,
    make: impl Fn(usize) -> Result<O, Failure>,
) -> Result<(), Failure>
where
    O: FnMut() -> Result<(), E>,
    E: Display,
{
    let SharedState { orders, reports } = shared;
    let mut op = make(number)?;
    for window in 1.. {
        while orders.window.load(Ordering::Acquire) < window {
            if stop.is_set() {
                return Ok(());
            }
            spin_loop();
        }
        let span =
            orders.beginning.load(Ordering::Relaxed)..orders.deadline.load(Ordering::Relaxed);
        let chunk = orders.chunk.load(Ordering::Relaxed);
        let interval = work(&mut op, clock, span, chunk, &mut core_probes);
        let mut interval = interval.map_err(|cause| Failure::Failed(cause.to_string()))?;
        if let Some(core_probes) = &mut core_probes {
            interval.slowdown = core_probes.take_seen().slowdown();
        }
        let report = &reports[number];
        report.began.store(interval.began, Ordering::Relaxed);
        report.ended.store(interval.ended, Ordering::Relaxed);
        report
            .operations
            .store(interval.operations, Ordering::Relaxed);
        report.warm_up.store(interval.warm_up, Ordering::Relaxed);
        report.cpu.store(interval.cpu, Ordering::Relaxed);
        let slowdown = interval.slowdown.to_bits();
        report.slowdown.store(slowdown, Ordering::Relaxed);
        report.window.store(window, Ordering::Release);
    }
    Ok(())
}

/// Works for a span of time, at least one chunk, between two probes of the core; untimed until it
/// begins.
#[inline(always)]
fn work<E>(
    op: &mut impl FnMut() -> Result<(), E>,
    clock: &Clock,
    span: Range<u64>,
    chunk: u64,
    core_probes: &mut Option<CoreProbes>,
) -> Result<CopyInterval, E> {
    if let Some(core_probes) = core_probes {
        core_probes.probe_before();
    }
    let mut warm_up = 0;
    let mut began = clock.start();
    while began < span.start {
        for _ in 0..chunk {
            op()?;
        }
        warm_up += chunk;
        began = clock.start();
    }
    let mut operations = 0;
    loop {
        for _ in 0..chunk {
            op()?;
        }
        operations += chunk;
        let stop = clock.stop();
        if stop.ticks >= span.end {
            if let Some(core_probes) = core_probes {
                core_probes.probe_after();
            }
            return Ok(CopyInterval {
                began,
                ended: stop.ticks,
                operations,
                warm_up,
                cpu: stop.cpu.unwrap_or_else(cpu::current),
                slowdown: 0.0,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_the_beginning_is_done_and_not_timed() {
        let clock = Clock::system();
        let ms = (1e6 * clock.ticks_per_ns()) as u64;
        for is_warmed_up in [true, false] {
            let now = clock.start();
            // Long enough to be reached on a busy machine, too.
            let begins = if is_warmed_up { now + 50 * ms } else { now };
            let span = begins..begins + ms;
            let mut calls = 0;
            let mut op = || -> Result<(), String> {
                calls += 1;
                Ok(())
            };
            let interval = work(&mut op, &clock, span.clone(), 10, &mut None).expect("it works");
            assert_eq!(interval.warm_up > 0, is_warmed_up, "{interval:?}");
            assert!(
                interval.began >= span.start && interval.ended >= span.end,
                "{interval:?}"
            );
            assert_eq!(interval.operations + interval.warm_up, calls);
        }
    }
}
