//! The plateaus and steps of a cost that rises with a size, like the latency of memory with how much of it is in use.
//!
//! Noise first: since such a cost can only rise, the rising curve that is nearest to the points is taken (isotonic regression by pooling adjacent
//! violators, Ayer et al. 1955), of the logarithms, because noise is relative. A plateau is a longest stretch of sizes over
//! which that curve hardly rises; what lies between two plateaus is a ramp, be it steep or soft. A step is where the curve has gone a fifth of the way
//! up: a cache that keeps whatever was used last loses all at once when the memory in use no longer fits, one that evicts by chance little by little, and
//! both have gone about so far where the memory in use is a quarter more than they hold.

use super::order::median;

/// Fewest points of a curve.
pub const LEAST_POINTS: usize = 6;

/// The curve rises by no more than this factor over a plateau,
const FLAT: f64 = 1.4;

/// and by no more than this over each doubling of the size.
const FLAT_PER_DOUBLING: f64 = 1.22;

/// A plateau spans this many doublings at least,
const LEAST_DOUBLINGS: f64 = 0.9;

/// and this many points.
const LEAST_LENGTH: usize = 3;

/// Plateaus less far apart than this are one.
const LEAST_STEP: f64 = 1.3;

/// The share of the way up at which a plateau has ended.
const ENDED: f64 = 0.2;

/// A size that the system tells and one that was found agree if they differ by no more than this factor: the sizes measured are a fifth
/// apart, and not every cache can be filled.
const ALIKE: f64 = 1.5;

/// Whether the size of a cache that the system tells agrees with the one that was found.
pub fn agree(told: f64, found: f64) -> bool {
    (1.0 / ALIKE..=ALIKE).contains(&(told / found))
}

/// A stretch of sizes over which the cost hardly changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// The smallest size on it.
    pub from: f64,
    /// The largest size on it.
    pub to: f64,
    /// The median of the costs on it.
    pub cost: f64,
    /// The cost of the rising curve at its smallest size and at its largest.
    pub ends: (f64, f64),
    /// The size at which it ends; `None` for the last one.
    pub end: Option<f64>,
}

impl Plateau {
    /// The share of the way up to the next plateau that lies between the two: of a smooth curve, which is cut into stretches that are nearly
    /// flat, most of it lies on them.
    pub fn share_of_rise_to(&self, next: &Plateau) -> f64 {
        (next.ends.0 - self.ends.1) / (next.cost - self.cost)
    }
}

/// Plateaus, from the smallest sizes and costs to the largest.
#[derive(Debug, Clone, PartialEq)]
pub struct Staircase {
    /// At least one.
    pub plateaus: Vec<Plateau>,
    /// How far the points typically are from a rising curve, relative to them: the median.
    pub relative_error: f64,
}

/// The plateaus of points `(size, cost)`. `None` with fewer than [`LEAST_POINTS`], where one of them is not positive, and where there is no plateau.
pub fn staircase(points: &[(f64, f64)]) -> Option<Staircase> {
    let legal = |value: f64| value > 0.0 && value.is_finite();
    if points.len() < LEAST_POINTS
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
            Some(before) if cost_of(flat) < LEAST_STEP * cost_of(*before) => before.1 = flat.1,
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

/// The rising curve nearest to the points, at each of them.
fn rising(points: &[(f64, f64)]) -> Vec<f64> {
    // Blocks of a sum of logarithms and a count; a block that is lower than the one before is pooled with it.
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
        for last in first + LEAST_LENGTH - 1..end {
            let span = doublings(first, last);
            let rise = curve[last] / curve[first];
            let is_flat = rise <= FLAT && rise <= FLAT_PER_DOUBLING.powf(span);
            let is_longer = best.is_none_or(|(from, to)| span > doublings(from, to));
            if is_flat && span >= LEAST_DOUBLINGS && is_longer {
                best = Some((first, last));
            }
        }
    }
    let Some((first, last)) = best else { return };
    found.push((first, last));
    flat_stretches(points, curve, begin, first, found);
    flat_stretches(points, curve, last + 1, end, found);
}

/// The size at which the curve first reaches this cost, from the point `first` on, between points by their logarithms.
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
