//! Comparisons of simulated runs with known answers.

mod cycles;
mod groups;
mod lost;
mod simulated;

use super::*;
use crate::fixture::{noisy, normal, row, run};
use crate::measurement::EarlierRun;
use crate::{Status, Unit};

fn only(comparison: &Comparison) -> &Row {
    assert_eq!(comparison.rows.len(), 1, "{comparison:?}");
    &comparison.rows[0]
}

/// A run of one row at this level, with this many processes, which differ by that share.
fn side(id: &str, level: f64, rounds: usize, between: f64, rng: &mut fastrand::Rng) -> Run {
    let samples = noisy(level, rounds, between, between, rng);
    run(id, vec![row("x.y", samples)])
}

/// The comparison of one row whose new side is slower by a factor.
fn one(factor: f64, between: f64, seed: u64) -> Row {
    let mut rng = fastrand::Rng::with_seed(seed);
    let [base, new] = [1.0, factor].map(|factor| side("a", 100.0 * factor, 6, between, &mut rng));
    only(&compare(&[&base], &[&new], &[])).clone()
}

/// Many rows, the first `changed` of them slower by a factor on the new side.
fn many(changed: usize, factor: f64, between: f64, seed: u64) -> Comparison {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut side = |id, factor: f64| {
        let rows = (0..200).map(|index| {
            let level = if index < changed {
                100.0 * factor
            } else {
                100.0
            };
            row(
                &format!("x.r{index:03}"),
                noisy(level, 6, between, 0.02, &mut rng),
            )
        });
        run(id, rows.collect())
    };
    let (base, new) = (side("a", 1.0), side("b", factor));
    compare(&[&base], &[&new], &[])
}

#[test]
fn nothing_is_found_where_nothing_changed() {
    // 2000 rows; one in 200 is the goal.
    let wrong: usize = [0.002, 0.02, 0.1]
        .into_iter()
        .flat_map(|between| (0..4).map(move |seed| many(0, 1.0, between, seed)))
        .map(|comparison| comparison.count(Change::Worse) + comparison.count(Change::Better))
        .sum();
    assert!(wrong <= 12, "{wrong} of 2400 rows");
}

#[test]
fn a_clear_change_is_found_and_nothing_else() {
    let comparison = many(10, 1.2, 0.01, 5);
    assert_eq!(comparison.count(Change::Worse), 10);
    assert_eq!(comparison.count(Change::Better), 0);
    assert!(
        comparison.rows[..10]
            .iter()
            .all(|row| *row.name < *"x.r010")
    );
    let one_in_200 = many(1, 1.2, 0.01, 6);
    assert_eq!(one_in_200.count(Change::Worse), 1);
    assert!(one_in_200.count(Change::Same) > 20);
}

#[test]
fn the_interval_holds_the_true_ratio() {
    let held = (0..200)
        .map(|seed| one(1.3, 0.03, seed))
        .filter(|row| row.ci95_low <= Some(1.3) && Some(1.3) <= row.ci95_high)
        .count();
    assert!((184..=199).contains(&held), "{held} of 200");
}

#[test]
fn exchanging_the_sides_inverts_the_comparison() {
    let mut rng = fastrand::Rng::with_seed(9);
    let [base, new] = [100.0, 130.0].map(|level| side("a", level, 6, 0.01, &mut rng));
    let there = compare(&[&base], &[&new], &[]);
    let back = compare(&[&new], &[&base], &[]);
    let (there, back) = (only(&there), only(&back));
    assert_eq!(
        (there.verdict, back.verdict),
        (Change::Worse, Change::Better)
    );
    assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12);
    assert_eq!((there.margin, there.p_value), (back.margin, back.p_value));
    assert!((there.ci95_low.unwrap() * back.ci95_high.unwrap() - 1.0).abs() < 1e-3);
}

#[test]
fn a_higher_rate_is_better() {
    let mut rng = fastrand::Rng::with_seed(1);
    let [slow, fast] = [1e9, 1.5e9].map(|level| {
        let mut run = side("a", level, 6, 0.001, &mut rng);
        let row = &mut run.measurements[0];
        (row.unit, row.better) = (Unit::BytesPerSecond, Better::Higher);
        run
    });
    assert_eq!(
        only(&compare(&[&slow], &[&fast], &[])).verdict,
        Change::Better
    );
    let worse = compare(&[&fast], &[&slow], &[]);
    assert_eq!(only(&worse).verdict, Change::Worse);
    // 1.5 times less is 50 % worse.
    let by = only(&worse).worse_by_at_least().unwrap();
    assert!((0.48..0.5).contains(&by), "{by}");
}

#[test]
fn runs_that_differ_among_themselves_widen_margin_and_interval() {
    // A cost that changes between two levels from run to run, which one run per side cannot show.
    let mut rng = fastrand::Rng::with_seed(3);
    let [low, high, other_low, other_high] = [("a", 93.0), ("b", 115.0), ("c", 93.0), ("d", 115.0)]
        .map(|(id, level)| side(id, level, 6, 0.001, &mut rng));
    assert_eq!(
        only(&compare(&[&low], &[&high], &[])).verdict,
        Change::Worse
    );
    let known = compare(&[&low], &[&high], &[&other_low, &other_high]);
    assert_eq!(known.spread, ["c", "d"]);
    let changed = |row: &Row| matches!(row.verdict, Change::Worse | Change::Better);
    assert!(
        !changed(only(&known)) && only(&known).margin > 0.2,
        "{known:?}"
    );
    let pooled = compare(&[&low, &other_high], &[&high, &other_low], &[]);
    let pooled = only(&pooled);
    assert!(!changed(pooled), "{pooled:?}");
    assert!(pooled.ci95_high.unwrap() / pooled.ci95_low.unwrap() > 1.2);
}

#[test]
fn without_samples_the_intervals_must_do() {
    let mut rng = fastrand::Rng::with_seed(4);
    let mut side = |id, level| {
        let row = Measurement {
            samples: None,
            ..row("x.y", noisy(level, 9, 0.002, 0.001, &mut rng))
        };
        run(id, vec![row])
    };
    let (base, new, again) = (side("a", 100.0), side("b", 150.0), side("c", 150.0));
    let comparison = compare(&[&base], &[&new, &again], &[]);
    let found = only(&comparison);
    assert_eq!(found.verdict, Change::Worse);
    assert_eq!(
        found.notes,
        ["no samples were kept: estimated from the intervals of the medians"]
    );
}

#[test]
fn too_few_rounds_have_no_verdict() {
    let mut rng = fastrand::Rng::with_seed(4);
    let few = side("a", 100.0, 2, 0.001, &mut rng);
    let many = side("b", 300.0, 6, 0.001, &mut rng);
    let comparison = compare(&[&few], &[&many], &[]);
    let found = only(&comparison);
    assert_eq!(
        (found.verdict, found.ci95_low, found.p_value),
        (Change::Inconclusive, None, None)
    );
    assert_eq!(
        found.notes,
        ["too few rounds: 2 on the base side, 6 on the new side, at least 3 each are needed"]
    );
}

#[test]
fn what_must_not_be_compared_is_refused_by_name() {
    let mut rng = fastrand::Rng::with_seed(4);
    let mut plain = |name| row(name, noisy(100.0, 6, 0.001, 0.001, &mut rng));
    let base = run("a", ["x.a", "x.b", "x.c", "x.d"].map(&mut plain).to_vec());
    let mut new = base.clone();
    new.measurements[0].revision = 2;
    new.measurements[1].unit = Unit::Count;
    new.measurements[2].better = Better::Higher;
    new.measurements[3].estimate.median = Some(-1.0);
    let comparison = compare(&[&base], &[&new], &[]);
    assert_eq!(comparison.rows, []);
    let lines: Vec<String> = comparison
        .refused
        .iter()
        .map(|refused| format!("{}: {}", refused.name, refused.reason))
        .collect();
    assert_eq!(
        lines,
        [
            "x.a: its definition changed: revision 1 on the base side, 2 on the new side",
            "x.b: its unit differs between the runs: ns and count",
            "x.c: whether lower or higher is better changed",
            "x.d: a ratio of a level around zero says nothing",
        ]
    );
}

#[test]
fn a_row_without_a_number_says_where_and_why() {
    let mut rng = fastrand::Rng::with_seed(4);
    let mut plain = |name| row(name, noisy(100.0, 6, 0.001, 0.001, &mut rng));
    let base = run("a", ["x.a", "x.b", "x.c"].map(&mut plain).to_vec());
    let mut new = run("b", ["x.a", "x.b", "x.d"].map(&mut plain).to_vec());
    new.measurements[0].status = Status::Withheld;
    new.measurements[0].reason = Some("counted 0".to_owned());
    new.measurements[1].status = Status::BelowResolution;
    let comparison = compare(&[&base], &[&new], &[]);
    let lines: Vec<String> = comparison
        .missing
        .iter()
        .map(|missing| format!("{}: {}", missing.name, missing.reason))
        .collect();
    assert_eq!(
        lines,
        [
            "x.a: withheld (counted 0) on the new side",
            "x.b: below resolution on the new side",
            "x.c: not measured on the new side",
            "x.d: not measured on the base side",
        ]
    );
    // Pooled with a run that has the row, it is compared, with a note.
    let pooled = compare(&[&base], &[&new, &base], &[]);
    let found = pooled.rows.iter().find(|row| row.name == "x.a").unwrap();
    assert_eq!(
        found.notes,
        ["1 of 2 runs on the new side left out: withheld (counted 0)"]
    );
}

#[test]
fn samples_around_zero_have_no_interval() {
    let mut rng = fastrand::Rng::with_seed(4);
    let base = side("a", 100.0, 6, 0.001, &mut rng);
    let around: Vec<Vec<f64>> = (-2..5).map(|level| vec![f64::from(level); 5]).collect();
    let new = run("b", vec![row("x.y", around)]);
    let comparison = compare(&[&base], &[&new], &[]);
    let found = only(&comparison);
    assert_eq!(
        (found.verdict, found.ci95_high),
        (Change::Inconclusive, None)
    );
    assert!(found.notes[0].contains("around zero"));
}

#[test]
fn differing_facts_come_likeliest_first() {
    let mut base = run("a", Vec::new());
    let mut new = run("b", Vec::new());
    base.machine.hostname = "one".to_owned();
    for run in [&mut base, &mut new] {
        let affected = ("meltdown".to_owned(), "PTI".to_owned());
        run.machine.mitigations.extend([affected]);
    }
    new.machine.hostname = "other".to_owned();
    new.machine.kernel = "Linux 7".to_owned();
    new.machine.load1 = Some(3.0);
    new.machine
        .mitigations
        .insert("retbleed".to_owned(), "IBRS".to_owned());
    new.tool.version = "0.2.0".to_owned();
    new.core_ghz = Some(3.0);
    new.config.profile = "standard".to_owned();
    new.config.seed = 7;
    let facts = compare(&[&base], &[&new], &[]).facts;
    let lines: Vec<(&str, Option<&str>, Option<&str>)> = facts
        .iter()
        .map(|fact| (&*fact.fact, fact.base.as_deref(), fact.new.as_deref()))
        .collect();
    assert_eq!(
        lines,
        [
            ("core_ghz", Some("3.60"), Some("3.00")),
            ("machine.kernel", Some("none"), Some("Linux 7")),
            ("machine.mitigations.retbleed", Some("none"), Some("IBRS")),
            ("tool.version", Some("0.1.0"), Some("0.2.0")),
            ("config.profile", Some("quick"), Some("standard")),
            ("machine.hostname", Some("one"), Some("other")),
        ]
    );
    assert_eq!(
        facts[0].meaning.as_deref(),
        Some("costs of pure computation change by +20.0 % with it")
    );
    assert_eq!(compare(&[&base, &new], &[&new, &base], &[]).facts, []);
}

/// A side of this many runs, whose rows have a different level in each run: runs differ by 10 %,
/// processes by 2 %.
fn moody(runs: usize, rows: usize, rng: &mut fastrand::Rng) -> Vec<Run> {
    (0..runs)
        .map(|number| {
            let rows = (0..rows).map(|index| {
                let level = noisy(100.0, 1, 0.1, 0.0, rng)[0][0];
                row(&format!("x.r{index:03}"), noisy(level, 6, 0.02, 0.01, rng))
            });
            let rows = rows.collect();
            run(&format!("{number}"), rows)
        })
        .collect()
}

#[test]
fn runs_that_differ_among_themselves_are_no_change() {
    let mut rng = fastrand::Rng::with_seed(11);
    for runs in [2, 3] {
        let (mut changed, mut covered, mut all) = (0, 0, 0);
        for _ in 0..6 {
            let (base, new) = (moody(runs, 200, &mut rng), moody(runs, 200, &mut rng));
            let compared = compare(
                &base.iter().collect::<Vec<_>>(),
                &new.iter().collect::<Vec<_>>(),
                &[],
            );
            for row in &compared.rows {
                all += 1;
                changed += usize::from(matches!(row.verdict, Change::Better | Change::Worse));
                covered += usize::from(row.ci95_low <= Some(1.0) && Some(1.0) <= row.ci95_high);
            }
        }
        println!(
            "{runs} runs a side: {changed} of {all} called changed, {covered} intervals hold 1"
        );
        assert!(changed * 200 <= all, "{runs}: {changed} of {all}");
        assert!(covered * 100 >= all * 93, "{runs}: {covered} of {all}");
    }
}

#[test]
fn a_wide_margin_calls_no_large_change_the_same() {
    let mut rng = fastrand::Rng::with_seed(9);
    let [base, new, far] = [("a", 100.0), ("b", 130.0), ("c", 160.0)]
        .map(|(id, level)| side(id, level, 6, 0.01, &mut rng));
    let compared = compare(&[&base], &[&new], &[&far]);
    let row = only(&compared);
    assert!(row.margin > 0.3, "{row:?}");
    assert_eq!(row.verdict, Change::Inconclusive, "{row:?}");
}

#[test]
fn small_changes_are_the_same_and_unsure_ones_inconclusive() {
    assert_eq!(one(1.005, 0.001, 1).verdict, Change::Same);
    assert_eq!(one(1.005, 0.001, 1).margin, MIN_MARGIN);
    let unsure = one(1.1, 0.1, 2);
    assert_eq!(unsure.verdict, Change::Inconclusive);
    assert!(unsure.margin > 0.05, "{unsure:?}");
    assert_eq!(unsure.worse_by_at_least(), None);
}

#[test]
fn a_gate_passes_by_what_is_shown_and_company_explains_no_more_than_it_cost() {
    let row = |ratio: f64, spread| one(ratio, spread, 1);
    let in_company = |ratio, company| Row {
        disturbed: true,
        company,
        ..row(ratio, 0.001)
    };
    for (row, expected) in [
        (row(1.001, 0.001), Gated::Passed),
        (row(0.5, 0.001), Gated::Passed),
        // Worse, by less than the gate fails on.
        (row(1.03, 0.001), Gated::Passed),
        (row(1.2, 0.001), Gated::Failed),
        // Perhaps worse by a fifth, perhaps the same.
        (row(1.1, 0.1), Gated::Undecided),
        (in_company(20.0, Some(1.5)), Gated::Failed),
        (in_company(1.2, Some(1.5)), Gated::Undecided),
        (in_company(20.0, None), Gated::Undecided),
        (in_company(1.001, Some(1.5)), Gated::Undecided),
    ] {
        assert_eq!(row.gated(0.05), expected, "{row:?}");
    }
}

#[test]
fn what_did_not_change_is_mostly_called_the_same_though_processes_differ() {
    // Processes that differ by 1.5 % have medians of six that differ by up to 2 %.
    let rows: Vec<Row> = (0..200).map(|seed| one(1.0, 0.015, seed)).collect();
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    assert!(count(Change::Same) >= 130, "{}", count(Change::Same));
    assert!(
        rows.iter()
            .all(|row| row.same_within >= row.margin.min(MAX_SAME))
    );
    // A larger difference is never called the same.
    let slower = (0..200).map(|seed| one(1.12, 0.015, seed));
    assert_eq!(slower.filter(|row| row.verdict == Change::Same).count(), 0);
}

#[test]
fn a_change_beyond_the_margin_is_one_even_within_what_is_the_same() {
    let mut row = one(1.0, 0.001, 1);
    (row.margin, row.same_within) = (0.05, 0.08);
    (row.ci95_low, row.ci95_high) = (Some(1.056), Some(1.07));
    assert_eq!(verdict(&row, true), Change::Worse);
    assert_eq!(verdict(&row, false), Change::Same);
}

#[test]
fn a_step_of_the_clock_is_no_change() {
    // Every process shows the same step: 15 of 10 ns, then 16.
    let side = |id, ns: f64, grain| {
        let mut row = row("x.y", vec![vec![ns; 5]; 6]);
        row.estimate.clock_grain = grain;
        run(id, vec![row])
    };
    let compared = |grain| {
        let (base, new) = (side("a", 150.0, grain), side("b", 160.0, grain));
        [compare(&[&base], &[&new], &[]), compare_pair(&base, &new)].map(|both| only(&both).clone())
    };
    for row in compared(Some(10.0)) {
        assert_eq!(row.verdict, Change::Inconclusive, "{row:?}");
        assert!(row.ci95_low < Some(1.0) && row.margin > 0.09, "{row:?}");
    }
    for row in compared(None) {
        assert_eq!(row.verdict, Change::Worse, "{row:?}");
    }
}

/// This number of earlier runs, which differ by `deviation`.
fn earlier(runs: usize, deviation: f64, rng: &mut fastrand::Rng) -> Vec<EarlierRun> {
    let run = |number: usize| EarlierRun {
        run: format!("earlier{number}"),
        level: 100_f64.ln() + deviation * normal(rng),
        error: 0.001,
    };
    (0..runs).map(run).collect()
}

/// A run of rows that differ by 5 % from run to run and by 0.5 % within one, whose document knows
/// this from so many runs.
fn of_kept_runs(runs: usize, rng: &mut fastrand::Rng) -> Run {
    let rows = (0..200).map(|index| {
        let level = 100.0 * (0.05 * normal(rng)).exp();
        let mut row = row(
            &format!("x.r{index:03}"),
            noisy(level, 9, 0.005, 0.005, rng),
        );
        row.earlier = earlier(runs, 0.05, rng);
        row
    });
    run("a", rows.collect())
}

#[test]
fn rows_that_differ_between_kept_runs_are_no_change_between_two() {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut changed = |runs| {
        let compared = compare(
            &[&of_kept_runs(runs, &mut rng)],
            &[&of_kept_runs(runs, &mut rng)],
            &[],
        );
        compared.count(Change::Worse) + compared.count(Change::Better)
    };
    let found = [0, 12].map(&mut changed);
    assert!(found[0] > 100, "single runs cannot show it: {found:?}");
    assert_eq!(found[1], 0, "{found:?}");
}

#[test]
fn what_is_known_of_one_side_holds_for_both_and_a_large_change_is_found() {
    let mut rng = fastrand::Rng::with_seed(6);
    let kept = earlier(12, 0.02, &mut rng);
    let none = Vec::new();
    let mut side = |level: f64, kept: &[EarlierRun]| {
        let mut row = row("x.y", noisy(level, 9, 0.002, 0.002, &mut rng));
        row.earlier = kept.to_vec();
        run("a", vec![row])
    };
    let (kept, none) = (&kept[..], &none[..]);
    for (base, new) in [(kept, none), (none, kept)] {
        let slower = compare(&[&side(100.0, base)], &[&side(104.0, new)], &[]);
        assert_eq!(only(&slower).verdict, Change::Inconclusive, "{slower:?}");
        assert_eq!(slower.of_single_runs(), 0, "the kept runs are behind it");
        let slower = compare(&[&side(100.0, base)], &[&side(130.0, new)], &[]);
        assert_eq!(only(&slower).verdict, Change::Worse, "{slower:?}");
    }
    let single = compare(&[&side(100.0, none)], &[&side(104.0, none)], &[]);
    assert_eq!(single.of_single_runs(), 1, "nothing is");
    // Rounds measured in turn are minutes of one run.
    let in_turn = compare_pair(&side(100.0, kept), &side(104.0, kept));
    assert_eq!(only(&in_turn).verdict, Change::Worse, "{in_turn:?}");
}

/// A comparison of a hundred rows whose processes differ by 1 %, the first of them slower by a
/// factor.
fn slower(factor: f64, rng: &mut fastrand::Rng) -> Comparison {
    let mut side = |factor: f64| {
        let level = |index| if index == 0 { 100.0 * factor } else { 100.0 };
        let rows = (0..100).map(|index| {
            row(
                &format!("x.r{index:03}"),
                noisy(level(index), 12, 0.01, 0.01, rng),
            )
        });
        run("a", rows.collect())
    };
    compare(&[&side(1.0)], &[&side(factor)], &[])
}

#[test]
fn a_change_that_could_be_found_is_found_in_four_of_five_cases() {
    let mut rng = fastrand::Rng::with_seed(4);
    let typical = slower(1.0, &mut rng)
        .power
        .and_then(|power| power.half)
        .expect("intervals");
    assert!((0.02..0.08).contains(&typical), "{typical}");
    let mut found = |factor: f64| {
        let is_worse = |row: &Row| row.name == "x.r000" && row.verdict == Change::Worse;
        let trials = (0..100).map(|_| slower(factor, &mut rng));
        trials
            .filter(|compared| compared.rows.iter().any(is_worse))
            .count()
    };
    let (at, half) = (found(1.0 + typical), found(1.0 + typical / 2.0));
    println!("{typical}: {at} and {half} of 100");
    assert!((68..=95).contains(&at), "{at} of 100 found at {typical}");
    assert!(half < 30, "{half} of 100 found at half of {typical}");
}

#[test]
fn rows_that_can_show_nothing_count_as_well() {
    let rows = |known: usize| -> Vec<Row> {
        let row = |index| Row {
            detectable: (index < known).then_some(0.01 * (1.0 + index as f64)),
            ..one(1.0, 0.01, 1)
        };
        (0..10).map(row).collect()
    };
    let power = |known| Power::of(&rows(known)).expect("rows");
    assert!(
        power(10)
            .half
            .is_some_and(|half| (0.05..0.07).contains(&half))
    );
    assert!(power(10).nine_of_ten.is_some_and(|most| most > 0.085));
    assert_eq!(power(7).nine_of_ten, None);
    assert_eq!((power(4).half, Power::of(&[])), (None, None));
}
