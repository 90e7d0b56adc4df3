//! Finds the plateaus and steps of a cost that rises with a size, such as memory latency over the
//! amount of memory in use.
//!
//! First the noise is removed: since such a cost can only rise, the nearest rising curve is used
//! (isotonic regression by pooling adjacent violators, Ayer et al. 1955), of the logarithms,
//! because noise is relative. A plateau is a longest stretch of sizes over which that curve hardly
//! rises; between two plateaus is a ramp, steep or gentle. A step is where the curve has risen by a
//! fifth of the way: a cache with LRU replacement loses everything at once when the memory in use
//! no longer fits, one with random replacement loses it little by little, and both have risen about
//! that far when the memory in use is a quarter larger than their size.

use syscost_stats::order::median;

/// Minimum number of points of a curve.
pub(crate) const MIN_POINTS: usize = 6;

/// Maximum factor by which the curve rises over a plateau.
const FLAT: f64 = 1.4;

/// Maximum factor by which it rises for each doubling of the size.
const FLAT_PER_DOUBLING: f64 = 1.22;

/// Minimum number of doublings that a plateau spans.
const MIN_DOUBLINGS: f64 = 0.9;

/// Minimum number of points on a plateau.
const MIN_LENGTH: usize = 3;

/// Plateaus whose costs differ by less than this factor are one.
const MIN_STEP: f64 = 1.3;

/// The share of the rise to the next plateau at which a plateau has ended.
const ENDED: f64 = 0.2;

/// A stretch of sizes over which the cost hardly changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plateau {
    /// The smallest size on it.
    pub(crate) from: f64,
    /// The largest size on it.
    pub(crate) to: f64,
    /// The median of the costs on it.
    pub(crate) cost: f64,
    /// The cost of the rising curve at its smallest size and at its largest.
    pub(crate) ends: (f64, f64),
    /// The size at which it ends; `None` for the last one.
    pub(crate) end: Option<f64>,
}

impl Plateau {
    /// The share of the rise to the next plateau that lies between the two. On a smooth curve, cut
    /// into nearly flat stretches, most of the rise lies on the plateaus themselves.
    pub(crate) fn share_of_rise_to(&self, next: &Plateau) -> f64 {
        (next.ends.0 - self.ends.1) / (next.cost - self.cost)
    }
}

/// Plateaus, from the smallest sizes and costs to the largest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Staircase {
    /// At least one.
    pub(crate) plateaus: Vec<Plateau>,
    /// Typical relative distance of the points from a rising curve: the median.
    pub(crate) relative_error: f64,
}

/// The plateaus of points `(size, cost)`. `None` with fewer than [`MIN_POINTS`], if a value is not
/// positive, or if there is no plateau.
pub(crate) fn staircase(points: &[(f64, f64)]) -> Option<Staircase> {
    let legal = |value: f64| value > 0.0 && value.is_finite();
    if points.len() < MIN_POINTS
        || !points
            .iter()
            .all(|(size, cost)| legal(*size) && legal(*cost))
    {
        return None;
    }
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let curve = rising(&points);
    let errors: Vec<f64> = points
        .iter()
        .zip(&curve)
        .map(|((_, cost), on_curve)| (cost / on_curve).ln().abs().exp_m1())
        .collect();
    let mut flats = Vec::new();
    flat_stretches(&points, &curve, 0, points.len(), &mut flats);
    flats.sort_unstable();
    let cost_of = |(first, last): (usize, usize)| {
        let costs: Vec<f64> = points[first..=last].iter().map(|(_, cost)| *cost).collect();
        median(&costs).unwrap_or(f64::NAN)
    };
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for flat in flats {
        match joined.last_mut() {
            Some(before) if cost_of(flat) < MIN_STEP * cost_of(*before) => before.1 = flat.1,
            _ => joined.push(flat),
        }
    }
    let plateaus = (0..joined.len())
        .map(|number| {
            let (first, last) = joined[number];
            let cost = cost_of((first, last));
            Plateau {
                from: points[first].0,
                to: points[last].0,
                cost,
                ends: (curve[first], curve[last]),
                end: joined.get(number + 1).map(|next| {
                    crossing(
                        &points,
                        &curve,
                        first,
                        cost + ENDED * (cost_of(*next) - cost),
                    )
                }),
            }
        })
        .collect::<Vec<_>>();
    Some(Staircase {
        relative_error: median(&errors)?,
        plateaus,
    })
    .filter(|staircase| !staircase.plateaus.is_empty())
}

/// The rising curve nearest to the points, evaluated at each of them.
fn rising(points: &[(f64, f64)]) -> Vec<f64> {
    // Blocks of a sum of logarithms and a count; a block with a lower mean than the previous one is
    // pooled with it.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    let mean = |(sum, count): (f64, usize)| sum / count as f64;
    for (_, cost) in points {
        let mut block = (cost.ln(), 1);
        while let Some(before) = blocks.pop_if(|before| mean(*before) > mean(block)) {
            block = (block.0 + before.0, block.1 + before.1);
        }
        blocks.push(block);
    }
    blocks
        .into_iter()
        .flat_map(|block| std::iter::repeat_n(mean(block).exp(), block.1))
        .collect()
}

/// The longest flat stretch from `begin` to before `end`, then those on both sides of it.
fn flat_stretches(
    points: &[(f64, f64)],
    curve: &[f64],
    begin: usize,
    end: usize,
    found: &mut Vec<(usize, usize)>,
) {
    let doublings = |first: usize, last: usize| (points[last].0 / points[first].0).log2();
    let mut best: Option<(usize, usize)> = None;
    for first in begin..end {
        for last in first + MIN_LENGTH - 1..end {
            let span = doublings(first, last);
            let rise = curve[last] / curve[first];
            let is_flat = rise <= FLAT && rise <= FLAT_PER_DOUBLING.powf(span);
            let is_longer = best.is_none_or(|(from, to)| span > doublings(from, to));
            if is_flat && span >= MIN_DOUBLINGS && is_longer {
                best = Some((first, last));
            }
        }
    }
    let Some((first, last)) = best else { return };
    found.push((first, last));
    flat_stretches(points, curve, begin, first, found);
    flat_stretches(points, curve, last + 1, end, found);
}

/// The size at which the curve first reaches this cost, from the point `first` on, interpolated
/// logarithmically.
fn crossing(points: &[(f64, f64)], curve: &[f64], first: usize, cost: f64) -> f64 {
    let Some(at) = (first..points.len()).find(|at| curve[*at] >= cost) else {
        return points[points.len() - 1].0;
    };
    if at == first {
        return points[at].0;
    }
    let (before, after) = (points[at - 1].0, points[at].0);
    let share = (cost / curve[at - 1]).ln() / (curve[at] / curve[at - 1]).ln();
    before * (after / before).powf(share)
}

#[cfg(test)]
mod tests;
