//! The selection of samples.

use super::*;
use crate::measurement::Disturbance;

/// A round of ten samples, the first `shared` of which were taken on a shared core.
fn round(shared: u32) -> RoundSamples {
    RoundSamples {
        values: (0..10)
            .map(|n| if n < shared { 150.0 } else { 100.0 })
            .collect(),
        disturbed: (0..shared)
            .map(|sample| tag(sample, Cause::SharedCore))
            .collect(),
        alone_percent: Some(50.0),
        ..RoundSamples::default()
    }
}

fn tag(sample: u32, cause: Cause) -> Disturbance {
    Disturbance { sample, cause }
}

#[test]
fn undisturbed_samples_count_where_enough_processes_have_some() {
    let rounds: Vec<_> = [0, 2, 5, 7, 7, 3, 8, 10].map(round).into();
    let selected = select(&rounds, Unit::Nanoseconds);
    assert_eq!(selected.choice, Choice::Undisturbed);
    assert_eq!(selected.rounds.len(), 6, "two have fewer than three");
    assert!(
        selected
            .processes
            .iter()
            .flatten()
            .all(|value| *value == 100.0)
    );
    assert!(rounds[3].is_undisturbed() && !rounds[6].is_undisturbed());
    assert_eq!(rounds[6].best().len(), 10);
    assert_eq!(rounds[2].best(), [100.0; 5]);
}

#[test]
fn what_a_neighbour_costs_is_reported_separately() {
    let rounds: Vec<_> = [0, 2, 5, 5].map(round).into();
    assert_eq!(shared_median(&rounds), Some(150.0));
    assert_eq!(undisturbed_percent(&rounds), Some(70.0));
    assert_eq!(shared_median(&rounds[..3]), None, "of two processes");
}

#[test]
fn all_count_where_too_few_processes_have_some() {
    let rounds: Vec<_> = [9, 8, 5, 8, 9, 10, 8, 9].map(round).into();
    let selected = select(&rounds, Unit::Nanoseconds);
    assert_eq!((selected.choice, selected.rounds.len()), (Choice::All, 8));
    assert_eq!(selected.processes[7].len(), 10);
    // One in four is no longer rare.
    let rounds: Vec<_> = [9, 0, 5, 8, 9, 10, 8, 9].map(round).into();
    let selected = select(&rounds, Unit::Nanoseconds);
    assert_eq!(
        (selected.choice, selected.rounds.len()),
        (Choice::AnyFrequency, 2)
    );
}

#[test]
fn of_few_rounds_two_undisturbed_ones_are_better_than_all() {
    let clean: Vec<_> = [0, 2, 5].map(round).into();
    assert_eq!(
        select(&clean, Unit::Nanoseconds).choice,
        Choice::Undisturbed
    );
    let mixed: Vec<_> = [0, 9, 5].map(round).into();
    let selected = select(&mixed, Unit::Nanoseconds);
    assert_eq!(
        (selected.choice, selected.rounds.len()),
        (Choice::AnyFrequency, 2)
    );
    let one: Vec<_> = [0, 9, 9].map(round).into();
    assert_eq!(select(&one, Unit::Nanoseconds).choice, Choice::All);
}

#[test]
fn every_sample_counts_if_sharing_was_not_observed() {
    let mut rounds: Vec<_> = [0, 2, 5, 3, 4, 1].map(round).into();
    rounds
        .iter_mut()
        .for_each(|round| round.alone_percent = None);
    assert_eq!(select(&rounds, Unit::Nanoseconds).choice, Choice::Unlooked);
    assert!(rounds[0].is_undisturbed());
    assert_eq!(select(&[], Unit::Nanoseconds).rounds.len(), 0);
}

#[test]
fn another_frequency_is_the_lesser_disturbance() {
    let mut rounds: Vec<_> = [1; 6].map(round).into();
    for round in &mut rounds {
        round
            .disturbed
            .extend((1..9).map(|sample| tag(sample, Cause::OtherFrequency)));
    }
    let selected = select(&rounds, Unit::Nanoseconds);
    assert_eq!(selected.choice, Choice::AnyFrequency);
    assert!(selected.processes.iter().all(|process| process.len() == 9));
}

#[test]
fn a_process_of_one_sample_counts_by_it() {
    let one = |shared| RoundSamples {
        values: vec![5.0],
        disturbed: shared_tags(shared),
        alone_percent: Some(10.0),
        ..RoundSamples::default()
    };
    let rounds: Vec<_> = [true, false, false, false, false, false, false]
        .map(one)
        .into();
    assert_eq!(select(&rounds, Unit::Nanoseconds).rounds.len(), 6);
}

/// Six processes at as many frequencies, with a constant cost in cycles or in ns.
fn at_many_frequencies(is_core_work: bool) -> Vec<RoundSamples> {
    (0..6)
        .map(|index| {
            let ghz = 4.2 - 0.1 * f64::from(index);
            let value = if is_core_work {
                420.0 / ghz
            } else {
                100.0 + f64::from(index % 2)
            };
            RoundSamples {
                values: vec![value; 5],
                sample_ghz: vec![ghz; 5],
                usual_ghz: Some(4.2),
                disturbed: match index {
                    0 => Vec::new(),
                    _ => (0..5)
                        .map(|sample| tag(sample, Cause::OtherFrequency))
                        .collect(),
                },
                alone_percent: Some(99.0),
                ..RoundSamples::default()
            }
        })
        .collect()
}

#[test]
fn work_of_the_core_is_converted_to_the_usual_frequency() {
    let rounds = at_many_frequencies(true);
    let selected = select(&rounds, Unit::Nanoseconds);
    assert_eq!(selected.choice, Choice::Converted);
    let values = || selected.processes.iter().flatten();
    assert!(values().all(|value| (value - 100.0).abs() < 1e-9));
    let rounds = at_many_frequencies(false);
    let selected = select(&rounds, Unit::Nanoseconds);
    assert_eq!(selected.choice, Choice::AnyFrequency);
    assert_eq!(selected.processes[1], [101.0; 5]);
}

#[test]
fn costs_of_one_other_frequency_are_not_converted() {
    let mut rounds = at_many_frequencies(true);
    for (index, round) in rounds.iter_mut().enumerate() {
        round.sample_ghz = vec![3.6; 5];
        round.values = vec![100.0 + 0.1 * index as f64; 5];
        round.disturbed = (0..5)
            .map(|sample| tag(sample, Cause::OtherFrequency))
            .collect();
    }
    let chosen = |rounds: &[RoundSamples]| select(rounds, Unit::Nanoseconds).choice;
    assert_eq!(chosen(&rounds), Choice::AnyFrequency);
    assert_eq!(chosen(&rounds[..1]), Choice::AnyFrequency);
}

#[test]
fn an_unobserved_process_does_not_count_beside_others() {
    let mut rounds: Vec<_> = [0; 7].map(round).into();
    rounds[3].alone_percent = None;
    assert_eq!(select(&rounds, Unit::Nanoseconds).rounds.len(), 6);
}

fn shared_tags(shared: bool) -> Vec<Disturbance> {
    shared
        .then(|| tag(0, Cause::SharedCore))
        .into_iter()
        .collect()
}

#[test]
fn where_no_frequency_is_common_work_of_the_core_is_converted_all_the_same() {
    // Nothing is tagged, and the row's own median frequency differs by 5 % from that of the whole
    // run.
    let rounds: Vec<RoundSamples> = (0..9)
        .map(|index| {
            let ghz = 3.2 + 0.05 * f64::from(index);
            RoundSamples {
                values: vec![400.0 / ghz; 5],
                sample_ghz: vec![ghz; 5],
                usual_ghz: Some(3.57),
                alone_percent: Some(99.0),
                ..RoundSamples::default()
            }
        })
        .collect();
    let selected = select(&rounds, Unit::Nanoseconds);
    assert_eq!(selected.choice, Choice::Converted);
    assert!((selected.processes[0][0] - 400.0 / 3.57).abs() < 1e-9);
}

#[test]
fn what_samples_of_the_usual_frequency_contradict_is_not_converted() {
    // Much better in cycles than in time, but samples at the usual frequency say 5 % more than all
    // samples say in cycles.
    let rounds: Vec<RoundSamples> = (0..20)
        .map(|index| {
            let ghz = if index < 6 {
                3.6
            } else {
                3.0 + 0.02 * f64::from(index)
            };
            let ns = if index < 6 { 1.05 } else { 1.0 };
            RoundSamples {
                values: vec![ns * 400.0 / ghz; 5],
                sample_ghz: vec![ghz; 5],
                usual_ghz: Some(3.6),
                alone_percent: Some(99.0),
                ..RoundSamples::default()
            }
        })
        .collect();
    assert_ne!(select(&rounds, Unit::Nanoseconds).choice, Choice::Converted);
}
