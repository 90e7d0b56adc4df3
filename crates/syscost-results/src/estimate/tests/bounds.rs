//! Values that a method cannot resolve, and the limits of its certainty.

use super::*;

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
