//! How probes of a machine are made, and which burst is sharpest on it.

use super::alone::{agreeing, is_more};
use super::{Probe, ProbeReading, Work, Worker};
use crate::arch::{ProbeLoop, probe_loops};
use crate::clock::Clock;

/// A loop of independent instructions, as long as the part of a core that its front end keeps ready may or may not hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Burst(usize);

impl Burst {
    /// All of them, the one that serves most processors first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..probe_loops::BURSTS.len()).map(Self)
    }

    /// The one with this number of instructions in a round of its loop.
    pub fn with(instructions: u32) -> Option<Self> {
        Self::all().find(|burst| burst.instructions() == instructions)
    }

    /// Instructions in a round of its loop.
    pub fn instructions(self) -> u32 {
        self.of_loop().0
    }

    pub(super) fn of_loop(self) -> (u32, ProbeLoop) {
        probe_loops::BURSTS[self.0]
    }
}

/// What makes two probes comparable: with another shape a core shows another ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// How far the readings of the clock lie apart, in ticks
    /// ([`Clock::grain_ticks`]; determined once per run).
    pub grain: u32,
    /// The independent instructions.
    pub burst: Burst,
}

/// Probes of each burst after each kind of work.
const TRIED: usize = 100;

impl Shape {
    /// The shape with the sharpest burst here: the one of whose probes, after any work, most agree on one ratio. All are
    /// tried in turn, so that whatever else the core does meets each alike. Takes 0.1 s.
    pub fn sharpest(clock: Clock, grain: u32) -> Self {
        let probes: Vec<Probe> = Burst::all()
            .map(|burst| Probe::new(clock, Shape { grain, burst }))
            .collect();
        let mut taken: Vec<Vec<ProbeReading>> = vec![Vec::new(); probes.len()];
        let mut worker = Worker::default();
        for _ in 0..TRIED {
            for work in Work::ALL {
                for (probe, readings) in probes.iter().zip(&mut taken) {
                    worker.work(work);
                    readings.push(probe.read());
                }
            }
        }
        let agreeing = taken
            .iter()
            .map(|readings| agreeing(readings, grain))
            .collect::<Vec<_>>();
        Self {
            grain,
            burst: Burst(sharpest(&agreeing)),
        }
    }
}

/// The burst of which most probes agree; the first unless that is more than chance.
fn sharpest(agreeing: &[usize]) -> usize {
    let most =
        (0..agreeing.len()).max_by_key(|index| (agreeing[*index], std::cmp::Reverse(*index)));
    let [first, counts @ ..] = agreeing else {
        return 0;
    };
    let is_sharper = |index: &usize| {
        let count = counts.get(index.wrapping_sub(1));
        count.is_some_and(|count| is_more(*count as f64, *first as f64))
    };
    most.filter(is_sharper).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_known_by_its_length() {
        for burst in Burst::all() {
            assert_eq!(Burst::with(burst.instructions()), Some(burst));
        }
        assert_eq!(Burst::with(7), None);
    }

    #[test]
    fn another_burst_must_be_clearly_sharper_than_the_first() {
        assert_eq!(sharpest(&[100, 130, 20]), 0);
        assert_eq!(sharpest(&[100, 130, 220, 220]), 2);
        assert_eq!(sharpest(&[0, 0]), 0);
    }

    #[test]
    fn a_blunt_burst_agrees_less() {
        let of = |spread: u32| -> Vec<ProbeReading> {
            let reading = |n: u32| ProbeReading {
                throughput: 1000 + n % 10 * spread,
                chain: 1000,
            };
            (0..400).map(reading).collect()
        };
        assert!(agreeing(&of(1), 1) > 2 * agreeing(&of(60), 1));
    }
}
