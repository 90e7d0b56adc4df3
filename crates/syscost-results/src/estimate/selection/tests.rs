//! The selection of samples.

use super::*;
use crate::measurement::Disturbance;

const AS_MEASURED: Conversion = Conversion {
    unit: Unit::Nanoseconds,
    share: None,
};

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
    let selected = select(&rounds, AS_MEASURED);
    assert_eq!(selected.choice, ChosenSamples::Undisturbed);
    assert_eq!(selected.rounds.len(), 6, "two have fewer than three");
    assert!(
        selected
            .processes
            .iter()
            .flatten()
            .all(|value| *value == 100.0)
    );
    assert!(rounds[3].is_undisturbed() && !rounds[6].is_undisturbed());
    assert_eq!(rounds[6].best(AS_MEASURED).len(), 10);
    assert_eq!(rounds[2].best(AS_MEASURED), [100.0; 5]);
}

#[test]
fn what_interference_costs_is_reported_separately() {
    let rounds: Vec<_> = [0, 2, 5, 5].map(round).into();
    assert_eq!(shared_median(&rounds), Some(150.0));
    assert_eq!(undisturbed_percent(&rounds), Some(70.0));
    assert_eq!(shared_median(&rounds[..3]), None, "of two processes");
}

#[test]
fn all_count_where_too_few_processes_have_some() {
    let rounds: Vec<_> = [9, 8, 5, 8, 9, 10, 8, 9].map(round).into();
    let selected = select(&rounds, AS_MEASURED);
    assert_eq!(
        (selected.choice, selected.rounds.len()),
        (ChosenSamples::All, 8)
    );
    assert_eq!(selected.processes[7].len(), 10);
    // One in four is no longer rare.
    let rounds: Vec<_> = [9, 0, 5, 8, 9, 10, 8, 9].map(round).into();
    let selected = select(&rounds, AS_MEASURED);
    assert_eq!(
        (selected.choice, selected.rounds.len()),
        (ChosenSamples::Undisturbed, 2)
    );
}

#[test]
fn of_few_rounds_two_undisturbed_ones_are_better_than_all() {
    let clean: Vec<_> = [0, 2, 5].map(round).into();
    assert_eq!(
        select(&clean, AS_MEASURED).choice,
        ChosenSamples::Undisturbed
    );
    let mixed: Vec<_> = [0, 9, 5].map(round).into();
    let selected = select(&mixed, AS_MEASURED);
    assert_eq!(
        (selected.choice, selected.rounds.len()),
        (ChosenSamples::Undisturbed, 2)
    );
    let one: Vec<_> = [0, 9, 9].map(round).into();
    assert_eq!(select(&one, AS_MEASURED).choice, ChosenSamples::All);
}

#[test]
fn every_sample_counts_if_sharing_was_not_observed() {
    let mut rounds: Vec<_> = [0, 2, 5, 3, 4, 1].map(round).into();
    rounds
        .iter_mut()
        .for_each(|round| round.alone_percent = None);
    assert_eq!(select(&rounds, AS_MEASURED).choice, ChosenSamples::Unlooked);
    assert!(rounds[0].is_undisturbed());
    assert_eq!(select(&[], AS_MEASURED).rounds.len(), 0);
}

#[test]
fn another_frequency_is_the_lesser_disturbance() {
    let mut rounds: Vec<_> = [1; 6].map(round).into();
    for round in &mut rounds {
        round
            .disturbed
            .extend((1..9).map(|sample| tag(sample, Cause::OtherFrequency)));
    }
    let selected = select(&rounds, AS_MEASURED);
    assert_eq!(selected.choice, ChosenSamples::Undisturbed);
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
    assert_eq!(select(&rounds, AS_MEASURED).rounds.len(), 6);
}

/// Six processes of a row at as many frequencies, all of whose cost of 100 ns at 4.2 GHz, or none, is
/// work of the core.
fn at_many_frequencies(is_core_work: bool) -> Vec<RoundSamples> {
    (0..6)
        .map(|index| {
            let ghz = 4.2 - 0.1 * f64::from(index);
            let value = if is_core_work { 420.0 / ghz } else { 100.0 };
            RoundSamples {
                values: vec![value; 5],
                raw: vec![2.0 * value; 5],
                sample_ghz: vec![ghz, ghz, 0.0, ghz, ghz],
                usual_ghz: Some(4.2),
                alone_percent: Some(99.0),
                ..RoundSamples::default()
            }
        })
        .collect()
}

#[test]
fn samples_are_converted_by_the_share_that_is_work_of_the_core() {
    for (is_core_work, share) in [(true, 1.0), (false, 0.0)] {
        let rounds = at_many_frequencies(is_core_work);
        let selected = select(&rounds, Conversion::new(Unit::Nanoseconds, Some(share)));
        assert_eq!(selected.choice, ChosenSamples::Undisturbed);
        let values: Vec<f64> = selected.processes.concat();
        assert!(values.iter().all(|value| (value - 100.0).abs() < 1e-9));
        // One whose frequency is not known does not count.
        assert_eq!(values.len(), 24);
        let indices = selected.counted(&rounds[3]);
        assert_eq!(
            indices.iter().map(|(index, _)| *index).collect::<Vec<_>>(),
            [0, 1, 3, 4]
        );
        assert!(
            selected
                .raw_medians()
                .iter()
                .all(|raw| (raw - 200.0).abs() < 1e-9)
        );
    }
    // A rate is converted the other way round, a count not at all.
    let rounds = at_many_frequencies(false);
    let of = |unit| select(&rounds, Conversion::new(unit, Some(1.0))).processes[5][0];
    assert!((of(Unit::BytesPerSecond) - 100.0 * 4.2 / 3.7).abs() < 1e-9);
    assert_eq!(of(Unit::Count), 100.0);
    assert_eq!(select(&rounds, AS_MEASURED).processes[5], [100.0; 5]);
}

#[test]
fn an_unobserved_process_does_not_count_beside_others() {
    let mut rounds: Vec<_> = [0; 7].map(round).into();
    rounds[3].alone_percent = None;
    assert_eq!(select(&rounds, AS_MEASURED).rounds.len(), 6);
}

fn shared_tags(shared: bool) -> Vec<Disturbance> {
    shared
        .then(|| tag(0, Cause::SharedCore))
        .into_iter()
        .collect()
}
