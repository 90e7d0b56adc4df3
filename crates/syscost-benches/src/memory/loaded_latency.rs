//! Latency of memory while other CPUs use its bandwidth.
//!
//! ## Measures
//! A load that depends on the one before it, at random places of 128 MiB
//! (`memory.latency`), on the measuring CPU, while a thread on each other CPU reads memory from end to end as fast as it can, but pauses for `delay`
//! after every 16 KiB. The shorter the pause, the more bandwidth is used, so the rows are a curve
//! of latency by bandwidth: each row has the bandwidth that the other CPUs reached together as
//! `bandwidth_bytes_per_s`. In `delay=idle` they are idle: they wait and do not access memory.
//! ## Does not measure
//! A load of writes. How the measuring CPU's own requests delay each other: `memory.parallelism`.
//! ## Interpretation
//! With little load the latency is that of `memory.latency`. It rises slowly with the bandwidth and
//! steeply near its limit, where requests queue. Few CPUs do not get that far: compare with the
//! bandwidth that all of them achieve in `memory.bandwidth`. Where the last-level cache is larger
//! than half of these 128 MiB, the rows are `?`: it may have answered.
//! ## Source
//! The loaded latency curve of Intel's Memory Latency Checker.

mod load;

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Chase, LINE, Order, Route, Work};
use syscost_sys::topology::Topology;

use super::chases;
use load::{Load, Share};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Memory latency under load",
    tags: "loaded latency, latency under bandwidth, dram latency, memory contention, \
        intel memory latency checker, mlc",
    stays: true,
    ..Benchmark::of::<MemoryLoadedLatency>()
};

/// How long the other CPUs pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delay {
    /// They only pause.
    Idle,
    /// So long after every stretch.
    Of(Nanoseconds),
}

impl Value for Delay {
    const MEANING: &'static str =
        "How long the other CPUs pause after every 16 KiB; idle if they do nothing at all.";

    fn text(&self) -> Cow<'static, str> {
        match self {
            Delay::Idle => Cow::Borrowed("idle"),
            Delay::Of(time) => time.text(),
        }
    }

    fn read(text: &str) -> Option<Self> {
        match text {
            "idle" => Some(Delay::Idle),
            time => Value::read(time).map(Delay::Of),
        }
    }
}

/// The pauses, from the longest to none. They are shorter than a batch, so that something is read during each.
const PAUSES_NS: [u64; 6] = [10_000, 3_000, 1_000, 300, 100, 0];

/// Seconds that a row takes to get its memory: half a second per round, shared by all rows.
const SECONDS: f64 = 0.5 / (1 + PAUSES_NS.len()) as f64;

/// Bytes of the chase's memory. A measurement walks a small part of it, which filling the memory of
/// the load has evicted from any cache.
const BYTES: usize = 128 << 20;

/// Minimum bytes that a CPU must read, as a part of what it read in the same time beforehand, for
/// the load to be what the row says.
const MIN_PART: f64 = 0.5;

thread_local! {
    /// The chase, for all cases of a worker. It continues where it stopped.
    static CHASE: RefCell<Option<Rc<Chase>>> = const { RefCell::new(None) };
}

/// Checks that other CPUs can load memory meanwhile.
fn enough(cpus: usize) -> Result<(), Unsupported> {
    match cpus {
        0 | 1 => Err(Unsupported::new(
            "with one CPU nobody can load memory meanwhile",
        )),
        _ => Ok(()),
    }
}

#[derive(Params, Clone)]
struct MemoryLoadedLatency {
    delay: Delay,
}

impl Measured for MemoryLoadedLatency {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let pauses = PAUSES_NS.map(|ns| Delay::Of(Nanoseconds(ns)));
        rows!(MemoryLoadedLatency {
            delay: [Delay::Idle].into_iter().chain(pauses)
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.delay {
            Delay::Idle | Delay::Of(Nanoseconds(0)) => Profile::Standard,
            Delay::Of(_) => Profile::Full,
        }
    }

    fn setup(&self) -> Option<Setup> {
        Some(Setup::Expensive { seconds: SECONDS })
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        enough(Topology::here().cpus.len())
    }

    fn proofs(&self) -> MemoryLoadedLatencyProofs<Proof> {
        MemoryLoadedLatencyProofs {
            delay: match self.delay {
                Delay::Idle => MOST.expects(0.0),
                Delay::Of(Nanoseconds(0)) => LEAST.within(READ).and(PAUSE.within(NO_PAUSE)),
                Delay::Of(Nanoseconds(ns)) => {
                    LEAST.within(READ).and(PAUSE.within(pause_of(ns as f64)))
                }
            },
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        enough(plan.allowed().len())?;
        let kept = CHASE.take();
        let chase = match kept {
            Some(chase) => chase,
            None => {
                let route = Route {
                    bytes: BYTES,
                    spacing: LINE,
                    order: Order::Random(plan.random().u64(..)),
                };
                let memory = Memory::fill(BYTES, chases::largest())?;
                let chase = Chase::new(memory, route, 1)?;
                plan.claim_resident(chase.memory())?;
                chases::claim_lines(&mut plan, &chase, BYTES / LINE, LINE);
                Rc::new(chase)
            }
        };
        CHASE.set(Some(Rc::clone(&chase)));
        plan.claim_resident(chase.memory())?;
        chases::claim_one_chain(&mut plan, &chase);
        chases::claim_beyond_caches(&mut plan, BYTES);
        chases::claim_random(&mut plan, &chase);
        // `None` for those that only wait.
        let delay_ns = match self.delay {
            Delay::Idle => None,
            Delay::Of(Nanoseconds(ns)) => Some(ns),
        };
        let (clock, random) = (*plan.clock(), plan.random().u64(..));
        plan.expect(costs(Counter::CoreCycles, chase.floor_cycles()));
        fill(&plan)?;
        let make = |cpus: &[u32]| {
            let (workers, load) = Load::start(cpus, delay_ns, clock, random)?;
            let chase = Rc::clone(&chase);
            Ok(workers.driven_by(Steps { chase, load }))
        };
        let team = Together::of(Placement::Distinct, make);
        let measured = plan.measure(team.per_iteration(chase.operations_per_iteration()))?;
        let (mut outcome, (steps, _)) = measured.split();
        claim(&mut outcome, &steps.load, delay_ns);
        Ok(outcome)
    }
}

/// Fills each partner's memory on its CPU, so that no audited child has to wait for it.
fn fill(b: &Bencher) -> Result<(), Failure> {
    let cpus = Placement::Distinct.cpus(b.cpu(), b.allowed())?;
    let (workers, _) = Load::start(&cpus, None, *b.clock(), 0)?;
    workers.dismiss().map(drop)
}

/// The measuring task's steps, while others load memory.
struct Steps {
    chase: Rc<Chase>,
    load: Load,
}

impl Driver for Steps {
    const IS_PREPARED: bool = true;

    fn prepare(&mut self) -> Result<(), Failure> {
        self.load.await_all()
    }

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let Steps { chase, load } = self;
        load.during(|| step(chase, iterations))
    }
}

/// Makes this many iterations of the chase and checks where it arrives.
fn step(chase: &Chase, iterations: u64) -> Result<(), Failure> {
    let expected = chase.expected(iterations);
    let sum = chase.run(iterations);
    match sum == expected {
        true => Ok(()),
        false => Err(Failure::Refuted(format!(
            "the chase's checksum is {sum}, expected {expected} (iterations: {iterations})"
        ))),
    }
}

static LEAST: Witness = Witness::of("bytes that each other CPU read meanwhile", "partner");
static MOST: Witness = Witness::of("bytes that other CPUs read meanwhile", "partner");
static PAUSE: Witness = Witness::of(
    "shortest pause of another CPU and a step of the clock, in ns",
    "clock",
);

const READ: Bound = Bound::AtLeast(1.0);

/// Where there is no pause, what two readings of the clock take: less than the shortest pause.
const NO_PAUSE: Bound = Bound::AtMost(90.0);

/// Bounds of the shortest pause that is to last this many ns. The next longer one is three times as
/// long.
fn pause_of(ns: f64) -> Bound {
    Bound::Within(0.98 * ns, 2.0 * ns + 50.0)
}

/// A clock of longer steps, in ns, cannot tell whether there is a pause at all from the shortest.
const COARSE_NS: f64 = 45.0;

/// A pause that lasted no more steps than this may be the next shorter one, a third as long, or
/// none.
const FEW_STEPS: f64 = 3.0;

/// How long a pause can have lasted that took this many ns by a clock of such steps; `None` where it
/// is not known whether that is another row's.
fn at_longest(ns: f64, step_ns: f64) -> Option<f64> {
    let is_known = step_ns <= COARSE_NS || ns > FEW_STEPS * step_ns;
    is_known.then_some(ns + step_ns)
}

/// Claims that every other CPU read memory while steps were timed, as much as its pauses permitted,
/// or that none did.
fn claim(b: &mut Bencher, load: &Load, delay_ns: Option<u64>) {
    let shares = load.shares();
    let least = |of: &dyn Fn(&Share) -> f64| shares.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: &dyn Fn(&Share) -> f64| shares.iter().map(of).fold(0.0, f64::max);
    b.observe(&LEAST, least(&|share| share.bytes));
    b.observe(&MOST, most(&|share| share.bytes));
    let step_ns = b.clock().to_ns(b.core_probe().shape().grain.into());
    match load.shortest_pause_ns().map(|ns| at_longest(ns, step_ns)) {
        Some(Some(ns)) => b.observe(&PAUSE, ns),
        Some(None) => b.unobserved(&PAUSE, format!("the clock steps by {step_ns:.0} ns")),
        None => b.unobserved(&PAUSE, "they did nothing else"),
    }
    if let Some(ns) = delay_ns {
        // From a cache they would not load memory.
        let share = load.memory_bytes() as f64 / load::BYTES as f64;
        let claim = format!("of {} MiB, what the other CPUs read", load::BYTES >> 20);
        b.claim_within(&claim, Bound::Within(0.9, 1.0), share, "partner");
        if !b.is_timed() {
            // Computing the expected sum takes as long as reading.
            let [found, must_be] = load.sums().map(|sum| format!("{sum:#x}"));
            b.claim_equal("sum of all that they read", must_be, found, "partner");
        }
        if ns > 0 {
            let part = most(&|share| share.bytes / share.max_bytes);
            let claim = "of what its pauses leave a CPU, the most that one read";
            b.claim_within(claim, Bound::AtMost(1.0), part, "partner");
        }
        let part = least(&|share| share.bytes / share.usual_bytes);
        let busy = "something else kept the other CPUs or their memory busy";
        let (verdict, reason) = match part >= MIN_PART {
            true => (Verdict::Confirmed, None),
            false => (Verdict::Unverified, Some(busy)),
        };
        let claim = "of what a CPU reads at its own speed, the least that one read";
        let expected = format!("at least {MIN_PART}");
        b.claim_verdict(claim, expected, part, "partner", verdict, reason);
    }
    b.detail("bandwidth_bytes_per_s", load.bytes_per_s());
    b.detail("loading_cpus_count", shares.len() as f64);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the shortest pause, in ns, proves of a row that names another one, by a counter of
    /// this frequency that is read as a multiple of this many ticks.
    fn verdict(named: u64, paused: u64, mhz: f64, grain: f64) -> Option<Verdict> {
        let step_ns = grain * 1e3 / mhz;
        let ticks = (paused as f64 * mhz / 1e3).trunc();
        let read_ns = (ticks / grain).ceil() * step_ns;
        let bound = match named {
            0 => NO_PAUSE,
            ns => pause_of(ns as f64),
        };
        at_longest(read_ns, step_ns).map(|ns| bound.judge(ns))
    }

    #[test]
    fn a_pause_is_told_from_those_of_other_rows_or_not_at_all() {
        for named in PAUSES_NS {
            for paused in PAUSES_NS {
                for (mhz, grain) in [(2100.0, 21.0), (40.0, 1.0), (25.0, 1.0), (24.0, 1.0)] {
                    let seen = verdict(named, paused, mhz, grain);
                    let expected = Verdict::of(named == paused);
                    assert_eq!(seen, Some(expected), "{named} {paused} {mhz}");
                }
                for mhz in [19.2, 10.0, 1.0] {
                    let seen = verdict(named, paused, mhz, 1.0);
                    let honest = [None, Some(Verdict::of(named == paused))];
                    assert!(honest.contains(&seen), "{named} {paused} {mhz}: {seen:?}");
                }
            }
            assert_eq!(verdict(named, 100, 10.0, 1.0), None);
        }
    }
}
