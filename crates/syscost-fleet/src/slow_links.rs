//! Tells slow links from slow nodes.
//!
//! The logarithm of a pair's figure is taken as the sum of what each of its nodes contributes and of what is the link's own. The
//! nodes' parts are found by medians over all of their pairs (Tukey's median polish, *Exploratory Data Analysis*, 1977), so that a few
//! slow links do not make a node slow. What is far off is judged by the modified z-score with its usual bound of 3.5 (Iglewicz and
//! Hoaglin, *How to Detect and Handle Outliers*, 1993), over a scale that is never smaller than how well single figures are known.

use serde::{Deserialize, Serialize};
use syscost_results::stats::order::median;

/// How many nodes it takes to tell a node from a link: with fewer, each node's part rests on two or three pairs.
pub const MIN_NODES: usize = 5;

/// The bound of the modified z-score.
const BOUND: f64 = 3.5;

/// The standard deviation of normal values, in median absolute deviations.
const MADS_PER_DEVIATION: f64 = 1.4826;

/// Half the width of an interval of 95 %, in standard deviations.
const DEVIATIONS_PER_HALF_WIDTH: f64 = 1.96;

/// How often the medians are taken out: far more often than it takes.
const SWEEPS: usize = 50;

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The median.
    pub median: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
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
    let sign = if is_time { 1.0 } else { -1.0 };
    // More is slower from here on.
    let cost = |value: f64| sign * value.ln();
    let of = |node: usize| {
        pairs
            .iter()
            .filter(move |pair| pair.a == node || pair.b == node)
    };
    let measured: Vec<usize> = (0..count)
        .filter(|&node| of(node).count() >= MIN_NODES - 2)
        .collect();
    if measured.len() < MIN_NODES {
        return None;
    }
    let mut parts = vec![0.0; count];
    let rest =
        |pair: &Between, parts: &[f64]| cost(pair.figure.median) - parts[pair.a] - parts[pair.b];
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
    let half_widths: Vec<f64> = pairs
        .iter()
        .map(|pair| (pair.figure.high / pair.figure.low).ln() / 2.0)
        .collect();
    let known = median(&half_widths)? / DEVIATIONS_PER_HALF_WIDTH;
    let rests: Vec<f64> = pairs.iter().map(|pair| rest(pair, &parts)).collect();
    let of_nodes: Vec<f64> = measured.iter().map(|&node| parts[node]).collect();
    let (node_middle, node_scale) = scale(&of_nodes, known)?;
    let (middle, link_scale) = scale(&rests, known)?;
    let nodes = measured.iter().filter_map(|&node| {
        let off = parts[node] - node_middle;
        (off > BOUND * node_scale).then(|| (node, off.exp()))
    });
    let links = pairs.iter().zip(&rests).filter_map(|(pair, rest)| {
        let Figure { median, low, high } = pair.figure;
        // Even at the end of its interval that is nearer to the others'.
        let nearest = rest - (cost(median) - cost(if is_time { low } else { high }));
        let is_slow = rest - middle > BOUND * link_scale && nearest > middle;
        is_slow.then(|| (pair.a, pair.b, (rest - middle).exp()))
    });
    Some(Slow {
        nodes: nodes.collect(),
        links: links.collect(),
    })
}

/// The median of values, and how far they spread, at least `known`.
fn scale(values: &[f64], known: f64) -> Option<(f64, f64)> {
    let middle = median(values)?;
    let off: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    Some((middle, (MADS_PER_DEVIATION * median(&off)?).max(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pairs of `count` nodes, each 20 µs with some noise, times `slower`.
    fn pairs(count: usize, seed: u64, slower: impl Fn(usize, usize) -> f64) -> Vec<Between> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut all = Vec::new();
        for a in 0..count {
            for b in a + 1..count {
                // Nearly normal, with a deviation of 2 %.
                let noise: f64 = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
                let median = 20e3 * slower(a, b) * (0.02 * noise).exp();
                let figure = Figure {
                    median,
                    low: median * 0.98,
                    high: median * 1.02,
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
            let found = find(8, &pairs(8, seed, link), true).expect("enough");
            assert_eq!(found.nodes, [], "seed {seed}");
            let links: Vec<_> = found.links.iter().map(|&(a, b, _)| (a, b)).collect();
            assert!(links.contains(&(2, 5)), "seed {seed}: {found:?}");
            let node = |a, b| if a == 3 || b == 3 { 1.5 } else { 1.0 };
            let found = find(8, &pairs(8, seed, node), true).expect("enough");
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
        let found = find(8, &pairs(8, 1, link), false).expect("enough");
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
    fn hardly_any_link_is_accused_where_none_is_slow() {
        let accused: usize = (0..50)
            .map(|seed| {
                find(16, &pairs(16, seed, |_, _| 1.0), true)
                    .expect("enough")
                    .links
                    .len()
            })
            .sum();
        // Of 6000.
        assert!(accused <= 30, "{accused}");
    }

    #[test]
    fn few_nodes_say_nothing() {
        assert_eq!(find(4, &pairs(4, 1, |_, _| 1.0), true), None);
        assert_eq!(find(0, &[], true), None);
    }
}
