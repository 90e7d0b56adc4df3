//! Tells slow links from slow nodes.
//!
//! The logarithm of a pair's figure is taken as the sum of what each of its nodes contributes and
//! of what is the link's own. The nodes' parts are found by medians over all of their pairs
//! (Tukey's median polish, *Exploratory Data Analysis*, 1977), so that a few slow links do not make
//! a node slow. How far off each is, and how likely by chance, is told as of machines
//! (`deviation`); of the nodes that are named at most the share `RATE` is wrong, and of
//! the links, by Benjamini and Hochberg (1995).

use serde::{Deserialize, Serialize};
use syscost_results::stats::multiple::benjamini_hochberg;
use syscost_results::stats::order::median;

use crate::deviation::{self, Expected, MIN_MACHINES, freedom_by_tails};
use crate::judge::RATE;

/// How many nodes it takes to tell a node from a link: with fewer, each node's part rests on two or three pairs.
pub const MIN_NODES: usize = 5;

/// How often the medians are taken out: far more often than it takes.
const SWEEPS: usize = 50;

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The median.
    pub median: f64,
    /// The interval's lower end; null where there were too few rounds for one.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

/// The figure of a pair of nodes, which are given by their places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// One node.
    pub a: usize,
    /// The other.
    pub b: usize,
    /// What was measured between them, positive.
    pub figure: Figure,
}

/// What is slow, and by which factor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slow {
    /// Nodes: all of their pairs are slower than the others' by this factor.
    pub nodes: Vec<(usize, f64)>,
    /// Pairs: slower by this factor than their nodes' other pairs let one expect.
    pub links: Vec<(usize, usize, f64)>,
}

/// Finds what is slow among these pairs of `count` nodes; `None` if there are too few to tell. `is_time` says that more is slower.
pub fn find(count: usize, pairs: &[Between], is_time: bool) -> Option<Slow> {
    let figures: Vec<deviation::Figure> = pairs
        .iter()
        .map(|pair| {
            let Figure { median, low, high } = pair.figure;
            let (known, unknown) = (low.zip(high), (median, median));
            let (low, high) = known.unwrap_or(unknown);
            let mut figure = deviation::Figure::new(median, low, high)?;
            if known.is_none() {
                // Nothing follows from how far it is from the others.
                figure.error = f64::INFINITY;
            }
            // More is slower from here on.
            figure.log *= if is_time { 1.0 } else { -1.0 };
            Some(figure)
        })
        .collect::<Option<_>>()?;
    let of = |node: usize| {
        let both = pairs.iter().zip(&figures);
        both.filter(move |(pair, _)| pair.a == node || pair.b == node)
    };
    let measured: Vec<usize> = (0..count)
        .filter(|&node| of(node).count() >= MIN_NODES - 2)
        .collect();
    if measured.len() < MIN_NODES {
        return None;
    }
    let mut parts = vec![0.0; count];
    let rest = |(pair, figure): (&Between, &deviation::Figure), parts: &[f64]| {
        figure.log - parts[pair.a] - parts[pair.b]
    };
    for _ in 0..SWEEPS {
        let rests: Vec<f64> = (0..count)
            .map(|node| {
                let rests: Vec<f64> = of(node).map(|pair| rest(pair, &parts)).collect();
                median(&rests).unwrap_or(0.0)
            })
            .collect();
        for (part, rest) in parts.iter_mut().zip(rests) {
            // Each half is one node's.
            *part += rest / 2.0;
        }
    }
    let errors: Vec<f64> = figures.iter().map(|figure| figure.error).collect();
    let error = median(&errors)?;
    let of_nodes: Vec<deviation::Figure> = measured
        .iter()
        .map(|&node| deviation::Figure {
            log: parts[node],
            error,
        })
        .collect();
    let of_links: Vec<deviation::Figure> = pairs
        .iter()
        .zip(&figures)
        .map(|both| deviation::Figure {
            log: rest(both, &parts),
            error: both.1.error,
        })
        .collect();
    let nodes = measured.iter().zip(slower(&of_nodes, 0)?);
    let links = pairs.iter().zip(slower(&of_links, measured.len())?);
    Some(Slow {
        nodes: nodes
            .filter_map(|(&node, factor)| Some((node, factor?)))
            .collect(),
        links: links
            .filter_map(|(pair, factor)| Some((pair.a, pair.b, factor?)))
            .collect(),
    })
}

/// By which factors these are slower than their median, as far as they are; so many parameters were
/// fitted to them.
fn slower(figures: &[deviation::Figure], fitted: usize) -> Option<Vec<Option<f64>>> {
    let mut logs: Vec<f64> = figures.iter().map(|figure| figure.log).collect();
    let (mut expected, _) = Expected::of(&mut logs.clone())?;
    // Medians fit some exactly, which tell nothing of how far the others spread.
    logs.sort_unstable_by(|one, other| one.abs().total_cmp(&other.abs()));
    logs.drain(..fitted.min(logs.len() - MIN_MACHINES));
    let (others, reach) = Expected::of(&mut logs)?;
    expected.scale = others.scale;
    if let Some(freedom) = reach.and_then(|reach| freedom_by_tails(&[reach])) {
        expected.freedom = expected.freedom.min(freedom);
    }
    let deviations = figures.iter().map(|&figure| expected.deviation(figure));
    let deviations: Vec<deviation::Deviation> = deviations.collect();
    let chances: Vec<f64> = deviations.iter().map(|off| off.p_value).collect();
    let is_far = benjamini_hochberg(&chances, RATE);
    let factors = deviations.iter().zip(is_far);
    Some(
        factors
            .map(|(off, is_far)| (is_far && off.log > 0.0).then(|| off.log.exp()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pairs of `count` nodes, each 20 µs with noise of this deviation, times `slower`.
    fn pairs(
        count: usize,
        seed: u64,
        spread: f64,
        slower: impl Fn(usize, usize) -> f64,
    ) -> Vec<Between> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut all = Vec::new();
        for a in 0..count {
            for b in a + 1..count {
                // Nearly normal.
                let noise: f64 = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
                let median = 20e3 * slower(a, b) * (spread * noise).exp();
                let figure = Figure {
                    median,
                    low: Some(median * 0.98),
                    high: Some(median * 1.02),
                };
                all.push(Between { a, b, figure });
            }
        }
        all
    }

    #[test]
    fn a_slow_node_is_told_from_a_slow_link() {
        for seed in 0..20 {
            let link = |a, b| if (a, b) == (2, 5) { 1.5 } else { 1.0 };
            let found = find(8, &pairs(8, seed, 0.02, link), true).expect("enough");
            assert_eq!(found.nodes, [], "seed {seed}");
            let links: Vec<_> = found.links.iter().map(|&(a, b, _)| (a, b)).collect();
            assert!(links.contains(&(2, 5)), "seed {seed}: {found:?}");
            let node = |a, b| if a == 3 || b == 3 { 1.5 } else { 1.0 };
            let found = find(8, &pairs(8, seed, 0.02, node), true).expect("enough");
            let nodes: Vec<_> = found.nodes.iter().map(|&(node, _)| node).collect();
            assert_eq!(nodes, [3], "seed {seed}: {found:?}");
            assert!(
                (found.nodes[0].1 - 1.5).abs() < 0.1,
                "seed {seed}: {found:?}"
            );
        }
    }

    #[test]
    fn of_a_rate_less_is_slower() {
        let link = |a, b| if (a, b) == (0, 1) { 0.5 } else { 1.0 };
        let found = find(8, &pairs(8, 1, 0.02, link), false).expect("enough");
        assert_eq!(found.nodes, []);
        assert_eq!(
            found
                .links
                .iter()
                .map(|&(a, b, _)| (a, b))
                .collect::<Vec<_>>(),
            [(0, 1)]
        );
    }

    #[test]
    fn hardly_anything_is_accused_where_nothing_is_slow() {
        for count in [5, 6, 8, 16, 40] {
            for spread in [0.005, 0.02, 0.1] {
                let accuses = |&seed: &u64| {
                    let found = find(count, &pairs(count, seed, spread, |_, _| 1.0), true);
                    found.expect("enough") != Slow::default()
                };
                let networks = (0..50).filter(accuses).count();
                assert!(networks <= 3, "{count} nodes, {spread}: {networks} of 50");
            }
        }
    }

    #[test]
    fn few_nodes_say_nothing() {
        assert_eq!(find(4, &pairs(4, 1, 0.02, |_, _| 1.0), true), None);
        assert_eq!(find(0, &[], true), None);
    }
}
