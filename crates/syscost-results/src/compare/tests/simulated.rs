//! Simulated comparisons of which it is known what changed: how much is found, and what is called
//! changed though it is not.

use syscost_stats::order;

use super::*;
use crate::measurement::EarlierRun;

/// How far the levels of runs lie apart, and those of the processes of one.
const RUNS: f64 = 0.003;
const PROCESSES: f64 = 0.01;
const COUNT: usize = 12;

/// A machine that measures the same rows again and again, and keeps what it finds.
struct Machine {
    rng: fastrand::Rng,
    /// Of each row, its level in each run so far.
    kept: Vec<Vec<EarlierRun>>,
    runs: usize,
}

impl Machine {
    fn new(rows: usize, seed: u64) -> Self {
        Self {
            rng: fastrand::Rng::with_seed(seed),
            kept: vec![Vec::new(); rows],
            runs: 0,
        }
    }

    /// The next runs, in which the first `changed` rows cost `factor` times as much.
    fn runs(&mut self, count: usize, factor: f64, changed: usize) -> Vec<Run> {
        (0..count).map(|_| self.run(factor, changed)).collect()
    }

    fn run(&mut self, factor: f64, changed: usize) -> Run {
        self.runs += 1;
        let id = self.runs.to_string();
        let mut rows = Vec::new();
        for (index, kept) in self.kept.iter_mut().enumerate() {
            let factor = if index < changed { factor } else { 1.0 };
            let level = 100.0 * factor * (RUNS * normal(&mut self.rng)).exp();
            let mut processes = noisy(level, COUNT, PROCESSES, 0.0, &mut self.rng);
            processes.iter_mut().for_each(|process| process.truncate(1));
            let medians: Vec<f64> = processes.iter().map(|one| one[0].ln()).collect();
            let mut row = row(&format!("x.r{index:03}"), processes);
            row.earlier = kept[kept.len().saturating_sub(12)..].to_vec();
            kept.push(EarlierRun {
                run: id.clone(),
                level: order::median(&medians).expect("processes"),
                error: 1.2533 * PROCESSES / (COUNT as f64).sqrt(),
            });
            rows.push(row);
        }
        run(&id, rows)
    }

    /// Forgets what it kept: a recorded fact is another one.
    fn set_up_anew(&mut self) {
        self.kept.iter_mut().for_each(Vec::clear);
    }
}

fn compared(base: &[Run], new: &[Run]) -> Comparison {
    let [base, new] = [base, new].map(|side| side.iter().collect::<Vec<_>>());
    compare(&base, &new, &[])
}

/// Of the rows, how many changed ones are found, and how many others are called changed.
fn found(compared: &Comparison, changed: usize) -> (usize, usize) {
    let is_changed = |row: &&Row| row.name < format!("x.r{changed:03}");
    let worse = compared
        .rows
        .iter()
        .filter(|row| row.verdict == Change::Worse);
    let right = worse.filter(is_changed).count();
    let all = compared.count(Change::Worse) + compared.count(Change::Better);
    (right, all - right)
}

/// Some runs, a change, some runs: the recipe of the README.
#[test]
fn a_change_is_found_whatever_the_machine_kept_and_however_much_changed() {
    const ROWS: usize = 40;
    println!("factor changed a-side history recorded: found of changed, false of others");
    for factor in [1.05, 1.5, 10.0] {
        for changed in [2, 20, 40] {
            for side in [1, 3, 10] {
                for history in [0, 4, 8, 12] {
                    for is_recorded in [true, false] {
                        let mut machine = Machine::new(ROWS, 7);
                        machine.runs(history, 1.0, 0);
                        let base = machine.runs(side, 1.0, 0);
                        if is_recorded {
                            machine.set_up_anew();
                        }
                        let new = machine.runs(side, factor, changed);
                        let (right, wrong) = found(&compared(&base, &new), changed);
                        println!(
                            "{factor:>5} {changed:>3} {side:>2} {history:>2} {is_recorded:>5}: \
                             {right} of {changed}, {wrong} of {}",
                            ROWS - changed
                        );
                        assert!(wrong <= 1, "{wrong} others");
                        // Of so small a change a single run a side cannot always tell.
                        let least = if factor < 1.1 && side < 3 { 0 } else { 95 };
                        assert!(100 * right >= least * changed, "{right} of {changed}");
                    }
                }
            }
        }
    }
}

/// One comparison of rows of which none changed, with this many processes that differ by this much
/// on either side; how often the interval excludes 1, how often p is below 0.001, how often a row is
/// called changed; and how often a row is that is slower by a factor.
fn unlike(
    sides: [(usize, f64); 2],
    factor: f64,
    rows: usize,
    rng: &mut fastrand::Rng,
) -> (f64, f64, f64, f64) {
    let mut side = |id: &str, (count, spread): (usize, f64), factor: f64| {
        let rows = (0..rows).map(|index| {
            let mut process = || vec![100.0 * factor * (spread * normal(rng)).exp()];
            let processes = (0..count).map(|_| process()).collect();
            row(&format!("x.r{index:04}"), processes)
        });
        run(id, rows.collect())
    };
    let base = side("a", sides[0], 1.0);
    let same = compare(&[&base], &[&side("b", sides[1], 1.0)], &[]);
    let slower = compare(&[&base], &[&side("c", sides[1], factor)], &[]);
    let share = |of: &dyn Fn(&Row) -> bool| {
        same.rows.iter().filter(|row| of(row)).count() as f64 / rows as f64
    };
    (
        share(&|row| row.ci95_low > Some(1.0) || row.ci95_high < Some(1.0)),
        share(&|row| row.p_value < Some(0.001)),
        share(&|row| matches!(row.verdict, Change::Worse | Change::Better)),
        slower.count(Change::Worse) as f64 / rows as f64,
    )
}

#[test]
fn sides_of_any_number_and_spread_cover_and_are_seldom_called_changed() {
    let sides: Vec<(usize, f64)> = [6, 12, 25, 51]
        .into_iter()
        .flat_map(|count| [0.005, 0.01, 0.02, 0.05].map(|spread| (count, spread)))
        .collect();
    println!("base, new: excludes 1, p < 0.001, called changed; 10 % slower found");
    let mut rng = fastrand::Rng::with_seed(3);
    let (mut wrong, mut all, mut called) = (Vec::new(), Vec::new(), Vec::new());
    for (index, base) in sides.iter().enumerate() {
        for new in &sides[index..] {
            let (excluded, small, changed, slower) = unlike([*base, *new], 1.1, 300, &mut rng);
            println!("{base:?} {new:?}: {excluded:.3} {small:.4} {changed:.4}; {slower:.2}");
            // A share of 300 of 5 % has a standard deviation of 1.3 %.
            let is_right = (0.02..=0.09).contains(&excluded) && small <= 0.015;
            wrong.extend((!is_right).then_some((*base, *new)));
            all.push(excluded);
            called.push(changed);
        }
    }
    assert_eq!(wrong, []);
    let [excluded, called] = [all, called].map(|shares| student::mean(&shares));
    println!("together {excluded:.4} exclude 1, {called:.5} are called changed");
    assert!((0.045..0.056).contains(&excluded) && called <= 0.003);
}
