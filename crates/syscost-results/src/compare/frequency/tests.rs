use super::super::{Change, ComparedIn, Row, compare, compare_pair};
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
    assert_eq!(verdict, Change::Same, "{notes}");
    assert!((ratio - 1.0).abs() < 0.006, "{ratio}");
    assert!(notes.contains("% of the cost are core cycles"), "{notes}");
    let row = &compare(&[&side(3.3, 400.0)], &[&side(3.6, 400.0)], &[]).rows[0];
    assert_eq!(row.compared_in, ComparedIn::OneFrequency);
    assert!(row.core_share.is_some_and(|core| core.share > 0.95));
    // Both medians are converted to the base's frequency.
    assert!((row.new / row.base - 1.0).abs() < 0.006, "{row:?}");
    let (verdict, ratio, notes) = judged(&side(3.3, 400.0), &side(3.6, 416.0));
    assert!((ratio - 1.04).abs() < 6e-3, "{ratio}");
    assert_eq!(verdict, Change::Worse, "{notes}");
}

#[test]
fn what_waits_for_memory_is_no_cheaper_at_a_higher_frequency() {
    let side = |middle, ns| wandering(middle, 0.01, move |_| ns);
    let (verdict, ratio, notes) = judged(&side(3.3, 90.0), &side(3.6, 90.0));
    assert_eq!(verdict, Change::Same, "{notes}");
    assert!((ratio - 1.0).abs() < 0.002, "{ratio}");
    assert_eq!(judged(&side(3.3, 90.0), &side(3.6, 94.0)).0, Change::Worse);
    let row = &compare(&[&side(3.3, 90.0)], &[&side(3.6, 90.0)], &[]).rows[0];
    assert!(
        row.core_share.is_some_and(|core| core.share < 0.05),
        "{row:?}"
    );
}

#[test]
fn what_is_partly_work_of_the_core_is_compared_by_that_part() {
    for core in [0.35, 0.65] {
        let side = |middle, ns: f64| {
            wandering(middle, 0.01, move |ghz| {
                ns * (1.0 - core + core * 3.7 / ghz)
            })
        };
        let (verdict, ratio, notes) = judged(&side(3.7, 100.0), &side(3.2, 100.0));
        assert_eq!(verdict, Change::Same, "{core}: {ratio} {notes}");
        assert_eq!(notes.matches("the core ran at").count(), 1, "{notes}");
        assert_eq!(
            judged(&side(3.7, 100.0), &side(3.2, 105.0)).0,
            Change::Worse
        );
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
fn where_nothing_tells_the_share_a_change_must_hold_whatever_it_is() {
    // One frequency per side, and half of the cost is work of the core.
    let half = |ghz: f64, ns: f64| wandering(ghz, 0.0, move |ghz| ns * (0.5 + 0.5 * 3.3 / ghz));
    let row = &compare(&[&half(3.3, 90.0)], &[&half(3.6, 90.0)], &[]).rows[0];
    // The frequencies are 8.7 % apart.
    assert!(
        row.ci95_low < Some(0.96) && row.ci95_high > Some(1.04),
        "{row:?}"
    );
    assert!(row.notes.concat().contains("(95 %: 0 to 100 %)"), "{row:?}");
    assert!(
        !matches!(row.verdict, Change::Worse | Change::Better),
        "{row:?}"
    );
    assert_eq!(judged(&half(3.3, 90.0), &half(3.6, 110.0)).0, Change::Worse);
}

#[test]
fn another_frequency_is_no_change() {
    let (base, new) = (with_share(run(4.2, 400.0), 1.0, 0.0), run(3.9, 400.0));
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

/// The same run, whose document says this of its row's core share.
fn with_share(mut run: Run, share: f64, reach: f64) -> Run {
    run.measurements[0].core_share = Some(CoreShare {
        share,
        low: share - reach,
        high: share + reach,
    });
    run
}

#[test]
fn the_documents_share_counts_and_its_uncertainty_is_in_the_interval() {
    // Each side ran at one frequency, so its processes show nothing.
    let half = |ghz: f64, ns: f64| wandering(ghz, 0.0, move |ghz| ns * (0.5 + 0.5 * 4.09 / ghz));
    let (base, new) = (half(4.09, 100.0), half(3.79, 100.0));
    // Half of the cost at 4.09 GHz is more of it at 3.79.
    let there = 0.5 * 4.09 / 3.79 / (0.5 * 4.09 / 3.79 + 0.5);
    let row = |reach: f64| -> Row {
        let sides = [
            with_share(base.clone(), 0.5, reach),
            with_share(new.clone(), there, reach),
        ];
        compare(&[&sides[0]], &[&sides[1]], &[]).rows.remove(0)
    };
    let width = |row: &Row| (row.ci95_high.unwrap_or(9.0) / row.ci95_low.unwrap_or(1.0)).ln();
    let (known, vague) = (row(0.01), row(0.4));
    assert_eq!(known.verdict, Change::Same, "{known:?}");
    assert!((known.ratio - 1.0).abs() < 0.001, "{known:?}");
    // 0.4 of the 7.6 % between the frequencies, on either side.
    assert!((width(&vague) / 2.0 - 0.03).abs() < 0.003, "{vague:?}");
    // One side's is enough.
    let one = compare(&[&with_share(base.clone(), 0.5, 0.01)], &[&new], &[]);
    assert_eq!(one.rows[0].verdict, Change::Same, "{one:?}");
    // Exchanging the sides inverts the comparison.
    let there = compare(
        &[&with_share(base.clone(), 0.5, 0.01)],
        &[&half(3.79, 110.0)],
        &[],
    );
    let back = compare(&[&half(3.79, 110.0)], &[&with_share(base, 0.5, 0.01)], &[]);
    assert!((there.rows[0].ratio * back.rows[0].ratio - 1.0).abs() < 1e-9);
    assert!((there.rows[0].margin - back.rows[0].margin).abs() < 1e-9);
}

#[test]
fn shares_that_contradict_each_other_are_known_less_well() {
    let sides =
        [(4.0, 0.9), (4.0, 0.5)].map(|(ghz, share)| with_share(run(ghz, 400.0), share, 0.02));
    let row = compare(&[&sides[0]], &[&sides[1]], &[]).rows.remove(0);
    let core = row.core_share.expect("both say so");
    assert!(core.low <= 0.5 && core.high >= 0.9, "{core:?}");
}

#[test]
fn a_rate_is_converted_the_other_way() {
    let rate = |middle: f64, per_cycle: f64| {
        let mut run = wandering(middle, 0.01, move |ghz| per_cycle * ghz);
        let row = &mut run.measurements[0];
        (row.unit, row.better) = (Unit::BytesPerSecond, crate::Better::Higher);
        run
    };
    assert_eq!(judged(&rate(3.3, 8.0), &rate(3.6, 8.0)).0, Change::Same);
    assert_eq!(judged(&rate(3.3, 8.0), &rate(3.6, 7.6)).0, Change::Worse);
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
        (ComparedIn::OneFrequency, Change::Worse)
    );
    assert!((row.ratio - 1.05).abs() < 1e-3, "{row:?}");
    let row = in_turn(&wandering(3.3, 0.01, |ghz| 400.0 / ghz));
    assert_eq!(
        (row.compared_in, row.verdict),
        (ComparedIn::Time, Change::Worse)
    );
    // The frequencies of a round differ by up to 7 %, in alternating directions: no side lowers it.
    let row = in_turn(&wandering(3.6, -0.01, |ghz| 400.0 / ghz));
    assert_eq!(
        (row.compared_in, row.verdict),
        (ComparedIn::OneFrequency, Change::Same)
    );
}
