//! The core's frequency, without privilege: a chain of dependent instructions of known latency
//! takes a known number of core cycles, however fast the time counter ticks.
//!
//! avx-turbo reads the frequency this way. Two chains check each other: adds of registers (one
//! cycle each) and multiplications (three on x86-64, where a core that runs one of them faster or slower
//! than believed makes them disagree; a whole number elsewhere).

use std::sync::OnceLock;

use crate::arch::{self, Chain};
use crate::clock::Clock;
use crate::os;

/// The largest relative difference of the two chains for the frequency to be believed.
pub const AGREEMENT: f64 = 0.02;

/// Core cycles of the shorter burst: 2 to 4 µs at common frequencies, so an interrupt hits few of
/// them.
const BURST_CYCLES: u32 = 8192;

/// Pairs of bursts per chain.
const PAIRS: usize = 8;

/// The core's frequency as each chain shows it, in GHz; `None` where the clock did not move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoreFrequency {
    /// From dependent adds, one cycle each.
    pub add_ghz: Option<f64>,
    /// From dependent multiplications: of three cycles on x86-64, on aarch64 of two to five, by the core.
    pub mul_ghz: Option<f64>,
}

impl CoreFrequency {
    /// The frequency in GHz: that of the adds, unless the multiplications differ by more than
    /// [`AGREEMENT`].
    pub fn agreed(&self) -> Option<f64> {
        let add = self.add_ghz?;
        match self.mul_ghz {
            Some(mul) if (mul / add - 1.0).abs() > AGREEMENT => None,
            _ => Some(add),
        }
    }
}

/// How many additions of registers an addition of four floats takes at most: 2 to 8 on any core (Agner
/// Fog, "Instruction tables"; Arm's optimisation guides), tens to hundreds where each instruction is interpreted,
/// since rounding and exceptions of each of the four are computed.
const MAX_FLOAT_ADD_CYCLES: f64 = 16.0;

/// Whether this process's instructions are interpreted, as an emulator does that may say nothing of
/// itself. Tried once a process, in a ms.
pub fn is_interpreted() -> bool {
    static IS_INTERPRETED: OnceLock<bool> = OnceLock::new();
    *IS_INTERPRETED.get_or_init(|| in_adds(arch::float_chain()) > MAX_FLOAT_ADD_CYCLES)
}

/// How many additions of registers one instruction of this chain takes.
fn in_adds(chain: Chain) -> f64 {
    // The shortest, because an interrupt only ever adds; long enough for an emulator to have
    // translated the loop.
    let [adds, chain] = [arch::add_chain(), chain].map(|chain| {
        let iterations = 10 * BURST_CYCLES / chain.cycles_per_iteration;
        let bursts = (0..PAIRS).map(|_| {
            let begun = os::monotonic_raw_ns();
            (chain.run)(iterations);
            os::monotonic_raw_ns() - begun
        });
        bursts.min().unwrap_or_default() as f64
    });
    chain / adds
}

/// Measures the frequency of the core this runs on. About 120 µs at 3 GHz; longer where the clock's
/// ticks are coarse (2 ms at 25 MHz), because a burst must span many of them.
pub fn core_frequency(clock: &Clock) -> CoreFrequency {
    let mut chains =
        [arch::add_chain(), arch::multiply_chain()].map(|chain| Bursts::new(clock, chain));
    // In turns, so that a change of frequency on the way meets both.
    for _ in 0..PAIRS {
        chains.iter_mut().for_each(Bursts::take_pair);
    }
    let [add_ghz, per_multiplication] = chains.map(|bursts| bursts.ghz());
    CoreFrequency {
        add_ghz,
        mul_ghz: per_multiplication.map(|ghz| ghz * multiply_cycles()),
    }
}

/// How many cycles a multiplication takes: the number that some core has which is nearest to this one's. Chosen
/// once a process, or any two frequencies would agree now and then.
fn multiply_cycles() -> f64 {
    static CYCLES: OnceLock<f64> = OnceLock::new();
    *CYCLES.get_or_init(|| nearest(in_adds(arch::multiply_chain())))
}

fn nearest(cycles: f64) -> f64 {
    let (least, most) = arch::MULTIPLY_CYCLES.into_inner();
    cycles.round().clamp(f64::from(least), f64::from(most))
}

/// The core's frequency at a moment of its course.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// When the burst that shows it ended, in ns from the beginning.
    pub ns: f64,
    /// The frequency in GHz, less about a hundredth, which is the clock's own cost.
    pub ghz: f64,
}

/// The course of the frequency from now on, for this many ns, by one burst of adds after another;
/// `None` where the clock does not move. A burst that was interrupted shows a frequency that is too
/// low.
pub fn frequency_course(clock: &Clock, during_ns: f64) -> Option<Vec<Moment>> {
    let bursts = Bursts::new(clock, arch::add_chain());
    let cycles = f64::from(bursts.iterations * bursts.chain.cycles_per_iteration);
    let begun = clock.start();
    let mut course = Vec::new();
    let mut elapsed_ns = 0.0;
    while elapsed_ns < during_ns {
        let ns = clock.to_ns(bursts.time(bursts.iterations));
        let now_ns = clock.to_ns(clock.stop().ticks.saturating_sub(begun));
        if ns <= 0.0 || now_ns <= elapsed_ns {
            return None;
        }
        elapsed_ns = now_ns;
        course.push(Moment {
            ns: now_ns,
            ghz: cycles / ns,
        });
    }
    Some(course)
}

/// The shortest time of a burst and of one twice as long: the shortest, because an interrupt only
/// ever adds; both, because the cost of starting and stopping cancels in their difference.
struct Bursts {
    clock: Clock,
    chain: Chain,
    iterations: u32,
    short_ticks: u64,
    long_ticks: u64,
}

impl Bursts {
    fn new(clock: &Clock, chain: Chain) -> Bursts {
        let coarse = (0.5 / clock.ticks_per_ns()).clamp(1.0, 64.0) as u32;
        let iterations = coarse * BURST_CYCLES / chain.cycles_per_iteration;
        let bursts = Bursts {
            clock: *clock,
            chain,
            iterations,
            short_ticks: u64::MAX,
            long_ticks: u64::MAX,
        };
        bursts.time(iterations); // the first one fetches the code
        bursts
    }

    fn take_pair(&mut self) {
        self.short_ticks = self.short_ticks.min(self.time(self.iterations));
        self.long_ticks = self.long_ticks.min(self.time(2 * self.iterations));
    }

    fn time(&self, iterations: u32) -> u64 {
        let start = self.clock.start();
        (self.chain.run)(iterations);
        self.clock.stop().ticks.saturating_sub(start)
    }

    /// `None` when the clock did not move.
    fn ghz(&self) -> Option<f64> {
        let ns = self
            .clock
            .to_ns(self.long_ticks.saturating_sub(self.short_ticks));
        (ns > 0.0).then(|| f64::from(self.iterations * self.chain.cycles_per_iteration) / ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::mock;

    #[test]
    fn chains_that_disagree_give_no_frequency() {
        let of = |add_ghz, mul_ghz| CoreFrequency { add_ghz, mul_ghz }.agreed();
        assert_eq!(of(Some(3.0), Some(3.05)), Some(3.0));
        assert_eq!(of(Some(3.0), Some(3.07)), None);
        assert_eq!(of(Some(3.0), Some(1.5)), None);
        assert_eq!(of(Some(3.0), None), Some(3.0));
        assert_eq!(of(None, Some(3.0)), None);
    }

    #[test]
    fn a_multiplication_takes_a_whole_number_of_cycles_that_some_core_has() {
        let found = [0.5, 2.9, 3.1, 9.0].map(nearest);
        let expected = match cfg!(target_arch = "x86_64") {
            true => [3.0; 4],
            false => [2.0, 3.0, 3.0, 5.0],
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_clock_that_stands_still_gives_no_frequency() {
        mock::reset();
        let stopped = core_frequency(&Clock::mock());
        assert_eq!((stopped.add_ghz, stopped.mul_ghz), (None, None));
        assert_eq!(frequency_course(&Clock::mock(), 1e6), None);
    }

    #[test]
    fn a_course_goes_on_for_as_long_as_asked() {
        let course = frequency_course(&Clock::system(), 2e6).expect("the clock moves");
        let last = course[course.len() - 1];
        assert!(last.ns >= 2e6 && course.iter().all(|moment| moment.ghz > 0.0));
        assert!(course.is_sorted_by(|a, b| a.ns < b.ns));
    }

    #[test]
    fn a_real_core_has_a_plausible_frequency() {
        let seen: Vec<_> = (0..20).map(|_| core_frequency(&Clock::system())).collect();
        // One of twenty must be undisturbed; a chain that were folded or counted wrongly would lie
        // outside.
        assert!(
            seen.iter()
                .filter_map(CoreFrequency::agreed)
                .any(|ghz| (0.3..8.0).contains(&ghz)),
            "{seen:?}"
        );
    }
}
