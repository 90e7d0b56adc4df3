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
    assert_eq!(selected.choice, ChosenSamples::Own);
    assert_eq!(selected.rounds.len(), 6, "two have fewer than three");
    assert!(
        selected
            .processes
            .iter()
            .flatten()
            .all(|value| *value == 100.0)
    );
    assert!(rounds[3].is_undisturbed() && !rounds[6].is_undisturbed());
    assert_eq!(rounds[6].best(AS_MEASURED), [150.0; 8]);
    assert_eq!(rounds[2].best(AS_MEASURED), [100.0; 5]);
}

#[test]
fn what_company_costs_is_of_shared_samples_alone() {
    let rounds: Vec<_> = [0, 2, 5, 5].map(round).into();
    let company = Selection::of(ChosenSamples::InCompany, &rounds, AS_MEASURED).expect("three");
    assert_eq!(company.processes.concat(), [150.0; 12]);
    assert_eq!(undisturbed_percent(&rounds), Some(70.0));
    let alone = Selection::of(ChosenSamples::InCompany, &rounds[..1], AS_MEASURED);
    assert_eq!(alone, None);
}

#[test]
fn own_and_shared_samples_are_never_mixed() {
    // One own sample is better than all that are shared.
    let rounds: Vec<_> = [10, 9, 10, 10].map(round).into();
    let selected = select(&rounds, AS_MEASURED);
    assert_eq!(
        (selected.choice, selected.processes.concat()),
        (ChosenSamples::Own, vec![100.0])
    );
    let rounds: Vec<_> = [10, 10, 10].map(round).into();
    let selected = select(&rounds, AS_MEASURED);
    assert_eq!(selected.choice, ChosenSamples::InCompany);
    assert!(selected.is_in_company() && selected.level() == Some(150.0));
}

#[test]
fn processes_with_few_own_samples_count_where_no_six_have_more() {
    let counting = |shared: &[u32]| {
        let rounds: Vec<_> = shared.iter().copied().map(round).collect();
        select(&rounds, AS_MEASURED).rounds.len()
    };
    assert_eq!(counting(&[7, 7, 7, 7, 7, 7, 8, 9]), 6);
    assert_eq!(counting(&[7, 7, 7, 7, 7, 10, 8, 9]), 7);
}

#[test]
fn of_a_few_processes_those_with_more_own_samples_count_more() {
    let mut rounds: Vec<_> = [9, 9, 2].map(round).into();
    rounds[0].values[9] = 140.0;
    rounds[1].values[9] = 145.0;
    assert_eq!(select(&rounds, AS_MEASURED).level(), Some(100.0));
}

#[test]
fn what_else_disturbed_a_sample_makes_it_no_price_in_company() {
    let mut rounds: Vec<_> = [10, 10].map(round).into();
    rounds[0].disturbed.push(tag(3, Cause::Preempted));
    let selected = select(&rounds, AS_MEASURED);
    assert_eq!(selected.processes.concat().len(), 19);
    for round in &mut rounds {
        round
            .disturbed
            .extend((0..10).map(|sample| tag(sample, Cause::Preempted)));
    }
    let selected = select(&rounds, AS_MEASURED);
    assert_eq!(
        (selected.choice, selected.is_in_company()),
        (ChosenSamples::All, false)
    );
}

#[test]
fn ratios_decide_where_they_were_kept_and_tags_elsewhere() {
    let mut probed = round(3);
    probed.ratios = vec![
        1250,
        1300,
        1400,
        1401,
        1500,
        u16::MAX,
        1250,
        1250,
        1250,
        1250,
    ];
    probed.own_limit = Some(1.4);
    let shared = |round: &RoundSamples| {
        (0..10)
            .filter(|&one| round.is_shared(one))
            .collect::<Vec<_>>()
    };
    assert_eq!(shared(&probed), [3, 4, 5]);
    probed.own_limit = Some(f64::INFINITY);
    assert_eq!(shared(&probed), [5]);
    probed.ratios.clear();
    assert_eq!(shared(&probed), [0, 1, 2]);
}

#[test]
fn every_sample_counts_if_sharing_was_not_observed() {
    let mut rounds: Vec<_> = [0, 2, 5, 3, 4, 1].map(round).into();
    rounds
        .iter_mut()
        .for_each(|round| round.alone_percent = None);
    assert_eq!(select(&rounds, AS_MEASURED).choice, ChosenSamples::All);
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
    assert_eq!(selected.choice, ChosenSamples::Own);
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
        assert_eq!(selected.choice, ChosenSamples::Own);
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
                .raw_processes()
                .concat()
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
