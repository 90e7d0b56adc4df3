//! `cargo xtask spread`: repeats the same quick run and reports how far its medians spread.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use clap::Args;
use syscost_results::stats::order;
use syscost_results::{Run, Status};

use crate::columns::{columns, line};
use crate::program::Program;

/// A row whose variation from run to run exceeds this share is not steady.
const STEADY: f64 = 0.05;

/// Arguments of `spread`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to measure, as for `syscost run`
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,
    /// How many runs
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    runs: u32,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = Program::build()?;
    let selectors: Vec<&str> = arguments.selectors.iter().map(String::as_str).collect();
    let mut runs = Vec::new();
    for number in 1..=arguments.runs {
        eprintln!("run {number} of {}", arguments.runs);
        runs.push(program.quick_run(&selectors, None)?);
    }
    let (spreads, without) = spreads(&runs);
    ensure!(
        !spreads.is_empty(),
        "no row has a number in every run: {}",
        without.join("; ")
    );
    print!("{}", table(&spreads));
    if let groups @ [_, _, ..] = &by_group(&spreads)[..] {
        println!();
        print!("{}", group_table(groups));
        println!();
    }
    for row in without {
        println!("{row}");
    }
    println!("{}", middle(&spreads));
    Ok(())
}

/// How far a row's medians spread over the runs.
#[derive(Debug, Clone, PartialEq)]
struct Spread {
    name: String,
    unit: &'static str,
    /// Median of the medians, in `unit`.
    median: f64,
    /// Largest minus smallest median, as a share of their median.
    range: f64,
    /// Standard deviation of the medians (n - 1), as a share of their mean.
    variation: f64,
}

/// The spread of every row that has a number in every run, steadiest first; and a line for each row
/// that has not.
fn spreads(runs: &[Run]) -> (Vec<Spread>, Vec<String>) {
    let mut medians: BTreeMap<&str, (&'static str, Vec<f64>)> = BTreeMap::new();
    let mut reasons: BTreeMap<&str, String> = BTreeMap::new();
    for row in runs.iter().flat_map(|run| &run.measurements) {
        let known = medians
            .entry(&row.name)
            .or_insert((row.unit.symbol(), Vec::new()));
        match row.estimate.median.filter(|_| row.status == Status::Ok) {
            Some(median) => known.1.push(median),
            None => {
                reasons.insert(&row.name, row.reason.clone().unwrap_or_default());
            }
        }
    }
    let mut spreads = Vec::new();
    let mut without = Vec::new();
    for (name, (unit, medians)) in medians {
        let (low, high) = range(&medians);
        if medians.len() == runs.len() && low < 0.0 && high > 0.0 {
            // A level such as a skew: a share of almost zero is meaningless.
            without.push(format!(
                "{name}: around zero, from {low:.3} to {high:.3} {unit}"
            ));
        } else if medians.len() == runs.len() {
            spreads.extend(spread(name, unit, &medians));
        } else {
            let reason = reasons.get(name).map_or("", String::as_str);
            without.push(format!(
                "{name}: a number in {} of {} runs; {reason}",
                medians.len(),
                runs.len()
            ));
        }
    }
    spreads.sort_by(|a, b| a.variation.total_cmp(&b.variation));
    (spreads, without)
}

/// The smallest and the largest value.
fn range(values: &[f64]) -> (f64, f64) {
    let range = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold(range, |(low, high), &value| {
        (low.min(value), high.max(value))
    })
}

fn spread(name: &str, unit: &'static str, medians: &[f64]) -> Option<Spread> {
    let median = order::median(medians)?;
    let count = medians.len() as f64;
    let mean = medians.iter().sum::<f64>() / count;
    let variance = medians
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    let (low, high) = range(medians);
    // A level such as a skew may be zero throughout: then there is no spread.
    let share = |value: f64, of: f64| {
        if value == 0.0 {
            0.0
        } else {
            (value / of).abs()
        }
    };
    Some(Spread {
        name: name.to_owned(),
        unit,
        median,
        range: share(high - low, median),
        variation: share(variance.sqrt(), mean),
    })
}

fn table(spreads: &[Spread]) -> String {
    let mut lines = vec![line([
        "row",
        "median",
        "unit",
        "(max-min)/median",
        "variation",
    ])];
    lines.extend(spreads.iter().map(|row| {
        vec![
            row.name.clone(),
            format!("{:.3}", row.median),
            row.unit.to_owned(),
            format!("{:.2} %", 100.0 * row.range),
            format!("{:.2} %", 100.0 * row.variation),
        ]
    }));
    columns(&lines)
}

/// The variations of a group's rows, each as a share.
#[derive(Debug, Clone, PartialEq)]
struct GroupSpread<'a> {
    group: &'a str,
    rows: usize,
    median: f64,
    /// Number of rows that vary by [`STEADY`] or less.
    steady: usize,
    /// The least steady row.
    worst: &'a Spread,
}

/// Variations by group, in alphabetical order; the rows are sorted, steadiest first.
fn by_group(spreads: &[Spread]) -> Vec<GroupSpread<'_>> {
    let mut groups: BTreeMap<&str, Vec<&Spread>> = BTreeMap::new();
    for row in spreads {
        let group = row.name.split('.').next().unwrap_or(&row.name);
        groups.entry(group).or_default().push(row);
    }
    groups
        .into_iter()
        .filter_map(|(group, rows)| {
            let variations: Vec<f64> = rows.iter().map(|row| row.variation).collect();
            Some(GroupSpread {
                group,
                rows: rows.len(),
                median: order::median(&variations)?,
                steady: variations.iter().filter(|&&share| share <= STEADY).count(),
                worst: rows.last()?,
            })
        })
        .collect()
}

fn group_table(groups: &[GroupSpread]) -> String {
    let mut lines = vec![line([
        "group",
        "rows",
        "median variation",
        "at most 5 %",
        "largest",
        "of",
    ])];
    lines.extend(groups.iter().map(|group| {
        vec![
            group.group.to_owned(),
            group.rows.to_string(),
            format!("{:.2} %", 100.0 * group.median),
            group.steady.to_string(),
            format!("{:.2} %", 100.0 * group.worst.variation),
            group.worst.name.clone(),
        ]
    }));
    columns(&lines)
}

/// The row in the middle of the sorted table; of two, the less steady one.
fn middle(spreads: &[Spread]) -> String {
    match spreads.get(spreads.len() / 2) {
        Some(row) => format!(
            "median row of {}: {}, coefficient of variation {:.2} %",
            spreads.len(),
            row.name,
            100.0 * row.variation
        ),
        None => "no row".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::tests::{row, run};
    use syscost_results::Measurement;

    fn with_median(adds: &str, median: f64) -> Measurement {
        let mut row = row(adds);
        row.estimate.median = Some(median);
        row
    }

    #[test]
    fn range_and_variation_of_known_medians() {
        let spread = spread("a", "ns", &[9.0, 10.0, 12.0, 9.0]).unwrap();
        assert_eq!((spread.median, spread.range), (9.5, 3.0 / 9.5));
        // Mean 10, squares 1 + 0 + 4 + 1 over three.
        assert!(
            (spread.variation - 2f64.sqrt() / 10.0).abs() < 1e-12,
            "{spread:?}"
        );
        assert_eq!(
            super::spread("a", "ns", &[0.0, 0.0]).map(|zero| (zero.range, zero.variation)),
            Some((0.0, 0.0))
        );
    }

    #[test]
    fn a_level_around_zero_has_no_share() {
        let runs = [-1.0, 2.0].map(|median| run(vec![with_median("1", median)]));
        let (spreads, without) = spreads(&runs);
        assert_eq!(spreads, []);
        assert_eq!(
            without,
            ["selftest.chain{adds=1}: around zero, from -1.000 to 2.000 ns"]
        );
    }

    #[test]
    fn the_steadiest_row_comes_first_and_one_without_all_numbers_apart() {
        let mut failed = row("100");
        failed.status = Status::Failed;
        failed.estimate.median = None;
        failed.reason = Some("it broke".into());
        let runs = [
            run(vec![
                with_median("1", 10.0),
                with_median("10", 20.0),
                with_median("100", 1.0),
            ]),
            run(vec![
                with_median("1", 11.0),
                with_median("10", 20.1),
                failed,
            ]),
        ];
        let (spreads, without) = spreads(&runs);
        let names: Vec<&str> = spreads.iter().map(|spread| spread.name.as_str()).collect();
        assert_eq!(names, ["selftest.chain{adds=10}", "selftest.chain{adds=1}"]);
        assert_eq!(
            without,
            ["selftest.chain{adds=100}: a number in 1 of 2 runs; it broke"]
        );
        assert!(
            table(&spreads)
                .contains("selftest.chain{adds=10}  20.050    ns            0.50 %     0.35 %")
        );
        assert_eq!(
            middle(&spreads),
            "median row of 2: selftest.chain{adds=1}, coefficient of variation 6.73 %"
        );
    }

    #[test]
    fn groups_show_their_median_and_least_steady_row() {
        let row = |name: &str, variation| Spread {
            name: name.to_owned(),
            unit: "ns",
            median: 1.0,
            range: 0.0,
            variation,
        };
        let spreads = [
            row("b.x{c=1}", 0.01),
            row("a.y", 0.02),
            row("b.z", 0.05),
            row("b.x{c=2}", 0.4),
        ];
        let groups = by_group(&spreads);
        let found: Vec<_> = groups
            .iter()
            .map(|group| (group.group, group.rows, group.median, group.steady))
            .collect();
        assert_eq!(found, [("a", 1, 0.02, 1), ("b", 3, 0.05, 2)]);
        assert!(
            group_table(&groups)
                .ends_with("b         3            5.00 %            2  40.00 %  b.x{c=2}\n"),
            "{}",
            group_table(&groups)
        );
    }
}
