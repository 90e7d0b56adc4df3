//! Groups, noise and tails of a comparison.

use super::*;
use crate::fixture::{row, run};
use crate::run::Noise;

/// A run of rows at these levels, each with six processes.
fn of(id: &str, levels: &[(&str, f64)]) -> Run {
    let rows = levels.iter().map(|(name, level)| {
        let process = |index| vec![level * (1.0 + 0.0001 * f64::from(index)); 5];
        row(name, (0..6).map(process).collect())
    });
    run(id, rows.collect())
}

const NAMES: [&str; 6] = [
    "syscall.a{n=1}",
    "syscall.a{n=2}",
    "syscall.b",
    "syscall.c",
    "memory.d",
    "memory.e",
];

fn compared(factors: [f64; 6]) -> Comparison {
    let base: Vec<(&str, f64)> = NAMES.iter().map(|name| (*name, 100.0)).collect();
    let new: Vec<(&str, f64)> = NAMES
        .iter()
        .zip(factors)
        .map(|(name, factor)| (*name, 100.0 * factor))
        .collect();
    compare(&[&of("a", &base)], &[&of("b", &new)], &[])
}

#[test]
fn a_group_has_a_mean_over_its_benchmarks_and_counts() {
    // The two rows of `a` count as one benchmark: their mean is 1.2.
    let groups = compared([1.1, 1.2 * 1.2 / 1.1, 1.2, 1.2, 0.5, 1.0]).groups;
    let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["memory", "syscall", ""]);
    let is_near =
        |ratio: Option<f64>, goal: f64| ratio.is_some_and(|ratio| (ratio - goal).abs() < 1e-9);
    let syscall = &groups[1];
    assert!(is_near(syscall.ratio, 1.2), "{syscall:?}");
    assert_eq!(
        syscall.ci95_low, None,
        "single runs do not show how much runs differ"
    );
    assert_eq!((syscall.rows, syscall.benchmarks, syscall.worse), (4, 3, 4));
    let memory = &groups[0];
    assert!(is_near(memory.ratio, 0.5_f64.sqrt()), "{memory:?}");
    assert_eq!((memory.better, memory.same), (1, 1));
    let all = &groups[2];
    assert_eq!((all.rows, all.worse + all.better + all.same), (6, 6));
    assert_eq!(all.left_out, 0);
}

/// The interval over all rows of runs at these levels.
fn interval(base: &[f64], new: &[f64]) -> Option<(f64, f64)> {
    let runs = |levels: &[f64]| -> Vec<Run> {
        let run = |(index, level): (usize, &f64)| {
            let rows: Vec<(&str, f64)> = NAMES.iter().map(|name| (*name, *level)).collect();
            of(&format!("{index} {level}"), &rows)
        };
        levels.iter().enumerate().map(run).collect()
    };
    let (base, new) = (runs(base), runs(new));
    let [base, new] = [&base, &new].map(|side| side.iter().collect::<Vec<&Run>>());
    let groups = compare(&base, &new, &[]).groups;
    let all = groups.last().expect("all rows together");
    all.ci95_low.zip(all.ci95_high)
}

#[test]
fn what_differs_between_whole_runs_widens_the_interval_of_a_group() {
    assert_eq!(interval(&[100.0], &[103.0]), None);
    let (low, high) = interval(&[100.0, 100.0], &[103.0, 103.0]).expect("runs that agree");
    assert!(low > 1.029 && high < 1.031, "{low} {high}");
    // All rows of a run cost more by the same amount: no single row shows it, yet all agree that
    // the new side is slower.
    let (low, high) = interval(&[98.0, 102.0, 100.0], &[105.0, 101.0, 103.0]).expect("six runs");
    assert!(low < 1.0 && high > 1.06, "{low} {high}");
}

#[test]
fn two_benchmarks_tell_no_spread_of_a_group() {
    let base = of("a", &[("x.a", 100.0), ("x.b", 100.0)]);
    let new = of("b", &[("x.a", 110.0), ("x.b", 120.0)]);
    let groups = compare_pair(&base, &new).groups;
    assert_eq!(groups[0].ci95_low, None, "{groups:?}");
}

#[test]
fn rows_that_are_no_part_of_the_mean_are_counted() {
    let levels: Vec<(&str, f64)> = NAMES.iter().map(|name| (*name, 100.0)).collect();
    let (mut base, mut new) = (of("a", &levels), of("b", &levels));
    for side in [&mut base, &mut new] {
        side.measurements[0].flags = vec![crate::Flag::Disturbed];
        let samples = side.measurements[2].samples.as_mut();
        samples.expect("samples").truncate(2);
    }
    let groups = compare(&[&base], &[&new], &[]).groups;
    let syscall = &groups[1];
    assert_eq!((syscall.rows, syscall.left_out), (4, 2), "{syscall:?}");
    assert_eq!((syscall.benchmarks, groups[2].left_out), (2, 2));
    for side in [&mut base, &mut new] {
        let rows = side.measurements.iter_mut();
        rows.filter(|row| row.id.starts_with("memory"))
            .for_each(|row| row.flags = vec![crate::Flag::Disturbed]);
    }
    let groups = compare(&[&base], &[&new], &[]).groups;
    let memory = &groups[0];
    assert_eq!((memory.rows, memory.left_out, memory.ratio), (2, 2, None));
}

#[test]
fn a_higher_rate_makes_a_group_cheaper() {
    let mut base = of("a", &[("net.x", 100.0)]);
    let mut new = of("b", &[("net.x", 200.0)]);
    for side in [&mut base, &mut new] {
        side.measurements[0].better = Better::Higher;
        side.measurements[0].unit = Unit::BytesPerSecond;
    }
    let groups = compare(&[&base], &[&new], &[]).groups;
    assert_eq!(groups.len(), 1, "one group is all there is");
    let ratio = groups[0].ratio.expect("a mean");
    assert!((ratio - 0.5).abs() < 1e-9, "{groups:?}");
}

#[test]
fn runs_of_very_different_noise_are_reported() {
    let quiet = of("a", &[("x.y", 100.0)]);
    let noisy = |ours, lost| {
        let mut run = quiet.clone();
        run.noise = vec![Noise {
            used: true,
            measured_alone_percent: Some(ours),
            lost_percent: lost,
            ..Noise::default()
        }];
        run
    };
    let facts = |a: &Run, b: &Run| -> Vec<String> {
        let facts = compare(&[a], &[b], &[]).facts.into_iter();
        facts
            .filter(|fact| fact.fact.starts_with("noise."))
            .map(|fact| fact.fact)
            .collect()
    };
    assert_eq!(
        facts(&noisy(97.0, 0.1), &noisy(31.0, 2.0)),
        ["noise.cores_ours", "noise.time_lost"]
    );
    assert_eq!(facts(&noisy(97.0, 0.1), &noisy(90.0, 0.3)), [""; 0]);
    assert_eq!(facts(&quiet, &noisy(31.0, 2.0)), [""; 0], "not known");
}

#[test]
fn one_side_known_much_less_well_is_reported() {
    let names: Vec<String> = (0..12).map(|index| format!("x.r{index}")).collect();
    let side = |id, width| {
        let levels: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 100.0)).collect();
        let mut run = of(id, &levels);
        for row in &mut run.measurements {
            (row.estimate.ci95_low, row.estimate.ci95_high) =
                (Some(100.0 - width), Some(100.0 + width));
        }
        run
    };
    let facts = compare(&[&side("a", 1.0)], &[&side("b", 4.0)], &[]).facts;
    assert_eq!(facts[0].fact, "noise.half_width");
    assert_eq!(facts[0].new.as_deref(), Some("4.0 %"));
    // Widths of zero do not differ, and tiny ones explain nothing.
    for (one, other) in [(0.0, 0.0), (0.0, 0.04), (0.01, 0.04)] {
        let facts = compare(&[&side("a", one)], &[&side("b", other)], &[]).facts;
        assert_eq!(facts, [], "{one} {other}");
    }
}

#[test]
fn tails_are_compared_where_both_have_one() {
    let side = |p99| {
        let mut run = of("a", &[("x.y", 100.0)]);
        run.measurements[0].estimate.p99 = p99;
        run
    };
    let p99 = |base, new| compare(&[&side(base)], &[&side(new)], &[]).rows[0].p99;
    let found = p99(Some(200.0), Some(300.0)).expect("both have one");
    assert_eq!(found.ratio(), 1.5);
    assert_eq!(p99(Some(200.0), None), None);
}

/// Nine rows of one benchmark, three runs a side, each row up by 1.3 to 1.5 in a noise of 30 %.
#[test]
fn rows_that_none_could_show_alone_show_it_together() {
    let mut rng = fastrand::Rng::with_seed(12);
    let mut side = |id: &str, factor: f64| {
        let mut rows = vec![row("z.y", noisy(100.0, 6, 0.3, 0.05, &mut rng))];
        rows.extend((0..9).map(|index| {
            let level = 100.0 * (1.0 + factor * (1.0 + 0.05 * f64::from(index)));
            let mut row = row(
                &format!("x.y{{call={index}}}"),
                noisy(level, 6, 0.3, 0.05, &mut rng),
            );
            row.id = "x.y".to_owned();
            row
        }));
        run(id, rows)
    };
    let [base, new] = [0.0, 0.4].map(|factor| {
        let ids = ["1", "2", "3"].map(|id| format!("{id}{factor}"));
        ids.map(|id| side(&id, factor))
    });
    let compared = compare(
        &base.iter().collect::<Vec<_>>(),
        &new.iter().collect::<Vec<_>>(),
        &[],
    );
    let groups: Vec<(&str, Change)> = compared
        .changed_groups()
        .map(|(group, change)| (&*group.name, change))
        .collect();
    assert!(compared.count(Change::Worse) < 9, "{:?}", compared.groups);
    assert_eq!(groups, [("x", Change::Worse)], "{:?}", compared.groups);
}
