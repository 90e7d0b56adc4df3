//! Fewer processes than an exact interval needs.

use super::*;

#[test]
fn five_rounds_have_students_interval() {
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
        ci95_low >= Some(9.5) && ci95_low <= Some(10.2),
        "{ci95_low:?}"
    );
    assert!(
        ci95_high >= Some(14.0) && ci95_high <= Some(14.8),
        "{ci95_high:?}"
    );
    assert_eq!((median, rounds), (Some(12.0), 5));
    assert!(out.flags.contains(&Flag::TooFewRounds), "{:?}", out.flags);
}

#[test]
fn two_rounds_have_a_range_and_no_interval() {
    let out = cost(&levels(&[10.0, 14.0]));
    assert_eq!(
        (
            out.estimate.ci95_low,
            out.estimate.ci95_high,
            out.estimate.coverage
        ),
        (None, None, None)
    );
    assert_eq!((out.estimate.median, out.estimate.rounds), (Some(12.0), 2));
    assert_eq!(out.flags, [Flag::TooFewRounds]);
    assert_eq!(out.details["lowest_process_median_ns"], 10.0);
    assert_eq!(out.details["highest_process_median_ns"], 14.0);
    assert_eq!(half_width_ratio(&out.estimate), None);
}
