//! Whether a core does other work at the same time.
//!
//! A core with two hardware threads shares its front end between them. On a rented machine the
//! second thread is another guest's: no counter of this machine shows it, the frequency does not
//! change, and everything takes 10 to 50 % longer. Two bursts reveal it. Independent instructions
//! run half as fast while the core is shared
//! ([`ProbeReading::throughput`]); a chain of dependent ones runs as fast as ever
//! ([`ProbeReading::chain`]). Their ratio does not depend on the frequency, and the chain alone
//! gives the frequency.
//!
//! The ratio on a core that is ours is not a constant: [`alone`] finds it in probes taken over some
//! time.

mod alone;
mod forced;
mod shape;
mod work;

pub use alone::{Alone, SAME_STATE, alone};
pub use forced::is_forced;
pub use shape::{Burst, Shape};
pub use work::{Work, Worker};

use crate::arch::{PROBE_CHAIN_CYCLES, ProbeLoop, probe_loops};
use crate::clock::Clock;

/// Instructions of a burst: a quarter of a microsecond at 4 GHz.
const BURST_INSTRUCTIONS: u32 = 6000;

/// Instructions that warm up a burst before it is timed: some rounds of its loop, so that the
/// branch at its end is predicted and its instructions are decoded, whatever ran before.
const WARM_UP_INSTRUCTIONS: u32 = 240;

/// Core cycles of the dependent chain, approximately.
const CHAIN_CYCLES: u32 = 1200;

/// Minimum length of a burst, in grains of the clock: with a coarser clock a shared core could not
/// be distinguished from one that is not.
const MIN_GRAINS: f64 = 100.0;

/// Minimum length of the burst of independent instructions, roughly, in ns: 190 on a Zen 4 of 2.9
/// GHz, 270 on a Xeon of 4 GHz.
const BURST_NS: f64 = 190.0;

/// Number of probes that are taken at most until one finds the core ours: after a sleep, or a walk through
/// memory, the first two may not (Granite Rapids, 2026-11-29).
const MAX_PROBES: usize = 3;

/// Takes probes of the core that it runs on.
#[derive(Clone, Copy)]
pub struct Probe {
    clock: Clock,
    shape: Shape,
    burst: ProbeLoop,
    /// Rounds of the burst's loop, and those that warm it up.
    iterations: u32,
    warm_up: u32,
    chain_iterations: u32,
    slowdown: u32,
    /// By what factor its bursts are longer than the shortest possible, because of the clock.
    scale: u32,
}

/// One probe of a core: how long each of two bursts took, in ticks of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeReading {
    /// Time of the independent instructions: longer while the core is shared.
    pub throughput: u32,
    /// Time of the dependent instructions: longer only at a lower frequency.
    pub chain: u32,
}

/// A chain several times as long as a probe's, between two probes: what reading the clock takes is
/// what cancels in the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongChain {
    /// The probes before and after it.
    pub around: [ProbeReading; 2],
    /// Its time, in ticks.
    pub ticks: u32,
}

impl LongChain {
    /// Length of the chain, in chains of a probe.
    const TIMES: u32 = 4;

    /// The share of a probe's chain that is the reading of the clock, in 0..1; `None` where the
    /// clock did not move.
    fn clock_share(&self) -> Option<f64> {
        let [before, after] = self.around.map(|reading| f64::from(reading.chain));
        let (short, times) = ((before + after) / 2.0, f64::from(Self::TIMES));
        let overhead = (times * short - f64::from(self.ticks)) / (times - 1.0);
        (short > 0.0).then(|| overhead / short)
    }
}

/// The share of a probe's chain that is the reading of the clock, in 0..1, as the most of these
/// chains show it. It is larger while the core is shared (7.5 % for 6 on a Xeon): only chains
/// between probes of a core that is ours tell that of one that is. A mean of the middle half, since
/// a coarse clock shows nothing between its steps.
pub fn clock_share<'c>(chains: impl Iterator<Item = &'c LongChain>) -> Option<f64> {
    let mut shares: Vec<f64> = chains.filter_map(LongChain::clock_share).collect();
    shares.sort_unstable_by(f64::total_cmp);
    let middle = &shares[shares.len() / 4..shares.len() - shares.len() / 4];
    let mean = middle.iter().sum::<f64>() / middle.len() as f64;
    mean.is_finite().then_some(mean.max(0.0))
}

impl ProbeReading {
    /// The first time over the second; `None` where the clock did not move during one of them.
    pub fn ratio(&self) -> Option<f64> {
        (self.throughput > 0 && self.chain > 0)
            .then(|| f64::from(self.throughput) / f64::from(self.chain))
    }
}

impl Probe {
    /// A probe of this shape with this clock.
    pub fn new(clock: Clock, shape: Shape) -> Self {
        // A coarse clock needs longer bursts.
        let grain_ns = f64::from(shape.grain.max(1)) / clock.ticks_per_ns();
        let scale = (MIN_GRAINS * grain_ns / BURST_NS).ceil().clamp(1.0, 256.0) as u32;
        let (instructions, burst) = shape.burst.of_loop();
        let probe = Self {
            clock,
            shape,
            burst,
            iterations: scale * BURST_INSTRUCTIONS.div_ceil(instructions),
            warm_up: WARM_UP_INSTRUCTIONS.div_ceil(instructions),
            chain_iterations: scale * CHAIN_CYCLES.div_ceil(PROBE_CHAIN_CYCLES),
            slowdown: 1,
            scale,
        };
        // The first probe fetches the code.
        probe.read();
        probe
    }

    /// The same probe on a core that seems slower by this factor: for tests of what a busy neighbour does.
    #[must_use]
    pub fn slowed(self, times: u32) -> Self {
        Self {
            slowdown: times,
            ..self
        }
    }

    /// Its shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// By what factor its bursts are longer than the shortest possible, because of the clock.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// Takes a probe with both bursts, 0.7 us with a fine clock. Some rounds of both loops and a pair
    /// of clock readings come first: what is timed is then the same after any work. The chain comes
    /// before the burst: while it waits for its results the core fetches ahead, and the code that
    /// follows a probe may be in no cache.
    ///
    /// Never inlined: what a core shows while it is exclusive is learnt in one place and looked for
    /// in others, and only the same machine code shows the same ratio.
    #[inline(never)]
    pub fn read(&self) -> ProbeReading {
        self.run(probe_loops::CHAIN, 1);
        self.run(self.burst, self.warm_up);
        self.time(probe_loops::CHAIN, 0);
        let chain = self.time(probe_loops::CHAIN, self.chain_iterations);
        let throughput = self.time(self.burst, self.iterations * self.slowdown);
        forced::shown(
            ProbeReading { throughput, chain },
            &self.clock,
            self.slowdown,
        )
    }

    /// Takes a probe, and another one where the core seems shared, three at most: what ran before slows the
    /// first ones.
    #[inline]
    pub fn read_again(&self, alone: &Alone) -> ProbeReading {
        let mut reading = self.read();
        for _ in 1..MAX_PROBES {
            if alone.holds(&reading) {
                break;
            }
            reading = self.read();
        }
        reading
    }

    /// Times a longer chain right after a probe, and takes another probe.
    pub fn long_chain(&self, before: ProbeReading) -> LongChain {
        let ticks = self.time(probe_loops::CHAIN, LongChain::TIMES * self.chain_iterations);
        LongChain {
            around: [before, self.read()],
            ticks,
        }
    }

    /// The core's frequency that a chain shows, in GHz; `None` where the clock did not move.
    ///
    /// The instructions that read the clock are work of the core as the chain is, so their share
    /// of the time is the same at any frequency. (As a constant time it exaggerated how far
    /// frequencies lie apart by 6 %, seen in the cycles of a multiplication at 2.5 and 2.9 GHz.)
    pub fn ghz(&self, chain: u32, clock_share: f64) -> Option<f64> {
        let ns = f64::from(chain) * (1.0 - clock_share) / self.clock.ticks_per_ns();
        (ns > 0.0).then(|| f64::from(self.chain_iterations * PROBE_CHAIN_CYCLES) / ns)
    }

    #[inline(always)]
    fn time(&self, burst: ProbeLoop, iterations: u32) -> u32 {
        let start = self.clock.start();
        self.run(burst, iterations);
        let ticks = self.clock.stop().ticks.saturating_sub(start);
        u32::try_from(ticks).unwrap_or(u32::MAX)
    }

    #[inline(always)]
    #[allow(unsafe_code)] // a loop in assembly
    fn run(&self, burst: ProbeLoop, iterations: u32) {
        if iterations > 0 {
            // SAFETY: with an iteration at least, which is all that it asks for.
            unsafe { burst(iterations) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Bracket, Source, ticks_per_ns};

    fn real_clock() -> Clock {
        let source = Source::preferred();
        let first = Bracket::take(source);
        std::thread::sleep(std::time::Duration::from_millis(50));
        let rate = ticks_per_ns(&first, &Bracket::take(source));
        Clock::new(source, rate).unwrap_or(Clock::system())
    }

    fn probe(clock: Clock) -> Probe {
        let (grain, burst) = (clock.grain_ticks(), Burst::default());
        Probe::new(clock, Shape { grain, burst })
    }

    #[test]
    fn a_slowed_probe_shows_a_core_that_seems_half_as_fast() {
        let probe = probe(real_clock());
        let slowed = probe.slowed(2);
        // Whatever else the core does, it mostly does it during both.
        const PAIRS: usize = 2_000;
        let seen = (0..PAIRS).filter(|_| {
            let [one, two] = [probe, slowed].map(|probe| probe.read().ratio());
            one.zip(two).is_some_and(|(one, two)| two > 1.5 * one)
        });
        assert!(seen.count() > PAIRS / 2);
    }

    #[test]
    fn the_chain_shows_the_frequency_that_the_chains_of_adds_show() {
        let clock = real_clock();
        let probe = probe(clock);
        if crate::frequency::is_interpreted() {
            println!("skipped: what interprets instructions has no cycles");
            return;
        }
        // The frequency changes; at one of these moments both must agree.
        let agrees = (0..500).any(|_| {
            let chains: Vec<LongChain> = (0..40).map(|_| probe.long_chain(probe.read())).collect();
            let share = clock_share(chains.iter()).expect("the clock moves");
            let shortest = (0..20).map(|_| probe.read().chain).min();
            let ghz = shortest.and_then(|chain| probe.ghz(chain, share));
            let known = crate::frequency::core_frequency(&clock).agreed();
            ghz.zip(known)
                .is_some_and(|(a, b)| (a / b - 1.0).abs() < 0.02)
        });
        assert!(agrees);
    }

    #[test]
    fn reading_the_clock_is_a_share_of_a_chain() {
        let probe = probe(Clock::system());
        let [fast, slow] = [900, 1800].map(|chain| probe.ghz(chain, 0.06).expect("it moved"));
        assert!((fast / slow - 2.0).abs() < 1e-9, "{fast} and {slow}");
        let reading = |chain| ProbeReading {
            throughput: 800,
            chain,
        };
        // 60 ticks of 1000; some of the longer chains were interrupted.
        let chains = [0, 0, 0, 900].map(|late| LongChain {
            around: [reading(1000), reading(1000)],
            ticks: 4 * 940 + 60 + late,
        });
        let share = clock_share(chains.iter()).expect("the clock moved");
        assert!((share - 0.06).abs() < 1e-9, "{share}");
        assert_eq!(clock_share([].iter()), None);
    }

    #[test]
    fn a_clock_that_stands_still_shows_nothing() {
        let reading = ProbeReading {
            throughput: 0,
            chain: 0,
        };
        assert_eq!(reading.ratio(), None);
    }
}
