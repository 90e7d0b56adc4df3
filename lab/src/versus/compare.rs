//! Compares figures from interleaved blocks: medians, and the interval of their ratio by bootstrap,
//! which also few blocks have.

use syscost_results::stats::order::{median, quantile_of_sorted, sorted};

/// Figures of one block, measured in the order ours, peer's, peer's, ours, so that linear drift
/// cancels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Block {
    /// Ours, first and last, in our row's unit.
    pub(super) ours: [f64; 2],
    /// The half width of each one's interval, as a share of the figure; `None` without an interval.
    pub(super) half_widths: [Option<f64>; 2],
    /// The peer's, in the same unit.
    pub(super) peer: [f64; 2],
}

impl Block {
    /// Ours divided by the peer's, as the ratio of geometric means.
    fn ratio(&self) -> f64 {
        let product = |pair: [f64; 2]| pair[0] * pair[1];
        (product(self.ours) / product(self.peer)).sqrt()
    }
}

/// The result of all blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Comparison {
    /// Median of ours, in our row's unit.
    pub(super) ours: f64,
    /// The median half width of our runs' intervals, as a share; `None` if half of them have no
    /// interval.
    pub(super) half_width: Option<f64>,
    /// The minimum and maximum of ours.
    pub(super) ours_range: [f64; 2],
    /// Median of the peer's, in the same unit.
    pub(super) peer: f64,
    /// The minimum and maximum of the peer's.
    pub(super) peer_range: [f64; 2],
    /// Median over blocks of ours divided by the peer's, with its 95 % interval.
    pub(super) ratio: Bootstrapped,
    /// Number of blocks.
    pub(super) blocks: usize,
}

/// Compares; `None` below two blocks.
pub(super) fn compare(blocks: &[Block], resamples: usize) -> Option<Comparison> {
    let all = |side: fn(&Block) -> [f64; 2]| -> Vec<f64> { blocks.iter().flat_map(side).collect() };
    let range = |values: &[f64]| {
        let min = values.iter().copied().reduce(f64::min)?;
        Some([min, values.iter().copied().reduce(f64::max)?])
    };
    let (ours, peer) = (all(|block| block.ours), all(|block| block.peer));
    // A run without an interval counts as the least precise.
    let half_widths: Vec<f64> = blocks
        .iter()
        .flat_map(|block| block.half_widths)
        .map(|width| width.unwrap_or(f64::INFINITY))
        .collect();
    let ratios: Vec<f64> = blocks.iter().map(Block::ratio).collect();
    let ratio = Bootstrapped::of(&ratios, resamples)?;
    Some(Comparison {
        ours: median(&ours)?,
        half_width: median(&half_widths).filter(|width| width.is_finite()),
        ours_range: range(&ours)?,
        peer: median(&peer)?,
        peer_range: range(&peer)?,
        ratio,
        blocks: blocks.len(),
    })
}

/// A median with its interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bootstrapped {
    /// The median of the values themselves.
    pub(super) median: f64,
    /// Lower end.
    pub(super) low: f64,
    /// Upper end.
    pub(super) high: f64,
}

impl Bootstrapped {
    /// The percentile interval of the median over this many resamples; `None` below two values. (A
    /// corrected interval cannot be had, as its acceleration cannot be estimated for a median.)
    pub(super) fn of(values: &[f64], resamples: usize) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        let mut random = fastrand::Rng::with_seed(0);
        let drawn = (0..resamples).filter_map(|_| {
            let draw = |_| values[random.usize(..values.len())];
            median(&(0..values.len()).map(draw).collect::<Vec<f64>>())
        });
        let drawn = sorted(&drawn.collect::<Vec<f64>>());
        Some(Self {
            median: median(values)?,
            low: quantile_of_sorted(&drawn, 0.025)?,
            high: quantile_of_sorted(&drawn, 0.975)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: usize = 1000;

    #[test]
    fn a_linear_drift_cancels_within_a_block() {
        // Everything gets 1 % slower from one run to the next; ours costs nine tenths.
        let block = |start: f64| Block {
            ours: [0.9 * start, 0.9 * (start + 3.0)],
            half_widths: [Some(0.01), Some(0.03)],
            peer: [start + 1.0, start + 2.0],
        };
        let comparison = compare(&[100.0, 104.0, 108.0].map(block), FEW).unwrap();
        assert!(
            (comparison.ratio.median - 0.9).abs() < 2e-4,
            "{comparison:?}"
        );
        assert!(
            comparison.ratio.high - comparison.ratio.low < 1e-4,
            "{comparison:?}"
        );
        assert!((comparison.peer - 105.5).abs() < 1e-9, "{comparison:?}");
        assert_eq!(comparison.blocks, 3);
        assert_eq!(comparison.peer_range, [101.0, 110.0]);
        assert!((comparison.half_width.unwrap() - 0.02).abs() < 1e-12);
    }

    #[test]
    fn one_disturbed_block_does_not_move_the_ratio() {
        let mut blocks = vec![
            Block {
                ours: [100.0, 100.0],
                half_widths: [None; 2],
                peer: [50.0, 50.0]
            };
            7
        ];
        blocks.push(Block {
            ours: [900.0, 100.0],
            half_widths: [None; 2],
            peer: [50.0, 50.0],
        });
        let comparison = compare(&blocks, FEW).unwrap();
        assert_eq!(
            (comparison.ratio.median, comparison.ours, comparison.peer),
            (2.0, 100.0, 50.0)
        );
        assert_eq!(comparison.ours_range, [100.0, 900.0]);
        assert_eq!(comparison.half_width, None);
    }

    #[test]
    fn one_block_is_no_comparison() {
        assert_eq!(
            compare(
                &[Block {
                    ours: [1.0, 1.0],
                    half_widths: [None; 2],
                    peer: [1.0, 1.0]
                }],
                FEW
            ),
            None
        );
    }

    #[test]
    fn the_interval_of_eight_noisy_blocks_holds_the_true_ratio() {
        let mut rng = fastrand::Rng::with_seed(4);
        let mut cost = |level: f64| level * (1.0 + 0.1 * rng.f64() * rng.f64());
        let experiments = 200;
        let held = (0..experiments)
            .filter(|_| {
                let blocks: Vec<Block> = (0..8)
                    .map(|_| Block {
                        ours: [cost(120.0), cost(120.0)],
                        half_widths: [None; 2],
                        peer: [cost(100.0), cost(100.0)],
                    })
                    .collect();
                let ratio = compare(&blocks, FEW).unwrap().ratio;
                ratio.low <= 1.2 && 1.2 <= ratio.high
            })
            .count();
        assert!((180..=198).contains(&held), "{held} of {experiments}");
    }

    #[test]
    fn the_interval_covers_the_median_of_skewed_values() {
        let mut random = fastrand::Rng::with_seed(8);
        let covered = (0..400).filter(|_| {
            let mut value = || -(1.0 - random.f64()).ln();
            let values: Vec<f64> = (0..30).map(|_| value()).collect();
            let found = Bootstrapped::of(&values, 400).expect("several values");
            (found.low..=found.high).contains(&std::f64::consts::LN_2)
        });
        let percent = covered.count() as f64 / 4.0;
        assert!((90.0..=98.0).contains(&percent), "{percent}");
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(Bootstrapped::of(&[1.0], 100), None);
        let same = Bootstrapped::of(&[2.0, 2.0], 100).expect("two values");
        assert_eq!((same.median, same.low, same.high), (2.0, 2.0, 2.0));
    }
}
