//! Resampling medians of runs, processes and samples fast enough for hundreds of rows.
//!
//! The hierarchy is drawn from the top: runs, processes within each drawn run, samples within each drawn process. Only the
//! median of the drawn samples matters, and that is always one of the samples, the one of a random rank whose law is known
//! (Maritz and Jarrett 1978, "A note on estimating the variance of the sample median"): so one draw replaces as many as
//! there are samples.

use std::collections::BTreeMap;

/// The samples of one process, and the law of its resampled median.
#[derive(Debug, Clone)]
struct Process {
    sorted: Vec<f64>,
    /// Index of the law among the hierarchy's.
    law: usize,
}

/// Runs of processes of samples.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    runs: Vec<Vec<Process>>,
    /// For each number of samples that occurs: the cumulative chances of the ranks of the resampled median.
    laws: Vec<Vec<f64>>,
}

impl Hierarchy {
    /// The hierarchy of `runs`; `None` if there is no run, a run has no process, or a process no sample.
    pub fn new<P: AsRef<[f64]>>(runs: &[Vec<P>]) -> Option<Self> {
        if runs.is_empty() || runs.iter().any(Vec::is_empty) {
            return None;
        }
        let mut known = BTreeMap::new();
        let mut laws = Vec::new();
        let runs = runs
            .iter()
            .map(|run| {
                run.iter()
                    .map(|process| {
                        let sorted = super::order::sorted(process.as_ref());
                        let law = *known.entry(sorted.len()).or_insert_with(|| {
                            laws.push(law_of_median(sorted.len()));
                            laws.len() - 1
                        });
                        (!sorted.is_empty()).then_some(Process { sorted, law })
                    })
                    .collect::<Option<Vec<Process>>>()
            })
            .collect::<Option<Vec<_>>>()?;
        Some(Hierarchy { runs, laws })
    }

    /// Draws a resample and takes the median of its processes' medians; `medians` is scratch space.
    pub fn draw(&self, rng: &mut fastrand::Rng, medians: &mut Vec<f64>) -> f64 {
        medians.clear();
        for _ in &self.runs {
            let run = &self.runs[rng.usize(..self.runs.len())];
            for _ in run {
                let process = &run[rng.usize(..run.len())];
                let chance = rng.f64();
                let rank = self.laws[process.law].partition_point(|&below| below <= chance);
                medians.push(process.sorted[rank.min(process.sorted.len() - 1)]);
            }
        }
        middle(medians)
    }
}

/// The median of values in any order, which are shuffled; 0 of nothing.
fn middle(values: &mut [f64]) -> f64 {
    let half = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if !even {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (lower + upper) / 2.0
}

/// The chances that the median of `count` values drawn with replacement from `count` values has at most rank 1, 2, ….
///
/// The drawn value of order `r` has at most rank `k` if at least `r` of the draws fall on the first `k` values: a binomial
/// chance. Of an even number the two middle ones are taken turn about, which errs to the wide side of their mean.
fn law_of_median(count: usize) -> Vec<f64> {
    let orders = [count.div_ceil(2), count / 2 + 1];
    let below = if count > MOST_EXACT {
        normal_below
    } else {
        binomial_below
    };
    (1..=count)
        .map(|rank| {
            let share = rank as f64 / count as f64;
            let at_least = |order: usize| 1.0 - below(order, count, share);
            (at_least(orders[0]) + at_least(orders[1])) / 2.0
        })
        .collect()
}

/// More samples than this have the law of a normal distribution: the exact one takes their square, and is no different.
const MOST_EXACT: usize = 1000;

/// [`binomial_below`] by the normal distribution, continuity corrected.
fn normal_below(order: usize, count: usize, share: f64) -> f64 {
    let deviation = (count as f64 * share * (1.0 - share)).sqrt();
    if deviation == 0.0 {
        return 0.0;
    }
    super::normal::cdf((order as f64 - 0.5 - count as f64 * share) / deviation)
}

/// The chance of fewer than `order` successes among `count` of chance `share`.
fn binomial_below(order: usize, count: usize, share: f64) -> f64 {
    if share >= 1.0 {
        return 0.0;
    }
    let odds = (share / (1.0 - share)).ln();
    // In logarithms, since (1 - share)^count underflows for many samples.
    let mut log_chance = count as f64 * (1.0 - share).ln();
    let mut sum = 0.0;
    for successes in 0..order {
        sum += log_chance.exp();
        log_chance += ((count - successes) as f64 / (successes + 1) as f64).ln() + odds;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::order;

    #[test]
    fn the_law_is_that_of_drawing_samples_one_by_one() {
        let mut rng = fastrand::Rng::with_seed(4);
        for count in [1usize, 5, 11, 31] {
            let law = law_of_median(count);
            assert!((law[count - 1] - 1.0).abs() < 1e-12);
            let draws = 20_000;
            let mut counts = vec![0u32; count];
            for _ in 0..draws {
                let mut drawn: Vec<usize> = (0..count).map(|_| rng.usize(..count)).collect();
                drawn.sort_unstable();
                counts[drawn[count / 2]] += 1;
            }
            let mut below = 0;
            for (rank, found) in counts.into_iter().enumerate() {
                below += found;
                let share = f64::from(below) / f64::from(draws);
                assert!((share - law[rank]).abs() < 0.02, "{count}, rank {rank}");
            }
        }
    }

    #[test]
    fn the_normal_law_is_near_the_exact_one() {
        for order in [400, 500, 501, 600] {
            for share in [0.4, 0.49, 0.5, 0.52, 0.6] {
                let (near, exact) = (
                    normal_below(order, 1000, share),
                    binomial_below(order, 1000, share),
                );
                assert!(
                    (near - exact).abs() < 2e-3,
                    "{order} {share}: {near} {exact}"
                );
            }
        }
    }

    #[test]
    fn the_law_holds_for_many_samples() {
        let law = law_of_median(5000);
        assert!(law.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9));
        assert!((law[2499] - 0.5).abs() < 0.02, "{}", law[2499]);
    }

    #[test]
    fn middles_are_medians() {
        let mut rng = fastrand::Rng::with_seed(1);
        for count in 1..30 {
            let mut values: Vec<f64> = (0..count).map(|_| rng.f64()).collect();
            let median = order::median(&values).unwrap();
            assert!((middle(&mut values) - median).abs() < 1e-12, "{count}");
        }
    }

    #[test]
    fn runs_carry_the_uncertainty_where_they_differ() {
        // Two runs at two levels: a resample has both from one run half of the time.
        let runs: Vec<Vec<[f64; 3]>> = vec![vec![[1.0; 3]; 6], vec![[2.0; 3]; 6]];
        let hierarchy = Hierarchy::new(&runs).unwrap();
        let mut rng = fastrand::Rng::with_seed(2);
        let mut scratch = Vec::new();
        let draws: Vec<f64> = (0..4000)
            .map(|_| hierarchy.draw(&mut rng, &mut scratch))
            .collect();
        for level in [1.0, 1.5, 2.0] {
            let share = draws.iter().filter(|&&drawn| drawn == level).count() as f64 / 4000.0;
            let expected = if level == 1.5 { 0.5 } else { 0.25 };
            assert!((share - expected).abs() < 0.04, "{level}: {share}");
        }
    }

    #[test]
    fn nothing_has_no_hierarchy() {
        assert!(Hierarchy::new::<Vec<f64>>(&[]).is_none());
        assert!(Hierarchy::new::<Vec<f64>>(&[vec![]]).is_none());
        assert!(Hierarchy::new(&[vec![vec![1.0], vec![]]]).is_none());
    }
}
