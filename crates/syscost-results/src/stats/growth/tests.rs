//! Laws recovered from data made from them.

use super::*;
use crate::stats::{normal, order};

/// The numbers of processes that are measured, and those between them.
const COUNTS: [f64; 12] = [
    1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 40.0, 50.0,
];

fn curve(time: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    COUNTS.map(|n| (n, time(n))).to_vec()
}

fn knee() -> Knee {
    Knee {
        start: 100.0,
        rate: 0.2,
        tasks: 12.0,
        slope: 12.0,
    }
}

fn universal() -> usl::UniversalLaw {
    usl::UniversalLaw {
        lambda: 0.01,
        sigma: 0.05,
        kappa: 0.004,
        relative_error: 0.0,
    }
}

/// The points with random relative errors of this typical size.
fn noisy(points: &[(f64, f64)], share: f64, random: &mut fastrand::Rng) -> Vec<(f64, f64)> {
    points
        .iter()
        .map(|(n, t)| (*n, t * (1.0 + share * normal::quantile(random.f64()))))
        .collect()
}

#[test]
fn data_of_each_law_choose_that_law() {
    let universal = universal();
    for (kind, points) in [
        (LawKind::Linear, curve(|n| 30.0 + 20.0 * n)),
        (LawKind::Universal, curve(|n| n / universal.throughput(n))),
        (LawKind::Exponential, curve(|n| knee().time(n))),
    ] {
        let exact = choose(&points).unwrap();
        assert_eq!(exact.law.kind(), kind);
        // The knee is missed if its point takes no part in the fit.
        assert!(exact.held_out_error < 0.15, "{exact:?}");
        let mut random = fastrand::Rng::with_seed(11);
        let right = (0..100)
            .filter(|_| {
                choose(&noisy(&points, 0.03, &mut random))
                    .unwrap()
                    .law
                    .kind()
                    == kind
            })
            .count();
        assert!(right >= 85, "{kind:?} is found in {right} of 100 samples");
    }
}

#[test]
fn seven_points_tell_linear_from_universal() {
    let counts = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 50.0];
    let kind =
        |time: &dyn Fn(f64) -> f64| choose(&counts.map(|n| (n, time(n)))).unwrap().law.kind();
    assert_eq!(kind(&|n| 100.0 + 50.0 * n), LawKind::Linear);
    assert_eq!(kind(&|n| n / universal().throughput(n)), LawKind::Universal);
}

#[test]
fn what_a_further_task_adds_is_found_again() {
    let mut random = fastrand::Rng::with_seed(5);
    // A device with 500 operations per second: 2 ms for each further task.
    let points = curve(|n| 2e6 * n);
    let found: Vec<f64> = (0..100)
        .map(|_| {
            choose(&noisy(&points, 0.03, &mut random))
                .unwrap()
                .law
                .per_task(50.0)
        })
        .collect();
    let typical = order::median(&found).unwrap();
    assert!((typical / 2e6 - 1.0).abs() < 0.03, "{typical}");
    let law = Law::Universal(universal());
    let by_difference = law.time(31.0) - law.time(30.0);
    assert!((law.per_task(30.5) / by_difference - 1.0).abs() < 0.01);
}

#[test]
fn what_follows_no_law_is_far_from_points_left_out() {
    let ragged = curve(|n| {
        if (n as u64).is_power_of_two() {
            100.0
        } else {
            400.0
        }
    });
    let choice = choose(&ragged).unwrap();
    assert!(choice.held_out_error > 0.5, "{choice:?}");
}

#[test]
fn the_simpler_of_equally_good_laws_is_chosen() {
    // The universal law without coherence is linear.
    let choice = choose(&curve(|n| 10.0 + n)).unwrap();
    assert_eq!(choice.law.kind(), LawKind::Linear);
    assert!(
        choice
            .criteria
            .windows(2)
            .all(|pair| pair[0].1 <= pair[1].1)
    );
    assert_eq!(choice.criteria.len(), 3);
}

#[test]
fn few_points_have_no_law() {
    let points = curve(|n| n);
    assert!(choose(&points[..MIN_POINTS]).is_some());
    assert_eq!(choose(&points[..MIN_POINTS - 1]), None);
    let mut same = points[..MIN_POINTS].to_vec();
    same[1].0 = 1.0;
    assert_eq!(choose(&same), None, "four different ones");
}
