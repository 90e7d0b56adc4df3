//! Quantiles of the dip of uniformly distributed samples, simulated with
//! [`statistic`](super::dip::statistic): a million samples for each size up to 50, a hundred
//! thousand above. A test simulates some of them again.

/// Sample sizes of the rows.
pub(super) const SIZES: [usize; 17] = [
    4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100, 200, 500, 1000, 2000,
];

/// The chance of a smaller dip, by column.
const CHANCES: [f64; 17] = [
    0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999,
];

/// Dip times the square root of the sample size, which hardly depends on the size, so that values
/// for sizes between the rows and beyond the last one can be derived.
#[rustfmt::skip]
const ROOT_DIPS: [[f64; CHANCES.len()]; SIZES.len()] = [
    [0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2651, 0.3149, 0.3753, 0.4146, 0.4479, 0.4636, 0.4745, 0.4839, 0.4885],
    [0.2236, 0.2236, 0.2236, 0.2236, 0.2236, 0.2432, 0.2717, 0.3002, 0.3294, 0.3603, 0.3954, 0.4169, 0.4330, 0.4395, 0.4432, 0.4456, 0.4464],
    [0.2041, 0.2041, 0.2041, 0.2264, 0.2544, 0.2790, 0.3016, 0.3232, 0.3443, 0.3660, 0.3898, 0.4036, 0.4387, 0.4702, 0.4951, 0.5217, 0.5372],
    [0.1890, 0.1925, 0.2165, 0.2489, 0.2729, 0.2933, 0.3116, 0.3285, 0.3449, 0.3614, 0.3817, 0.4236, 0.4642, 0.4873, 0.5056, 0.5240, 0.5351],
    [0.1768, 0.2092, 0.2321, 0.2612, 0.2820, 0.2990, 0.3140, 0.3278, 0.3410, 0.3550, 0.4014, 0.4359, 0.4695, 0.4893, 0.5062, 0.5273, 0.5486],
    [0.1843, 0.2202, 0.2413, 0.2671, 0.2852, 0.2998, 0.3124, 0.3240, 0.3376, 0.3686, 0.4093, 0.4398, 0.4714, 0.4929, 0.5189, 0.5463, 0.5652],
    [0.1928, 0.2273, 0.2467, 0.2698, 0.2857, 0.2984, 0.3092, 0.3233, 0.3478, 0.3758, 0.4127, 0.4416, 0.4771, 0.5046, 0.5277, 0.5537, 0.5702],
    [0.2040, 0.2344, 0.2505, 0.2694, 0.2820, 0.2956, 0.3154, 0.3354, 0.3566, 0.3811, 0.4158, 0.4499, 0.4890, 0.5140, 0.5363, 0.5647, 0.5861],
    [0.2115, 0.2364, 0.2489, 0.2681, 0.2887, 0.3066, 0.3238, 0.3413, 0.3606, 0.3857, 0.4262, 0.4597, 0.4988, 0.5262, 0.5510, 0.5808, 0.6025],
    [0.2121, 0.2359, 0.2540, 0.2773, 0.2953, 0.3114, 0.3280, 0.3471, 0.3687, 0.3951, 0.4347, 0.4701, 0.5117, 0.5401, 0.5670, 0.5982, 0.6205],
    [0.2167, 0.2437, 0.2599, 0.2830, 0.3019, 0.3192, 0.3368, 0.3558, 0.3777, 0.4052, 0.4466, 0.4832, 0.5267, 0.5566, 0.5846, 0.6178, 0.6414],
    [0.2220, 0.2496, 0.2667, 0.2903, 0.3094, 0.3273, 0.3456, 0.3650, 0.3874, 0.4158, 0.4584, 0.4965, 0.5416, 0.5722, 0.6016, 0.6367, 0.6618],
    [0.2290, 0.2565, 0.2742, 0.2986, 0.3182, 0.3367, 0.3552, 0.3750, 0.3981, 0.4274, 0.4710, 0.5105, 0.5577, 0.5899, 0.6199, 0.6557, 0.6846],
    [0.2332, 0.2618, 0.2795, 0.3037, 0.3238, 0.3426, 0.3613, 0.3817, 0.4051, 0.4349, 0.4802, 0.5205, 0.5668, 0.6012, 0.6322, 0.6699, 0.7011],
    [0.2380, 0.2667, 0.2848, 0.3095, 0.3298, 0.3488, 0.3682, 0.3890, 0.4131, 0.4434, 0.4897, 0.5305, 0.5789, 0.6140, 0.6463, 0.6886, 0.7201],
    [0.2401, 0.2695, 0.2873, 0.3124, 0.3326, 0.3516, 0.3708, 0.3917, 0.4161, 0.4467, 0.4944, 0.5359, 0.5840, 0.6186, 0.6515, 0.6929, 0.7247],
    [0.2415, 0.2712, 0.2896, 0.3145, 0.3350, 0.3540, 0.3732, 0.3943, 0.4180, 0.4485, 0.4964, 0.5385, 0.5886, 0.6244, 0.6579, 0.7031, 0.7329],
];

/// The chance of a dip at least as large among `n` uniform values, at least that of the table's
/// last column; `None` if `n` is below the first row.
pub(super) fn p_value(n: usize, dip: f64) -> Option<f64> {
    let row = row(n)?;
    let root_dip = dip * (n as f64).sqrt();
    let column = row.partition_point(|&quantile| quantile < root_dip);
    Some(match column {
        0 => 1.0,
        past if past == CHANCES.len() => 1.0 - CHANCES[past - 1],
        _ => {
            let share = (root_dip - row[column - 1]) / (row[column] - row[column - 1]);
            1.0 - (CHANCES[column - 1] + share * (CHANCES[column] - CHANCES[column - 1]))
        }
    })
}

/// The row for `n`, interpolated linearly in the logarithm of the size.
fn row(n: usize) -> Option<[f64; CHANCES.len()]> {
    let above = SIZES.partition_point(|&size| size < n);
    if above == SIZES.len() {
        return Some(ROOT_DIPS[above - 1]);
    }
    if SIZES[above] == n {
        return Some(ROOT_DIPS[above]);
    }
    let below = above.checked_sub(1)?;
    let (small, large) = (SIZES[below] as f64, SIZES[above] as f64);
    let share = (n as f64 / small).ln() / (large / small).ln();
    Some(std::array::from_fn(|column| {
        ROOT_DIPS[below][column] * (1.0 - share) + ROOT_DIPS[above][column] * share
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dip::statistic;

    #[test]
    fn rejects_a_uniform_sample_as_often_as_promised() {
        // 16 lies between two rows; 30 is one. With 3000 repetitions the share of p < 0.05 has a
        // standard deviation of 0.4 %.
        let mut rng = fastrand::Rng::with_seed(11);
        for n in [6, 16, 30] {
            let rejected = (0..3000)
                .filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| rng.f64()).collect();
                    p_value(n, statistic(&values).unwrap()).unwrap() < 0.05
                })
                .count();
            assert!(
                (110..=190).contains(&rejected),
                "n = {n}: {rejected} of 3000"
            );
        }
    }

    #[test]
    fn p_falls_as_the_dip_grows_and_stays_in_the_table() {
        for n in [4, 11, 77, 2000, 100_000] {
            let scale = 1.0 / (n as f64).sqrt();
            let ps: Vec<f64> = (0..100)
                .map(|step| p_value(n, 0.01 * f64::from(step) * scale).unwrap())
                .collect();
            assert!(ps.is_sorted_by(|a, b| a >= b), "n = {n}");
            assert_eq!(ps[0], 1.0);
            assert!((ps[99] - 0.001).abs() < 1e-12);
        }
        assert_eq!(p_value(3, 0.2), None);
    }
}
