//! What probes of a core show while it is ours alone: the lowest ratio that many of them agree on.

use super::{ProbeReading, forced};

/// Probes that agree lie within this share of each other, in addition to the effect of the clock's
/// grain.
const AGREE: f64 = 0.015;

/// Minimum share of the probes that must agree. On a core that was shared 98 % of the time, 1.5 %
/// of the probes did.
const MIN_SHARE: f64 = 0.004;

/// Minimum number of probes that must agree.
const MIN_LOOKS: usize = 12;

/// Ratios within this factor of each other are of states of a core that is ours, of which the usual one
/// counts: a neighbour on the same core costs independent instructions 12 % and more
/// (docs/lab/core-probes.md). Zen 4 showed another one for some moments, 6 % lower than the one that it shows
/// for hours (2026-11-22); Granite Rapids shows two, 5 % apart, in turn (2026-11-29): with a limit between
/// the two, half of the own probes were called shared. Where both cores showed 9 % more than that, they were
/// shared (2026-11-23).
pub const SAME_STATE: f64 = 1.08;

/// A chain longer than the next ones by this was interrupted: such a probe's ratio is too small.
const INTERRUPTED: f64 = 1.04;

/// A probe does not count either if its chain takes this much longer than most: a core of our own
/// is quick at independent instructions, not slow at dependent ones. Dense modes of slow chains
/// were seen under our own load, at ratios a third below that of a core of our own (Zen 4).
const SLOW_CHAIN: f64 = 1.15;

/// A ratio below this share of the mode comes from an interrupted chain, and shows nothing.
const MIN_RATIO: f64 = 0.9;

/// Width of a window in which probes are counted to find the gap, as a share, in addition to the effect of the clock's grain.
const WINDOW: f64 = 0.01;

/// Up to which multiple of the mode the probes of a shared core are looked for: two busy threads take turns,
/// and each is half as fast.
const REACH: f64 = 2.5;

/// Two counts differ if they do by this many standard deviations: hardly ever by chance in the hundred windows that are compared.
const DEVIATIONS: f64 = 4.0;

/// The ratio of probes of a core that does no other work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alone {
    /// The ratio of most probes.
    pub ratio: f64,
    /// Largest ratio of a probe that shows a core that is ours.
    pub limit: f64,
    /// Whether no probe showed a shared core: else a gap lies between both kinds.
    pub is_assumed: bool,
}

impl Alone {
    /// How slow a core seems by this probe: its ratio over that of a core that is ours. Infinite where the chain was
    /// interrupted or the clock stood still, which shows nothing.
    pub fn slowdown(&self, reading: &ProbeReading) -> f64 {
        let times = reading.ratio().map(|ratio| ratio / self.ratio);
        times
            .filter(|times| *times >= MIN_RATIO)
            .unwrap_or(f64::INFINITY)
    }

    /// Whether a probe shows a core that is ours.
    pub fn holds(&self, reading: &ProbeReading) -> bool {
        self.slowdown(reading) * self.ratio <= self.limit
    }
}

/// Finds the mode of a core of our own in consecutive probes, the lowest that is dense, or the
/// densest that is hardly higher. `None` where there is no mode. If the core was never ours meanwhile,
/// this is the lowest of the shared modes, which only a comparison with another core of the same
/// model can reveal. `grain` is the grid of the clock's readings, in ticks.
pub fn alone(readings: &[ProbeReading], grain: u32) -> Option<Alone> {
    if let Some(alone) = forced::alone(readings) {
        return Some(alone);
    }
    let grain = share_of_grain(readings, f64::from(grain));
    let ratios = sound_ratios(readings);
    let mode = mode(&ratios, AGREE + grain)?;
    let ratio = mode[mode.len() / 2];
    let limit = SAME_STATE * ratio;
    Some(Alone {
        ratio,
        limit,
        is_assumed: !has_gap(&ratios, limit, 1.0 + WINDOW + grain),
    })
}

/// How many of these readings agree on what a core of our own shows. Not how many lie below the limit: a burst that cannot
/// tell a shared core would have most there.
pub(super) fn agreeing(readings: &[ProbeReading], grain: u32) -> usize {
    let grain = share_of_grain(readings, f64::from(grain));
    mode(&sound_ratios(readings), AGREE + grain).map_or(0, <[f64]>::len)
}

/// Whether a count is more than another by more than chance.
pub(super) fn is_more(count: f64, than: f64) -> bool {
    count - than > DEVIATIONS * (count + than).sqrt()
}

/// The ratios of the probes that nothing interrupted, ascending.
fn sound_ratios(readings: &[ProbeReading]) -> Vec<f64> {
    let mut chains: Vec<u32> = readings.iter().map(|reading| reading.chain).collect();
    chains.sort_unstable();
    let quick = chains.get(chains.len() / 4).copied().map_or(0.0, f64::from);
    let is_sound = |(index, reading): &(usize, &ProbeReading)| {
        let around = [index.wrapping_sub(1), index + 1];
        let around = around.iter().filter_map(|other| readings.get(*other));
        let shortest = around.map(|other| other.chain).min();
        let shortest = f64::from(shortest.unwrap_or(reading.chain));
        f64::from(reading.chain) <= (INTERRUPTED * shortest).min(SLOW_CHAIN * quick)
    };
    let sound = readings.iter().enumerate().filter(is_sound);
    let mut ratios: Vec<f64> = sound.filter_map(|(_, reading)| reading.ratio()).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios
}

/// The ratios of the mode of a core of our own: those within `agree` of the lowest of them.
fn mode(ratios: &[f64], agree: f64) -> Option<&[f64]> {
    let least = MIN_LOOKS.max((MIN_SHARE * ratios.len() as f64) as usize);
    let within = |low: f64| ratios.partition_point(|ratio| *ratio <= low * (1.0 + agree));
    // Start at the lowest dense window, then move on to where it is densest: its lower edge may be
    // a tail, or a rare state.
    let count = |index: usize| within(ratios[index]) - index;
    let first = (0..ratios.len()).find(|index| count(*index) >= least)?;
    let end = ratios.partition_point(|ratio| *ratio <= ratios[first] * SAME_STATE);
    let densest = (first..end).max_by_key(|index| (count(*index), std::cmp::Reverse(*index)))?;
    Some(&ratios[densest..within(ratios[densest])])
}

/// Whether there is a gap between ratios of a core of our own, which are lower than `limit`, and those of a
/// shared one: windows of this relative width hold fewer, before they hold more again.
fn has_gap(ratios: &[f64], limit: f64, width: f64) -> bool {
    let below = |end: f64| ratios.partition_point(|ratio| *ratio <= end);
    // A quarter of a window at a time.
    let windows = std::iter::successors(Some(limit), |low| Some(low * width.powf(0.25)));
    let mut fewest = f64::INFINITY;
    windows
        .take_while(|low| *low < REACH * limit)
        .map(|low| (below(low * width) - below(low)) as f64)
        .any(|count| {
            fewest = fewest.min(count);
            is_more(count, fewest)
        })
}

/// By what share the clock's grain alone may raise a ratio: either burst may seem one step longer
/// or shorter than it was.
fn share_of_grain(readings: &[ProbeReading], grain: f64) -> f64 {
    let typical = |burst: fn(&ProbeReading) -> u32| {
        let mut ticks: Vec<u32> = readings.iter().map(burst).collect();
        ticks.sort_unstable();
        ticks
            .get(ticks.len() / 10)
            .map_or(f64::INFINITY, |ticks| f64::from(*ticks).max(1.0))
    };
    grain / typical(|reading| reading.throughput) + grain / typical(|reading| reading.chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings of a core of which this share shows a core that is ours, with ratios of 0.84 to 0.85,
    /// the rest a shared one, with 1.0 to 1.7.
    fn readings(count: usize, own_share: f64) -> Vec<ProbeReading> {
        let mut random = fastrand::Rng::with_seed(5);
        (0..count)
            .map(|_| {
                // The frequency changes now and then.
                let chain = [800, 820, 864][random.usize(..100) / 60 % 3];
                let ratio = match random.f64() < own_share {
                    true => 0.840 + 0.010 * random.f64(),
                    false => 1.0 + 0.7 * random.f64(),
                };
                ProbeReading {
                    throughput: (ratio * f64::from(chain)) as u32,
                    chain,
                }
            })
            .collect()
    }

    #[test]
    fn the_mode_of_a_core_of_our_own_is_found_however_seldom_it_is() {
        for own_share in [1.0, 0.5, 0.1, 0.02] {
            let found = alone(&readings(50_000, own_share), 1).expect("a mode");
            assert!(
                (found.ratio - 0.845).abs() < 0.006,
                "{own_share}: {found:?}"
            );
            assert!((0.86..1.0).contains(&found.limit), "{found:?}");
            assert_eq!(found.is_assumed, own_share == 1.0, "nothing else was seen");
        }
    }

    #[test]
    fn bursts_that_the_clock_does_not_see_make_no_mode() {
        // As of an emulator, whose clock is coarse.
        let seen = |throughput| ProbeReading {
            throughput,
            chain: 1,
        };
        assert_eq!(alone(&vec![seen(0); 1000], 1), None);
        let some: Vec<ProbeReading> = (0..1000).map(|index| seen(index % 3)).collect();
        assert!(alone(&some, 1).is_some_and(|found| found.ratio >= 1.0));
    }

    #[test]
    fn an_interrupted_chain_makes_no_mode() {
        let mut taken = readings(50_000, 0.5);
        for reading in taken.iter_mut().step_by(100) {
            reading.chain *= 4;
        }
        let found = alone(&taken, 1).expect("a mode");
        assert!((found.ratio - 0.845).abs() < 0.006, "{found:?}");
    }

    #[test]
    fn one_probe_in_twenty_makes_no_mode() {
        // Consecutive ones, with a chain slow for a while, or a rare state that is a little lower.
        for (throughput, chain) in [(690, 1200), (632, 800)] {
            let mut taken = readings(50_000, 0.5);
            taken[10_000..12_500].fill(ProbeReading { throughput, chain });
            let found = alone(&taken, 1).expect("a mode");
            assert!((found.ratio - 0.845).abs() < 0.006, "{chain}: {found:?}");
        }
    }

    #[test]
    fn a_coarse_clock_makes_no_modes_of_its_own() {
        // Zen 4: a clock with a grain of 26 ticks, bursts of 2010 and 4480 ticks.
        let mut random = fastrand::Rng::with_seed(9);
        let mut shown = |ticks: f64| {
            let start = 26.0 * random.f64();
            (26.0 * ((start + ticks) / 26.0).floor()) as u32
        };
        let taken: Vec<ProbeReading> = (0..50_000)
            .map(|number| ProbeReading {
                throughput: shown(if number % 10 < 3 { 2010.0 } else { 2500.0 }),
                chain: shown(4480.0),
            })
            .collect();
        let found = alone(&taken, 26).expect("a mode");
        let ours = taken.iter().filter(|reading| found.holds(reading)).count();
        assert!((14_900..=15_000).contains(&ours), "{ours} with {found:?}");
    }

    #[test]
    fn too_few_looks_have_no_mode() {
        assert_eq!(alone(&[], 1), None);
        assert_eq!(alone(&readings(8, 1.0), 1), None);
    }
}
