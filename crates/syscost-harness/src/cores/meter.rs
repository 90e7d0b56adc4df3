//! How much of the time each core is ours, on a machine that should not notice that somebody looks.
//!
//! A thread on each CPU sleeps, wakes at random times, takes one probe and sleeps again. The times
//! are those of a Poisson process, so each probe falls anywhere in the window with equal chance,
//! whatever the other work on the core does and however long it goes on: the share of probes that
//! find the core ours is an unbiased estimate of the share of time, and binomial, so that Wilson's
//! interval holds for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use syscost_results::run::Noise;
use syscost_stats::proportion::wilson;
use syscost_sys::clock::Clock;
use syscost_sys::core_probe::{LongChain, Probe};
use syscost_sys::counters::{CpuTimes, cpu_times_of_all};
use syscost_sys::cpu;

use super::moment::arrive;
use super::{Cores, Heard};

/// Which part of one core this process may use, over all CPUs. Less than the promised thousandth,
/// since what it used is known only afterwards.
const BUDGET: f64 = 0.0008;

/// Probes a second on each CPU, at most: more show nothing that matters.
const MAX_RATE: f64 = 10.0;

/// Probes a second over all CPUs until it is known what one costs.
const FIRST_RATE: f64 = 2.0;

/// Stack of a probe's thread.
const STACK_BYTES: usize = 128 << 10;

/// What was found about one core, over the window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CoreState {
    /// The CPU.
    pub cpu: u32,
    /// Number of probes.
    pub probes: u64,
    /// Share of them that found the core ours, 0 to 1; `None` where what it shows then is not known.
    pub exclusive: Option<f64>,
    /// The 95 % confidence interval of that share.
    pub exclusive_ci95: Option<(f64, f64)>,
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
        let exclusive = noise.alone_percent.map(|percent| percent / 100.0);
        let found = exclusive.map(|share| (share * probes as f64).round() as u64);
        Self {
            cpu: noise.cpu,
            probes,
            exclusive,
            exclusive_ci95: found.and_then(|found| wilson(found, probes)),
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
        let probe = cores.probe(clock);
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
            arrive(&self.probe);
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

/// How far back figures reach: long enough for some hundred probes of each CPU of a small machine,
/// short enough to see a neighbour come and go.
pub const WINDOW: Duration = Duration::from_secs(300);

/// The probes of one CPU, and the uses of its time, oldest first.
#[derive(Debug, Default)]
struct Window {
    probes: VecDeque<(Instant, LongChain)>,
    times: VecDeque<(Instant, CpuTimes)>,
}

impl Window {
    fn add(&mut self, when: Instant, probe: LongChain) {
        self.probes.push_back((when, probe));
    }

    fn add_times(&mut self, when: Instant, times: CpuTimes) {
        self.times.push_back((when, times));
    }

    fn forget_before(&mut self, now: Instant) {
        let is_old = |when: Instant| now.duration_since(when) > WINDOW;
        while self.probes.front().is_some_and(|(when, _)| is_old(*when)) {
            self.probes.pop_front();
        }
        while self.times.front().is_some_and(|(when, _)| is_old(*when)) {
            self.times.pop_front();
        }
    }

    /// Share of the window in which the hypervisor gave the CPU to another machine, 0 to 1; `None`
    /// before two readings.
    fn steal(&self) -> Option<f64> {
        let ((from, first), (to, last)) = self.times.front().zip(self.times.back())?;
        (from < to).then(|| (*last - *first).steal_share())
    }

    /// The probes, as what listening to this CPU showed.
    fn heard(&self, cpu: u32, probe: Probe) -> Heard {
        let probes = || self.probes.iter().map(|(_, probe)| *probe);
        Heard {
            noise: Noise {
                cpu,
                ..Noise::default()
            },
            readings: probes().map(|probe| probe.around[0]).collect(),
            long_chains: probes().collect(),
            probe,
        }
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

#[cfg(test)]
mod tests {
    use syscost_sys::core_probe::ProbeReading;

    use super::*;
    use syscost_sys::or_skip;

    /// A meter of a CPU whose core is ours up to a ratio of 0.9.
    fn meter() -> CoreMeter {
        CoreMeter::new(&[7], Cores::with_limit(7, 0.9), Clock::system())
    }

    fn add(meter: &CoreMeter, throughput: u32) {
        let reading = ProbeReading {
            throughput,
            chain: 1000,
        };
        let chain = LongChain {
            around: [reading; 2],
            ticks: 4000,
        };
        lock(&meter.listened[0].1).add(Instant::now(), chain);
    }

    #[test]
    fn a_core_is_ours_for_the_share_of_probes_that_find_it_so() {
        let meter = meter();
        assert_eq!(meter.look(), [], "nothing was seen");
        for number in 0..100 {
            // A busy hardware thread of the same core makes them half as slow again.
            add(&meter, if number % 10 < 3 { 890 } else { 1350 });
        }
        let [state] = &meter.look()[..] else {
            panic!("one CPU");
        };
        assert_eq!(
            (state.cpu, state.probes, state.exclusive),
            (7, 100, Some(0.3))
        );
        let (low, high) = state.exclusive_ci95.expect("an interval");
        assert!((low - 0.2189).abs() < 1e-3 && (high - 0.3958).abs() < 1e-3);
        assert!((state.slowdown.expect("it was shared") - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_core_that_was_never_ours_at_first_is_learnt_to_be_faster() {
        let meter = meter();
        for number in 0..400 {
            add(&meter, if number % 2 == 0 { 600 } else { 890 });
        }
        let exclusive = meter.look()[0].exclusive;
        assert_eq!(exclusive, Some(0.5), "0.89 was that of a shared core");
    }

    #[test]
    fn it_looks_now_and_then_until_the_end() {
        let cpus = or_skip!(
            cpu::allowed(),
            "the system does not say which CPUs there are"
        );
        let meter = CoreMeter::new(&cpus, Cores::default(), Clock::system());
        meter.set_rate(1e6);
        let begun = Instant::now();
        meter.during(|| {
            while meter.look().len() < cpus.len() && begun.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_millis(10));
            }
        });
        let states = meter.look();
        let looked_at: Vec<u32> = states.iter().map(|state| state.cpu).collect();
        assert_eq!(looked_at, cpus);
        assert!(meter.used_seconds() > 0.0);
        assert!(
            states.iter().all(|state| state.exclusive.is_none()),
            "nothing is known of them"
        );
        let taken = meter.taken.load(Ordering::Relaxed);
        assert!(taken >= states.iter().map(|state| state.probes).sum());
    }

    #[test]
    fn what_is_older_is_forgotten() {
        let mut window = Window::default();
        let begun = Instant::now();
        let reading = |throughput| ProbeReading {
            throughput,
            chain: 1000,
        };
        for second in 0..400 {
            let when = begun + Duration::from_secs(second);
            let around = [reading(second as u32), reading(0)];
            window.add(when, LongChain { around, ticks: 1 });
            let times = CpuTimes {
                // The hypervisor takes the second half of each second, at first.
                idle: if second < 200 {
                    50 * second
                } else {
                    100 * second - 10_000
                },
                steal: if second < 200 { 50 * second } else { 10_000 },
                ..CpuTimes::default()
            };
            window.add_times(when, times);
        }
        window.forget_before(begun + Duration::from_secs(400));
        let heard = window.heard(3, crate::cores::UNKNOWN.probe(Clock::system()));
        assert_eq!(heard.noise.cpu, 3);
        assert_eq!(heard.readings.len(), 300);
        assert_eq!(heard.readings[0], reading(100));
        // 99 or 100 of 299 seconds at half.
        let steal = window.steal().expect("two readings");
        assert!((steal - 50.0 / 299.0).abs() < 0.002, "{steal}");
        window.forget_before(begun + Duration::from_secs(1000));
        assert_eq!(window.steal(), None);
        assert!(window.heard(3, heard.probe).readings.is_empty());
    }
}
