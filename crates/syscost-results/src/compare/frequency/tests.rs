use super::super::{Change, ComparedIn, compare, compare_pair};
use super::*;
use crate::Run;
use crate::fixture::run_of;

/// Eight processes at this frequency, each taking this many cycles.
fn run(ghz: f64, cycles: f64) -> Run {
    wandering(ghz, 0.0, |ghz| cycles / ghz)
}

/// Eight processes with `cost` at their own frequencies, which are spread around `middle` in steps
/// of the share `apart`.
fn wandering(middle: f64, apart: f64, cost: impl Fn(f64) -> f64) -> Run {
    let ghz = |process: u32| middle * (1.0 + apart * (f64::from(process * 3 % 8) - 3.5));
    let processes: Vec<Vec<f64>> = (0..8)
        .map(|process| vec![cost(ghz(process)) * (1.0 + 0.001 * f64::from(process)); 5])
        .collect();
    let mut run = run_of(&processes);
    for round in run.measurements[0].samples.iter_mut().flatten() {
        let ghz = ghz(round.round);
        round.core_ghz = Some(ghz);
        round.sample_ghz = vec![ghz; 5];
        round.usual_ghz = Some(middle);
        round.alone_percent = Some(100.0);
    }
    run
}

/// The verdict on the only row, its ratio, and its notes.
fn judged(base: &Run, new: &Run) -> (Change, f64, String) {
    let row = compare(&[base], &[new], &[]).rows.remove(0);
    (row.verdict, row.ratio, row.notes.concat())
}

#[test]
fn work_of_the_core_is_compared_in_cycles_where_its_frequency_wanders() {
    let side = |middle, cycles| wandering(middle, 0.01, move |ghz| cycles / ghz);
    let (verdict, ratio, notes) = judged(&side(3.3, 400.0), &side(3.6, 400.0));
    assert_eq!((verdict, ratio), (Change::Same, 1.0), "{notes}");
    assert!(notes.contains("as many at any frequency"), "{notes}");
    let row = &compare(&[&side(3.3, 400.0)], &[&side(3.6, 400.0)], &[]).rows[0];
    assert_eq!(row.compared_in, ComparedIn::CoreCycles);
    // Both medians are converted to the base's frequency.
    assert!((row.new / row.base - 1.0).abs() < 0.002, "{row:?}");
    let (verdict, ratio, notes) = judged(&side(3.3, 400.0), &side(3.6, 416.0));
    assert!((ratio - 1.04).abs() < 1e-3, "{ratio}");
    assert_eq!(verdict, Change::Worse, "{notes}");
}

#[test]
fn what_waits_for_memory_is_compared_in_time_at_any_frequency() {
    let side = |middle, ns| wandering(middle, 0.01, move |_| ns);
    let (verdict, ratio, notes) = judged(&side(3.3, 90.0), &side(3.6, 90.0));
    assert_eq!((verdict, ratio), (Change::Same, 1.0), "{notes}");
    assert_eq!(judged(&side(3.3, 90.0), &side(3.6, 94.0)).0, Change::Worse);
    let row = &compare(&[&side(3.3, 90.0)], &[&side(3.6, 90.0)], &[]).rows[0];
    assert_eq!(row.compared_in, ComparedIn::Time);
}

#[test]
fn what_is_only_partly_work_of_the_core_is_not_called_changed() {
    for core in [0.35, 0.65] {
        let side = |middle| {
            wandering(middle, 0.01, move |ghz| {
                100.0 * (1.0 - core + core * 3.7 / ghz)
            })
        };
        let (verdict, _, notes) = judged(&side(3.7), &side(3.2));
        assert_eq!(verdict, Change::Inconclusive, "{core}: {notes}");
        assert_eq!(notes.matches("the core ran at").count(), 1, "{notes}");
    }
}

#[test]
fn several_runs_of_a_side_are_compared_at_one_frequency_too() {
    let side = |cycles: f64| {
        [3.2, 3.45, 3.7].map(|middle| wandering(middle, 0.01, move |ghz| cycles / ghz))
    };
    let (base, new) = (side(400.0), side(420.0));
    let row = compare(&base.each_ref(), &new.each_ref(), &[])
        .rows
        .remove(0);
    assert_eq!(row.verdict, Change::Worse, "{row:?}");
}

#[test]
fn where_processes_do_not_tell_a_change_must_hold_either_way() {
    // One frequency per side, and half of the cost is work of the core.
    let half = |ghz: f64, ns: f64| wandering(ghz, 0.0, move |ghz| ns * (0.5 + 0.5 * 3.3 / ghz));
    let (verdict, _, notes) = judged(&half(3.3, 90.0), &half(3.6, 90.0));
    assert_eq!(verdict, Change::Inconclusive, "{notes}");
    assert!(notes.contains("holds either way"), "{notes}");
    let row = &compare(&[&half(3.3, 90.0)], &[&half(3.6, 90.0)], &[]).rows[0];
    assert_eq!(row.compared_in, ComparedIn::Either);
    assert_eq!(judged(&half(3.3, 90.0), &half(3.6, 110.0)).0, Change::Worse);
}

#[test]
fn another_frequency_is_no_change() {
    let (base, new) = (run(4.2, 400.0), run(3.9, 400.0));
    let row = &compare(&[&base], &[&new], &[]).rows[0];
    assert_eq!(row.verdict, Change::Same, "{row:?}");
    assert!(
        row.notes
            .iter()
            .any(|note| note.contains("3.90 GHz instead of 4.20"))
    );
}

#[test]
fn a_change_is_seen_at_another_frequency_as_well() {
    let (base, new) = (run(4.2, 400.0), run(3.9, 440.0));
    let row = &compare(&[&base], &[&new], &[]).rows[0];
    assert_eq!(row.verdict, Change::Worse, "{row:?}");
    let (base, new) = (run(4.2, 400.0), run(4.2, 420.0));
    assert_eq!(
        compare(&[&base], &[&new], &[]).rows[0].verdict,
        Change::Worse
    );
}

#[test]
fn what_is_worse_in_time_is_not_the_same_because_cycles_scatter() {
    // A fifth is work of the core; the clock is 4 % slower, and the rest takes 2.5 % longer.
    let side =
        |middle: f64, ns: f64| wandering(middle, 0.016, move |ghz| ns * (0.8 + 0.2 * middle / ghz));
    let (verdict, ratio, notes) = judged(&side(3.6, 100.0), &side(3.456, 102.5));
    assert_ne!(verdict, Change::Same, "{ratio} {notes}");
}

#[test]
fn what_is_not_known_of_a_rows_nature_is_in_its_interval() {
    let known = |nature: Nature| nature.worst(true, 0.04);
    let (core, off) = (0.8, 0.02);
    assert!((known(Nature { core, off }) - 0.04 * 0.22).abs() < 1e-12);
    // Never more than the distance of the frequencies.
    assert_eq!(known(Nature { core, off: 8.0 }), 0.04);
    let side = |middle: f64| wandering(middle, 0.01, move |ghz| 100.0 * (0.1 + 0.9 * 3.6 / ghz));
    let row = compare(&[&side(3.6)], &[&side(3.5)], &[]).rows.remove(0);
    assert!(
        row.ci95_low < Some(1.0) && row.ci95_high > Some(1.0),
        "{row:?}"
    );
}

#[test]
fn a_rate_is_converted_the_other_way() {
    let round = RoundSamples {
        values: vec![100.0; 3],
        sample_ghz: vec![2.0; 3],
        ..RoundSamples::default()
    };
    let at_four = |unit| at_ghz(&round, unit, 4.0);
    assert_eq!(at_four(Unit::Nanoseconds), Some(vec![50.0; 3]));
    assert_eq!(at_four(Unit::BytesPerSecond), Some(vec![200.0; 3]));
    assert_eq!(at_four(Unit::Percent), None);
}

#[test]
fn of_two_measured_in_turn_one_that_lowers_the_frequency_is_dearer() {
    let in_turn = |new: &Run| {
        compare_pair(&wandering(3.6, 0.01, |ghz| 400.0 / ghz), new)
            .rows
            .remove(0)
    };
    let row = in_turn(&wandering(3.6, 0.01, |ghz| 420.0 / ghz));
    assert_eq!(
        (row.compared_in, row.verdict),
        (ComparedIn::CoreCycles, Change::Worse)
    );
    assert!((row.ratio - 1.05).abs() < 1e-3, "{row:?}");
    let row = in_turn(&wandering(3.3, 0.01, |ghz| 400.0 / ghz));
    assert_eq!(
        (row.compared_in, row.verdict),
        (ComparedIn::Time, Change::Worse)
    );
    // The frequencies of a round differ by up to 7 %, in alternating directions.
    let row = in_turn(&wandering(3.6, -0.01, |ghz| 400.0 / ghz));
    assert_eq!(
        (row.compared_in, row.verdict),
        (ComparedIn::Either, Change::Inconclusive)
    );
}
