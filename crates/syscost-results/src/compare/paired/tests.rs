use super::super::{Change, MIN_PAIRED_MARGIN, compare, compare_pair};
use crate::Run;
use crate::fixture::{normal, row, run, run_of};
use crate::measurement::{Cause, Disturbance};

/// Six rounds that drift by 40 % from first to last; the new side is `factor` times as
/// expensive.
fn drifting(factor: f64) -> Vec<Vec<f64>> {
    (0..6)
        .map(|round| {
            let level = 100.0 * (1.0 + 0.08 * f64::from(round)) * factor;
            (0..5)
                .map(|n| level * (1.0 + 0.001 * f64::from(n)))
                .collect()
        })
        .collect()
}

#[test]
fn a_drift_of_both_sides_cancels() {
    let (base, new) = (run_of(&drifting(1.0)), run_of(&drifting(1.05)));
    let paired = compare_pair(&base, &new);
    let row = &paired.rows[0];
    assert_eq!(row.verdict, Change::Worse, "{row:?}");
    assert!((row.ratio - 1.05).abs() < 1e-9, "{row:?}");
    assert_eq!(row.margin, MIN_PAIRED_MARGIN);
    assert!(row.ci95_low > Some(1.049) && row.ci95_high < Some(1.051));
    let apart = compare(&[&base], &[&new], &[]);
    assert_eq!(apart.rows[0].verdict, Change::Inconclusive);
}

#[test]
fn the_margin_grows_with_what_rounds_differ_by() {
    // 0.9, 1.0, 1.1 in turn: the centre of six of them is uncertain by some percent.
    let base: Vec<Vec<f64>> = vec![vec![100.0; 5]; 6];
    let new: Vec<Vec<f64>> = (0..6)
        .map(|round| vec![90.0 + 10.0 * f64::from(round % 3); 5])
        .collect();
    let row = &compare_pair(&run_of(&base), &run_of(&new)).rows[0];
    assert!((0.05..0.08).contains(&row.margin), "{row:?}");
    assert_eq!(row.verdict, Change::Inconclusive);
}

#[test]
fn what_the_first_of_a_round_gains_cancels() {
    // The side that runs first is 3 % more expensive: A in even rounds, B in odd ones, and A in
    // one round more.
    let side = |is_b: bool| -> Vec<Vec<f64>> {
        (0..9)
            .map(|round| {
                let first = (round % 2 == 1) == is_b;
                vec![100.0 * (1.0 + 0.03 * f64::from(u8::from(first))) + 0.01 * f64::from(round); 5]
            })
            .collect()
    };
    let row = &compare_pair(&run_of(&side(false)), &run_of(&side(true))).rows[0];
    assert!((row.ratio - 1.0).abs() < 0.005, "{row:?}");
    assert_ne!(row.verdict, Change::Worse);
    assert_ne!(row.verdict, Change::Better);
}

/// Rounds of ten samples at this level; in those selected by `shared`, interference makes all of
/// them half as long again.
fn with_interference(level: f64, rounds: u32, shared: impl Fn(u32) -> bool) -> crate::Run {
    let factor = |round| if shared(round) { 1.5 } else { 1.0 };
    let values = (0..rounds).map(|round| vec![level * factor(round); 10]);
    let mut run = run_of(&values.collect::<Vec<_>>());
    let row = &mut run.measurements[0];
    row.estimate.undisturbed_percent = Some(50.0);
    for round in row.samples.iter_mut().flatten() {
        round.alone_percent = Some(50.0);
        if shared(round.round) {
            round.disturbed = (0..10)
                .map(|sample| Disturbance {
                    sample,
                    cause: Cause::SharedCore,
                })
                .collect();
        }
    }
    run
}

#[test]
fn rounds_that_are_undisturbed_on_both_sides_decide() {
    let base = with_interference(100.0, 12, |round| round % 4 == 0);
    let new = with_interference(105.0, 12, |round| round % 4 == 1);
    let row = &compare_pair(&base, &new).rows[0];
    assert!((row.ratio - 1.05).abs() < 1e-9, "{row:?}");
    assert_eq!((row.verdict, row.notes.len()), (Change::Worse, 0));
}

#[test]
fn rounds_that_are_undisturbed_on_one_side_only_count_as_well() {
    let base = with_interference(100.0, 12, |round| round % 2 == 0);
    let new = |level| with_interference(level, 12, |round| round % 2 == 1);
    let row = &compare_pair(&base, &new(100.0)).rows[0];
    assert_eq!((row.verdict, row.notes.len()), (Change::Same, 0), "{row:?}");
    assert_eq!(
        compare_pair(&base, &new(105.0)).rows[0].verdict,
        Change::Worse
    );
}

/// A run of 200 rows with this many rounds each; `common` is by how much those of one number move
/// together on both sides, `own` by how much each differs.
fn in_turn(rounds: u32, common: f64, own: f64, seed: u64) -> [Run; 2] {
    let mut rng = fastrand::Rng::with_seed(seed);
    let rows = (0..200).map(|index| {
        let both = (0..rounds).map(|_| (common * normal(&mut rng)).exp());
        let both: Vec<f64> = both.collect();
        [0, 1].map(|_| {
            let processes = both
                .iter()
                .map(|one| vec![100.0 * one * (own * normal(&mut rng)).exp(); 5]);
            row(&format!("x.r{index:03}"), processes.collect())
        })
    });
    let (base, new): (Vec<_>, Vec<_>) = rows.map(|[base, new]| (base, new)).unzip();
    [run("a", base), run("b", new)]
}

#[test]
fn runs_measured_in_turn_say_at_least_as_much_as_the_same_runs_apart() {
    for (common, own) in [(0.0, 0.005), (0.0, 0.02), (0.01, 0.005), (0.05, 0.003)] {
        let [base, new] = in_turn(6, common, own, 8);
        let (paired, apart) = (compare_pair(&base, &new), compare(&[&base], &[&new], &[]));
        let [of_paired, of_apart] = [&paired, &apart].map(|of| of.count(Change::Inconclusive));
        println!("{common} {own}: {of_paired} inconclusive in turn, {of_apart} apart");
        assert!(
            of_paired <= of_apart,
            "{common} {own}: {of_paired} {of_apart}"
        );
        let changed = paired.count(Change::Worse) + paired.count(Change::Better);
        assert!(changed <= 1, "{common} {own}: {changed}");
        let covered = paired.rows.iter();
        let covered = covered.filter(|row| row.ci95_low <= Some(1.0) && Some(1.0) <= row.ci95_high);
        assert!(covered.count() >= 184, "{common} {own}");
        for row in &paired.rows {
            // The ratio agrees with the medians beside it.
            assert!((row.ratio / (row.new / row.base)).ln().abs() < 3.0 * own + 0.5 * common);
        }
    }
}

#[test]
fn rounds_of_one_side_only_are_left_out() {
    let base = run_of(&drifting(1.0));
    let mut new = run_of(&drifting(1.0));
    new.measurements[0]
        .samples
        .as_mut()
        .expect("samples")
        .remove(2);
    let of = |new: &Run| compare_pair(&base, new).rows[0].clone();
    let five = of(&new);
    assert!(
        five.ci95_low <= Some(1.0) && five.ci95_high >= Some(1.0),
        "{five:?}"
    );
    new.measurements[0]
        .samples
        .as_mut()
        .expect("samples")
        .truncate(2);
    let two = of(&new);
    assert_eq!((two.ci95_low, two.verdict), (None, Change::Inconclusive));
    assert_eq!(
        two.notes,
        ["too few rounds: 6 on the base side, 2 on the new side, at least 3 each are needed"]
    );
}

/// Runs of 200 rows of which 12 rounds were undisturbed on both sides, and `others` on the base's
/// alone and as many on the new side's alone. What a round adds to both, and what it adds to each
/// alone, have these deviations; the new side is `factor` times as high.
fn partly_in_turn(others: u32, (common, own): (f64, f64), factor: f64, seed: u64) -> [Run; 2] {
    const BOTH: u32 = 12;
    let mut rng = fastrand::Rng::with_seed(seed);
    let rows = (0..200).map(|index| {
        let levels = (0..BOTH + 2 * others).map(|_| 100.0 * (common * normal(&mut rng)).exp());
        let levels: Vec<f64> = levels.collect();
        [(0, 1.0), (others, factor)].map(|(first, factor)| {
            let kept = first..first + BOTH + others;
            let of_round = |level: &f64| vec![level * factor * (own * normal(&mut rng)).exp(); 5];
            let processes = levels[kept.start as usize..kept.end as usize].iter();
            let mut row = row(&format!("x.r{index:03}"), processes.map(of_round).collect());
            let samples = row.samples.iter_mut().flatten();
            samples.for_each(|round| round.round += first);
            row
        })
    });
    let (base, new): (Vec<_>, Vec<_>) = rows.map(|[base, new]| (base, new)).unzip();
    [run("a", base), run("b", new)]
}

#[test]
fn intervals_of_rounds_in_turn_cover_what_they_claim() {
    // Of the rows that are compared by their pairs (11 degrees of freedom) as of all: where the
    // narrower interval was taken, pairs with many other rounds covered 88 %.
    let effect = 1.05;
    for (others, common) in [(0, 0.0), (0, 0.02), (60, 0.02)] {
        let (mut all, mut of_pairs) = (Vec::new(), Vec::new());
        for seed in 0..5 {
            let [base, new] = partly_in_turn(others, (common, 0.01), effect, seed);
            for row in compare_pair(&base, &new).rows {
                let interval = row.ci95_low.zip(row.ci95_high);
                let (low, high) = interval.expect("enough rounds a side");
                let is_covered = (low..=high).contains(&effect);
                all.push(is_covered);
                of_pairs.extend((row.freedom == Some(9)).then_some(is_covered));
            }
        }
        let share = |covered: &[bool]| {
            covered.iter().filter(|one| **one).count() as f64 / covered.len() as f64
        };
        let (whole, pairs) = (share(&all), share(&of_pairs));
        println!(
            "{others} {common}: {whole} of all, {pairs} of {}",
            of_pairs.len()
        );
        assert!(
            (0.935..0.985).contains(&whole),
            "{others} {common}: {whole}"
        );
        let has_pairs = of_pairs.len() > 300;
        assert_eq!(has_pairs, common > 0.0, "{others} {common}");
        assert!(!has_pairs || pairs > 0.93, "{others} {common}: {pairs}");
    }
}
