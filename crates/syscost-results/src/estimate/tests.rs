use proptest::prelude::*;

use super::*;
use crate::fixture::normal;
use crate::measurement::{Cause, Disturbance};
use crate::simulate::NoiseModel;

fn round(values: Vec<f64>) -> RoundSamples {
    RoundSamples {
        iterations: 1,
        core_ghz: Some(3.0),
        values,
        ..RoundSamples::default()
    }
}

fn levels(levels: &[f64]) -> Vec<RoundSamples> {
    levels.iter().map(|&level| round(vec![level; 5])).collect()
}

fn cost(rounds: &[RoundSamples]) -> Estimated {
    estimate(rounds, &Rules::new(Unit::Nanoseconds))
}

#[test]
fn estimates_from_process_medians_and_not_from_samples() {
    // One process with many large samples must not outweigh the others.
    let mut rounds = levels(&[10.0, 11.0, 12.0, 13.0, 14.0]);
    rounds.push(round([vec![15.0; 60], vec![9.0; 5]].concat()));
    let out = cost(&rounds);
    let expected = Estimate {
        median: Some(12.5),
        ci95_low: out.estimate.ci95_low,
        ci95_high: out.estimate.ci95_high,
        min: Some(9.0),
        best: Some(9.0),
        mad: Some(1.5),
        raw_median: Some(12.5),
        coverage: Some(0.968_75),
        rounds: 6,
        samples: 90,
        ..Estimate::default()
    };
    assert_eq!(out.estimate, expected);
    assert_eq!(out.core_cycles, Some(37.5));
    // Over the processes it reaches from the lowest to the highest; over runs, farther.
    assert_eq!(out.own_half_width, Some(0.2));
    let runs = out.between_runs.expect("it is positive");
    let reach = |end: f64| (end / 12.5).ln().hypot(runs.reach(runs.deviation)).exp();
    assert_eq!(out.estimate.ci95_high, Some(12.5 * reach(15.0)));
    assert!(out.estimate.ci95_low < Some(10.0) && out.estimate.ci95_low > Some(9.0));
    assert_eq!(out.flags, [Flag::NotConverged]);
    assert!(!out.below_resolution);
}

#[test]
fn no_samples_give_no_numbers() {
    assert_eq!(cost(&[]), Estimated::default());
    assert_eq!(cost(&[round(Vec::new())]), Estimated::default());
}

#[test]
fn a_cost_that_touches_zero_is_a_bound() {
    let mut rounds = levels(&[-0.5, 1.0, 1.0, 1.5, 2.0, 3.0]);
    for round in &mut rounds {
        round.raw = vec![20.0; 5];
    }
    let out = cost(&rounds);
    assert!(out.below_resolution);
    assert_eq!(
        (out.estimate.median, out.estimate.ci95_low, out.estimate.min),
        (None, None, None)
    );
    assert_eq!(out.estimate.ci95_high, Some(3.0));
    assert_eq!(out.estimate.raw_median, Some(20.0));
    assert_eq!(out.core_cycles, None);
    assert_eq!(out.flags, [Flag::LowTrust]);
    // The far end is the bound if the whole interval is negative; also below six rounds.
    assert_eq!(
        cost(&levels(&[-7.0, -6.0, -5.0, -4.0, -3.0, -2.0]))
            .estimate
            .ci95_high,
        Some(7.0)
    );
    let few = cost(&levels(&[-4.0, 1.0, 2.0]));
    assert!(few.below_resolution);
    assert!(few.estimate.median.is_none() && few.estimate.ci95_high > Some(4.0));
    assert!(few.details.is_empty(), "{:?}", few.details);
}

#[test]
fn a_skew_may_be_negative_or_zero() {
    let rules = Rules {
        signed: true,
        ..Rules::new(Unit::Nanoseconds)
    };
    let out = estimate(&levels(&[-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]), &rules);
    assert!(!out.below_resolution);
    assert_eq!(
        (out.estimate.median, out.estimate.min),
        (Some(0.0), Some(-3.0))
    );
    // A share of zero is meaningless, so convergence cannot be judged.
    assert_eq!(half_width_ratio(&out.estimate), None);
    assert_eq!(out.flags, []);
    let zero = estimate(
        &levels(&[0.0; 6]),
        &Rules {
            signed: true,
            ..Rules::new(Unit::Count)
        },
    );
    assert_eq!(
        (zero.estimate.median, half_width_ratio(&zero.estimate)),
        (Some(0.0), Some(0.0))
    );
}

#[test]
fn a_positive_cost_with_a_negative_sample_has_no_minimum() {
    let mut rounds = levels(&[10.0; 6]);
    rounds[2].values[0] = -1.0;
    let out = cost(&rounds);
    assert_eq!((out.estimate.median, out.estimate.min), (Some(10.0), None));
    assert_eq!(out.details["outliers_count"], 1.0);
}

#[test]
fn cycles_use_the_frequency_of_their_own_round() {
    // The same work at three frequencies: 300 cycles each time.
    let mut rounds = levels(&[100.0, 100.0, 150.0, 150.0, 300.0, 300.0]);
    for (round, ghz) in rounds.iter_mut().zip([3.0, 3.0, 2.0, 2.0, 1.0, 1.0]) {
        round.core_ghz = Some(ghz);
    }
    assert_eq!(cost(&rounds).core_cycles, Some(300.0));
    rounds[0].core_ghz = None;
    rounds[5].core_ghz = None;
    assert_eq!(cost(&rounds).core_cycles, Some(300.0));
    // The four remaining processes are slower than the median of all six.
    rounds[5].core_ghz = Some(1.0);
    rounds[1].core_ghz = None;
    assert_eq!(cost(&rounds).core_cycles, None);
    rounds[2].core_ghz = None;
    rounds[3].core_ghz = None;
    let out = cost(&rounds);
    assert_eq!(out.core_cycles, None);
    let rate = estimate(&rounds, &Rules::new(Unit::BytesPerSecond));
    assert_eq!(rate.core_cycles, None);
    assert!(!rate.flags.contains(&Flag::FrequencyUnsteady));
}

#[test]
fn disturbed_samples_are_distinguished_and_kept() {
    let mut rounds = levels(&[10.0; 6]);
    for round in &mut rounds {
        round.values[4] = 70.0;
        // One sample with two causes.
        round.disturbed = [Cause::Preempted, Cause::Migrated]
            .map(|cause| Disturbance { sample: 4, cause })
            .to_vec();
    }
    let out = cost(&rounds);
    assert!(out.flags.contains(&Flag::Noisy));
    assert_eq!(out.details["disturbed_percent"], 20.0);
    assert_eq!(out.details["median_disturbed_ns"], 70.0);
    assert_eq!(out.details["median_undisturbed_ns"], 10.0);
    assert_eq!(out.estimate.samples, 30);
    for round in &mut rounds[..3] {
        round.disturbed.clear();
    }
    // Exactly a tenth is not more than a tenth.
    assert!(!cost(&rounds).flags.contains(&Flag::Noisy));
}

#[test]
fn overhead_above_half_of_the_raw_value_is_little_trust() {
    let with_raw = |raw: f64| {
        let mut rounds = levels(&[10.0; 6]);
        for round in &mut rounds {
            round.raw = vec![raw; 5];
        }
        cost(&rounds)
    };
    assert_eq!(with_raw(20.0).flags, []);
    assert_eq!(with_raw(20.5).flags, [Flag::LowTrust]);
    assert_eq!(with_raw(20.5).estimate.raw_median, Some(20.5));
}

/// The number of `rows` rows, each of `rounds` processes with 30 samples, that have a flag accepted
/// by `wanted`. `sample` gets the index in the process and a number in 0..1 that is fixed for the
/// process.
fn flagged(
    rows: u64,
    rounds: usize,
    wanted: impl Fn(Flag) -> bool,
    sample: impl Fn(&mut fastrand::Rng, usize, f64) -> f64,
) -> usize {
    (0..rows)
        .filter(|&seed| {
            let mut rng = fastrand::Rng::with_seed(seed);
            let rounds: Vec<RoundSamples> = (0..rounds)
                .map(|_| {
                    let process = rng.f64();
                    round(
                        (0..30)
                            .map(|index| sample(&mut rng, index, process))
                            .collect(),
                    )
                })
                .collect();
            cost(&rounds).flags.iter().any(|&flag| wanted(flag))
        })
        .count()
}

#[test]
fn clean_noise_is_flagged_in_less_than_one_row_of_a_hundred() {
    let any = |flag| flag != Flag::NotConverged;
    for rounds in [6, 12] {
        for sigma in [0.003, 0.03, 0.3] {
            let count = flagged(1000, rounds, any, |rng, _, _| {
                100.0 * (sigma * normal(rng)).exp()
            });
            assert!(
                count < 10,
                "{count} of 1000 at {rounds} rounds, sigma {sigma}"
            );
        }
    }
}

#[test]
fn planted_drift_is_found() {
    let found = flagged(
        300,
        6,
        |flag| flag == Flag::NotSteady,
        |rng, index, _| (100.0 + index as f64 / 5.0) * (0.02 * normal(rng)).exp(),
    );
    assert!(found > 270, "{found} of 300");
}

#[test]
fn dependent_noise_is_not_called_drift() {
    let called = (0..200)
        .filter(|&seed| {
            let mut rng = fastrand::Rng::with_seed(seed);
            let rounds: Vec<RoundSamples> = (0..9)
                .map(|_| round(NoiseModel::Autocorrelated.process(30, &mut rng)))
                .collect();
            cost(&rounds).flags.contains(&Flag::NotSteady)
        })
        .count();
    assert!(called < 20, "{called} of 200");
}

#[test]
fn drift_too_small_to_matter_is_not_reported() {
    let found = flagged(
        100,
        6,
        |flag| flag == Flag::NotSteady,
        |rng, index, _| (100.0 + index as f64 / 50.0) * (0.0001 * normal(rng)).exp(),
    );
    assert_eq!(found, 0);
}

#[test]
fn planted_modes_are_found() {
    let modes = |flag| flag == Flag::TwoModes;
    let inside = flagged(300, 6, modes, |rng, _, _| {
        let slow = if rng.f64() < 0.35 { 1.1 } else { 1.0 };
        100.0 * slow * (0.01 * normal(rng)).exp()
    });
    assert!(inside > 270, "{inside} of 300");
    // A mode that stays with the process gives one value per process: seventeen are needed to see
    // it this reliably.
    let fixed = flagged(300, 17, modes, |rng, _, process| {
        let slow = if process < 0.5 { 1.1 } else { 1.0 };
        100.0 * slow * (0.01 * normal(rng)).exp()
    });
    assert!(fixed > 270, "{fixed} of 300");
}

#[test]
fn a_strong_dependence_is_found_and_a_weak_one_not() {
    let chain = |keep: f64| {
        let mut rng = fastrand::Rng::with_seed(4);
        let mut state = 0.0;
        let rounds: Vec<RoundSamples> = (0..8)
            .map(|_| {
                round(
                    (0..60)
                        .map(|_| {
                            state = keep * state + normal(&mut rng);
                            100.0 + state
                        })
                        .collect(),
                )
            })
            .collect();
        cost(&rounds).flags.contains(&Flag::Autocorrelated)
    };
    assert!(chain(0.9));
    assert!(!chain(0.3));
}

#[test]
fn five_rounds_have_an_interval_a_little_beyond_them() {
    let mut rounds = levels(&[10.0, 11.0, 12.0, 13.0, 14.0]);
    rounds.push(round(Vec::new()));
    let out = cost(&rounds);
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        rounds,
        ..
    } = out.estimate;
    assert!(
        ci95_low >= Some(9.3) && ci95_low <= Some(10.2),
        "{ci95_low:?}"
    );
    assert!(
        ci95_high >= Some(14.0) && ci95_high <= Some(15.0),
        "{ci95_high:?}"
    );
    assert_eq!((median, rounds), (Some(12.0), 5));
    assert!(out.flags.contains(&Flag::TooFewRounds), "{:?}", out.flags);
}

#[test]
fn two_rounds_have_a_wide_interval_and_one_has_none() {
    let out = cost(&levels(&[10.0, 10.1]));
    let (low, high) = out
        .estimate
        .ci95_low
        .zip(out.estimate.ci95_high)
        .expect("two");
    assert!(low < 9.6 && high > 10.5, "{low} {high}");
    assert_eq!(out.flags, [Flag::TooFewRounds, Flag::NotConverged]);
    let out = cost(&levels(&[10.0]));
    assert_eq!(
        (out.estimate.ci95_low, out.estimate.ci95_high),
        (None, None)
    );
    assert_eq!(
        (out.estimate.median, out.estimate.coverage),
        (Some(10.0), None)
    );
    assert_eq!(out.flags, [Flag::TooFewRounds]);
    assert_eq!(half_width_ratio(&out.estimate), None);
}

#[test]
fn what_is_far_up_in_some_processes_moves_the_lower_end_little() {
    let skewed = levels(&[100.0, 100.5, 101.0, 101.5, 300.0, 900.0]);
    let out = cost(&skewed).estimate;
    assert!(
        out.ci95_low > Some(98.0) && out.ci95_high > Some(900.0),
        "{out:?}"
    );
    let rate = Rules {
        better: Better::Higher,
        ..Rules::new(Unit::BytesPerSecond)
    };
    let fallen = levels(&[100.0, 99.5, 99.0, 98.5, 30.0, 10.0]);
    let out = estimate(&fallen, &rate).estimate;
    assert!(
        out.ci95_high < Some(102.0) && out.ci95_low < Some(10.0),
        "{out:?}"
    );
    // Processes that differ to both sides say that runs do.
    let even = levels(&[50.0, 70.0, 90.0, 110.0, 130.0, 150.0]);
    assert!(cost(&even).estimate.ci95_low < Some(47.0));
}

#[test]
fn own_and_in_company_are_two_prices_each_with_its_interval() {
    let mut rounds = levels(&[10.0, 10.1, 10.2, 10.3, 10.4, 10.5]);
    for round in &mut rounds {
        round.alone_percent = Some(50.0);
        round.values[3..].iter_mut().for_each(|value| *value *= 1.6);
        round.ratios = vec![1250, 1250, 1250, 2000, 2100];
        round.own_limit = Some(1.4);
    }
    let mixed = cost(&rounds);
    let median = mixed.estimate.median.expect("own");
    let company = mixed.estimate.shared_median.expect("shared");
    assert!((median / 10.25 - 1.0).abs() < 1e-9 && (company / 16.4 - 1.0).abs() < 1e-9);
    assert!(mixed.estimate.ci95_high < mixed.estimate.shared_ci95_low);
    assert!(mixed.estimate.shared_ci95_high > Some(16.8));
    assert!(!mixed.flags.contains(&Flag::Disturbed));
    // Without an own moment the price is that in company, and the flag says so.
    rounds
        .iter_mut()
        .for_each(|round| round.own_limit = Some(1.1));
    let company = cost(&rounds);
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        ..
    } = company.estimate;
    assert!(company.flags.contains(&Flag::Disturbed) && median.is_some());
    let shared = (
        company.estimate.shared_median,
        company.estimate.shared_ci95_low,
    );
    assert_eq!((median, ci95_low), shared);
    assert_eq!(ci95_high, company.estimate.shared_ci95_high);
}

#[test]
fn what_cannot_be_seen_is_no_zero() {
    let rules = Rules {
        resolution: 15.0,
        ..Rules::new(Unit::Nanoseconds)
    };
    let unseen = estimate(&levels(&[0.0; 6]), &rules);
    assert!(unseen.below_resolution);
    assert_eq!(unseen.estimate.median, None);
    assert_eq!(unseen.estimate.ci95_high, Some(15.0));
    let seen = estimate(&levels(&[20.0; 6]), &rules);
    assert_eq!(seen.estimate.median, Some(20.0));
}

#[test]
fn an_interval_is_no_narrower_than_the_grain_of_its_method() {
    let rules = Rules {
        limits: Some((48.0, 60.0)),
        ..Rules::new(Unit::Bytes)
    };
    let out = estimate(&levels(&[51.0, 51.1, 51.2, 51.3, 51.4, 51.5]), &rules).estimate;
    assert_eq!((out.ci95_low, out.ci95_high), (Some(48.0), Some(60.0)));
    let wide = estimate(&levels(&[40.0, 51.0, 51.0, 51.0, 51.0, 70.0]), &rules).estimate;
    assert!(
        wide.ci95_low <= Some(40.0) && wide.ci95_high >= Some(70.0),
        "{wide:?}"
    );
}

#[test]
fn an_interval_holds_only_possible_values() {
    for medians in [
        vec![2.0, 40.0, 60.0],
        vec![1.0, 2.0, 30.0, 90.0, 95.0, 99.0],
    ] {
        let share = estimate(&levels(&medians), &Rules::new(Unit::Percent)).estimate;
        assert!(share.ci95_high <= Some(100.0), "{share:?}");
        assert!(share.median < share.ci95_high, "{share:?}");
        // Nothing bounds a time.
        let time = estimate(&levels(&medians), &Rules::new(Unit::Nanoseconds)).estimate;
        assert_eq!(time.ci95_low, share.ci95_low);
    }
    let time = estimate(&levels(&[2.0, 40.0, 60.0]), &Rules::new(Unit::Nanoseconds)).estimate;
    assert!(time.ci95_high > Some(100.0), "{time:?}");
}

#[test]
fn a_size_out_of_a_few_is_one_of_them() {
    let rules = Rules {
        discrete: true,
        ..Rules::new(Unit::Bytes)
    };
    let out = estimate(&levels(&[48.0, 48.0, 48.0, 64.0, 64.0, 64.0]), &rules).estimate;
    assert_eq!((out.median, out.ci95_low), (Some(64.0), Some(48.0)));
}

#[test]
fn a_frequency_that_no_sample_had_makes_no_cycles() {
    // On a shared core only the slowest and the fastest sample know theirs, and the round's is
    // their mean.
    let round = RoundSamples {
        core_ghz: Some(2.25),
        sample_ghz: vec![1.42, 0.0, 0.0, 0.0, 3.08],
        ..round(vec![145_000.0, 3400.0, 13_800.0, 1850.0, 1660.0])
    };
    let cycles = |round: &RoundSamples| {
        estimate(&vec![round.clone(); 6], &Rules::new(Unit::Nanoseconds)).core_cycles
    };
    assert_eq!(cycles(&round), None);
    // Those that know theirs stand for the others if they are like them.
    let alike = RoundSamples {
        sample_ghz: vec![3.0, 3.0, 0.0, 0.0, 3.0],
        values: vec![100.0, 101.0, 100.5, 100.2, 99.0],
        ..round.clone()
    };
    assert_eq!(cycles(&alike), Some(300.0));
    // Older runs know only the round's.
    let older = RoundSamples {
        core_ghz: Some(3.0),
        sample_ghz: Vec::new(),
        ..round
    };
    assert_eq!(cycles(&older), Some(10_200.0));
}

fn samples() -> impl Strategy<Value = Vec<RoundSamples>> {
    let sample = prop_oneof![9 => 0.01..1e6f64, 1 => -100.0..0.0f64];
    prop::collection::vec(prop::collection::vec(sample, 1..12).prop_map(round), 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn numbers_are_ordered_and_costs_are_positive(rounds in samples()) {
        let out = cost(&rounds);
        let estimate = &out.estimate;
        let costs = [estimate.median, estimate.ci95_low, estimate.ci95_high, estimate.min, out.core_cycles];
        prop_assert!(costs.iter().flatten().all(|&cost| cost > 0.0 || out.below_resolution), "{out:?}");
        prop_assert_eq!(out.below_resolution, estimate.median.is_none());
        if let (Some(median), Some(low), Some(high)) = (estimate.median, estimate.ci95_low, estimate.ci95_high) {
            prop_assert!(low <= median && median <= high);
            prop_assert!(estimate.min.is_none_or(|min| min <= median));
        }
        prop_assert_eq!(estimate.ci95_low.is_some(), rounds.len() >= 2 && !out.below_resolution);
        prop_assert!(out.flags.is_sorted());
    }

    #[test]
    fn the_order_of_rounds_does_not_matter(rounds in samples(), seed: u64) {
        let mut shuffled = rounds.clone();
        fastrand::Rng::with_seed(seed).shuffle(&mut shuffled);
        let (out, again) = (cost(&rounds), cost(&shuffled));
        // Sums differ by their order in the last digits.
        let ends = |out: &Estimated| [out.estimate.ci95_low, out.estimate.ci95_high].map(Option::unwrap_or_default);
        for (one, other) in ends(&out).into_iter().zip(ends(&again)) {
            prop_assert!((one - other).abs() <= 1e-12 * one.abs(), "{} {}", one, other);
        }
        let same = Estimate { ci95_low: out.estimate.ci95_low, ci95_high: out.estimate.ci95_high, ..again.estimate };
        prop_assert_eq!(&out.estimate, &same);
        prop_assert_eq!(&out.flags, &again.flags);
        prop_assert_eq!(out.core_cycles, again.core_cycles);
    }

    #[test]
    fn another_scale_gives_the_same_picture(rounds in samples(), power in -8..8i32) {
        // A power of two, so that the arithmetic is exact.
        let scale = f64::from(power).exp2();
        let mut scaled = rounds.clone();
        for value in scaled.iter_mut().flat_map(|round| &mut round.values) {
            *value *= scale;
        }
        let (out, scaled) = (cost(&rounds), cost(&scaled));
        let times = |value: Option<f64>| value.map(|value| value * scale);
        // What runs differ by is found in logarithms.
        let are_close = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => (one - other * scale).abs() <= 1e-9 * one.abs(),
            (one, other) => one == other,
        };
        prop_assert_eq!(scaled.estimate.median, times(out.estimate.median));
        prop_assert!(are_close(scaled.estimate.ci95_low, out.estimate.ci95_low));
        prop_assert!(are_close(scaled.estimate.ci95_high, out.estimate.ci95_high));
        prop_assert_eq!(scaled.estimate.mad, times(out.estimate.mad));
        prop_assert_eq!(scaled.core_cycles, times(out.core_cycles));
        prop_assert_eq!(scaled.flags, out.flags);
    }
}

#[test]
fn what_is_told_beside_the_value_of_few_processes_is_of_the_same_samples() {
    // Nine own samples in one process, one in the other: the value is that of most samples.
    let process = |own: usize, value: f64| RoundSamples {
        alone_percent: Some(50.0),
        own_limit: Some(1.0),
        ratios: (0..9).map(|n| if n < own { 900 } else { 1500 }).collect(),
        sample_ghz: vec![3.0; 9],
        usual_ghz: Some(3.0),
        raw: vec![value + 5.0; 9],
        ..round(vec![value; 9])
    };
    let found = cost(&[process(9, 50.0), process(1, 150.0)]);
    assert_eq!(found.estimate.median, Some(50.0));
    assert_eq!(found.estimate.raw_median, Some(55.0));
    assert_eq!(found.core_cycles, Some(150.0));
}
