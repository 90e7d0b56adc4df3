//! How much of the time each core is ours, on a machine that should not notice that somebody looks.
//!
//! A thread on each CPU sleeps, wakes at random times, takes one probe and sleeps again. The times
//! are those of a Poisson process, so each probe falls anywhere in the window with equal chance,
//! whatever the other work on the core does and however long it goes on: the share of probes that
//! find the core ours is an unbiased estimate of the share of time, and binomial, so that Wilson's
//! interval holds for it.

mod window;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use syscost_results::stats::proportion::wilson;
use syscost_sys::clock::Clock;
use syscost_sys::core_probe::Probe;
use syscost_sys::counters::cpu_times_of_all;
use syscost_sys::cpu;

use super::moment::ARRIVAL;
use super::{Cores, Heard};
pub use window::WINDOW;
use window::Window;

/// How much of one core this process may use, over all CPUs. Less than the promised thousandth,
/// since what it used is known only afterwards.
const BUDGET: f64 = 0.0008;

/// Probes a second on each CPU, at most: more show nothing that matters.
const MAX_RATE: f64 = 10.0;

/// Probes a second over all CPUs until it is known what one costs.
const FIRST_RATE: f64 = 2.0;

/// A thread's stack, in bytes.
const STACK_BYTES: usize = 128 << 10;

/// What was found about one core, over the window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CoreState {
    /// The CPU.
    pub cpu: u32,
    /// Number of probes.
    pub probes: u64,
    /// Share of them that found the core ours, 0 to 1; `None` where what it shows then is not known.
    pub ours: Option<f64>,
    /// The 95 % confidence interval of that share.
    pub ours_ci95: Option<(f64, f64)>,
    /// How much longer independent instructions took while it was not: 0.5 for half as long again.
    pub slowdown: Option<f64>,
    /// The core's frequency, in GHz.
    pub ghz: Option<f64>,
    /// Share of the time in which the hypervisor gave the CPU to another machine, 0 to 1.
    pub steal: Option<f64>,
}

impl CoreState {
    /// Of a core whose noise says how often it was ours.
    fn new(heard: &Heard, steal: Option<f64>) -> Self {
        let Heard {
            noise, readings, ..
        } = heard;
        let probes = readings.len() as u64;
        let ours = noise.alone_percent.map(|percent| percent / 100.0);
        let found = ours.map(|share| (share * probes as f64).round() as u64);
        Self {
            cpu: noise.cpu,
            probes,
            ours,
            ours_ci95: found.and_then(|found| wilson(found, probes)),
            slowdown: noise.shared_slowdown_percent.map(|percent| percent / 100.0),
            ghz: noise.core_ghz,
            steal,
        }
    }
}

/// Looks at cores now and then.
pub struct CoreMeter {
    cores: Mutex<Cores>,
    probe: Probe,
    listened: Vec<(u32, Mutex<Window>)>,
    /// Mean time between two probes of a CPU, in ns.
    mean_ns: AtomicU64,
    is_ending: AtomicBool,
    /// CPU time that this process had used when it began, in seconds.
    cpu_before: f64,
    taken: AtomicU64,
}

impl CoreMeter {
    /// A meter of these CPUs, with what is known of their cores.
    pub fn new(cpus: &[u32], cores: Cores, clock: Clock) -> Self {
        let probe = Probe::new(clock, cores.grain);
        let meter = Self {
            cores: Mutex::new(cores),
            probe,
            listened: cpus.iter().map(|cpu| (*cpu, Mutex::default())).collect(),
            mean_ns: AtomicU64::new(0),
            is_ending: AtomicBool::new(false),
            cpu_before: cpu_seconds(),
            taken: AtomicU64::new(0),
        };
        meter.set_rate(FIRST_RATE);
        meter
    }

    /// Looks at the cores while `work` goes on. A CPU on which no thread can be started is not
    /// looked at.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            let threads: Vec<_> = self
                .listened
                .iter()
                .filter_map(|(cpu, window)| {
                    let builder = thread::Builder::new()
                        .name(format!("core of CPU {cpu}"))
                        .stack_size(STACK_BYTES);
                    builder
                        .spawn_scoped(scope, || self.listen(*cpu, window))
                        .ok()
                })
                .collect();
            let result = work();
            self.is_ending.store(true, Ordering::Relaxed);
            threads.iter().for_each(|thread| thread.thread().unpark());
            result
        })
    }

    /// Takes probes of one core until the end.
    fn listen(&self, number: u32, window: &Mutex<Window>) {
        let mut random = fastrand::Rng::new();
        loop {
            let mean = self.mean_ns.load(Ordering::Relaxed) as f64;
            // Exponential: of a Poisson process.
            let wake = Instant::now() + Duration::from_nanos((-mean * random.f64().ln()) as u64);
            loop {
                if self.is_ending.load(Ordering::Relaxed) {
                    return;
                }
                let left = wake.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                thread::park_timeout(left);
            }
            // A CPU that was taken offline, or away from this process, has no probes until it is back.
            if cpu::current() != number && cpu::pin(number).is_err() {
                continue;
            }
            for _ in 0..ARRIVAL {
                self.probe.read();
            }
            let reading = self.probe.read();
            let chain = self.probe.long_chain(reading);
            if cpu::current() == number {
                lock(window).add(Instant::now(), chain);
                self.taken.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// What the last minutes showed of each core that could be looked at. Adjusts how often they
    /// are, so that this process keeps to its share of the CPU time.
    pub fn look(&self) -> Vec<CoreState> {
        let taken = self.taken.load(Ordering::Relaxed);
        if taken > 0 {
            self.set_rate(BUDGET * taken as f64 / self.used_seconds().max(1e-9));
        }
        let now = Instant::now();
        let times = cpu_times_of_all().unwrap_or_default();
        let mut steal = BTreeMap::new();
        let mut heard: Vec<Heard> = Vec::new();
        for (cpu, window) in &self.listened {
            let mut window = lock(window);
            window.forget_before(now);
            if let Some(times) = times.get(cpu) {
                window.add_times(now, *times);
            }
            steal.insert(*cpu, window.steal());
            heard.push(window.heard(*cpu, self.probe));
        }
        heard.retain(|one| !one.readings.is_empty());
        let mut cores = lock(&self.cores);
        // The first probes may all have been of shared cores.
        if heard.iter().any(|one| cores.are_refuted_by(one)) {
            cores.learn(&mut heard);
        }
        let state = |one: &mut Heard| {
            cores.annotate(one);
            let steal = steal.get(&one.noise.cpu).copied().flatten();
            CoreState::new(one, steal)
        };
        heard.iter_mut().map(state).collect()
    }

    /// CPU time that this process has used since the meter was made, in seconds.
    pub fn used_seconds(&self) -> f64 {
        cpu_seconds() - self.cpu_before
    }

    fn set_rate(&self, of_all: f64) {
        let of_one = (of_all / self.listened.len().max(1) as f64).min(MAX_RATE);
        let mean_ns = (1e9 / of_one) as u64;
        self.mean_ns.store(mean_ns, Ordering::Relaxed);
    }
}

/// CPU time that this process has used, in seconds.
fn cpu_seconds() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// A thread that panicked has not left anything half changed here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
