//! `cargo lab aa`: how often a comparison of a machine with itself calls a row changed, and how
//! often it finds an injected change.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use syscost_harness::session::Profile;
use syscost_results::compare::{self, Change, Comparison, Gated, Row};
use syscost_results::{Better, Run};
use syscost_stats::multiple::benjamini_hochberg;

use crate::columns::{columns, line};
use crate::host::is_of_the_host;
use crate::program::{Given, read_run};

/// At most this share of the rows may be called better or worse when nothing changed.
const GOAL: f64 = 0.003;
/// The gate that may not fail: a row that is worse by this share at least, or is lost.
const GATE: f64 = 0.05;
/// The injected slowdowns, as factors.
const SLOWDOWNS: [f64; 4] = [1.02, 1.05, 1.10, 1.20];

/// The slowdown, as a factor, for which missed rows are listed.
const LISTED: f64 = 1.05;

/// Arguments of `aa`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Run documents of one machine in one state, in the order they were measured; measured now if
    /// none is given
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// How many pairs of quick runs to measure if no document is given
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Compare runs that were measured in turn, by `syscost ab`; documents are those of A and B by turns
    #[arg(long, conflicts_with_all = ["pool", "shuffles", "spread"])]
    paired: bool,
    /// Runs pooled on each side
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pool: u32,
    /// Also shuffle the runs into new pairs this many times
    #[arg(long, default_value_t = 0)]
    shuffles: u64,
    #[command(flatten)]
    program: Given,
    /// Runs at the end that only serve to estimate the base's spread
    #[arg(long, default_value_t = 0)]
    spread: usize,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut runs = match &arguments.runs[..] {
        [] => measure(arguments)?,
        files => files
            .iter()
            .map(|file| read_run(file))
            .collect::<Result<_>>()?,
    };
    let pool = arguments.pool as usize;
    ensure!(
        runs.len() >= 2 * pool + arguments.spread,
        "{} runs are too few: 2 sides of {pool} and {} for the spread are needed",
        runs.len(),
        arguments.spread
    );
    let spread = runs.split_off(runs.len() - arguments.spread);
    let spread: Vec<&Run> = spread.iter().collect();
    let mut order: Vec<usize> = (0..runs.len()).collect();
    let mut tally = Tally::default();
    for shuffle in 0..=arguments.shuffles {
        if shuffle > 0 {
            fastrand::Rng::with_seed(shuffle).shuffle(&mut order);
        }
        for pair in order.chunks_exact(2 * pool) {
            let side = |part: &[usize]| part.iter().map(|&index| &runs[index]).collect::<Vec<_>>();
            let (base, new) = pair.split_at(pool);
            let (base, new) = (side(base), side(new));
            tally.add(&new, |new| match arguments.paired {
                true => compare::compare_pair(base[0], new[0]),
                false => compare::compare(&base, new, &spread),
            });
        }
    }
    print!("{}", tally.table());
    let rows = tally.all.rows as f64;
    ensure!(
        rows * GOAL >= 1.0,
        "{rows} rows were compared: too few to show that at most {} % are called changed",
        100.0 * GOAL
    );
    ensure!(
        tally.changed.values().sum::<usize>() as f64 <= rows * GOAL,
        "more than {} % of the rows were called better or worse, though nothing changed",
        100.0 * GOAL
    );
    ensure!(
        pool < 2 || tally.gates_failed == 0,
        "a gate failed with {pool} runs a side, though nothing changed"
    );
    Ok(())
}

/// Measures as many runs as asked for; in pairs, those of A and B in turn.
fn measure(arguments: &Arguments) -> Result<Vec<Run>> {
    let program = arguments.program.get()?;
    let count = match arguments.paired {
        true => arguments.pairs,
        false => 2 * arguments.pairs * arguments.pool,
    };
    let mut runs = Vec::new();
    for number in 1..=count {
        eprintln!("{number} of {count}");
        match arguments.paired {
            true => runs.extend(program.pair(Profile::Quick, None, None, &[])?),
            false => runs.push(program.run(Profile::Quick, &[], &[])?),
        }
    }
    Ok(runs)
}

/// The results of all comparisons.
#[derive(Debug, Default)]
struct Tally {
    comparisons: usize,
    /// Of all rows.
    all: Counts,
    /// Of the rows that do not depend on the host's scheduler, see [`is_of_the_host`].
    own: Counts,
    /// How often a row was called better or worse although nothing changed, by name.
    changed: BTreeMap<String, usize>,
    /// How often a row was not called worse although slowed by [`LISTED`], by name.
    missed: BTreeMap<String, usize>,
    /// How many comparisons would have failed a gate although nothing changed.
    gates_failed: usize,
    time: Duration,
}

/// The results for some rows.
#[derive(Debug, Default)]
struct Counts {
    rows: usize,
    same: usize,
    changed: usize,
    /// For each slowdown: rows called worse, and rows called better.
    found: [(usize, usize); SLOWDOWNS.len()],
}

impl Tally {
    /// Compares a side with another one in the same state, then again with each slowdown in one row
    /// at a time.
    fn add(&mut self, new: &[&Run], compare: impl Fn(&[&Run]) -> Comparison) {
        let begin = Instant::now();
        let comparison = compare(new);
        self.time += begin.elapsed();
        self.comparisons += 1;
        self.gates_failed += usize::from(fails_gate(&comparison));
        for row in &comparison.rows {
            let is_changed = matches!(row.verdict, Change::Better | Change::Worse);
            if is_changed {
                *self.changed.entry(row.name.clone()).or_default() += 1;
            }
            self.count(row, |counts| {
                counts.rows += 1;
                counts.same += usize::from(row.verdict == Change::Same);
                counts.changed += usize::from(is_changed);
            });
        }
        for (index, factor) in SLOWDOWNS.into_iter().enumerate() {
            let slowed: Vec<Run> = new.iter().map(|run| slowed(run, factor)).collect();
            let slowed: Vec<&Run> = slowed.iter().collect();
            for row in &compare(&slowed).rows {
                let verdict = alone(row, &comparison);
                if factor == LISTED && verdict != Change::Worse {
                    *self.missed.entry(row.name.clone()).or_default() += 1;
                }
                self.count(row, |counts| {
                    let (worse, better) = &mut counts.found[index];
                    *worse += usize::from(verdict == Change::Worse);
                    *better += usize::from(verdict == Change::Better);
                });
            }
        }
    }

    /// Counts a row in the totals it belongs to.
    fn count(&mut self, row: &Row, count: impl Fn(&mut Counts)) {
        count(&mut self.all);
        if !is_of_the_host(&row.name) {
            count(&mut self.own);
        }
    }

    fn table(&self) -> String {
        let cells = |what: &str, number: &dyn Fn(&Counts) -> usize| {
            let numbers = [&self.all, &self.own].into_iter().flat_map(|counts| {
                let number = number(counts);
                let share = 100.0 * number as f64 / counts.rows.max(1) as f64;
                [number.to_string(), format!("{share:.2} %")]
            });
            [what.to_owned()]
                .into_iter()
                .chain(numbers)
                .collect::<Vec<_>>()
        };
        let mut lines = vec![
            line(["", "rows", "share", "of one CPU, awake", "share"]),
            cells("compared", &|counts| counts.rows),
            cells("same", &|counts| counts.same),
            cells("better or worse", &|counts| counts.changed),
            cells("inconclusive", &|counts| {
                counts.rows - counts.same - counts.changed
            }),
        ];
        for (index, factor) in SLOWDOWNS.into_iter().enumerate() {
            let slower = format!("{:.0} % slower, called worse", 100.0 * (factor - 1.0));
            lines.push(cells(&slower, &|counts| counts.found[index].0));
            if self.all.found[index].1 > 0 {
                lines.push(cells("  called better", &|counts| counts.found[index].1));
            }
        }
        let mut text = columns(&lines);
        let missed = format!("not found though {:.0} % slower", 100.0 * (LISTED - 1.0));
        for (what, rows) in [
            ("called changed though nothing changed", &self.changed),
            (&missed, &self.missed),
        ] {
            text.push_str(&format!("\n{what}: {} rows\n", rows.len()));
            let mut rows: Vec<(&String, &usize)> = rows.iter().collect();
            rows.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            for (name, count) in rows {
                text.push_str(&format!("{count:5} x {name}\n"));
            }
        }
        let each = self.time.as_secs_f64() / self.comparisons.max(1) as f64;
        text.push_str(&format!(
            "{} comparisons, {each:.3} s each; {} would have failed a gate on {:.0} %\n",
            self.comparisons,
            self.gates_failed,
            100.0 * GATE
        ));
        text
    }
}

/// Whether a gate on [`GATE`] would fail.
fn fails_gate(comparison: &Comparison) -> bool {
    let is_worse = |row: &Row| row.gated(GATE) == Gated::Failed;
    comparison.lost().next().is_some() || comparison.rows.iter().any(is_worse)
}

/// The verdict on a row as if it were the only one that changed: its p-value is judged among those
/// of the other rows of `unchanged`.
fn alone(row: &Row, unchanged: &Comparison) -> Change {
    let p = row.p_value.unwrap_or(1.0);
    let others = unchanged.rows.iter().filter(|other| other.name != row.name);
    let mut p_values = vec![p];
    p_values.extend(others.map(|other| other.p_value.unwrap_or(1.0)));
    let discovered = benjamini_hochberg(&p_values, compare::FALSE_DISCOVERIES)[0];
    compare::verdict(row, discovered)
}

/// The run with all its numbers made worse by a factor.
fn slowed(run: &Run, factor: f64) -> Run {
    let mut run = run.clone();
    for row in &mut run.measurements {
        let factor = match row.better {
            Better::Lower => factor,
            Better::Higher => 1.0 / factor,
        };
        let estimate = &mut row.estimate;
        let numbers = [
            &mut estimate.median,
            &mut estimate.ci95_low,
            &mut estimate.ci95_high,
        ];
        for number in numbers.into_iter().flatten() {
            *number *= factor;
        }
        let rounds = row.samples.iter_mut().flatten();
        for value in rounds.flat_map(|round| &mut round.values) {
            *value *= factor;
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::tests::{row, run};
    use std::collections::BTreeMap as Map;

    #[test]
    fn a_row_changed_alone_stands_among_all_the_unchanged() {
        let rows = (0..100).map(|index| row(&index.to_string()));
        let run = run(rows.collect());
        let mut unchanged = compare::compare(&[&run], &[&run], &[]);
        for row in &mut unchanged.rows {
            row.p_value = Some(0.5);
        }
        let slower = |p_value: f64| Row {
            ratio: 1.1,
            ci95_low: Some(1.09),
            ci95_high: Some(1.11),
            margin: 0.02,
            same_within: 0.02,
            p_value: Some(p_value),
            ..unchanged.rows[7].clone()
        };
        // With a hundred rows, a single one must be below 0.05 / 100.
        assert_eq!(alone(&slower(0.0004), &unchanged), Change::Worse);
        assert_eq!(alone(&slower(0.0006), &unchanged), Change::Inconclusive);
    }

    #[test]
    fn the_table_names_the_rows_called_changed() {
        let counts = |part: usize| Counts {
            rows: 400 / part,
            same: 300 / part,
            changed: 2 / part,
            found: [(50, 2), (100, 1), (200, 0), (400, 0)],
        };
        let tally = Tally {
            comparisons: 2,
            all: counts(1),
            own: counts(2),
            changed: Map::from([("x.y".to_owned(), 2)]),
            missed: Map::from([("x.z".to_owned(), 3)]),
            gates_failed: 1,
            time: Duration::from_millis(500),
        };
        let text = tally.table();
        for part in [
            "better or worse",
            "0.50 %",
            "5 % slower, called worse",
            "25.00 %",
            "50.00 %",
            "    2 x x.y",
            "not found though 5 % slower: 1 rows\n    3 x x.z",
            "2 comparisons, 0.250 s each; 1 would have failed a gate on 5 %",
        ] {
            assert!(text.contains(part), "{part} not in\n{text}");
        }
    }
}
